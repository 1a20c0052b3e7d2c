"""Chains of springs and masses: ω_j = 2√(k/m) sin(…) for each kind of end; hanging chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import j0, jn_zeros, roots_laguerre

from taut import laws
from taut.constraints.sliding import on_line
from taut.mesh.shapes.nets import rope
from taut.statics.equilibrium import equilibrium
from taut.statics.modes import Modes, modes
from taut.system.system import System
from taut.validate._bodies import TIGHT, G, build_system
from taut.validate.cases import Curve, Measurement, case

N, K, M = 50, 70.0, 0.4
FASTEST = 2 * np.sqrt(K / M)
J = np.arange(1, N + 1)
BRILLOUIN = "Brillouin, Wave Propagation in Periodic Structures"
ROUNDING = "eigenvalues to rounding: 4ε ω_max²/ω² at the lowest"


def build_row(
    links: int, *, mass: Any, fixed: list[int], along: tuple[int, int, int] = (1, 0, 0)
) -> System:
    """Build a chain on the x axis with spacing 1 m, whose particles move along one direction."""
    line = rope(links, end=(links, 0, 0))
    free = np.setdiff1d(np.arange(links + 1), fixed)
    return build_system(
        line.points,
        mass=mass,
        fixed=fixed,
        energies=[laws.spring(line.edges, k=K)],
        constraints=[on_line(free, along)],
    )


def compare_spectrum(system: System, expected: Any) -> Measurement:
    """Compute all N frequencies [rad/s] and plot them."""
    got = modes(system, n=N).omega
    return Measurement(got, Curve(J, got, expected, "mode", "ω [rad/s]"))


FIXED = FASTEST * np.sin(J * np.pi / (2 * (N + 1)))


@case(
    "chain-fixed",
    formula="ω_j = 2√(k/m) sin(jπ/2(N+1))",
    source=BRILLOUIN,
    unit="rad/s",
    expected=FIXED,
    tolerance=4e-12,
    reason=ROUNDING,
)
def measure_chain_fixed() -> Measurement:
    """All frequencies of a chain of 50 masses between two walls."""
    return compare_spectrum(build_row(N + 1, mass=M, fixed=[0, N + 1]), FIXED)


FULL = FASTEST * np.sin((2 * J - 1) * np.pi / (2 * (2 * N + 1)))


@case(
    "chain-free-end",
    formula="ω_j = 2√(k/m) sin((2j-1)π/2(2N+1))",
    source=BRILLOUIN,
    unit="rad/s",
    expected=FULL,
    tolerance=4e-12,
    reason=ROUNDING,
)
def measure_chain_free_end() -> Measurement:
    """All frequencies of a chain of 50 masses with one free end."""
    return compare_spectrum(build_row(N, mass=M, fixed=[0]), FULL)


HALF = FASTEST * np.sin((2 * J - 1) * np.pi / (4 * N))


@case(
    "chain-lumped-rod",
    formula="ω_j = 2√(k/m) sin((2j-1)π/4N)",
    source=BRILLOUIN,
    unit="rad/s",
    expected=HALF,
    tolerance=4e-12,
    reason=ROUNDING,
)
def measure_chain_lumped_rod() -> Measurement:
    """All frequencies of a rod of 50 links with lumped mass and a free end of half a mass."""
    return compare_spectrum(build_row(N, mass=np.append(np.full(N, M), M / 2), fixed=[0]), HALF)


AXIAL, SKIP = 30.0, 5.0  # stiffness of the rod and of its skips [N/m]


def stiffness_with_skips(n: int) -> float:
    """Return the stiffness [N/m] of a rod of n links with springs that skip one particle.

    The two end links lie under one skip, all others under two.
    """
    ratio = AXIAL / SKIP
    root = np.sqrt(ratio * (ratio + 4))
    r = (root - 2 - ratio) / 2
    return float((AXIAL + 4 * SKIP) / (1 + 4 / (n * root) * (1 - r**n) / (1 + r**n)))


LINKS = np.array([2, 3, 5, 9, 16, 40])


@case(
    "chain-with-skips",
    formula=(
        "k = (k_s + 4k_b)/(1 + 4(1 - r^N)/(N s (1 + r^N))), r + 1/r = -(2 + k_s/k_b), "
        "s = √(ρ(ρ + 4))"
    ),
    source="the recurrence of the links' extensions, docs/theory/04-rods.md",
    unit="N/m",
    expected=[stiffness_with_skips(n) for n in LINKS.tolist()],
    tolerance=1e-12,
    reason="forces are balanced to 1e-13 of 2 N, and lengths of 1/40 m are known to 1e-14",
)
def measure_chain_with_skips() -> Measurement:
    """Tensile stiffness of a rod of N springs N·k_s and springs N·k_b that skip one particle.

    It tends to k_s + 4k_b.
    """
    got = []
    for n in LINKS.tolist():
        rod = rope(n)
        springs = [
            laws.spring(rod.edges, k=n * AXIAL),
            laws.spring(rod.skips, k=n * SKIP, name="skips"),
        ]
        along = on_line(range(1, n + 1), (1, 0, 0))
        pulled = build_system(
            rod.points,
            mass=1.0,
            fixed=[0],
            energies=[*springs, laws.force([n], f=(2.0, 0, 0))],
            constraints=[along],
        )
        got.append(2.0 / (equilibrium(pulled, tolerance=TIGHT).state.q[n, 0] - 1))
    many = np.arange(2, 41)
    return Measurement(
        got,
        Curve(
            LINKS,
            got,
            [stiffness_with_skips(n) for n in many.tolist()],
            "links",
            "stiffness [N/m]",
            theory_x=many,
        ),
    )


JOINTS = 30
LAGUERRE = np.sqrt(G * JOINTS * np.sort(roots_laguerre(JOINTS)[0]))


def compute_swing_modes(n: int, length: float, count: int) -> Modes:
    """Compute the lowest modes, along x, of a hanging chain of n links with a mass below each.

    length : of the chain [m]; its mass is 1 kg
    """
    line, k = rope(n, end=(0, -length, 0)), 1e4 * n
    tension = G / n * np.arange(n, 0, -1)
    energies = [laws.spring(line.edges, k=k, l0=length / n - tension / k), laws.gravity()]

    def build_chain(along: tuple[int, int, int]) -> System:
        only = on_line(range(1, n + 1), along)
        return build_system(
            line.points, mass=1 / n, fixed=[0], energies=energies, constraints=[only]
        )

    hanging = equilibrium(build_chain((0, 1, 0)), tolerance=TIGHT).state
    swinging = build_chain((1, 0, 0))
    return modes(swinging, swinging.initial_state().with_(q=hanging.q), n=count)


@case(
    "chain-hanging-links",
    formula="ω_j² = x_j g/l, L_N(x_j) = 0, L_N Laguerre's polynomial",
    unit="rad/s",
    source=(
        "the recurrence (N + 1) L_{N+1} = (2N + 1 - x) L_N - N L_{N-1}, "
        "which is the balance of a joint"
    ),
    expected=LAGUERRE,
    tolerance=1e-11,
    reason=(
        "eigenvalues to rounding, 4ε ω_max²/ω² at the lowest; the tension of a link is known to "
        "ε l k/T"
    ),
)
def measure_chain_hanging_links() -> Measurement:
    """All frequencies of a heavy chain of 30 links that hangs from one end."""
    got = compute_swing_modes(JOINTS, 1.0, JOINTS).omega
    return Measurement(got, Curve(np.arange(1, JOINTS + 1), got, LAGUERRE, "mode", "ω [rad/s]"))


BESSEL = jn_zeros(0, 4) / 2 * np.sqrt(G)
SEVERAL = np.array([50, 100, 200])


@case(
    "chain-hanging",
    formula="ω_j = (z_j/2)√(g/L), J₀(z_j) = 0",
    unit="rad/s",
    source="D. Bernoulli 1738; Watson, Theory of Bessel Functions, ch. 1",
    expected=BESSEL,
    tolerance=1e-9,
    reason=(
        "extrapolated from 50, 100 and 200 links: a series in s = (4N + 2)⁻² for a chain of N + ½ "
        "links, of which (z²s)³/64 remains"
    ),
)
def measure_chain_hanging() -> Measurement:
    """The four lowest frequencies of the hanging chain, extrapolated to infinitely many links.

    Its mode shapes are Bessel functions; the plot shows the third.
    """
    # Half a link of chain hangs below the last joint.
    found = [compute_swing_modes(n, n / (n + 0.5), 4) for n in SEVERAL.tolist()]
    s = (4.0 * SEVERAL + 2) ** -2
    got = np.polynomial.polynomial.polyfit(s / s[0], [each.omega for each in found], 2)[0]
    shape, depth = found[-1].shapes[2, :, 0], np.arange(SEVERAL[-1] + 1) / (SEVERAL[-1] + 0.5)
    theory = j0(jn_zeros(0, 3)[-1] * np.sqrt(1 - depth))
    return Measurement(
        got, Curve(depth, shape / shape[-1] * theory[-1], theory, "depth [m]", "third shape")
    )
