"""Large deflections of rods against the elastica.

End loads, own weight, end moments, natural curvature, a rotating clamp.
"""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import taut
from taut import laws
from taut.formula import Vector, atan2

TIGHT = taut.Tolerance(1e-12)


def links(n):
    return [[i, i + 1] for i in range(n)]


def hinges(n):
    return [[i, i + 1, i + 2] for i in range(n - 1)]


def cantilever(points, loads, *, axial=1e8, wall=1.0, law=laws.rod_bending, **more):
    """A rod of EI = 1 N m² and EA = axial [N], clamped at its first particle."""
    n = len(points) - 1
    length = np.linalg.norm(np.diff(points, axis=0), axis=1)
    springs = laws.spring(links(n), k=axial / length)
    return taut.System(
        points,
        fixed=[0],
        energies=[springs, law(hinges(n), EI=1.0), laws.rod_clamp([[0, 1]], EI=wall), *loads],
        **{"mass": 1.0, **more},
    )


def along_x(places):
    return np.column_stack([places, 0 * places])


def tip(n, alpha, **options):
    """Deflection of the end of n links of total length 1 under a force α downwards."""
    system = cantilever(
        along_x(np.linspace(0, 1, n + 1)), [laws.force([n], f=(0, -alpha))], **options
    )
    found = taut.equilibrium(system, tolerance=TIGHT)
    assert found.stability.stable
    return -found.state.q[n, 1]


def elastica(alpha):
    """δ/L in closed form: with m = (1 + sin φ(L))/2 and sin ψ = 1/√(2m), K(m) - F(ψ, m) = √α and
    δ/L = 1 - 2(E(m) - E(ψ, m))/√α.
    """

    def quarter(complete, incomplete, m):
        return complete(m) - incomplete(np.arcsin(1 / np.sqrt(2 * m)), m)

    m = brentq(lambda m: quarter(ellipk, ellipkinc, m) - np.sqrt(alpha), 0.5, 1 - 1e-13, xtol=1e-16)
    return 1 - 2 * quarter(ellipe, ellipeinc, m) / np.sqrt(alpha)


def test_clamp_with_doubled_stiffness_converges_at_second_order():
    exact = elastica(1.0)
    errors = np.array([tip(n, 1.0) / exact - 1 for n in (10, 20, 40)])
    assert errors == pytest.approx(
        [0.0047, 0.0012, 0.00029], rel=0.025
    )  # two digits, the last to half a unit
    assert np.log2(errors[:2] / errors[1:]) == pytest.approx([2, 2], abs=0.001)
    soft = np.array([tip(n, 1.0, wall=0.5) / exact - 1 for n in (10, 20, 40)])
    assert soft[0] == pytest.approx(0.13, abs=0.005)  # two digits
    assert np.log2(soft[:2] / soft[1:]) == pytest.approx([1, 1], abs=0.01)


def graded_points(n, growth):
    """n + 1 places from 0 to 1, the last segment e^growth times as long as the first, about."""
    s = np.arange(n + 1) / n
    return np.expm1(growth * s) / np.expm1(growth) if growth else s


# A moment M at the end does the work M times the rotation of the last segment, which is the sum of
# all turns, including that at the clamp.


@taut.energy(invariant="translation")
def moment_at_turn(x, M):
    a, b = x[1] - x[0], x[2] - x[1]
    return -M * atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])


@taut.energy(invariant="translation")
def moment_at_wall(x, M, direction: Vector):
    b = x[1] - x[0]
    return -M * atan2(
        direction[0] * b[1] - direction[1] * b[0], direction[0] * b[0] + direction[1] * b[1]
    )


@pytest.mark.parametrize("n", [3, 10, 64])
def test_end_moment_of_two_pi_bends_the_rod_into_a_circle(n):
    """Each hinge turns by M l/EI = 2π/N and the clamp by half of that.

    The rod is a closed regular polygon without stretch.
    """
    M = 2 * np.pi
    loads = [moment_at_turn(hinges(n), M=M), moment_at_wall([[0, 1]], M=M, direction=(1, 0, 0))]
    start = np.vstack(
        [[0, 0], np.cumsum([[np.cos(0.02 * i), np.sin(0.02 * i)] for i in range(n)], axis=0) / n]
    )
    system = cantilever(
        along_x(np.linspace(0, 1, n + 1)), loads, axial=1e4, law=laws.planar_rod_bending, pose=start
    )
    q = taut.equilibrium(system, tolerance=TIGHT).state.q
    angles = np.unwrap(np.arctan2(*np.diff(q, axis=0)[:, 1::-1].T))
    assert angles == pytest.approx((np.arange(n) + 0.5) * 2 * np.pi / n, abs=1e-9)
    assert np.linalg.norm(q[n]) <= 1e-9
    assert np.linalg.norm(np.diff(q, axis=0), axis=1) == pytest.approx(np.full(n, 1 / n), rel=1e-9)


def wave(n=24):
    """A rod in the shape of an S: it turns to the left, then to the right."""
    direction = np.sin(2 * np.pi * (np.arange(n) + 0.5) / n)
    return np.vstack(
        [[0, 0], np.cumsum(np.column_stack([np.cos(direction), np.sin(direction)]) / n, axis=0)]
    )


def test_planar_rod_returns_from_its_mirror_image():
    """Pushed over to its mirror image it returns, turn by turn.

    The unsigned law has the mirror image as a rest shape too.
    """
    rest = wave()
    mirrored = rest * [1, -1]
    wall = {"axial": 1e4, "wall": 0.0, "pose": mirrored}  # free to turn about the first particle
    signed, unsigned = (
        cantilever(rest, [], law=laws.planar_rod_bending, **wall),
        cantilever(rest, [], **wall),
    )
    assert (
        np.abs(
            signed.f(signed.initial_state().with_(q=np.column_stack([rest, 0 * rest[:, 0]])))
        ).max()
        <= 1e-10
    )
    assert signed.V(signed.initial_state()) > 1.0
    assert unsigned.V(unsigned.initial_state()) < 1e-20
    d = np.diff(taut.equilibrium(signed, tolerance=TIGHT).state.q, axis=0)
    turns = np.arctan2(d[:-1, 0] * d[1:, 1] - d[:-1, 1] * d[1:, 0], (d[:-1] * d[1:]).sum(axis=1))
    assert turns == pytest.approx(np.diff(np.sin(2 * np.pi * (np.arange(24) + 0.5) / 24)), abs=1e-9)
    assert turns[0] > 0.1 > -0.1 > turns[11]


def test_rod_follows_a_rotating_clamp():
    """Without a load the rod stays straight in the direction of the clamp, in 3D too.

    With a load it is the rotated cantilever.
    """
    turning = np.array([0.0, 1.0, -1.0]) / np.sqrt(2)
    places = np.outer(np.linspace(0, 1, 9), [1, 0, 0])

    def clamp(t):
        return tuple(np.cos(t) * np.array([1.0, 0, 0]) + np.sin(t) * turning)

    def system(direction, load=(0, 0, 0)):
        energies = [
            laws.spring(links(8), k=1e4),
            laws.rod_bending(hinges(8), EI=1.0),
            laws.force([8], f=load),
        ]
        return taut.System(
            places,
            mass=1.0,
            fixed=[0],
            energies=[*energies, laws.rod_clamp([[0, 1]], EI=1.0, direction=direction)],
        )

    led = system(clamp)
    found = taut.equilibrium(led, led.initial_state().with_(t=0.8), tolerance=TIGHT)
    assert found.state.q == pytest.approx(np.outer(np.linspace(0, 1, 9), clamp(0.8)), abs=1e-9)
    # a load across the plane of turning: the deflection is that of the rod that was not turned
    across = np.cross([1, 0, 0], turning)
    loaded = system(clamp, 0.5 * across)
    q = taut.equilibrium(loaded, loaded.initial_state().with_(t=0.8), tolerance=TIGHT).state.q
    still = taut.equilibrium(
        system((3.0, 0, 0), (0, 0.5, 0)), tolerance=TIGHT
    ).state.q  # a direction need not be normalised
    assert q @ across == pytest.approx(still[:, 1], abs=1e-9)
    assert q @ clamp(0.8) == pytest.approx(still[:, 0], abs=1e-9)
