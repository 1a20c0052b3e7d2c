"""Moduli in, springs out.

The pairs and a first guess (`_lattice`), a fit on the mesh itself (`_fit`), and a factor for which
the stretch test (`_stretch_test`) measures the modulus that was asked for. A line of cross-section
A is a spring by itself, k = E A/l. Each cell gives equal parts of its mass to its corners.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.materials._arguments import Specification, check_mesh, check_specification
from taut.materials._body import Body
from taut.materials._cells import Cells, collect_cells
from taut.materials._report import format_table, list_limits
from taut.materials.bending import HingeFit, calibrate_hinges
from taut.materials.moduli import Moduli
from taut.mesh.measure import share_among_corners
from taut.mesh.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Springs:
    """Springs for a mesh: `laws.spring(s.pairs, k=s.k)` with the masses `s.mass`.

    Printed, it shows what was asked for and what was reached.

    pairs : the particles they join, shape (m, 2)
    k : stiffness [N/m], shape (m,)
    mass : of the particles [kg], shape (n,); None without a density
    bending : c of the hinges of a sheet [J], for `laws.shell_bending(mesh.hinges, c=s.bending)`;
        None without a thickness. Strips of the sheet bend as beams with E t³/12, in the mean over
        their directions; `limits` says if directions differ
    reached : the moduli measured on these springs [Pa], of a sheet without a thickness [N/m]; None
        for lines, whose modulus is exact
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
    """Make springs and masses that represent a material on a mesh.

    The springs are on its solids, or on its faces if it has none, or on its lines if it has
    neither.

    young : Young's modulus [Pa]; of a sheet also a pair, along the warp and along the weft
    thickness : of a sheet [m]
    area : cross-section of lines [m²]
    density : [kg/m³]
    membrane : of a sheet, in place of `young`: its product with the thickness [N/m], as it is
        measured on cloth; one or a pair
    areal_density : of a sheet, in place of `density` [kg/m²]
    poisson : Poisson's ratio of the material. Springs have their own, as `limits` will say, and
        strips bend without it
    shear : shear modulus of a sheet [Pa], with `membrane` [N/m]; without one it follows from the
        moduli
    warp : direction of the warp (3,), for a pair of moduli or a shear modulus
    fit : False for the formula of Van Gelder alone, neither fitted nor scaled

    A flat or inverted cell is a `MeshError` that names it, an impossible number a `ModelError`.

    >>> import taut
    >>> block = taut.mesh.block(3, 3, 3, size=0.1)
    >>> rubber = springs(block, young=1.5e6, density=950.0, poisson=0.49)
    >>> rubber.k.shape, round(float(rubber.mass.sum()), 6)
    ((360,), 0.95)
    >>> rubber.limits
    ('ν = 0.49: isotropic springs that strain evenly have ν = 1/4 in a solid',)
    >>> round(rubber.reached.young), round(rubber.reached.poisson, 6)
    (1500000, 0.25)
    """
    cells = collect_cells(check_mesh(mesh))
    asked = check_specification(
        cells.dimension,
        {
            "young": young,
            "thickness": thickness,
            "area": area,
            "density": density,
            "membrane": membrane,
            "areal_density": areal_density,
            "poisson": poisson,
            "shear": shear,
            "warp": warp,
        },
    )
    mass = None
    if asked.density is not None:
        mass = _lump_mass(mesh, cells, asked.density)
    if cells.dimension == 1:
        return _make_springs(mesh.edges, asked.stiffness[0] / mesh.lengths, mass, None, None, asked)
    body, k, reached = _represent(Body.build(mesh, cells, asked.warp), asked, fit)
    hinges = None
    if asked.thickness is not None and len(mesh.hinges):
        # A strip of a plate has EI/b = E t³/12, and E t is the stiffness asked for.
        hinges = calibrate_hinges(mesh, asked.mean_stiffness * asked.thickness**2 / 12)
    return _make_springs(body.lattice.pairs, k, mass, hinges, reached, asked)


def _represent(body: Body, asked: Specification, fit: bool) -> tuple[Body, Float, Moduli]:
    """Return the body, which may have more springs, their stiffnesses and what they reach."""
    unit = asked.mean_stiffness  # numbers stay near 1 until the end
    tensor = asked.tensor(body.cells.dimension) / unit
    if not fit:
        k = body.guess_stiffness(tensor)
        return body, k * unit, body.measure(k, tensor).times(unit)
    body, fitted = body.fit(tensor)
    k = fitted.k
    if not asked.is_isotropic:
        moduli = (asked.stiffness[0] / unit, asked.stiffness[-1] / unit)
        k = body.match_warp_and_weft(k, moduli, fitted.u)
    reached = body.measure(k, tensor, fitted.u)
    if asked.is_isotropic:
        factor = 1 / reached.young
    else:
        factor = 1 / float(np.sqrt(reached.warp * reached.weft))
    return body, k * factor * unit, reached.times(factor).times(unit)


def _make_springs(
    pairs: Int,
    k: Float,
    mass: Float | None,
    hinges: HingeFit | None,
    reached: Moduli | None,
    asked: Specification,
) -> Springs:
    """Assemble the result. reached : in Pa of a solid, in N/m of a sheet, None of lines."""
    c = None if hinges is None else hinges.c
    total_mass = None if mass is None else float(mass.sum())
    printed = format_table(reached, asked, len(pairs), total_mass, c)
    limits: tuple[str, ...] = ()
    if reached is not None:
        limits = list_limits(asked, reached, hinges)
        if asked.thickness is not None:
            reached = reached.times(1 / asked.thickness)
    for array in (pairs, k, mass):
        if array is not None:
            array.setflags(write=False)
    return Springs(pairs, k, mass, c, reached, limits, printed)


def _lump_mass(mesh: Mesh, cells: Cells, density: float) -> Float:
    """Return the mass of each point [kg], (n,), for a density per volume, area or length."""
    mass, start = np.zeros(mesh.n), 0
    for _, corners in cells.blocks:
        volume = cells.volume[start : start + len(corners)]
        mass += share_among_corners(density * volume, corners, mesh.n)
        start += len(corners)
    return mass
