"""Energy: dissipation of integrators and dampers in closed form, and the ledger that records it."""

from __future__ import annotations

import numpy as np

from taut import laws
from taut.constraints.prescribed import scripted
from taut.run.ledger import Ledger
from taut.run.simulate import simulate
from taut.step.implicit_euler import ImplicitEuler
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.step.rk4 import RK4
from taut.system.system import System
from taut.validate._bodies import TIGHT, G, build_system
from taut.validate._conservation import build_tumbling_body
from taut.validate.cases import Curve, Measurement, case

M, OMEGA, X0, H, STEPS = 1.5, 3.0, 0.3, 0.1, 40
START = M * OMEGA**2 * X0**2 / 2
N = np.arange(1, STEPS + 1)
LUBICH = "Hairer, Lubich and Wanner, Geometric Numerical Integration"


def build_pinned_particle() -> System:
    """Build a particle on a soft pin."""
    return build_system([[0, 0, 0]], mass=M, energies=[laws.pin(k=M * OMEGA**2)], pose=[[X0, 0, 0]])


@case(
    "energy-midpoint",
    formula="½mv² + ½kx² = constant",
    source=f"{LUBICH}, IV.2: quadratic invariants",
    unit="J",
    expected=np.full(STEPS, START),
    tolerance=1e-13,
    reason="rounding of 40 steps",
)
def measure_energy_midpoint() -> Measurement:
    """Implicit midpoint conserves the energy of a linear oscillation in every step."""
    system = build_pinned_particle()
    states = [
        state for state, _ in simulate(system, ImplicitMidpoint(tolerance=TIGHT), H, STEPS * H)
    ]
    got = np.array([system.T(state) + system.V(state) for state in states])
    return Measurement(got, Curve(H * N, got, np.full(STEPS, START), "t [s]", "energy [J]"))


LEFT = START / (1 + (H * OMEGA) ** 2) ** N


@case(
    "energy-implicit-euler",
    formula="ΔE = E₀(1 - (1 + h²ω²)^{-n})",
    unit="J",
    source=f"{LUBICH}, I.1, on x'' = -ω²x; the ledger has it as ½m|Δv|² + V - V' - ∇V'·(q - q')",
    expected=START - LEFT,
    scale=START,
    tolerance=1e-13,
    reason="rounding of 40 steps",
)
def measure_energy_implicit_euler() -> Measurement:
    """Numerical dissipation of implicit Euler on a linear oscillation, as the ledger records it."""
    ledger = Ledger()
    for _ in simulate(
        build_pinned_particle(), ImplicitEuler(tolerance=TIGHT), H, STEPS * H, ledger=ledger
    ):
        pass
    got = np.cumsum([entry.numerical for entry in ledger.entries])
    return Measurement(got, Curve(N, got, START - LEFT, "step", "numerical dissipation [J]"))


V0, RATE = 4.0, 0.8
TAKEN = M * V0**2 / 2 * (1 - np.exp(-2 * RATE * 2.0))


@case(
    "energy-drag",
    formula="W = ½mv₀²(1 - e^{-2αt})",
    source="v' = -αv",
    unit="J",
    expected=TAKEN,
    tolerance=1.1 * (RATE * 0.05) ** 2 / 12 * 4 * RATE / np.expm1(4 * RATE),
    reason="the midpoint rule replaces α by α(1 + (hα)²/12); 10% are added for the next order",
)
def measure_energy_drag() -> Measurement:
    """Energy that the ledger records as dissipated by drag from a particle, over 2 s."""
    ledger = Ledger()
    system = build_system(
        [[0, 0, 0]], mass=M, velocity=[[V0, 0, 0]], damping=[laws.drag(alpha=RATE)]
    )
    for _ in simulate(system, ImplicitMidpoint(tolerance=TIGHT), 0.05, 2.0, ledger=ledger):
        pass
    got, t = (
        np.cumsum([entry.dissipated["drag"] for entry in ledger.entries]),
        np.array([entry.t for entry in ledger.entries]),
    )
    return Measurement(
        got[-1],
        Curve(t, got, M * V0**2 / 2 * (1 - np.exp(-2 * RATE * t)), "t [s]", "taken by drag [J]"),
    )


STIFF, PULL = 80.0, 0.25


@case(
    "energy-scripted",
    formula="W = ½k u²",
    source="Clapeyron",
    unit="J",
    expected=STIFF * PULL**2 / 2,
    tolerance=1e-13,
    reason=(
        "the force of a spring is linear in its length, so that the work by the midpoint rule is "
        "exact; rounding"
    ),
)
def measure_energy_scripted() -> Measurement:
    """Work that the ledger records when a scripted point stretches a spring.

    The plot shows it against the displacement.
    """
    ledger = Ledger()
    system = build_system(
        [[0, 0, 0], [1, 0, 0]],
        mass=1e-9,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=STIFF)],
        constraints=[scripted([1], lambda t: (1 + PULL * t, 0.0, 0.0))],
    )
    for _ in simulate(system, ImplicitMidpoint(tolerance=TIGHT), 0.05, 1.0, ledger=ledger):
        pass
    got, t = (
        np.cumsum([entry.scripted for entry in ledger.entries]),
        np.array([entry.t for entry in ledger.entries]),
    )
    return Measurement(
        got[-1], Curve(PULL * t, got, STIFF * (PULL * t) ** 2 / 2, "u [m]", "work [J]")
    )


@case(
    "energy-fall",
    formula="½mv² + mgy = constant",
    source="Huygens 1673",
    unit="J",
    expected=np.full(50, M * G * 10.0),
    tolerance=1e-13,
    reason="RK4 is exact on a parabola: rounding of 50 steps",
)
def measure_energy_fall() -> Measurement:
    """Total energy of a falling particle, in every step of 1 s.

    The plot shows the kinetic energy.
    """
    system = build_system([[0, 10.0, 0]], mass=M, energies=[laws.gravity()])
    states = [state for state, _ in simulate(system, RK4(), 0.02, 1.0)]
    t, kinetic = (
        np.array([state.t for state in states]),
        np.array([system.T(state) for state in states]),
    )
    got = kinetic + np.array([M * G * state.q[0, 1] for state in states])
    return Measurement(got, Curve(t, kinetic, M * (G * t) ** 2 / 2, "t [s]", "kinetic energy [J]"))


@case(
    "ledger-closes",
    formula="T' + V' - T - V + dissipated + numerical = work",
    source="first law of thermodynamics",
    expected=0.0,
    tolerance=1e-14,
    reason="relative to the sum of the entries: rounding of each of the terms",
)
def measure_ledger_closes() -> Measurement:
    """Relative gap of the ledger of a tumbling body with dampers, drag and gravity."""
    ledger = Ledger()
    damping = [laws.spring_damping([(0, 1), (2, 3)], c=2.0), laws.drag(alpha=0.3)]
    system = build_tumbling_body(
        energies=[
            laws.spring([(i, j) for i in range(7) for j in range(i)], k=40.0),
            laws.gravity(),
        ],
        damping=damping,
    )
    for _ in simulate(system, ImplicitEuler(), 0.02, 1.0, ledger=ledger):
        pass
    kept = np.array([e.kinetic + sum(e.stored.values()) for e in ledger.entries])
    flows = np.cumsum(
        [
            sum(e.dissipated.values()) + e.numerical + e.residual - sum(e.work.values())
            for e in ledger.entries
        ]
    )
    t = np.array([e.t for e in ledger.entries])
    return Measurement(
        max(abs(e.gap) / e.scale for e in ledger.entries),
        Curve(t, kept, ledger.entries[0].opening - flows, "t [s]", "energy [J]"),
    )
