"""A scene from any mesh file: laws are chosen by the kind of its cells, and the choices reported.

    lines                  springs of E A/l
    triangles, quads       springs of E and thickness; hinges of E t³/12 keep the file's shape,
                           and no face collapses
    tetrahedra, hexahedra  springs of E, and no cell turns inside out
    parts                  springs across the gaps keep them together

Values that are not given follow from the size L of the mesh, as multiples of L and of the pressure
ρ g L at its lower end: the body moves visibly and does not collapse, in any unit of the file. The
run lasts 10 √(L/g), 1 s at least and 3 s at most, and less with many points.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np

from taut import mesh as meshes
from taut.errors import MeshError, SceneError
from taut.mesh import read
from taut.mesh.diagnosis import find_used_points
from taut.mesh.mesh import Mesh
from taut.scene._files import MeshKey
from taut.scene._limits import MAX_PARTICLES
from taut.scene._repairs import Wishes, choose_repairs, describe_size
from taut.scene._scene import Scene, read_text
from taut.scene.toml import format_toml

# By the dimension of the cells:
_BODY_KIND = {
    1: "a rope or net of its lines",
    2: "a sheet or shell of its faces",
    3: "a solid of its cells",
}
_DENSITY = {1: 1000.0, 2: 300.0, 3: 1000.0}  # [kg/m³]
_YOUNG = {1: 1e4, 2: 300.0, 3: 10.0}  # in multiples of ρ g L: soft, so that the body moves visibly

_THICKNESS = 1e-2  # relative to L; a shell of L/1000 collapses like a bag
_DIAMETER = 5e-3  # of lines, relative to L
_GRAVITY = 9.81  # [m/s²], the default of laws.gravity
_DAMPING = 5e-3  # [s]: springs have c = _DAMPING × k
# Larger meshes take Van Gelder's formula, which needs no fit. Solids take long to fit, which is
# worth it where a modulus is asked for.
_MAX_FITTED_POINTS = 20_000
_MAX_FITTED_SOLID = 4_000  # without a given modulus
_STEP = 0.01  # [s]
_JOINT_STIFFNESS = 1.0  # of springs between parts, in multiples of the median of the others
_GROUND_GAP = 0.02  # between the body and the ground at the start, relative to L
_GROUND_FRICTION = 0.5
_NATURAL_TIMES = 10.0  # duration in units of √(L/g), in which a body swings and settles, but …
_MIN_DURATION, _MAX_DURATION = 1.0, 3.0  # … not less and not more than this [s]
# Steps × points^1.5 of a run that takes about a minute: on a finer shell the linear solver takes
# more iterations.
_MAX_WORK = 1.3e8


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
    weld: float | None = None,
    clean: bool = False,
    largest: bool = False,
    fill: float | str | None = None,
    ground: bool = False,
    loose: bool = False,
    most: int = MAX_PARTICLES,
) -> Scene:
    """Return a scene in which the body of a mesh file hangs under its weight, or falls.

    The `notes` of the scene name the values that were chosen.

    fix : the points that are held (default: the top 5% of the height; the corners of a flat sheet
        that lies horizontally)
    young : Young's modulus [Pa]
    poisson : Poisson's ratio [1]
    thickness : thickness of faces [m]
    area : cross-section of lines [m²]
    density : density [kg/m³]
    scale : metres per unit of the file
    up : the axis that points up in the file
    weld : merge points within this distance of each other [m] (default: points of seams, which
        coincide)
    clean : weld all points that coincide, drop cells without extent and unused points
    largest : keep only the largest part
    fill : fill the closed surface with tetrahedra of this size [m], or "auto" for a thirtieth of
        the diagonal
    ground : the body falls on a ground just below it, and nothing holds it unless `fix` does
    loose : let parts that nothing holds fall (default: they are joined to their neighbours)
    most : maximum number of particles

    >>> import pathlib, tempfile, taut
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cube.vtu"
    >>> taut.mesh.write(taut.mesh.block(2, 2, 2, size=0.1), file)
    >>> print(*of_mesh(file, young=5e4).notes, sep="\\n")
    cube.vtu: Mesh(27 points, 8 hex), 0.173 m across, as a solid of its cells
    density = 1e+03 kg/m³ (default; --density sets it)
    springs have damping 0.005 s × k
    held points: y >= max(y) - 0.05*(max(y) - min(y)) (default; --fix sets them)
    """
    file = Path(path)
    key: MeshKey = (file.name, float(scale), up)
    mesh = original = read(file, scale=scale, up=up)
    dimension = next((d for d in (3, 2, 1) if mesh.blocks(d)), 0)
    size = _diagonal(mesh)
    if not dimension or not size:
        raise SceneError([f"the mesh must have cells and an extent, got {mesh!r}"], path=file)
    spacing = _check_fill(fill, file)
    wishes = Wishes(weld, clean, largest, spacing, loose)
    repair_notes: list[str] = []
    try:
        mesh, found, repairs = choose_repairs(mesh, wishes, repair_notes)
    except (SceneError, MeshError) as error:
        raise SceneError(getattr(error, "problems", [str(error)]), path=file) from None
    size, n = _diagonal(mesh), mesh.n
    if spacing is not None:
        dimension, n = 3, _estimate_filling(mesh, repairs["fill"]["spacing"])
    notes = [f"{file.name}: {original!r}, {size:.3g} m across, as {_BODY_KIND[dimension]}"]
    notes += describe_size(size, scale)
    notes += repair_notes
    given = {
        "young": young,
        "poisson": poisson,
        "thickness": thickness,
        "area": area,
        "density": density,
    }
    material = _choose_material(file, n, dimension, size, given, notes)
    mesh_table = {"file": file.name, "scale": float(scale), "up": up}
    body: dict[str, Any] = {"name": "body", "mesh": mesh_table | repairs, "material": material}
    if spacing is not None:
        kept = {name: table for name, table in repairs.items() if name == "clean"}
        body["render"] = mesh_table | kept
    hold = fix
    if fix is None and not ground:
        hold = _choose_hold(mesh)
        notes.append(f"held points: {hold} (default; --fix sets them)")
    if hold is not None:
        body["hold"] = [{"where": hold}]
    if found.parts > 1 and not largest and spacing is None:
        if loose:
            notes += _describe_falling_components(mesh, dimension, hold)
        else:
            body["join"] = {"ratio": _JOINT_STIFFNESS}
            notes.append(
                f"the mesh has {found.parts} parts, which springs keep together (default; --loose "
                "lets them fall, --largest keeps one)"
            )
    tables = {
        "title": file.stem,
        "why": f"{file.name} {'falls on the ground' if ground else 'hangs under its own weight'}",
        "time": {"h": _STEP, "duration": _choose_duration(n, size, notes)},
        "integrator": {"method": "ImplicitEuler", "adaptive": {"halvings": 6}},
        "body": [body],
        "law": [{"law": "gravity"}],
    }
    if ground:
        height = float(mesh.positions[:, 1].min()) - _GROUND_GAP * size
        tables["contact"] = {
            "ground": height,
            "friction": _GROUND_FRICTION,
            "pairs": [{"bodies": ["body", "body"], "touch": False}],
        }
        notes.append(f"ground at y = {height:.3g} m; the body does not touch itself")
    return read_text(
        format_toml(tables),
        folder=file.parent,
        path=file,
        notes=notes,
        lines=False,
        most=most,
        meshes={key: original},
    )


def _check_fill(fill: float | str | None, file: Path) -> float | Literal["auto"] | None:
    """Return the spacing of a filling [m], "auto", or None."""
    if fill is None or fill == "auto":
        return fill  # type: ignore[return-value]
    try:
        spacing = float(fill)
    except ValueError:
        spacing = 0.0
    if not 0.0 < spacing < np.inf:
        raise SceneError([f"fill must be auto or a length [m], got {fill!r}"], path=file)
    return spacing


def _estimate_filling(mesh: Mesh, spacing: float) -> int:
    """Return about how many points a filling has.

    The lattice has two points in a cube of the spacing; half a layer is added along the surface.
    """
    volume = abs(meshes.oriented(mesh).enclosed_volume)
    area = float(mesh.areas.sum())
    return int(2.0 * (volume + area * spacing / 2.0) / spacing**3)


def _choose_duration(n: int, size: float, notes: list[str]) -> float:
    """Return the duration of the run [s]; add a note if it is shortened for a large mesh."""
    natural = _NATURAL_TIMES * float(np.sqrt(size / _GRAVITY))
    steps = round(min(max(natural, _MIN_DURATION), _MAX_DURATION) / _STEP)
    affordable = max(1, int(_MAX_WORK / n**1.5))
    if affordable < steps:
        steps = affordable
        notes.append(
            f"{n} points: the run ends after {steps * _STEP:g} s (default; "
            "--set time.duration=… sets it)"
        )
    return round(steps * _STEP, 2)


def _choose_material(
    file: Path,
    n: int,
    dimension: int,
    size: float,
    given: dict[str, float | None],
    notes: list[str],
) -> dict[str, Any]:
    """Return the material table; add a note for each value that is not given."""
    unused = {1: ("thickness", "poisson"), 2: ("area",), 3: ("thickness", "area")}[dimension]
    for name in unused:
        if given[name] is not None:
            raise SceneError([f"{name} does not apply to {_BODY_KIND[dimension]}"], path=file)
    density = given["density"]
    if density is None or not 0.0 < density < np.inf:  # an invalid one is reported by the build
        density = _DENSITY[dimension]
    defaults = {
        "density": (_DENSITY[dimension], "kg/m³"),
        "young": (_YOUNG[dimension] * density * _GRAVITY * size, "Pa"),
    }
    if dimension == 2:
        defaults["thickness"] = (_THICKNESS * size, "m")
    if dimension == 1:
        defaults["area"] = (np.pi / 4 * (_DIAMETER * size) ** 2, "m²")
    material: dict[str, Any] = {}
    for name, (default, unit) in defaults.items():
        value = given[name]
        if value is None:
            material[name] = default
            notes.append(f"{name} = {default:.3g} {unit} (default; --{name} sets it)")
        else:
            material[name] = float(value)
    if given["poisson"] is not None:
        material["poisson"] = float(given["poisson"])
    is_wanted = dimension == 2 or given["young"] is not None
    if dimension > 1 and n > (_MAX_FITTED_POINTS if is_wanted else _MAX_FITTED_SOLID):
        material["fit"] = False
        notes.append(f"{n} points: springs have Van Gelder's stiffness and are not fitted")
    material["damping"] = _DAMPING
    note = f"springs have damping {_DAMPING:g} s × k"
    if dimension == 2:
        note += "; hinges keep the shape of the file"
    notes.append(note)
    return material


def _describe_falling_components(mesh: Mesh, dimension: int, hold: str | None) -> list[str]:
    """Return a note if components of the mesh are not held, such as eyes or buttons."""
    try:
        held = mesh.select("none" if hold is None else hold)
    except MeshError:  # reported when the scene is built
        return []
    components = np.unique(mesh.components[find_used_points(mesh, dimension)])
    loose = np.setdiff1d(components, mesh.components[held]).size
    if not loose:
        return []
    return [f"{loose} of {components.size} components are not held, and will fall"]


def _choose_hold(mesh: Mesh) -> str:
    """Return a selection of the top 5% of the height; of the corners if there is no height."""
    height = np.ptp(mesh.positions[:, 1])
    if height <= 1e-9 * _diagonal(mesh):
        return "corners"
    return "y >= max(y) - 0.05*(max(y) - min(y))"


def _diagonal(mesh: Mesh) -> float:
    """Return the diagonal of the bounding box [m]."""
    return float(np.linalg.norm(np.ptp(mesh.positions, axis=0)))
