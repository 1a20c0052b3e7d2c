"""Chains of springs and masses: ω_j = 2√(k/m) sin(…) for each kind of end, and springs in a row and across."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import j0, jn_zeros, roots_laguerre

from taut import laws
from taut.constraints.sliding import on_line
from taut.mesh.shapes.nets import rope
from taut.step.statics import equilibrium
from taut.step.vibration import Modes, modes
from taut.system.system import System
from taut.validate.bodies import TIGHT, G, body
from taut.validate.case import Curve, Found
from taut.validate.registry import case

N, K, M = 50, 70.0, 0.4
FASTEST = 2 * np.sqrt(K / M)
J = np.arange(1, N + 1)
BRILLOUIN = "Brillouin, Wave Propagation in Periodic Structures"
ROUNDING = "eigenvalues to rounding: 4ε ω_max²/ω² at the lowest"


def row(links: int, *, mass: Any, fixed: list[int], along: tuple[int, int, int] = (1, 0, 0)) -> System:
    """Particles on the x axis, a metre apart, joined by springs, that move along one direction."""
    line = rope(links, end=(links, 0, 0))
    free = np.setdiff1d(np.arange(links + 1), fixed)
    return body(line.points, mass=mass, fixed=fixed, energies=[laws.spring(line.edges, k=K)], constraints=[on_line(free, along)])


def spectrum(system: System, expected: Any) -> Found:
    got = modes(system, n=N).omega
    return Found(got, Curve(J, got, expected, "mode", "ω [rad/s]"))


FIXED = FASTEST * np.sin(J * np.pi / (2 * (N + 1)))


@case(
    "chain-fixed", formula="ω_j = 2√(k/m) sin(jπ/2(N+1))", source=BRILLOUIN, unit="rad/s", expected=FIXED, tolerance=4e-12,
    why=ROUNDING,
)  # fmt: skip
def fixed() -> Found:
    """All frequencies of a chain of 50 masses between two walls."""
    return spectrum(row(N + 1, mass=M, fixed=[0, N + 1]), FIXED)


FULL = FASTEST * np.sin((2 * J - 1) * np.pi / (2 * (2 * N + 1)))


@case(
    "chain-free-end", formula="ω_j = 2√(k/m) sin((2j-1)π/2(2N+1))", source=BRILLOUIN, unit="rad/s", expected=FULL,
    tolerance=4e-12, why=ROUNDING,
)  # fmt: skip
def free_end() -> Found:
    """All frequencies of a chain of 50 masses with one end free."""
    return spectrum(row(N, mass=M, fixed=[0]), FULL)


HALF = FASTEST * np.sin((2 * J - 1) * np.pi / (4 * N))


@case(
    "chain-lumped-rod", formula="ω_j = 2√(k/m) sin((2j-1)π/4N)", source=BRILLOUIN, unit="rad/s", expected=HALF,
    tolerance=4e-12, why=ROUNDING,
)  # fmt: skip
def lumped_rod() -> Found:
    """All frequencies of a rod of 50 links, one end free, whose mass is lumped: the last particle has half of it."""
    return spectrum(row(N, mass=np.append(np.full(N, M), M / 2), fixed=[0]), HALF)


AXIAL, SKIP = 30.0, 5.0  # N/m of the rod, and of its springs that skip one


def with_skips(n: int) -> float:
    """Stiffness [N/m] of a rod of n links with springs that skip one: the end links have one skip instead of two."""
    ratio = AXIAL / SKIP
    root = np.sqrt(ratio * (ratio + 4))
    r = (root - 2 - ratio) / 2
    return float((AXIAL + 4 * SKIP) / (1 + 4 / (n * root) * (1 - r**n) / (1 + r**n)))


LINKS = np.array([2, 3, 5, 9, 16, 40])


@case(
    "chain-with-skips", formula="k = (k_s + 4k_b)/(1 + 4(1 - r^N)/(N s (1 + r^N))), r + 1/r = -(2 + k_s/k_b), s = √(ρ(ρ + 4))",
    source="the recurrence of the links' extensions, docs/theory/04-rods.md", unit="N/m",
    expected=[with_skips(n) for n in LINKS.tolist()], tolerance=1e-12,
    why="forces are balanced to 1e-13 of 2 N, and lengths of 1/40 m are known to 1e-14",
)  # fmt: skip
def skips() -> Found:
    """A rod of N springs N·k_s in a row, with springs N·k_b that skip one, pulled: its stiffness tends to k_s + 4k_b."""
    got = []
    for n in LINKS.tolist():
        rod = rope(n)
        springs = [laws.spring(rod.edges, k=n * AXIAL), laws.spring(rod.skips, k=n * SKIP, name="skips")]
        along = on_line(range(1, n + 1), (1, 0, 0))
        pulled = body(rod.points, mass=1.0, fixed=[0], energies=[*springs, laws.force([n], f=(2.0, 0, 0))], constraints=[along])
        got.append(2.0 / (equilibrium(pulled, tolerance=TIGHT).state.q[n, 0] - 1))
    many = np.arange(2, 41)
    return Found(got, Curve(LINKS, got, [with_skips(n) for n in many.tolist()], "links", "stiffness [N/m]", at=many))


JOINTS = 30
LAGUERRE = np.sqrt(G * JOINTS * np.sort(roots_laguerre(JOINTS)[0]))


def swinging(n: int, length: float, count: int) -> Modes:
    """The lowest modes of a chain of n equal links with a mass at the lower end of each, as it hangs in balance; it swings along x.

    length : of the whole [m]; its mass is 1 kg
    """
    line, k = rope(n, end=(0, -length, 0)), 1e4 * n
    tension = G / n * np.arange(n, 0, -1)
    energies = [laws.spring(line.edges, k=k, l0=length / n - tension / k), laws.gravity()]

    def moving(along: tuple[int, int, int]) -> System:
        only = on_line(range(1, n + 1), along)
        return body(line.points, mass=1 / n, fixed=[0], energies=energies, constraints=[only])

    hung, swings = equilibrium(moving((0, 1, 0)), tolerance=TIGHT).state, moving((1, 0, 0))
    return modes(swings, swings.initial_state().with_(q=hung.q), n=count)


@case(
    "chain-hanging-links", formula="ω_j² = x_j g/l, L_N(x_j) = 0, L_N Laguerre's polynomial", unit="rad/s",
    source="the recurrence (N + 1) L_{N+1} = (2N + 1 - x) L_N - N L_{N-1}, which is the balance of a joint", expected=LAGUERRE,
    tolerance=1e-11, why="eigenvalues to rounding: 4ε ω_max²/ω² at the lowest, and links whose tension is known to ε l k/T",
)  # fmt: skip
def hanging_links() -> Found:
    """A heavy chain of 30 links hangs from one end and swings: all its frequencies."""
    got = swinging(JOINTS, 1.0, JOINTS).omega
    return Found(got, Curve(np.arange(1, JOINTS + 1), got, LAGUERRE, "mode", "ω [rad/s]"))


BESSEL = jn_zeros(0, 4) / 2 * np.sqrt(G)
SEVERAL = np.array([50, 100, 200])


@case(
    "chain-hanging", formula="ω_j = (z_j/2)√(g/L), J₀(z_j) = 0", unit="rad/s",
    source="D. Bernoulli 1738; Watson, Theory of Bessel Functions, ch. 1", expected=BESSEL, tolerance=1e-9,
    why="extrapolated from 50, 100 and 200 links: a series in s = (4N + 2)⁻² for a chain of N + ½ links; (z²s)³/64 is left",
)  # fmt: skip
def hanging() -> Found:
    """The same with ever shorter links: the lowest four frequencies; its shapes are Bessel functions, the curve: the third."""
    found = [swinging(n, n / (n + 0.5), 4) for n in SEVERAL.tolist()]  # half a link of chain hangs below the last joint
    s = (4.0 * SEVERAL + 2) ** -2
    got = np.polynomial.polynomial.polyfit(s / s[0], [each.omega for each in found], 2)[0]
    shape, depth = found[-1].shapes[2, :, 0], np.arange(SEVERAL[-1] + 1) / (SEVERAL[-1] + 0.5)
    theory = j0(jn_zeros(0, 3)[-1] * np.sqrt(1 - depth))
    return Found(got, Curve(depth, shape / shape[-1] * theory[-1], theory, "depth [m]", "third shape"))
