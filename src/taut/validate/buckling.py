"""Rods that buckle and trusses that snap: the load at which the lowest eigenvalue of K passes zero, P = π²EI/L² and its kin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import jv

from taut import laws
from taut.constraints.sliding import on_line
from taut.mesh.shapes.nets import rope
from taut.step.stability import stability
from taut.system.state import State
from taut.system.system import System
from taut.validate.bodies import body, limit
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case

TIMOSHENKO = "Timoshenko and Gere, Theory of Elastic Stability"


def rod(n: int, axial: float, *, clamped: bool) -> System:
    """A metre of n links along x in the plane, EI = 1 N m² and EA = axial [N]; its far end is free, or pinned and slides."""
    line = rope(n)
    energies = [laws.spring(line.edges, k=n * axial), laws.rod_bending(line.rod_hinges, EI=1.0)]
    energies += [laws.rod_clamp([[0, 1]], EI=1.0)] if clamped else []
    slides = [] if clamped else [on_line([n], (1, 0, 0))]
    return body(line.points[:, :2], mass=1.0, fixed=[0], energies=energies, constraints=slides)


def softest(system: System, thrust: Float, axial: float) -> float:
    """The lowest eigenvalue of K [N/m] of a straight rod whose links carry thrusts (n,) [N]."""
    x = np.concatenate([[0.0], np.cumsum((1 - thrust / axial) / len(thrust))])
    state = system.initial_state().with_(q=np.column_stack([x, 0 * x, 0 * x]))
    return float(stability(system, state, n=1).eigenvalues[0])


def critical(n: int, axial: float, thrust: Callable[[float], Float], near: float, *, clamped: bool) -> float:
    """The load at which the rod of n links turns unstable, found between 0.8 and 1.2 of what it should be near."""
    system = rod(n, axial, clamped=clamped)
    return float(brentq(lambda p: softest(system, thrust(p), axial), 0.8 * near, 1.2 * near, xtol=1e-12, rtol=1e-12))


def even(n: int) -> Callable[[float], Float]:
    """The same thrust in all links."""
    return lambda load: np.full(n, load)


AXIAL = 3000.0


def jointed(n: int) -> float:
    """P = 4(EI/l)/l' sin²(π/2N), l' = l(1 - P/EA) the link as it is pressed."""
    s = 4 * n**2 * np.sin(np.pi / (2 * n)) ** 2
    return float(brentq(lambda p: p * (1 - p / AXIAL) - s, 0.5 * s, 1.5 * s, xtol=1e-14))


def lowest(n: int, loads: Float) -> Float:
    """The lowest eigenvalue of n links under each load [N/m]: the mode is a sine at any of them."""
    s2, link = 4 * np.sin(np.pi / (2 * n)) ** 2, (1 - loads / AXIAL) / n
    return np.asarray(s2 / link * (s2 * n / link - loads))


def register(n: int) -> None:
    @case(
        f"buckling-{n}-links", formula="P(1 - P/EA) = 4N²(EI/L²) sin²(π/2N)", source=f"{TIMOSHENKO}: rigid bars and hinges",
        unit="N", expected=jointed(n), tolerance=5e-9, why="what counts as a zero eigenvalue is 2e-9 of the load and less",
        what=f"A pinned rod of {n} links: the load at which it buckles; the curve: its lowest eigenvalue.",
    )  # fmt: skip
    def pinned() -> Found:
        load = critical(n, AXIAL, even(n), jointed(n), clamped=False)
        system, several = rod(n, AXIAL, clamped=False), np.linspace(0, 1.2, 13) * jointed(n)
        values = np.array([softest(system, np.full(n, p), AXIAL) for p in several.tolist()])
        return Found(load, Curve(several, values, lowest(n, several), "load [N]", "lowest eigenvalue [N/m]"))


for n in (10, 20):
    register(n)


@case(
    "buckling-cosine-hinges", formula="P(1 - P/EA) = 4N²(EI/L²) sin²(π/2N), EI = kl/2", unit="N", expected=jointed(10),
    source=f"{TIMOSHENKO}: rigid bars and hinges", tolerance=5e-9,
    why="what counts as a zero eigenvalue is 2e-9 of the load and less",
)  # fmt: skip
def cosine_hinges() -> Found:
    """Ten links with hinges ½k(1 - cos θ), which bend like a rod of EI = kl/2 at first; the curve: the lowest eigenvalue."""
    line = rope(10)
    energies = [laws.spring(line.edges, k=10 * AXIAL), laws.rod_hinge(line.rod_hinges, k=20.0)]
    system = body(line.points[:, :2], mass=1.0, fixed=[0], energies=energies, constraints=[on_line([10], (1, 0, 0))])
    got = brentq(lambda p: softest(system, np.full(10, p), AXIAL), 0.8 * jointed(10), 1.2 * jointed(10), xtol=1e-12, rtol=1e-12)
    several = np.linspace(0, 1.2, 13) * jointed(10)
    values = [softest(system, np.full(10, p), AXIAL) for p in several.tolist()]
    return Found(got, Curve(several, values, lowest(10, several), "load [N]", "lowest eigenvalue [N/m]"))


STIFF = 1e4
COLUMN = brentq(lambda p: p * (1 - p / STIFF) - np.pi**2 / 4, 2.0, 3.0, xtol=1e-14)


@case(
    "buckling-cantilever", formula="P(1 - P/EA) = π²EI/4L²", source=TIMOSHENKO, unit="N", expected=COLUMN, tolerance=2e-7,
    why="extrapolated from 5, 10 and 20 links, each to 1e-7: what counts as a zero eigenvalue",
)  # fmt: skip
def cantilever() -> Found:
    """A rod clamped at one end and free at the other: Euler's load; the curve: over the links."""
    found = [critical(n, STIFF, even(n), COLUMN, clamped=True) for n in (5, 10, 20)]
    return Found(limit(found), Curve([5, 10, 20], found, np.full(3, COLUMN), "links", "critical load [N]"))


HEAVY = 3e4
GREENHILL = 9 / 4 * brentq(lambda z: jv(-1 / 3, z), 1.0, 2.5, xtol=1e-15) ** 2


@case(
    "buckling-own-weight", formula="wL³/EI = (9/4) z², J₋⅓(z) = 0: 7.8373", source="Greenhill, Proc. Camb. Phil. Soc. 4 (1881) 65",
    unit="N", expected=GREENHILL, tolerance=GREENHILL / HEAVY,
    why="pressed by its weight it is shorter by wL/2EA, and stiffer accordingly",
)  # fmt: skip
def own_weight() -> Found:
    """A column that stands on a clamped foot: the weight, of EI = 1 N m² and 1 m, at which it bends over."""

    def above(n: int) -> Callable[[float], Float]:
        return lambda weight: weight * (1 - (np.arange(n) + 0.5) / n)  # half a link of mass is at either end of each

    found = [critical(n, HEAVY, above(n), GREENHILL, clamped=True) for n in (5, 10, 20)]
    return Found(limit(found), Curve([5, 10, 20], found, np.full(3, GREENHILL), "links", "critical weight [N]"))


HALF, BAR, K = 1.0, 1.05, 200.0  # half the span [m], rest length of a bar [m], its stiffness [N/m]
SNAP = np.sqrt((BAR * HALF**2) ** (2 / 3) - HALF**2)


@case(
    "truss-snap", formula="l³ = l₀b²: the height y = √(l² - b²) at which P = 2k(l₀ - l)y/l is largest",
    source="von Mises, Z. angew. Math. Mech. 3 (1923) 406", unit="m", expected=SNAP, tolerance=1e-13,
    why="what counts as a zero eigenvalue is 1e-12 N/m, and it changes by 1e3 N/m a metre",
)  # fmt: skip
def truss() -> Found:
    """Two flat bars pushed down in the middle: the height at which they snap through; the curve: the load over the height."""
    system = body(
        [[-HALF, 0, 0], [0, 0, 0], [HALF, 0, 0]], mass=1.0, fixed=[0, 2], energies=[laws.spring([[0, 1], [1, 2]], k=K, l0=BAR)],
        constraints=[on_line([1], (0, 1, 0))],
    )  # fmt: skip

    def at(y: float) -> State:
        return system.initial_state().with_(q=[[-HALF, 0, 0], [0, y, 0], [HALF, 0, 0]])

    top = np.sqrt(BAR**2 - HALF**2)
    got = brentq(lambda y: stability(system, at(y), n=1).eigenvalues[0], 0.3 * top, top, xtol=1e-15)
    y = np.linspace(-1.3 * top, 1.3 * top, 25)
    fine = np.linspace(-1.3 * top, 1.3 * top, 100)
    theory = 2 * K * (BAR - np.hypot(fine, HALF)) * fine / np.hypot(fine, HALF)
    return Found(got, Curve(y, [system.f(at(h))[1, 1] for h in y.tolist()], theory, "height [m]", "load [N]", at=fine))
