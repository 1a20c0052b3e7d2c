"""Contact and friction: slopes, stopping, weight, collisions, and ropes round a cylinder.

Bodies begin at the gap at which the barrier carries their weight, so that nothing bounces and the
motion along a surface has a closed form in steps of implicit Euler.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from taut import laws
from taut.arrays import Float
from taut.constraints.prescribed import scripted
from taut.mesh.shapes.solids import block
from taut.optimise.tolerance import Tolerance
from taut.run.ledger import Ledger
from taut.run.simulate import simulate
from taut.step.implicit_euler import ImplicitEuler
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.system.contact import contact
from taut.system.state import State
from taut.system.system import System
from taut.validate._bodies import TIGHT, G, build_system, neighbour_pairs, take_steps
from taut.validate.cases import Curve, Measurement, case

COULOMB = "Coulomb's law, in steps of implicit Euler: v' = v + ha"
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


def slide(
    friction: float, slope: float, *, steps: int, slip_speed: float, v: float = 0.0
) -> tuple[Float, Float]:
    """Let a square block slide down a slope [rad]; return ways [m] and speeds [m/s], (steps,)."""
    up = np.array([-np.sin(slope), np.cos(slope), 0.0])
    down = -np.array([np.cos(slope), np.sin(slope), 0.0])
    square = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1]])
    x = square[:, :1] * down + square[:, 1:] * [0.0, 0.0, 1.0]
    x = x + find_gap(MASS * G * np.cos(slope)) * up
    block = build_system(
        x,
        mass=MASS,
        energies=[
            laws.spring([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]], k=1e4),
            laws.gravity(),
        ],
        velocity=np.tile(v * down, (4, 1)),
        contact=contact(
            np.arange(4),
            range=RANGE,
            k=K,
            friction=friction,
            slip_speed=slip_speed,
            planes=[(np.zeros(3), up)],
        ),
    )
    states = list(take_steps(block, ImplicitEuler(tolerance=TIGHT), H, steps))
    ways = np.array([(state.q - x).mean(axis=0) @ down for state in states])
    return ways, np.array([state.v.mean(axis=0) @ down for state in states])


SLOPES = ((0.3, 0.4), (0.1, 0.4), (0.5, 0.6))  # μ < tan α
N = np.arange(1, 51)
GROWTH = np.array([G * (np.sin(a) - mu * np.cos(a)) for mu, a in SLOPES])


@case(
    "contact-slide",
    formula="s = ½ah²n(n + 1), a = g(sin α - μ cos α)",
    source=COULOMB,
    unit="m",
    expected=GROWTH * H**2 * 50 * 51 / 2,
    tolerance=1e-9,
    reason="rounding, and normal forces within the tolerance of a step",
)
def measure_contact_slide() -> Measurement:
    """Way of a block down slopes steeper than its friction holds, in 50 steps."""
    ways = [slide(mu, a, steps=50, slip_speed=1e-4)[0] for mu, a in SLOPES]
    theory = GROWTH[0] * H**2 * N * (N + 1) / 2
    return Measurement([way[-1] for way in ways], Curve(H * N, ways[0], theory, "t [s]", "s [m]"))


HELD = ((0.5, 0.4), (0.8, 0.4), (0.5, 0.1))  # μ > tan α
SLIP = 1e-4


@case(
    "contact-stick",
    formula="u = ε(1 - √(1 - tan α/μ))",
    source="tan α = μ(2u/ε - u²/ε²), friction that grows to its full force at a speed ε",
    unit="m/s",
    expected=[SLIP * (1 - np.sqrt(1 - np.tan(a) / mu)) for mu, a in HELD],
    tolerance=1e-6,
    reason="the speed approaches its limit by a factor of 1/40 or less in each of 50 steps",
)
def measure_contact_stick() -> Measurement:
    """Creep of a block on slopes that its friction holds, below the slip speed of 0.1 mm/s."""
    speeds = [slide(mu, a, steps=50, slip_speed=SLIP)[1] for mu, a in HELD]
    theory = np.full(50, SLIP * (1 - np.sqrt(1 - np.tan(HELD[0][1]) / HELD[0][0])))
    return Measurement(
        [speed[-1] for speed in speeds], Curve(H * N, speeds[0], theory, "t [s]", "u [m/s]")
    )


STOP = 40  # steps until the block stands
MU = 0.4


@case(
    "contact-stop",
    formula="s = ½μgh²n(n - 1), v₀ = nhμg; v₀²/(2μg) for small h",
    source=COULOMB,
    unit="m",
    expected=MU * G * H**2 * STOP * (STOP - 1) / 2,
    tolerance=1e-7,
    reason="the last steps, at the slip speed of 0.1 µm/s or less",
)
def measure_contact_stop() -> Measurement:
    """Stopping distance of a block on level ground."""
    v = STOP * H * MU * G
    ways, _ = slide(MU, 0.0, steps=STOP + 3, slip_speed=1e-7, v=v)
    n = np.minimum(np.arange(1, STOP + 4), STOP)
    theory = H * (n * v - H * MU * G * n * (n + 1) / 2)
    t = H * np.arange(1, STOP + 4)
    return Measurement(ways[-1], Curve(t, ways, theory, "t [s]", "s [m]"))


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


def pull_over_cylinder(mu: float, angle: float, edges: int, *, steps: int = 10) -> float:
    """Return the ratio of tensions of a rope that is pulled over a cylinder.

    angle : of the arc [rad], divided into edges, after which the rope goes on along its tangents

    The cylinder is one edge, its axis, with a thickness. One end of the rope is pulled with a
    constant force and the other moves at twenty times the slip speed; the rope has next to no mass.
    """
    radius, reach, tension, speed = 0.1, 1e-4, 1.0, 0.02
    length = radius * angle / edges
    tail = max(2, round(0.5 * radius / length))
    places = np.arange(-tail, edges + tail + 1)
    turns = np.pi / 2 + angle / 2 - angle / edges * np.clip(places, 0, edges)
    outwards = np.column_stack([np.cos(turns), np.sin(turns), np.zeros(len(turns))])
    along = np.column_stack([np.sin(turns), -np.cos(turns), np.zeros(len(turns))])
    beyond = length * (places - np.clip(places, 0, edges))
    # Chords are outside of the cylinder, within range.
    rope = (radius / np.cos(angle / edges / 2) + reach / 2) * outwards + beyond[:, None] * along
    if angle > 1.75 * np.pi:  # a slight pitch, so that the ends pass each other
        rope[:, 2] = 0.05 * radius * np.clip(places / edges, 0.0, 1.0)
    n = len(rope)
    links = np.array(neighbour_pairs(n - 1))
    axis = [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]
    rest = np.linalg.norm(np.diff(rope, axis=0), axis=1)
    stiffness = 2e4 / length
    system = build_system(
        np.concatenate([rope, axis]),
        mass=1e-6,
        energies=[
            laws.spring(links, k=stiffness),
            laws.force([0], f=-tension * along[0]),
        ],
        fixed=[n, n + 1],
        constraints=[scripted([n - 1], lambda t: (rope[-1] + speed * t * along[-1])[None])],
        contact=contact(
            np.concatenate([links, [[n, n + 1]]]),
            range=reach,
            k=2.0 * tension * length / radius / reach,
            thickness=np.concatenate([np.zeros(n), [2.0 * radius, 2.0 * radius]]),
            friction=mu,
            slip_speed=1e-3,
        ),
    )
    ratios = []
    for state in take_steps(system, ImplicitEuler(tolerance=Tolerance(1e-8)), H, steps):
        tensions = stiffness * (np.linalg.norm(np.diff(state.q[:n], axis=0), axis=1) - rest)
        ratios.append(tensions[-1] / tensions[0])
    return float(np.mean(ratios[steps // 2 :]))


WRAPS = ((0.1, 3.0), (0.2, 1.0), (0.2, 2.0), (0.4, 1.0), (0.4, 2.0))  # μ, and φ in right angles


@case(
    "contact-capstan",
    formula="T₂/T₁ = e^{μφ}",
    source="Euler, Remarques sur l'effet du frottement dans l'équilibre, 1762",
    unit="1",
    expected=[np.exp(mu * np.pi / 2 * quarters) for mu, quarters in WRAPS],
    tolerance=0.01,
    reason="12 edges in a right angle; the error falls with the square of their length",
)
def measure_contact_capstan() -> Measurement:
    """Ratio of tensions of a rope that slides over a cylinder, for three μ and three angles."""
    got = [pull_over_cylinder(mu, np.pi / 2 * q, int(12 * q)) for mu, q in WRAPS]
    turns = np.array([mu * np.pi / 2 * q for mu, q in WRAPS])
    line = np.linspace(0.0, 1.3, 60)
    return Measurement(got, Curve(turns, got, np.exp(line), "μφ", "T₂/T₁", theory_x=line))
