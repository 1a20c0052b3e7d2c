"""Rods with bending stiffness: the elastica EI θ'' = -P cos θ under an end load or moment."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

from taut import laws
from taut.arrays import Float
from taut.binding.decorators import energy
from taut.formula.vocabulary import Vector, atan2
from taut.optimise.tolerance import Tolerance
from taut.statics.equilibrium import equilibrium
from taut.system.system import System
from taut.validate._bodies import build_system, extrapolate, neighbour_pairs, neighbour_triples
from taut.validate.cases import Curve, Measurement, case

FINE = Tolerance(1e-12)
BISSHOPP = "Bisshopp and Drucker, Quart. Appl. Math. 3 (1945) 272"


def build_cantilever(
    places: Float, loads: list[Any], *, axial: float, law: Any = laws.rod_bending, **more: Any
) -> System:
    """Build a rod of EI = 1 N m² and EA = axial [N] along x, clamped at its first particle."""
    n = len(places) - 1
    springs = laws.spring(neighbour_pairs(n), k=axial / np.diff(places))
    energies = [
        springs,
        law(neighbour_triples(n), EI=1.0),
        laws.rod_clamp([[0, 1]], EI=1.0),
        *loads,
    ]
    return build_system(
        np.column_stack([places, 0 * places]), fixed=[0], energies=energies, **{"mass": 1.0, **more}
    )


def load_end(n: int, alpha: float, axial: float = 1e8) -> Float:
    """Compute the positions (n + 1, 2) of 1 m of n links under a force α downwards at the end."""
    system = build_cantilever(
        np.linspace(0, 1, n + 1), [laws.force([n], f=(0, -alpha))], axial=axial
    )
    return equilibrium(system, tolerance=FINE).state.q[:, :2]


def elastica_deflection(alpha: float) -> float:
    """Return δ/L of the elastica.

    With m = (1 + sin φ(L))/2 and sin ψ = 1/√(2m): K(m) - F(ψ, m) = √α, and
    δ/L = 1 - 2(E(m) - E(ψ, m))/√α.
    """

    def quarter(complete: Any, incomplete: Any, m: float) -> float:
        return float(complete(m) - incomplete(np.arcsin(1 / np.sqrt(2 * m)), m))

    m = brentq(lambda m: quarter(ellipk, ellipkinc, m) - np.sqrt(alpha), 0.5, 1 - 1e-13, xtol=1e-16)
    return 1 - 2 * quarter(ellipe, ellipeinc, m) / float(np.sqrt(alpha))


ALPHAS = np.array([0.5, 1, 2, 3, 5, 10])


@case(
    "elastica-load",
    formula="K(m) - F(ψ, m) = √α, δ/L = 1 - 2(E(m) - E(ψ, m))/√α, α = PL²/EI",
    source=BISSHOPP,
    expected=[elastica_deflection(a) for a in ALPHAS.tolist()],
    tolerance=2e-7,
    reason=(
        "a rod of EA = 1e8 EI/L² stretches by 1e-7 at α = 10; extrapolation from 10, 20 and 40 "
        "links leaves sixth order"
    ),
)
def measure_elastica_load() -> Measurement:
    """End deflection of a cantilever under an end load, divided by its length, for α = ½ to 10."""
    got = [
        extrapolate([-load_end(n, alpha)[-1, 1] for n in (10, 20, 40)]) for alpha in ALPHAS.tolist()
    ]
    fine = np.geomspace(0.05, 11, 80)
    return Measurement(
        got,
        Curve(
            ALPHAS,
            got,
            [elastica_deflection(a) for a in fine.tolist()],
            "PL²/EI",
            "δ/L",
            theory_x=fine,
        ),
    )


def shoot_links(n: int, alpha: float, axial: float) -> Float:
    """Solve for the positions (n + 1, 2) of extensible links by shooting, without taut.

    The moment falls by P l cos φ from joint to joint, to zero at the end.
    """

    def shoot(first: float) -> tuple[float, list[tuple[float, float]]]:
        angle, moment, places = first, 2 * n * first, [(0.0, 0.0)]
        for i in range(n):
            link = (1 + alpha * np.sin(angle) / axial) / n
            places.append(
                (places[-1][0] + link * np.cos(angle), places[-1][1] - link * np.sin(angle))
            )
            moment -= alpha * link * np.cos(angle)
            angle += moment / n if i < n - 1 else 0.0
        return moment, places

    return np.array(
        shoot(brentq(lambda first: shoot(first)[0], 0.0, alpha / n, xtol=1e-16, rtol=1e-15))[1]
    )


LINKED = shoot_links(15, 5.0, 5e3)
COUNTS = (10, 20, 40)


@case(
    "elastica-links",
    formula="M_i = M_{i-1} - P l_i cos φ_i, φ_{i+1} = φ_i + M_i l/EI, l_i = l(1 + P sin φ_i/EA)",
    source="statics of links and hinges, solved by shooting",
    unit="m",
    expected=LINKED[1:],
    scale=1.0,
    tolerance=1e-13,
    reason="Newton's method ends at rounding, of 15 links and hinges",
)
def measure_elastica_links() -> Measurement:
    """Positions of fifteen links that stretch by 0.1% under an end load; no limit is taken."""
    q = load_end(15, 5.0, 5e3)
    return Measurement(q[1:], Curve.from_shapes(q, LINKED))


@case(
    "elastica-clamp",
    formula="δ_N/δ - 1 with a wall hinge of 2EI/l: 0.47% at N = 10, 0.12% at 20, 0.029% at 40",
    source=f"{BISSHOPP}, and links by shooting",
    expected=[-shoot_links(n, 1.0, 1e8)[-1, 1] / elastica_deflection(1.0) - 1 for n in COUNTS],
    tolerance=1e-9,
    reason="deflections agree to about 1e-14, and their differences are 3e-4",
)
def measure_elastica_clamp() -> Measurement:
    """Error of N links against the elastica at α = 1: second order, with a wall hinge of 2EI/l."""
    got = np.array([-load_end(n, 1.0)[-1, 1] / elastica_deflection(1.0) - 1 for n in COUNTS])
    fine = np.arange(9, 42)
    return Measurement(
        got, Curve(COUNTS, 100 * got, 0.47 * (10 / fine) ** 2, "links", "error [%]", theory_x=fine)
    )


def moment_at_end(n: int, M: float) -> list[Any]:
    """Return the energies of a moment M [N m] at the end of n links.

    Its work is M times the angle of the last link, which is the sum of all angles, including that
    at the wall: V = -Mθ with signed angles in the plane, by two laws that only this case needs.
    """

    @energy(invariant="translation")
    def at_turn(x: Any, M: Any) -> Any:
        a, b = x[1] - x[0], x[2] - x[1]
        return -M * atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])

    @energy(invariant="translation")
    def at_wall(x: Any, M: Any, direction: Vector) -> Any:
        b = x[1] - x[0]
        return -M * atan2(
            direction[0] * b[1] - direction[1] * b[0], direction[0] * b[0] + direction[1] * b[1]
        )

    return [at_turn(neighbour_triples(n), M=M), at_wall([[0, 1]], M=M, direction=(1, 0, 0))]


SIDES = 24
POLYGON = np.cumsum(np.exp(2j * np.pi * (np.arange(SIDES) + 0.5) / SIDES)) / SIDES


@case(
    "elastica-moment",
    formula="each hinge turns by Ml/EI: at M = 2πEI/L the rod closes to a circle",
    source="Euler, De curvis elasticis, 1744",
    unit="m",
    expected=np.column_stack([POLYGON.real, POLYGON.imag]),
    scale=1.0,
    tolerance=1e-10,
    reason=(
        "forces are balanced to 1e-12 of the forces that act, and the rod is EA L²/EI = 1e4 times "
        "softer in bending"
    ),
)
def measure_elastica_moment() -> Measurement:
    """An end moment bends a clamped rod of 24 links into a regular polygon whose ends meet."""
    loads = moment_at_end(SIDES, 2 * np.pi)
    bow = 0.02 * np.arange(SIDES)
    start = np.vstack(
        [[0, 0], np.cumsum(np.column_stack([np.cos(bow), np.sin(bow)]), axis=0) / SIDES]
    )
    system = build_cantilever(
        np.linspace(0, 1, SIDES + 1), loads, axial=1e4, law=laws.planar_rod_bending, pose=start
    )
    q = equilibrium(system, tolerance=FINE).state.q[:, :2]
    around = 2 * np.pi * np.arange(101) / 100
    circle = np.column_stack([np.sin(around), 1 - np.cos(around)]) / (2 * np.pi)
    return Measurement(q[1:], Curve.from_shapes(q, circle))
