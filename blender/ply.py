"""Meshes as binary PLY files: points with maps, faces with texture coordinates, edges."""

import re

import numpy as np

# Names of properties with a meaning of their own in PLY.
_RESERVED = {"x", "y", "z", "nx", "ny", "nz", "s", "t", "u", "v", "red", "green", "blue", "alpha"}
_RESERVED |= {"texture_u", "texture_v"}


def name_maps(names):
    """Return a name of letters, digits and underscores for each map, all different.

    The expressions of scenes use them: "Upper arm" is Upper_arm.
    """
    found, taken = {}, set(_RESERVED)
    for name in names:
        base = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
        candidate, number = base, 1
        while candidate in taken:
            number += 1
            candidate = f"{base}_{number}"
        taken.add(candidate)
        found[name] = candidate
    return found


def write(path, points, faces, edges, maps, texture=None):
    """Write a mesh.

    points : (n, 3); faces : lists of points; edges : (k, 2)
    maps : name → one number for each point; names as by `name_maps`
    texture : for each face one row (u, v) for each corner, or None
    """
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(points)}"]
    header += [f"property float {axis}" for axis in "xyz"]
    header += [f"property double {name}" for name in maps]
    kind = [(axis, "<f4") for axis in "xyz"] + [(f"map {name}", "<f8") for name in maps]
    rows = np.empty(len(points), dtype=kind)
    for axis, values in zip("xyz", np.asarray(points).T, strict=True):
        rows[axis] = values
    for name, values in maps.items():
        rows[f"map {name}"] = values
    body = [rows.tobytes()]
    if len(faces):
        header += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
        if texture is not None:
            header.append("property list uchar float texcoord")
        for i, face in enumerate(faces):
            body.append(bytes([len(face)]) + np.asarray(face, dtype="<i4").tobytes())
            if texture is not None:
                body.append(bytes([2 * len(face)]) + texture[i].astype("<f4").tobytes())
    if len(edges):
        header += [f"element edge {len(edges)}", "property int vertex1", "property int vertex2"]
        body.append(np.asarray(edges, dtype="<i4").tobytes())
    path.write_bytes("\n".join([*header, "end_header\n"]).encode() + b"".join(body))
