"""Friction: slopes, stopping, and ropes and cloth over a cylinder.

Bodies begin at the gap at which the barrier carries their weight, so that nothing bounces and the
motion along a surface has a closed form in steps of implicit Euler.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.constraints.prescribed import scripted
from taut.mesh.shapes.surfaces import sheet
from taut.optimise.tolerance import Tolerance
from taut.step.implicit_euler import ImplicitEuler
from taut.system.contact import contact
from taut.system.system import System
from taut.validate._bodies import TIGHT, G, build_system, neighbour_pairs, take_steps
from taut.validate._contact import MASS, RANGE, H, K, find_gap
from taut.validate.cases import Curve, Measurement, case

COULOMB = "Coulomb's law, in steps of implicit Euler: v' = v + ha"

def slide(
    friction: float, slope: float, *, steps: int, slip_speed: float, v: float = 0.0, h: float = H
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
    states = list(take_steps(block, ImplicitEuler(tolerance=TIGHT), h, steps))
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


MINUTE, LONG = 60.0, 0.25  # time and step [s]


@case(
    "contact-hold",
    formula="s = ut, u = ε(1 - √(1 - tan α/μ))",
    source="tan α = μ(2u/ε - u²/ε²), friction that grows to its full force at a speed ε",
    unit="m",
    expected=[MINUTE * SLIP * (1 - np.sqrt(1 - np.tan(a) / mu)) for mu, a in HELD],
    tolerance=1e-6,
    reason="the first of 240 steps is slower by a part of ε/(2μhg(1 - u/ε) cos α), at most 1.2e-4",
)
def measure_contact_hold() -> Measurement:
    """Way that a block creeps in a minute on slopes that its friction holds, in steps of 0.25 s: at
    most the slip speed of 0.1 mm/s times a minute, 6 mm, and by the formula less."""
    steps = round(MINUTE / LONG)
    ways = [slide(mu, a, steps=steps, slip_speed=SLIP, h=LONG)[0] for mu, a in HELD]
    t = LONG * np.arange(1, steps + 1)
    theory = SLIP * (1 - np.sqrt(1 - np.tan(HELD[0][1]) / HELD[0][0])) * t
    return Measurement([way[-1] for way in ways], Curve(t, ways[0], theory, "t [s]", "s [m]"))


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


RADIUS, REACH = 0.1, 1e-4  # of the cylinder, and the range of contact [m]
TENSION, SPEED = 1.0, 0.02  # at one end [N], of the other end [m/s]


def lay_over_cylinder(angle: float, edges: int) -> tuple[Float, Float, float]:
    """Return points on an arc [rad] and its tangents, directions along them, and their distance.

    edges : of the arc, after which the line goes on along its tangents
    """
    length = RADIUS * angle / edges
    tail = max(2, round(0.5 * RADIUS / length))
    places = np.arange(-tail, edges + tail + 1)
    turns = np.pi / 2 + angle / 2 - angle / edges * np.clip(places, 0, edges)
    outwards = np.column_stack([np.cos(turns), np.sin(turns), np.zeros(len(turns))])
    along = np.column_stack([np.sin(turns), -np.cos(turns), np.zeros(len(turns))])
    beyond = length * (places - np.clip(places, 0, edges))
    # Chords are outside of the cylinder, within range.
    line = (RADIUS / np.cos(angle / edges / 2) + REACH / 2) * outwards + beyond[:, None] * along
    if angle > 1.75 * np.pi:  # a slight pitch, so that the ends pass each other
        line[:, 2] = 0.05 * RADIUS * np.clip(places / edges, 0.0, 1.0)
    return line, along, length


def build_over_cylinder(
    points: Float, touching: Any, links: Any, ends: list[Any], along: Float, length: float, mu: float
) -> tuple[System, float]:
    """Build what is pulled over a cylinder; return it and the stiffness of its springs [N/m].

    ends : the particles at either end, which share a constant pull, and move at a constant speed

    The cylinder is one edge, its axis, with a thickness. The speed is twenty times the slip speed;
    rope or cloth has next to no mass.
    """
    n, (first, last) = len(points), ends
    stiffness = 2e4 / length
    system = build_system(
        np.concatenate([points, [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]]),
        mass=1e-6,
        energies=[
            laws.spring(links, k=stiffness),
            laws.force(first, f=-TENSION / len(first) * along[0]),
        ],
        fixed=[n, n + 1],
        constraints=[scripted(last, lambda t: points[last] + SPEED * t * along[-1])],
        contact=contact(
            touching,
            [[n, n + 1]],
            range=REACH,
            k=2.0 * TENSION / len(first) * length / RADIUS / REACH,
            thickness=np.concatenate([np.zeros(n), [2.0 * RADIUS, 2.0 * RADIUS]]),
            friction=mu,
            slip_speed=SPEED / 20.0,
        ),
    )
    return system, stiffness


def pull_over_cylinder(mu: float, angle: float, edges: int, *, steps: int = 10) -> float:
    """Return the ratio of tensions of a rope that is pulled over an arc [rad] of a cylinder."""
    rope, along, length = lay_over_cylinder(angle, edges)
    n = len(rope)
    links = np.array(neighbour_pairs(n - 1))
    rest = np.linalg.norm(np.diff(rope, axis=0), axis=1)
    system, stiffness = build_over_cylinder(rope, links, links, [[0], [n - 1]], along, length, mu)
    ratios = []
    for state in take_steps(system, ImplicitEuler(tolerance=Tolerance(1e-8)), H, steps):
        tensions = stiffness * (np.linalg.norm(np.diff(state.q[:n], axis=0), axis=1) - rest)
        ratios.append(tensions[-1] / tensions[0])
    return float(np.mean(ratios[steps // 2 :]))


def pull_cloth_over_cylinder(
    mu: float, angle: float, edges: int, *, across: int = 2, steps: int = 10
) -> float:
    """Return the ratio of the pulls at the ends of a strip of cloth, as of `pull_over_cylinder`.

    across : triangulated squares across the strip
    """
    line, along, length = lay_over_cylinder(angle, edges)
    n = len(line)
    mesh = sheet(n - 1, across)
    rows = np.arange(across + 1) - across / 2
    points = np.concatenate([line + [0.0, 0.0, row * length] for row in rows])
    first = n * np.arange(across + 1)
    last = first + n - 1
    system, _ = build_over_cylinder(
        points, mesh.triangles, mesh.edges, [first, last], along, length, mu
    )
    ratios = []
    for state in take_steps(system, ImplicitEuler(tolerance=Tolerance(1e-8)), H, steps):
        ratios.append(-(system.f(state)[last] @ along[-1]).sum() / TENSION)
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
