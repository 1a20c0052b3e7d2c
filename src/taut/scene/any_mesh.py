"""A scene for any mesh file: laws picked for its cells, and told.

    lines                  springs of E·A/l
    triangles, quads       springs of E and thickness, and hinges of E t³/12 that keep the shape the file has
    tetrahedra, hexahedra  springs of E

What is not given is picked by the size L of the mesh, as multiples of L and of the pressure ρ g L at its foot: it moves visibly and
does not crumple, whatever the unit of the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError, SceneError
from taut.mesh import read
from taut.mesh.mesh import Mesh
from taut.scene.bounds import MOST_PARTICLES
from taut.scene.scene import Scene, read_text
from taut.scene.toml_text import toml

WHAT = {1: "a rope or net of its lines", 2: "a sheet or shell of its faces", 3: "a solid of its cells"}
DENSITY = {1: 1000.0, 2: 300.0, 3: 1000.0}  # [kg/m³]
YOUNG = {1: 1e4, 2: 300.0, 3: 10.0}  # of ρ g L: soft things that move visibly
THIN, SLENDER = 1e-2, 5e-3  # thickness of a sheet and diameter of lines, of L; a shell of L/1000 is a bag that collapses
G = 9.81  # [m/s²], that of laws.gravity
DAMPING = 5e-3  # [s]: of springs, c = DAMPING × k
FITTED = 20_000  # points up to which springs are fitted to the moduli


def of_mesh(
    path: str | os.PathLike[str],
    *,
    fix: str | None = None,
    young: float | None = None,
    poisson: float | None = None,
    thickness: float | None = None,
    area: float | None = None,
    density: float | None = None,
    scale: float = 1.0,
    up: str = "y",
    most: int = MOST_PARTICLES,
) -> Scene:
    """A scene in which the thing in a mesh file hangs under its weight; `notes` say what was picked.

    fix : which points are held (default: the uppermost twentieth; the corners of something flat that lies)
    young : Young's modulus [Pa]; poisson : Poisson's ratio; density : [kg/m³]
    thickness : of faces [m]; area : cross-section of lines [m²]
    scale : metres per unit of the file; up : the axis that points up in it
    most : particles at most

    >>> import pathlib, tempfile, taut
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cube.vtu"
    >>> taut.mesh.write(taut.mesh.block(2, 2, 2, size=0.1), file)
    >>> made = of_mesh(file, young=5e4)
    >>> print(*made.notes, sep="\\n")
    cube.vtu: Mesh(27 points, 8 hex), 0.173 m across, as a solid of its cells
    density = 1e+03 kg/m³, picked; --density sets it
    springs with damping 0.005 s times k
    held: y >= max(y) - 0.05*(max(y) - min(y)); --fix sets it
    """
    file = Path(path)
    key = (file.name, float(scale), up)
    meshes = {key: read(file, scale=scale, up=up)}
    mesh = meshes[key]
    dimension = next((d for d in (3, 2, 1) if mesh.blocks(d)), 0)
    size = float(np.linalg.norm(np.ptp(mesh.positions, axis=0)))
    if not dimension or not size:
        raise SceneError(["the mesh has no extent"], path=file)
    notes = [f"{file.name}: {mesh!r}, {size:.3g} m across, as {WHAT[dimension]}"]
    material: dict[str, Any] = {}

    def pick(name: str, given: float | None, default: float, unit: str) -> None:
        material[name] = default if given is None else float(given)
        if given is None:
            notes.append(f"{name} = {default:.3g} {unit}, picked; --{name} sets it")

    def refuse(name: str, given: float | None) -> None:
        if given is not None:
            raise SceneError([f"{name} says nothing about {WHAT[dimension]}"], path=file)

    pick("density", density, DENSITY[dimension], "kg/m³")
    heavy = material["density"] if 0.0 < material["density"] < np.inf else DENSITY[dimension]  # what is no density is told of later
    pick("young", young, YOUNG[dimension] * heavy * G * size, "Pa")
    if dimension == 2:
        pick("thickness", thickness, THIN * size, "m")
    else:
        refuse("thickness", thickness)
    if dimension == 1:
        pick("area", area, np.pi / 4 * (SLENDER * size) ** 2, "m²")
        refuse("poisson", poisson)
    else:
        refuse("area", area)
    if poisson is not None:
        material["poisson"] = float(poisson)
    if mesh.n > FITTED and dimension > 1:
        material["fit"] = False
        notes.append(f"{mesh.n} points: the springs are those of Van Gelder's formula, not fitted")
    material["damping"] = DAMPING
    notes.append(f"springs with damping {DAMPING:g} s times k" + ("; hinges keep the shape of the file" if dimension == 2 else ""))
    where = _held(mesh) if fix is None else fix
    if fix is None:
        notes.append(f"held: {where}; --fix sets it")
    notes += _falling(mesh, dimension, where)
    tables = {
        "title": file.stem,
        "why": f"{file.name} hangs under its own weight",
        "time": {"h": 0.01, "duration": 3.0},
        "integrator": {"method": "ImplicitEuler", "adaptive": {"halvings": 6}},
        "body": [
            {
                "name": "body",
                "mesh": {"file": file.name, "scale": float(scale), "up": up, **_mended(mesh, dimension, notes)},
                "material": material,
                "hold": [{"where": where}],
            }
        ],
        "law": [{"law": "gravity"}],
    }
    return read_text(toml(tables), folder=file.parent, path=file, notes=notes, lines=False, most=most, meshes=meshes)


def _mended(mesh: Mesh, dimension: int, notes: list[str]) -> dict[str, Any]:
    """What has to be done to the mesh before springs can be made of it, noted."""
    found: dict[str, Any] = {}
    used = _used(mesh, dimension)
    if not used.all():
        found["clean"] = {"unused": True}
        notes.append(f"{int((~used).sum())} points are part of no cell: left out")
    x = mesh.positions[np.asarray(mesh.cells.get("quad", np.empty((0, 4))), dtype=np.int64)]
    edges = np.roll(x, -1, axis=1) - x
    corners = np.cross(np.roll(edges, 1, axis=1), edges)
    if ((corners * np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])[:, None]).sum(axis=2) <= 0.0).any():
        found["triangulate"] = True
        notes.append("quads with a corner pushed in: all faces are cut into triangles")
    return found


def _used(mesh: Mesh, dimension: int) -> NDArray[np.bool_]:
    """Which points are part of a cell that becomes springs, shape (n,)."""
    used = np.zeros(mesh.n, dtype=bool)
    for _, cells in mesh.blocks(dimension):
        used[cells] = True
    return used


def _falling(mesh: Mesh, dimension: int, where: str) -> list[str]:
    """That parts of the mesh are held nowhere, if there are such: eyes in a head, buttons on a shirt."""
    try:
        held = mesh.select(where)
    except MeshError:  # it is told when the scene is built
        return []
    parts = np.unique(mesh.components[_used(mesh, dimension)])
    loose = np.setdiff1d(parts, mesh.components[held]).size
    return [f"{loose} of {parts.size} parts are held nowhere and fall"] if loose else []


def _held(mesh: Mesh) -> str:
    """The uppermost twentieth; the corners of what has no height."""
    low, high = mesh.positions[:, 1].min(), mesh.positions[:, 1].max()
    flat = high - low <= 1e-9 * float(np.linalg.norm(np.ptp(mesh.positions, axis=0)))
    return "corners" if flat else "y >= max(y) - 0.05*(max(y) - min(y))"
