"""The tables `mesh` and `render` of a body: a generator with its arguments, a file, or points."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, create_model

from taut import mesh as meshes
from taut.arrays import Float
from taut.binding.law import read_parameter_docs
from taut.constraints.prescribed import rodrigues
from taut.errors import MeshError, SceneError
from taut.mesh.filling.stuffing import MAX_LATTICE_POINTS as MAX_LATTICE_POINTS
from taut.mesh.kinds import NAMES
from taut.mesh.mesh import Mesh
from taut.scene._elements import Cells, Selection
from taut.scene._files import SceneFolder
from taut.scene._limits import (
    MAX_ENTRIES,
    MAX_PARTICLES,
    Name,
    NotNegative,
    Number,
    PointBudget,
    Positive,
    SceneTable,
    Text,
    Vector,
    create_tagged_union,
)
from taut.scene._parameter import Components, FewNumbers, evaluate

GENERATORS: dict[str, Callable[..., Mesh]] = {}
"""The functions of `taut.mesh` that generate a mesh from numbers, by name."""
for _name in meshes.__all__:
    _function = getattr(meshes, _name)
    if getattr(_function, "__module__", "").startswith("taut.mesh.shapes."):
        GENERATORS[_name] = _function

# An embedding weight below -1: the point is further outside of a cell than the cell is wide.
MIN_EMBEDDING_WEIGHT = -1.0
# Of a mesh to be drawn, relative to the size of the simulated one, beyond the longest edge: a
# filling may have lost a horn or a tail that is thinner than its spacing.
MAX_RENDER_DISTANCE = 0.1

Points = Annotated[
    list[Annotated[list[Number], Field(min_length=2, max_length=3)]],
    Field(min_length=1, max_length=MAX_ENTRIES),
]


class Clean(SceneTable):
    """Options of `taut.mesh.clean`."""

    weld: NotNegative | None = Field(
        None, description="merge points closer than this [m]; 0: only points that coincide"
    )
    degenerate: bool = Field(False, description="drop cells without length, area or volume")
    inverted: bool = Field(False, description="turn over solid cells with negative volume")
    largest: bool = Field(
        False, description="keep only the connected component with the most cells"
    )
    unused: bool = Field(False, description="drop points that belong to no cell")


class Fill(SceneTable):
    """Fill a closed surface with tetrahedra."""

    spacing: Positive | None = Field(
        None, description="length of the longest edges inside [m]; default: 1/30 of the diagonal"
    )


class MeshTable(SceneTable):
    """Operations on any mesh.

    Their order is: clean, orient, fill, surface, triangulate, displace, rotate, translate.
    """

    clean: Clean | None = Field(None, description="cleaning; default: none")
    orient: bool = Field(
        False, description="turn faces so that neighbours agree and closed surfaces face outwards"
    )
    fill: Fill | None = Field(None, description="fill the closed surface with tetrahedra")
    surface: bool = Field(False, description="replace solid cells by their boundary")
    triangulate: bool = Field(False, description="cut quads and polygons into triangles")
    displace: Components | None = Field(
        None, description="displacement [m] of the rest shape, as expressions of x, y, z [m]"
    )
    rotate: Vector | None = Field(
        None, description="rotation vector (axis times angle) [rad] about the origin"
    )
    translate: Vector | None = Field(None, description="translation [m]")
    groups: Annotated[dict[Name, Selection], Field(max_length=100)] = Field(
        {}, description="names for selections of points"
    )


class FileMesh(MeshTable):
    """A mesh file in the scene's folder."""

    file: Text = Field(
        description="name of a mesh file (OBJ, PLY, STL, OFF, VTK, VTU, MSH, MESH, NODE, GLB…)"
    )
    scale: Positive = Field(1.0, description="metres per unit of the file")
    up: Literal["x", "y", "z"] = Field("y", description="the axis that points up in the file")


class InlineMesh(MeshTable):
    """A mesh given by points and cells."""

    points: Points = Field(description="positions [m], three coordinates each, or two in the plane")
    cells: Annotated[dict[str, Cells], Field(max_length=20)] = Field(
        {}, description=f"point indices by kind: {', '.join(NAMES)}; such as {{ line = [[0, 1]] }}"
    )


def _create_argument_field(argument: inspect.Parameter, description: str) -> tuple[Any, Any]:
    """Return the type and field of an argument of a generator."""
    types: dict[str, Any] = {
        "int": Annotated[int, Field(ge=1, le=MAX_PARTICLES)],
        "float": Positive,
        "float | None": Positive | None,
        "str": Text,
    }
    default: Any = argument.default
    if default is argument.empty:
        default = ...
    elif isinstance(default, tuple):
        default = list(default)
    return types.get(str(argument.annotation), FewNumbers), Field(default, description=description)


def _create_models() -> dict[str, type[MeshTable]]:
    """Create a model for each generator, from its signature and docstring."""
    models: dict[str, type[MeshTable]] = {"mesh:file": FileMesh, "mesh:points": InlineMesh}
    for name, generator in GENERATORS.items():
        summary = (inspect.getdoc(generator) or "").split("\n")[0]
        docs = read_parameter_docs(generator.__doc__)
        fields: dict[str, Any] = {"shape": (Literal[name], Field(description=summary))}
        for argument in inspect.signature(generator).parameters.values():
            fields[argument.name] = _create_argument_field(argument, docs.get(argument.name, ""))
        model: Any = create_model(
            f"{name.capitalize()}Mesh", __base__=MeshTable, __doc__=summary, **fields
        )
        models[f"mesh:{name}"] = model
    return models


MESH_MODELS = _create_models()
"""The model of a mesh table by its tag, such as "mesh:sheet"."""


def _find_tag(value: Any) -> str | None:
    if isinstance(value, MeshTable):
        value = value.model_dump()
    if not isinstance(value, dict):
        return None
    if "shape" in value:
        return f"mesh:{value['shape']}" if isinstance(value["shape"], str) else None
    for key in ("file", "points"):
        if key in value:
            return f"mesh:{key}"
    return None


if TYPE_CHECKING:
    AnyMeshTable = MeshTable
else:
    AnyMeshTable = create_tagged_union(MESH_MODELS, _find_tag)


def build_mesh(table: MeshTable, folder: SceneFolder, budget: PointBudget) -> Mesh:
    """Generate or read a mesh, and apply the operations of its table.

    >>> sheet = MESH_MODELS["mesh:sheet"](shape="sheet", nx=2, ny=2)
    >>> build_mesh(sheet, SceneFolder(None), PointBudget())
    Mesh(9 points, 4 quad)
    """
    mesh = _create_mesh(table, folder, budget)
    if table.clean is not None:
        mesh = meshes.clean(mesh, **table.clean.model_dump()).mesh
    if table.orient:
        mesh = meshes.oriented(mesh)
    if table.fill is not None:
        if table.fill.spacing is not None:
            budget.charge(_estimate_filling(mesh, table.fill.spacing))
        mesh = meshes.fill(mesh, table.fill.spacing)
    if table.surface:
        mesh = meshes.surface(mesh)
    if table.triangulate:
        mesh = meshes.triangulated(mesh)
    budget.check(mesh.n)
    points = mesh.positions
    if table.displace is not None:
        every = np.arange(mesh.n)[:, None]
        displacement = evaluate(table.displace, mesh, every, folder, vector=True)
        if callable(displacement):
            raise MeshError("the rest shape must not depend on time")
        points = points + displacement
    points = transform_points(table, points)
    if points is not mesh.positions:
        mesh = mesh.with_(points=points)
    if table.groups:
        groups: dict[str, Any] = dict(mesh.groups)
        for name, selection in table.groups.items():
            groups[name] = mesh.select(selection)
        mesh = mesh.with_(groups=groups)
    return mesh


def build_render_mesh(
    table: MeshTable, simulated: Mesh, folder: SceneFolder, budget: PointBudget
) -> Mesh:
    """Build a mesh to be drawn; the points of the simulated mesh must be near all of its points.

    Fillings round off creases and lose thin parts: what was there follows the nearest cells.
    """
    from scipy.spatial import cKDTree

    render = build_mesh(table, folder, budget)
    cells = [cells.ravel() for _, cells in simulated.blocks()]
    near = simulated.positions[np.unique(np.concatenate(cells))]
    size = float(np.linalg.norm(np.ptp(near, axis=0)))
    longest = float(simulated.lengths.max(initial=0.0))
    distance = np.asarray(cKDTree(near).query(render.positions)[0])
    if distance.max() > MAX_RENDER_DISTANCE * size + longest:
        point = int(np.argmax(distance))
        raise SceneError(
            [
                f"point {point} is far outside of the simulated mesh, {distance[point]:.3g} m from "
                f"its nearest point, more than {MAX_RENDER_DISTANCE:.0%} of its size and one edge"
            ]
        )
    return render


def transform_points(table: MeshTable, points: Float) -> Float:
    """Rotate and translate points [m], shape (n, 3), as a table says."""
    if table.rotate is not None:
        points = points @ rodrigues(np.array(table.rotate)).T
    if table.translate is not None:
        points = points + np.array(table.translate)
    return points


def _create_mesh(table: MeshTable, folder: SceneFolder, budget: PointBudget) -> Mesh:
    if isinstance(table, FileMesh):
        mesh = folder.read_mesh(table.file, table.scale, table.up)
        budget.charge(mesh.n)
        return mesh
    if isinstance(table, InlineMesh):
        if len({len(row) for row in table.points}) > 1:
            raise MeshError("points must all have two coordinates, or all three")
        cells = {kind: np.array(rows, dtype=np.int64) for kind, rows in table.cells.items()}
        return Mesh(table.points, cells)
    name = table.shape  # type: ignore[attr-defined]
    generator = GENERATORS[name]
    arguments = {key: getattr(table, key) for key in inspect.signature(generator).parameters}
    budget.charge(_estimate_points(name, arguments))
    return generator(**arguments)


def _estimate_filling(mesh: Mesh, spacing: float) -> float:
    """Return about how many points a filling has: at most a quarter of the lattice in the box.

    The body-centred cubic lattice has two points for each of its cubes.
    """
    sides = np.ptp(mesh.positions, axis=0) if mesh.n else np.zeros(3)
    cubes = float(np.prod(np.minimum(sides / spacing, 1e6) + 3.0))
    return min(cubes / 2, MAX_LATTICE_POINTS / 4)


def _estimate_points(name: str, arguments: dict[str, Any]) -> float:
    """Return about how many points a generator will make; never far too few."""
    if name == "sphere":
        return 10.0 * arguments["n"] ** 2 + 2
    if name == "disc":
        return 1.0 + 3.0 * arguments["rings"] * (arguments["rings"] + 1)
    spacing = arguments.get("spacing")
    if spacing is not None:  # a solid on a lattice: two points for each of its cubes
        size = arguments.get("height", 1.0)
        if "radius" in arguments:
            size = 2.0 * arguments["radius"]
        return float(min(size / spacing, 1e6)) ** 3
    counts = [v for v in arguments.values() if isinstance(v, int) and not isinstance(v, bool)]
    return float(np.prod([count + 1.0 for count in counts]))
