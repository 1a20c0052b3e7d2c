"""Contact: weight, collisions, and what they conserve; friction on slopes is in `_friction`."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from taut import laws
from taut.arrays import Float
from taut.mesh.shapes.solids import block
from taut.optimise.tolerance import Tolerance
from taut.run.ledger import Ledger
from taut.run.simulate import simulate
from taut.step.implicit_euler import ImplicitEuler
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.system.contact import contact
from taut.system.state import State
from taut.system.system import System
from taut.validate._bodies import TIGHT, G, build_system, take_steps
from taut.validate.cases import Curve, Measurement, case

RANGE, K, MASS, H = 1e-3, 1000.0, 0.1, 0.01
GROUND = ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0])


def push(gap: Float | float) -> Float:
    """Return the force of the barrier [N] at a gap [m], differentiated by hand."""
    gap = np.asarray(gap)
    near = np.minimum(gap, RANGE)
    return K * (RANGE - near) * ((RANGE - near) / near - 2.0 * np.log(near / RANGE))


def find_gap(force: float) -> float:
    """Return the gap [m] at which the barrier pushes with a force [N]."""
    return float(brentq(lambda gap: float(push(gap)) - force, 1e-9, RANGE))


LOADS = MASS * G * np.array([4.0, 1.0])


@case(
    "contact-weight",
    formula="Σ k(d - g)((d - g)/g - 2 ln(g/d)) = weight above",
    source="Li et al., Incremental Potential Contact, 2020, (6), differentiated",
    unit="N",
    expected=LOADS,
    tolerance=1e-6,
    reason="the tolerance of a step, and what is left of the oscillation after 1 s",
)
def measure_contact_weight() -> Measurement:
    """Contact forces, from gaps, of a triangle that rests on the ground and of a ball on it."""
    turns = 2 * np.pi / 3 * np.arange(3)
    corners = 0.05 * np.column_stack([np.cos(turns), 0.01 * np.ones(3), np.sin(turns)])
    stack = build_system(
        np.concatenate([corners, [[0.0, 1e-3, 0.0]]]),
        mass=MASS,
        energies=[laws.spring([[0, 1], [1, 2], [2, 0]], k=1e3), laws.gravity()],
        contact=contact([[0, 1, 2]], [3], range=RANGE, k=K, planes=[GROUND]),
    )
    heights = np.array(
        [state.q[:, 1] for state in take_steps(stack, ImplicitEuler(tolerance=TIGHT), H, 100)]
    )
    on_ground = push(heights[:, :3]).sum(axis=1)
    on_triangle = push(heights[:, 3] - heights[:, :3].mean(axis=1))
    t = H * np.arange(1, 101)
    return Measurement(
        [on_ground[-1], on_triangle[-1]],
        Curve(t, on_ground, np.full(100, LOADS[0]), "t [s]", "force on the ground [N]"),
    )


@case(
    "contact-exchange",
    formula="v₁' = v₂, v₂' = v₁",
    source="Huygens, De motu corporum ex percussione: equal masses, momentum and energy kept",
    unit="m/s",
    expected=[0.0, 1.0],
    scale=1.0,
    tolerance=1e-6,
    reason="implicit midpoint keeps momentum to rounding and energy to O(h²), here 2e-8 m/s",
)
def measure_contact_exchange() -> Measurement:
    """Speeds of two balls after a collision, the second of which was at rest."""
    h, steps = 1e-4, 600
    balls = build_system(
        [[0.0, 0.0, 0.0], [0.03, 0.0, 0.0]],
        mass=MASS,
        energies=[],
        velocity=[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        contact=contact([0, 1], range=0.01, k=500.0, thickness=0.01),
    )
    states = list(take_steps(balls, ImplicitMidpoint(tolerance=TIGHT), h, steps))
    t = h * np.arange(1, steps + 1)
    speeds = np.array([state.v[:, 0] for state in states])
    # Before and after; in between the balls are within range of each other.
    theory = np.where(t < 0.02, 0.0, 1.0)
    return Measurement(speeds[-1], Curve(t, speeds[:, 1], theory, "t [s]", "v₂ [m/s]"))


@case(
    "contact-energy-book",
    formula="T + V + dissipated = constant",
    source="definition of the ledger's entries",
    unit="J",
    expected=np.zeros(2),
    tolerance=1e-14,
    reason="rounding of 80 steps, of energies of 0.1 J",
)
def measure_contact_energy_book() -> Measurement:
    """What the ledger cannot account for of a ball that is thrown onto the ground and bounces, with
    friction, for two step lengths."""
    lost, energies = [], np.zeros(0)
    for h in (2e-3, 5e-3):
        ball = build_system(
            [[0.0, 0.05, 0.0]],
            mass=MASS,
            energies=[laws.gravity()],
            velocity=[[1.0, 0.0, 0.0]],
            contact=contact([0], range=0.01, k=K, friction=0.2, planes=[GROUND]),
        )
        ledger = Ledger()
        for _ in simulate(ball, ImplicitEuler(tolerance=TIGHT), h, 80 * h, ledger=ledger):
            pass
        lost.append(abs(ledger.total().gap))
        energies = np.cumsum([entry.gap for entry in ledger.entries])
    steps = np.arange(1, len(energies) + 1)
    return Measurement(lost, Curve(steps, energies, 0.0 * steps, "step", "gap [J]"))


def build_colliding_blocks() -> System:
    """Build two blocks of springs, turned, that fly at each other, with friction."""
    mesh = block(1, 1, 1, size=0.1, cells="tet")
    turn = np.array([[0.8, -0.6, 0.0], [0.48, 0.64, -0.6], [0.36, 0.48, 0.8]])
    own = mesh.points - mesh.points.mean(axis=0)
    n = len(own)
    pairs = np.array([[i, j] for i in range(n) for j in range(i)])
    faces = mesh.boundary_faces["triangle"]
    return build_system(
        np.concatenate([own - [0.09, 0.0, 0.0], own @ turn + [0.09, 0.02, 0.01]]),
        mass=MASS / n,
        energies=[laws.spring(np.concatenate([pairs, pairs + n]), k=1e3)],
        velocity=np.repeat([[1.0, 0.0, 0.0], [-1.0, 0.1, 0.0]], n, axis=0),
        contact=contact(faces, faces + n, range=5e-3, k=500.0, friction=0.3),
    )


@case(
    "contact-momentum",
    formula="Σ m v = constant",
    source="Newton, Principia, third law",
    unit="kg m/s",
    expected=np.zeros(3),
    tolerance=1e-15,
    reason="rounding of 40 steps, of momenta whose magnitudes add up to 0.2 kg m/s",
)
def measure_contact_momentum() -> Measurement:
    """Change of the momentum of two free blocks that collide, with friction."""
    blocks = build_colliding_blocks()
    start = blocks.momentum(blocks.initial_state())
    states = list(take_steps(blocks, ImplicitEuler(tolerance=Tolerance(1e-11)), 2e-3, 40))
    path = np.array([blocks.momentum(state) for state in states]) - start
    own = np.array([_momentum_of_first(blocks, state) for state in states])
    assert np.ptp(own) > 0.05, "the blocks must collide"
    t = 2e-3 * np.arange(1, 41)
    return Measurement(
        np.abs(path).max(axis=0), Curve(t, path[:, 0], 0.0 * t, "t [s]", "Δp_x [kg m/s]")
    )


def _momentum_of_first(blocks: System, state: State) -> float:
    half = blocks.n // 2
    return float(np.asarray(blocks.mass)[:half] @ state.v[:half, 0])
