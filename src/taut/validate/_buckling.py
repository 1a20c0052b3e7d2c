"""Buckling and snap-through: the load at which the lowest eigenvalue of K passes zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import jv

from taut import laws
from taut.arrays import Float
from taut.constraints.sliding import on_line
from taut.mesh.shapes.nets import rope
from taut.statics.stability import stability
from taut.system.state import State
from taut.system.system import System
from taut.validate._bodies import build_system, extrapolate
from taut.validate.cases import Curve, Measurement, case

TIMOSHENKO = "Timoshenko and Gere, Theory of Elastic Stability"


def build_rod(n: int, axial: float, *, clamped: bool) -> System:
    """Build a rod of n links and 1 m length along x, in the plane.

    EI = 1 N m², EA = axial [N]; clamped at x = 0 with a free end, or pinned with a sliding end.
    """
    line = rope(n)
    energies = [laws.spring(line.edges, k=n * axial), laws.rod_bending(line.rod_hinges, EI=1.0)]
    energies += [laws.rod_clamp([[0, 1]], EI=1.0)] if clamped else []
    slides = [] if clamped else [on_line([n], (1, 0, 0))]
    return build_system(
        line.points[:, :2], mass=1.0, fixed=[0], energies=energies, constraints=slides
    )


def lowest_stiffness(system: System, thrust: Float, axial: float) -> float:
    """Return the lowest eigenvalue of K [N/m] of a straight rod under thrusts (n,) [N]."""
    x = np.concatenate([[0.0], np.cumsum((1 - thrust / axial) / len(thrust))])
    state = system.initial_state().with_(q=np.column_stack([x, 0 * x, 0 * x]))
    return float(stability(system, state, n=1).eigenvalues[0])


def find_critical_load(
    n: int, axial: float, thrust: Callable[[float], Float], near: float, *, clamped: bool
) -> float:
    """Find the load at which a rod of n links becomes unstable, within 20% of `near`."""
    system = build_rod(n, axial, clamped=clamped)
    return float(
        brentq(
            lambda p: lowest_stiffness(system, thrust(p), axial),
            0.8 * near,
            1.2 * near,
            xtol=1e-12,
            rtol=1e-12,
        )
    )


def uniform_thrust(n: int) -> Callable[[float], Float]:
    """Return the thrusts (n,) as a function of the load: the same in all links."""
    return lambda load: np.full(n, load)


AXIAL = 3000.0


def critical_load_of_links(n: int) -> float:
    """Solve P = 4(EI/l)/l' sin²(π/2N), with l' = l(1 - P/EA) the compressed link [N]."""
    s = 4 * n**2 * np.sin(np.pi / (2 * n)) ** 2
    return float(brentq(lambda p: p * (1 - p / AXIAL) - s, 0.5 * s, 1.5 * s, xtol=1e-14))


def predict_lowest_stiffness(n: int, loads: Float) -> Float:
    """Return the lowest eigenvalue of n links under each load [N/m]; the mode is always a sine."""
    s2, link = 4 * np.sin(np.pi / (2 * n)) ** 2, (1 - loads / AXIAL) / n
    return np.asarray(s2 / link * (s2 * n / link - loads))


def register(n: int) -> None:
    @case(
        f"buckling-{n}-links",
        formula="P(1 - P/EA) = 4N²(EI/L²) sin²(π/2N)",
        source=f"{TIMOSHENKO}: rigid bars and hinges",
        unit="N",
        expected=critical_load_of_links(n),
        tolerance=5e-9,
        reason="an eigenvalue counts as zero below 2e-9 of the load or less",
        description=f"Critical load of a pinned rod of {n} links. The plot: lowest eigenvalue.",
    )
    def measure() -> Measurement:
        load = find_critical_load(
            n, AXIAL, uniform_thrust(n), critical_load_of_links(n), clamped=False
        )
        system, several = (
            build_rod(n, AXIAL, clamped=False),
            np.linspace(0, 1.2, 13) * critical_load_of_links(n),
        )
        values = np.array(
            [lowest_stiffness(system, np.full(n, p), AXIAL) for p in several.tolist()]
        )
        return Measurement(
            load,
            Curve(
                several,
                values,
                predict_lowest_stiffness(n, several),
                "load [N]",
                "lowest eigenvalue [N/m]",
            ),
        )


for n in (10, 20):
    register(n)


@case(
    "buckling-cosine-hinges",
    formula="P(1 - P/EA) = 4N²(EI/L²) sin²(π/2N), EI = kl/2",
    unit="N",
    expected=critical_load_of_links(10),
    source=f"{TIMOSHENKO}: rigid bars and hinges",
    tolerance=5e-9,
    reason="an eigenvalue counts as zero below 2e-9 of the load or less",
)
def measure_buckling_cosine_hinges() -> Measurement:
    """Critical load of ten links with hinges ½k(1 - cos θ), which is a rod of EI = kl/2 at small
    angles. The plot shows the lowest eigenvalue.
    """
    line = rope(10)
    energies = [laws.spring(line.edges, k=10 * AXIAL), laws.rod_hinge(line.rod_hinges, k=20.0)]
    system = build_system(
        line.points[:, :2],
        mass=1.0,
        fixed=[0],
        energies=energies,
        constraints=[on_line([10], (1, 0, 0))],
    )
    got = brentq(
        lambda p: lowest_stiffness(system, np.full(10, p), AXIAL),
        0.8 * critical_load_of_links(10),
        1.2 * critical_load_of_links(10),
        xtol=1e-12,
        rtol=1e-12,
    )
    several = np.linspace(0, 1.2, 13) * critical_load_of_links(10)
    values = [lowest_stiffness(system, np.full(10, p), AXIAL) for p in several.tolist()]
    return Measurement(
        got,
        Curve(
            several,
            values,
            predict_lowest_stiffness(10, several),
            "load [N]",
            "lowest eigenvalue [N/m]",
        ),
    )


STIFF = 1e4
COLUMN = brentq(lambda p: p * (1 - p / STIFF) - np.pi**2 / 4, 2.0, 3.0, xtol=1e-14)


@case(
    "buckling-cantilever",
    formula="P(1 - P/EA) = π²EI/4L²",
    source=TIMOSHENKO,
    unit="N",
    expected=COLUMN,
    tolerance=2e-7,
    reason=(
        "extrapolated from 5, 10 and 20 links, each to 1e-7: the bound below which an eigenvalue "
        "counts as zero"
    ),
)
def measure_buckling_cantilever() -> Measurement:
    """Euler load of a rod with one clamped and one free end.

    The plot shows it against the number of links.
    """
    found = [
        find_critical_load(n, STIFF, uniform_thrust(n), COLUMN, clamped=True) for n in (5, 10, 20)
    ]
    return Measurement(
        extrapolate(found),
        Curve([5, 10, 20], found, np.full(3, COLUMN), "links", "critical load [N]"),
    )


HEAVY = 3e4
GREENHILL = 9 / 4 * brentq(lambda z: jv(-1 / 3, z), 1.0, 2.5, xtol=1e-15) ** 2


@case(
    "buckling-own-weight",
    formula="wL³/EI = (9/4) z², J₋⅓(z) = 0: 7.8373",
    source="Greenhill, Proc. Camb. Phil. Soc. 4 (1881) 65",
    unit="N",
    expected=GREENHILL,
    tolerance=GREENHILL / HEAVY,
    reason="compressed by its weight, the column is shorter by wL/2EA and correspondingly stiffer",
)
def measure_buckling_own_weight() -> Measurement:
    """Weight at which a column on a clamped foot buckles, for EI = 1 N m² and L = 1 m."""

    def thrust_below(n: int) -> Callable[[float], Float]:
        # Half of the mass of a link is at either of its ends.
        return lambda weight: weight * (1 - (np.arange(n) + 0.5) / n)

    found = [
        find_critical_load(n, HEAVY, thrust_below(n), GREENHILL, clamped=True) for n in (5, 10, 20)
    ]
    return Measurement(
        extrapolate(found),
        Curve([5, 10, 20], found, np.full(3, GREENHILL), "links", "critical weight [N]"),
    )


HALF, BAR, K = 1.0, 1.05, 200.0  # half the span [m], rest length of a bar [m], its stiffness [N/m]
SNAP = np.sqrt((BAR * HALF**2) ** (2 / 3) - HALF**2)


@case(
    "truss-snap",
    formula="l³ = l₀b²: the height y = √(l² - b²) at which P = 2k(l₀ - l)y/l is largest",
    source="von Mises, Z. angew. Math. Mech. 3 (1923) 406",
    unit="m",
    expected=SNAP,
    tolerance=1e-13,
    reason="an eigenvalue counts as zero below 1e-12 N/m, and it changes by 1e3 N/m per metre",
)
def measure_truss_snap() -> Measurement:
    """Height at which two shallow bars, pushed down in the middle, snap through.

    The plot shows the load against the height.
    """
    system = build_system(
        [[-HALF, 0, 0], [0, 0, 0], [HALF, 0, 0]],
        mass=1.0,
        fixed=[0, 2],
        energies=[laws.spring([[0, 1], [1, 2]], k=K, l0=BAR)],
        constraints=[on_line([1], (0, 1, 0))],
    )

    def at(y: float) -> State:
        return system.initial_state().with_(q=[[-HALF, 0, 0], [0, y, 0], [HALF, 0, 0]])

    top = np.sqrt(BAR**2 - HALF**2)
    got = brentq(lambda y: stability(system, at(y), n=1).eigenvalues[0], 0.3 * top, top, xtol=1e-15)
    y = np.linspace(-1.3 * top, 1.3 * top, 25)
    fine = np.linspace(-1.3 * top, 1.3 * top, 100)
    theory = 2 * K * (BAR - np.hypot(fine, HALF)) * fine / np.hypot(fine, HALF)
    return Measurement(
        got,
        Curve(
            y,
            [system.f(at(h))[1, 1] for h in y.tolist()],
            theory,
            "height [m]",
            "load [N]",
            theory_x=fine,
        ),
    )
