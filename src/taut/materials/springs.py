"""Moduli in, springs out.

The pairs and a first guess (`lattice`), a fit on the mesh itself (`fit`), and a factor for which the stretch test (`stretch`)
measures the modulus that was asked for. A line of cross-section A is a spring by itself, k = E A/l. Each cell gives equal parts of
its mass to its corners.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.materials.arguments import a_mesh
from taut.materials.bending import Hinges, hinges_of
from taut.materials.body import Body
from taut.materials.cells import Cells, cells_of
from taut.materials.moduli import Moduli
from taut.materials.report import limits, table
from taut.materials.wanted import Wanted, wanted
from taut.mesh.measure import to_corners
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Springs:
    """Springs for a mesh: `laws.spring(s.pairs, k=s.k)` with the masses `s.mass`. Printed: what was asked for and what was reached.

    pairs : the particles they join, shape (m, 2)
    k : stiffness [N/m], shape (m,)
    mass : of the particles [kg], shape (n,); None without a density
    bending : c of the hinges of a sheet [J], for `laws.shell_bending(mesh.hinges, c=s.bending)`; None without a thickness.
        Strips of the sheet bend as beams with E t³/12, in the mean over their directions; `limits` says if directions differ
    reached : the moduli measured on these springs [Pa], of a sheet without a thickness [N/m]; None for lines, which have theirs
    limits : what springs do not reach of what was asked for, in words

    >>> import taut
    >>> print(springs(taut.mesh.rope(4), young=1e9, area=1e-6, density=1000.0))
    4 springs, 0.001 kg, E·A = 1000 N
    """

    pairs: Int
    k: Float
    mass: Float | None
    bending: float | None
    reached: Moduli | None
    limits: tuple[str, ...]
    _printed: str

    def __repr__(self) -> str:
        return f"Springs({self._printed.splitlines()[0].split('  ')[0]})"

    def __str__(self) -> str:
        return "\n".join([self._printed, *(f"out of reach: {limit}" for limit in self.limits)])


def springs(
    mesh: Mesh,
    *,
    young: float | tuple[float, float] | None = None,
    thickness: float | None = None,
    area: float | None = None,
    density: float | None = None,
    membrane: float | tuple[float, float] | None = None,
    areal_density: float | None = None,
    poisson: float | None = None,
    shear: float | None = None,
    warp: ArrayLike | None = None,
    fit: bool = True,
) -> Springs:
    """Springs and masses for a material on the solids of a mesh; on its faces if it has none; on its lines if it has neither.

    young : Young's modulus [Pa]; of a sheet also a pair, along the warp and along the weft
    thickness : of a sheet [m]
    area : cross-section of lines [m²]
    density : [kg/m³]
    membrane : of a sheet, in place of `young`: its product with the thickness [N/m], as it is measured on cloth; one or a pair
    areal_density : of a sheet, in place of `density` [kg/m²]
    poisson : Poisson's ratio of the material. Springs have their own, as `limits` will say, and strips bend without it
    shear : shear modulus of a sheet [Pa], with `membrane` [N/m]; without one it follows from the moduli
    warp : direction of the warp (3,), for a pair of moduli or a shear modulus
    fit : False for the formula of Van Gelder alone, neither fitted nor scaled

    A flat or inverted cell is a `MeshError` that names it, a number that makes no sense a `ModelError`.

    >>> import taut
    >>> rubber = springs(taut.mesh.block(3, 3, 3, size=0.1), young=1.5e6, density=950.0, poisson=0.49)
    >>> rubber.k.shape, round(float(rubber.mass.sum()), 6), rubber.limits
    ((360,), 0.95, ('ν = 0.49: isotropic springs that strain evenly have ν = 1/4 in a solid',))
    >>> round(rubber.reached.young), round(rubber.reached.poisson, 6)
    (1500000, 0.25)
    """
    cells = cells_of(a_mesh(mesh))
    given: dict[str, Any] = {
        "young": young, "thickness": thickness, "area": area, "density": density, "membrane": membrane,
        "areal_density": areal_density, "poisson": poisson, "shear": shear, "warp": warp,
    }  # fmt: skip
    asked = wanted(cells.dimension, given)
    mass = None if asked.density is None else _masses(mesh, cells, asked.density)
    if cells.dimension == 1:
        pairs, length = mesh.edges, mesh.lengths
        return _made(pairs, asked.stiffness[0] / length, mass, None, None, (), asked)
    body = Body.of(mesh, cells, asked.warp)
    unit = asked.mean  # of stiffness: numbers stay near 1 until the end
    tensor = asked.tensor(cells.dimension) / unit
    if not fit:
        k = body.guess(tensor)
        reached = body.measured(k, tensor)
    else:
        body, found = body.fitted(tensor)
        k = found.k if asked.even else body.turned_to(found.k, (asked.stiffness[0] / unit, asked.stiffness[-1] / unit), found.u)
        reached = body.measured(k, tensor, found.u)
        factor = 1 / (reached.young if asked.even else float(np.sqrt(reached.warp * reached.weft)))
        k, reached = k * factor, reached.times(factor)
    k, reached = k * unit, reached.times(unit)
    hinges = _hinges(mesh, asked)
    return _made(body.lattice.pairs, k, mass, hinges, reached, limits(asked, reached, hinges), asked)


def _made(
    pairs: Int, k: Float, mass: Float | None, hinges: Hinges | None, reached: Moduli | None, said: tuple[str, ...], asked: Wanted
) -> Springs:
    c = None if hinges is None else hinges.c
    printed = table(reached, asked, len(pairs), None if mass is None else float(mass.sum()), c)
    moduli = reached if reached is None or asked.thickness is None else reached.times(1 / asked.thickness)
    for array in (pairs, k, mass):
        if array is not None:
            array.setflags(write=False)
    return Springs(pairs, k, mass, c, moduli, said, printed)


def _masses(mesh: Mesh, cells: Cells, density: float) -> Float:
    """The mass of each point [kg], shape (n,), for a density by volume (area, length) of the cells."""
    mass, start = np.zeros(mesh.n), 0
    for _, corners in cells.blocks:
        mass += to_corners(density * cells.volume[start : start + len(corners)], corners, mesh.n)
        start += len(corners)
    return mass


def _hinges(mesh: Mesh, asked: Wanted) -> Hinges | None:
    """The hinges of a plate: E t³/12 for a strip."""
    if asked.thickness is None or not len(mesh.hinges):
        return None
    return hinges_of(mesh, asked.mean * asked.thickness**2 / 12)
