"""The folder of a scene: scene.toml, meshes and motions, and what is needed to play the result.

scene.toml          `taut run FOLDER/scene.toml` runs it, to the same bits as the bake
mesh_0.ply, …       the objects at the first frame, with their vertex groups as maps
motion_0.pc2, …     where pins and obstacles are in each step
wind.csv            the wind of each step, if it changes
blender.json, .npz  which body is which object, and where objects are in each frame
run/, raw/          the run of a bake, and its frames
cache/              the frames as Blender plays them
"""

import hashlib
import json
import re
from pathlib import Path

import bpy
import numpy as np

from . import ply
from .geometry import get_objects
from .preferences import TautError
from .sampling import plan_walk, sample_scene
from .tables import SceneTables, list_maps
from .toml import write_toml
from .units import to_y_up

SCENE, INDEX = "scene.toml", "blender.json"
_INPUTS = (SCENE, "mesh_*.ply", "motion_*.pc2", "wind.csv")  # of the run


def get_folder(scene):
    """Return the folder of a scene; TautError if it is relative to a file that is not saved."""
    given = scene.taut.folder
    if not given:
        raise TautError("choose a folder for the simulation")
    if given.startswith("//") and not bpy.data.filepath:
        raise TautError("save the .blend file first: the folder of the simulation is next to it")
    name = re.sub(r"[^\w.-]", "_", scene.name)
    return Path(bpy.path.abspath(given)) / name


def name_bodies(objects):
    """Return a name for each object: letters, digits and underscores, different in any case."""
    names, taken = [], set()
    for item in objects:
        base = re.sub(r"[^A-Za-z0-9_]", "_", item.name) or "_"
        base = f"_{base}" if base[0].isdigit() else base
        candidate, number = base, 1
        # What belongs to the pins of a soft body is called NAME_pins.
        while {candidate.lower(), f"{candidate}_pins".lower()} & taken or candidate == "default":
            number += 1
            candidate = f"{base}_{number}"
        taken |= {candidate.lower(), f"{candidate}_pins".lower()}
        names.append(candidate)
    return names


def export_scene(context, tell=lambda part: None):
    """Write the folder of the scene; return its path."""
    scene, objects = context.scene, get_objects(context)
    if all(item.taut.kind == "OBSTACLE" for item in objects):
        raise TautError("nothing to simulate: mark an object as cloth, shell, rope or soft body")
    folder = get_folder(scene)
    folder.mkdir(parents=True, exist_ok=True)
    _remove_old_files(folder)
    sampled, wind = sample_scene(context, objects, folder, tell)
    walk = plan_walk(scene)
    tables = SceneTables(scene, walk, _write_wind(folder, wind, walk))
    bodies = {}
    further = []
    for number, (one, name) in enumerate(zip(sampled, name_bodies(objects), strict=True)):
        file = f"mesh_{number}.ply"
        _write_mesh(folder / file, one)
        tables.add(one, name, file)
        if one.item.taut.laws is not None:
            further.append((name, one.item.taut.laws.as_string()))
        if one.item.taut.kind != "OBSTACLE":
            arrays = f"blender_{number}.npz"
            np.savez(folder / arrays, used=one.used, matrices=one.matrices, rest=one.rest)
            bodies[one.item.name] = {"body": name, "arrays": arrays}
    finished = tables.finish()
    (folder / SCENE).write_text(_insert_laws(finished, further), encoding="utf-8")
    index = {
        "objects": bodies,
        "names": dict(zip(name_bodies(objects), (item.name for item in objects), strict=True)),
        "bodies": [body["name"] for body in finished["body"]],
        "first": walk.first,
        "frames": walk.last - walk.first + 1,
        "scale": tables.scale,
        "digest": _compute_digest(folder),
    }
    (folder / INDEX).write_text(json.dumps(index, indent=1), encoding="utf-8")
    return folder


def _compute_digest(folder):
    """Return a digest of all that the run depends on."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in _INPUTS for path in folder.glob(pattern)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _remove_old_files(folder):
    """Remove what an earlier export wrote."""
    for pattern in (*_INPUTS, "blender_*.npz", INDEX):
        for path in folder.glob(pattern):
            path.unlink()


def _write_mesh(path, one):
    place = np.full(int(one.used[-1]) + 1, -1)
    place[one.used] = np.arange(len(one.used))
    is_rope = one.item.taut.kind == "ROPE"
    faces = [] if is_rope else [place[face] for face in one.topology.faces]
    edges = place[one.topology.edges] if is_rope else []
    ply.write(path, one.start, faces, edges, list_maps(one), one.topology.texture)


def _write_wind(folder, wind, walk):
    """Return the velocity of the air as a parameter: three numbers, or a file over time."""
    turned = np.array([to_y_up(row) for row in wind])
    if (turned == turned[0]).all():
        return turned[0].tolist()
    rows = [
        ", ".join(repr(float(v)) for v in (step / walk.rate, *row))
        for step, row in enumerate(turned)
    ]
    (folder / "wind.csv").write_text("\n".join(["# t [s], velocity [m/s]", *rows]) + "\n")
    return {"file": "wind.csv", "per": "time"}


def _insert_laws(tables, further):
    """Return the scene as text, with the user's tables after those of their bodies."""
    if not further:
        return write_toml(tables)
    bodies = tables["body"]
    head = {key: value for key, value in tables.items() if key != "body" and not _is_tail(key)}
    tail = {key: value for key, value in tables.items() if _is_tail(key)}
    texts = [write_toml(head)]
    own = dict(further)
    for body in bodies:
        texts += [write_toml({"body": [body]}), own.get(body["name"], "")]
    return "\n".join([*texts, write_toml(tail)])


def _is_tail(key):
    return key in ("stitch", "attach", "law")
