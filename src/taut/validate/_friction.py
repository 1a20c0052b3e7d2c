"""Friction: slopes and stopping; ropes and cloth over a cylinder are in `_capstan`.

Bodies begin at the gap at which the barrier carries their weight, so that nothing bounces and the
motion along a surface has a closed form in steps of implicit Euler.
"""

from __future__ import annotations

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.step.implicit_euler import ImplicitEuler
from taut.system.contact import contact
from taut.validate._bodies import TIGHT, G, build_system, take_steps
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
