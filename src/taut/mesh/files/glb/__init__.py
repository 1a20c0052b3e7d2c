"""Binary glTF 2.0: the triangles and lines of a scene.

All meshes of the scene are placed by the transforms of their nodes and become one; none is welded.
The names of meshes and of their nodes become groups, COLOR_0 becomes the point data "color", and an
attribute "_NAME" the point data "name". Texture coordinates count upwards from the bottom, as in
other formats, where glTF counts downwards. Faces of a mirrored node are reversed, so that they
still face outwards. Normals and materials are not kept. Skins, animations, morph targets and other
attributes are not kept either, which is logged; the mesh has the shape in which it was stored.
glTF stores floats of 32 bits: positions and data keep 7 digits.

document      the JSON and the bytes of a file; getters that check values
_accessors    arrays of a document, and the cells that indices draw
_nodes        which mesh is where in the scene
_build        one Mesh of all mesh instances
writer        write a Mesh
"""

from __future__ import annotations

import logging
from pathlib import Path

from taut.mesh.files.glb._accessors import KINDS
from taut.mesh.files.glb._build import MeshBuilder
from taut.mesh.files.glb._nodes import iterate_instances
from taut.mesh.files.glb.document import GltfDocument
from taut.mesh.files.glb.writer import format_file
from taut.mesh.mesh import Mesh

NAME = "GLB"
CELLS = KINDS
KEEPS = frozenset({"groups", "point_data", "uv"})

_log = logging.getLogger("taut")
_MAX_LOGGED = 20  # names of what is left out


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in a file.

    >>> cells = {"triangle": [[0, 1, 2]], "line": [[0, 1]]}
    >>> content = write(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], cells))
    >>> read(Path("made.glb"), content)
    Mesh(3 points, 1 line, 1 triangle)
    """
    document = GltfDocument(path, data)
    builder = MeshBuilder(document)
    for instance in iterate_instances(document):
        builder.add(instance)
    if builder.left_out:
        names = ", ".join(name[:40] for name in list(builder.left_out)[:_MAX_LOGGED])
        if len(builder.left_out) > _MAX_LOGGED:
            names += f" and {len(builder.left_out) - _MAX_LOGGED} more"
        _log.info("%s: left out: %s", path, names)
    return builder.build()


def write(mesh: Mesh) -> bytes:
    """Return the mesh as GLB, with 32-bit floats. Points in the plane get z = 0.

    glTF has one texture coordinate per point: where corners of one point disagree the point is
    split. The points keep their order, and the copies follow after them, with their data and
    groups. A corner without texture coordinate takes that of another corner of its point, or (0,
    0). Groups are stored under "extras", which other programs ignore. Data that are not finite
    everywhere are left out, since glTF forbids them, and named on the log.

    >>> from taut.mesh.parts import UV
    >>> seam = UV([[0, 0], [1, 0], [0, 1], [1, 1]], {"triangle": [[0, 1, 2], [3, 2, 1]]})
    >>> square = Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2], [0, 2, 1]]}, uv=seam)
    >>> read(Path("seam.glb"), write(square)).cells["triangle"].tolist()
    [[0, 1, 2], [3, 2, 1]]
    """
    return format_file(mesh)
