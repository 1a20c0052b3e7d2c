"""Ropes and strips of cloth over a cylinder, against Euler's capstan.

The cylinder is one edge, its axis, with a thickness; rope and cloth have next to no mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut import laws
from taut.arrays import Float, Int
from taut.constraints.prescribed import scripted
from taut.mesh.mesh import Mesh
from taut.mesh.shapes.surfaces import sheet
from taut.optimise.tolerance import Tolerance
from taut.step.implicit_euler import ImplicitEuler
from taut.system.contact import contact
from taut.system.system import System
from taut.validate._bodies import G, build_system, neighbour_pairs, take_steps
from taut.validate._contact import H
from taut.validate.cases import Curve, Measurement, case

EULER = "Euler, Remarques sur l'effet du frottement dans l'équilibre, 1762"
SOLVER = ImplicitEuler(tolerance=Tolerance(1e-8))
RADIUS, REACH = 0.1, 1e-4  # of the cylinder, and the range of contact [m]
TENSION, SPEED, SLIP = 1.0, 0.02, 1e-3  # at one end [N], of the other, and of slip [m/s]


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
    points: Float,
    touching: Any,
    links: Any,
    *,
    length: float,
    mu: float,
    lines: int = 1,
    **more: Any,
) -> System:
    """Build a rope or cloth over a cylinder.

    touching, links : its edges or triangles, and its springs
    length, lines : of the edges [m], and how many of them share the tension
    more : loads and constraints
    """
    n = len(points)
    energies = [laws.spring(links, k=2e4 / length), *more.pop("energies")]
    return build_system(
        np.concatenate([points, [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]]),
        energies=energies,
        fixed=[n, n + 1],
        contact=contact(
            touching,
            [[n, n + 1]],
            range=REACH,
            k=2.0 * TENSION / lines * length / RADIUS / REACH,
            thickness=np.concatenate([np.zeros(n), [2.0 * RADIUS, 2.0 * RADIUS]]),
            friction=mu,
            slip_speed=SLIP,
        ),
        **more,
    )


def pull(points: Float, first: Any, last: Any, along: Float) -> dict[str, Any]:
    """Return a constant pull on the first particles, and a constant speed of the last ones."""
    return {
        "mass": 1e-6,
        "energies": [laws.force(first, f=-TENSION / len(first) * along[0])],
        "constraints": [scripted(last, lambda t: points[last] + SPEED * t * along[-1])],
    }


def pull_over_cylinder(mu: float, angle: float, edges: int, *, steps: int = 10) -> float:
    """Return the ratio of tensions of a rope that is pulled over an arc [rad] of a cylinder."""
    rope, along, length = lay_over_cylinder(angle, edges)
    n = len(rope)
    links = np.array(neighbour_pairs(n - 1))
    system = build_over_cylinder(
        rope, links, links, length=length, mu=mu, **pull(rope, [0], [n - 1], along)
    )
    return measure_ratio(system, [n - 1], along[-1], steps)


def measure_ratio(system: System, last: Any, way: Float, steps: int) -> float:
    """Return the pull of what moves the last particles, over the pull at the other end."""
    states = list(take_steps(system, SOLVER, H, steps))[steps // 2 :]
    return float(np.mean([-(system.f(state)[last] @ way).sum() / TENSION for state in states]))


def lay_strip(angle: float, edges: int, across: int) -> tuple[Float, Mesh, Int, Int]:
    """Return the points of a strip of cloth over a cylinder, its mesh, and its two ends.

    across : triangulated squares across the strip
    """
    line, _, length = lay_over_cylinder(angle, edges)
    n = len(line)
    beside = (np.arange(across + 1) - across / 2) * length
    points = np.tile(line, (across + 1, 1))
    points[:, 2] += np.repeat(beside, n)
    first = n * np.arange(across + 1)
    return points, sheet(n - 1, across), first, first + n - 1


def pull_cloth_over_cylinder(
    mu: float, angle: float, edges: int, *, across: int = 2, steps: int = 10
) -> float:
    """Return the ratio of the pulls at the ends of a strip of cloth over an arc [rad]."""
    points, mesh, first, last = lay_strip(angle, edges, across)
    _, along, length = lay_over_cylinder(angle, edges)
    system = build_over_cylinder(
        points,
        mesh.triangles,
        mesh.edges,
        length=length,
        mu=mu,
        lines=across + 1,
        **pull(points, first, last, along),
    )
    return measure_ratio(system, last, along[-1], steps)


def hang_cloth_on_cylinder(
    mu: float, ratio: float, edges: int, *, across: int = 2, steps: int = 40
) -> Float:
    """Hang a strip of cloth with weights at both ends; return the speeds of the second, (steps,).

    ratio : of the second weight to the first, which is of 0.1 kg
    """
    points, mesh, first, last = lay_strip(np.pi, edges, across)
    mass = np.full(len(points) + 2, 1e-6)
    mass[first] = 0.1 / len(first)
    mass[last] = ratio * 0.1 / len(last)
    system = build_over_cylinder(
        points,
        mesh.triangles,
        mesh.edges,
        length=RADIUS * np.pi / edges,
        mu=mu,
        lines=across + 1,
        mass=mass,
        energies=[laws.gravity()],
    )
    return np.array([-state.v[last, 1].mean() for state in take_steps(system, SOLVER, H, steps)])


WRAPS = ((0.1, 3.0), (0.2, 1.0), (0.2, 2.0), (0.4, 1.0), (0.4, 2.0))  # μ, and φ in right angles


@case(
    "contact-capstan",
    formula="T₂/T₁ = e^{μφ}",
    source=EULER,
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


HALF_TURNS = (0.1, 0.2, 0.4)  # μ


@case(
    "contact-capstan-cloth",
    formula="T₂/T₁ = e^{μφ}",
    source=EULER,
    unit="1",
    expected=[np.exp(mu * np.pi) for mu in HALF_TURNS],
    tolerance=0.01,
    reason="12 edges in a right angle; the error falls with the square of their length",
)
def measure_contact_capstan_cloth() -> Measurement:
    """Ratio of the pulls at the ends of a strip of cloth that slides over half a cylinder."""
    got = [pull_cloth_over_cylinder(mu, np.pi, 24) for mu in HALF_TURNS]
    line = np.linspace(0.0, 1.3, 60)
    turns = np.pi * np.array(HALF_TURNS)
    return Measurement(got, Curve(turns, got, np.exp(line), "μφ", "T₂/T₁", theory_x=line))


HUNG, MU = (0.98, 1.02), 0.2  # ratios of weights, as parts of e^{μπ}


@case(
    "contact-capstan-weights",
    formula="a = g(m₂ - m₁e^{μπ})/(m₂ + m₁e^{μπ}), 0 where m₂ < m₁e^{μπ}",
    source="m₂(g - a) = T₂, m₁(g + a) = T₁, T₂ = T₁e^{μπ}; " + EULER,
    unit="m/s²",
    expected=[G * max(0.0, (part - 1) / (part + 1)) for part in HUNG],
    scale=G,
    tolerance=3e-3,
    reason="24 edges make e^{μπ} 0.2% too small, and a by 0.1% of g too large; twice that is added",
)
def measure_contact_capstan_weights() -> Measurement:
    """Acceleration of the weights at both ends of a strip of cloth that hangs on a cylinder, which
    holds them below the ratio of the capstan and lets them slide above it."""
    speeds = [hang_cloth_on_cylinder(MU, part * np.exp(MU * np.pi), 24) for part in HUNG]
    assert 0.0 < speeds[0][-1] < SLIP, "what is held must creep below the slip speed"
    # In the first steps the cloth settles on the cylinder.
    got = [(speed[-1] - speed[-11]) / (10 * H) for speed in speeds]
    parts = np.linspace(0.95, 1.05, 101)
    theory = G * np.maximum(0.0, (parts - 1) / (parts + 1))
    return Measurement(got, Curve(HUNG, got, theory, "m₂/(m₁e^{μπ})", "a [m/s²]", theory_x=parts))
