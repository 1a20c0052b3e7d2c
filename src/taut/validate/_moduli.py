"""From Young's modulus to springs on any mesh: k = Σ E t A/l² (Van Gelder), then fitted.

The modulus is measured by the stretch test of `_bodies`, not by that of the fit.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.constraints.sliding import on_line
from taut.materials.springs import springs
from taut.mesh.mesh import Mesh
from taut.mesh.shapes.nets import rope
from taut.mesh.shapes.solids import block
from taut.mesh.shapes.surfaces import sheet
from taut.statics.equilibrium import equilibrium
from taut.validate._bodies import (
    TIGHT,
    build_irregular_sheet,
    build_system,
    extrapolate,
    measure_compliance,
    young_modulus,
)
from taut.validate.cases import Curve, Measurement, case

GELDER = "Van Gelder, J. Graphics Tools 3 (1998) 21"
ANGLES = np.linspace(0, np.pi, 24, endpoint=False)
AROUND = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
E, THICK = 3e6, 2e-3


def measure_sheet(mesh: Mesh) -> Measurement:
    """Measure 1/mean(1/E) over directions of springs fitted to E [Pa]."""
    made = springs(mesh, young=E, thickness=THICK)
    by_direction = young_modulus(measure_compliance(mesh, made.pairs, made.k, 2), AROUND) / THICK
    curve = Curve(
        np.degrees(ANGLES), by_direction / 1e6, np.full(24, E / 1e6), "direction [°]", "E [MPa]"
    )
    return Measurement(1 / np.mean(1 / by_direction), curve)


SCALED = "the springs are scaled to the modulus that a stretch test with residual 1e-6 measures"


@case(
    "young-irregular-sheet",
    formula="mean of 1/E(n) over directions = 1/E",
    source=f"{GELDER}; fitted",
    unit="Pa",
    expected=E,
    tolerance=1e-6,
    reason=SCALED,
)
def measure_young_irregular_sheet() -> Measurement:
    """Mean modulus over directions of springs fitted to 3 MPa on irregular triangles.

    The plot shows the modulus by direction, which varies by a few per cent.
    """
    return measure_sheet(build_irregular_sheet(16, seed=1))


@case(
    "young-alternating-sheet",
    formula="mean of 1/E(n) over directions = 1/E",
    source=f"{GELDER}; fitted",
    unit="Pa",
    expected=E,
    tolerance=1e-6,
    reason=SCALED,
)
def measure_young_alternating_sheet() -> Measurement:
    """Mean modulus over directions of springs fitted to 3 MPa on a grid, alternating diagonals."""
    return measure_sheet(sheet(12, 12, pattern="alternating"))


SOLID = 1e5


@case(
    "young-irregular-solid",
    formula="mean of 1/E(n) over directions = 1/E",
    source=f"{GELDER}; fitted",
    unit="Pa",
    expected=SOLID,
    tolerance=1e-6,
    reason=SCALED,
)
def measure_young_irregular_solid() -> Measurement:
    """Mean modulus over directions of springs fitted to 0.1 MPa on irregular tetrahedra.

    The plot shows the modulus by direction in the plane of two axes.
    """
    mesh = block(5, 5, 5, cells="tet")
    inner = np.setdiff1d(np.arange(mesh.n), mesh.boundary)
    points = mesh.points.copy()
    points[inner] += np.random.default_rng(2).uniform(-0.2, 0.2, (len(inner), 3)) / 5
    mesh = mesh.with_(points=points)
    made = springs(mesh, young=SOLID)
    s = measure_compliance(mesh, made.pairs, made.k, 3)
    trace, whole = np.array([1.0, 0, 0, 1, 0, 1]), np.trace(s)
    mean = (trace @ s @ trace + 2 * whole) / 15  # of 1/E over the sphere
    by_direction = young_modulus(s, np.column_stack([AROUND, np.zeros(24)]))
    return Measurement(
        1 / mean,
        Curve(
            np.degrees(ANGLES),
            by_direction / 1e3,
            np.full(24, SOLID / 1e3),
            "direction [°]",
            "E [kPa]",
        ),
    )


@case(
    "young-one-triangle",
    formula="k = E t A/l²",
    source=GELDER,
    unit="N/m",
    expected=[10.0, 2.5, 2.0],
    tolerance=1e-14,
    reason="the formula itself: a few rounding errors",
)
def measure_young_one_triangle() -> Measurement:
    """Stiffnesses of a single triangle with sides 1, 2 and √5 m and Et = 10 N/m.

    The plot shows k against length.
    """
    made = springs(
        Mesh([[0, 0], [1, 0], [0, 2]], {"triangle": [[0, 1, 2]]}), membrane=10.0, fit=False
    )
    k = np.sort(made.k)[::-1]
    lengths, fine = np.array([1, 2, np.sqrt(5)]), np.linspace(0.9, 2.4, 60)
    return Measurement(k, Curve(lengths, k, 10 / fine**2, "l [m]", "k [N/m]", theory_x=fine))


WIRE, SECTION = 2e9, 1e-6


@case(
    "young-wire",
    formula="u = F L/(E A)",
    source="Hooke 1678",
    unit="m",
    expected=50.0 * 1.6 / (WIRE * SECTION),
    tolerance=1e-13,
    reason=(
        "forces are balanced to 1e-13 of 50 N; 0.04 m is the difference of positions that are "
        "rounded by 2e-16 m"
    ),
)
def measure_young_wire() -> Measurement:
    """Elongation of a wire of unequal pieces under 50 N.

    The plot shows the displacement along the wire.
    """
    places = np.concatenate([[0], np.cumsum(np.geomspace(1, 6, 12))])
    places *= 1.6 / places[-1]
    line = Mesh(np.outer(places, [0, -1, 0]), {"line": rope(12).edges})
    made = springs(line, young=WIRE, area=SECTION)
    system = build_system(
        line.points,
        mass=1.0,
        fixed=[0],
        energies=[laws.spring(made.pairs, k=made.k), laws.force([12], f=(0, -50.0, 0))],
    )
    moved = line.points[:, 1] - equilibrium(system, tolerance=TIGHT).state.q[:, 1]
    return Measurement(
        moved[-1],
        Curve(places, moved, 50.0 * places / (WIRE * SECTION), "place [m]", "displacement [m]"),
    )


LONG, MOMENT = 4.0, 1e-6
CURVATURE = 12 * MOMENT  # of a beam of depth 1 m and modulus 1 N/m: EI = 1/12 N m²


def bend_beam(n: int) -> Float:
    """Bend a beam n squares deep; return its axis (k, 2) [m]. One end is a plane of symmetry."""
    mesh = sheet(round(LONG) * n, n, size=(LONG, 1.0))
    made = springs(mesh, membrane=1.0)
    x, y = mesh.points[:, 0], mesh.points[:, 1] - 0.5
    end, wall, axis = np.flatnonzero(x > LONG - 1e-9), np.flatnonzero(x < 1e-9), np.isclose(y, 0.0)
    pull = np.zeros((mesh.n, 3))
    for i, j in pairwise(end):  # the stress -12My, linear along each piece of the end
        pull[[i, j], 0] -= CURVATURE / n * np.array([2 * y[i] + y[j], y[i] + 2 * y[j]]) / 6
    energies = [laws.spring(made.pairs, k=made.k), laws.force(end, f=pull[end])]
    slides = on_line(wall[~axis[wall]], (0, 1, 0))
    system = build_system(
        mesh.points[:, :2],
        mass=1.0,
        fixed=wall[axis[wall]],
        energies=energies,
        constraints=[slides],
    )
    return equilibrium(system, tolerance=TIGHT).state.q[axis, :2]


@case(
    "beam-of-squares",
    formula="δ = ML²/2EI",
    source="Timoshenko and Goodier, Theory of Elasticity: pure bending",
    unit="m",
    expected=CURVATURE * LONG**2 / 2,
    tolerance=1e-5,
    reason=(
        "extrapolation from 4, 8 and 16 squares leaves sixth order, about (1/4)⁶/64; the modulus "
        "of the springs is fitted to 1e-6"
    ),
)
def measure_beam_of_squares() -> Measurement:
    """End deflection of a beam of squares with diagonals under a small end moment.

    The plot shows the deflection along the beam.
    """
    several = [bend_beam(n) for n in (4, 8, 16)]
    x, up = several[-1][:, 0], several[-1][:, 1] - 0.5
    return Measurement(
        extrapolate([q[-1, 1] - 0.5 for q in several]),
        Curve(x, 1e3 * up, 1e3 * CURVATURE * x**2 / 2, "x [m]", "bent by [mm]"),
    )
