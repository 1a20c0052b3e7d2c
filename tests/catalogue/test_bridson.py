"""Bending of Bridson, Marino and Fedkiw against the formulas of the paper, without taut."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import taut
from taut import laws

HINGE = [[0, 1, 2, 3]]


def modes(x):
    """u₁…u₄, E, N₁, N₂ as printed; x₁, x₂ opposite, x₃, x₄ the edge."""
    x1, x2, x3, x4 = x
    E, N1, N2 = x4 - x3, np.cross(x1 - x3, x1 - x4), np.cross(x2 - x4, x2 - x3)
    length, a, b = np.linalg.norm(E), N1 / (N1 @ N1), N2 / (N2 @ N2)
    u3 = (x1 - x4) @ E / length * a + (x2 - x4) @ E / length * b
    u4 = -(x1 - x3) @ E / length * a - (x2 - x3) @ E / length * b
    return np.array([length * a, length * b, u3, u4]), E, N1, N2


def ratio(x):
    _, E, N1, N2 = modes(x)
    return E @ E / (np.linalg.norm(N1) + np.linalg.norm(N2))


def angle(x):
    """θ from its cosine, with the sign of the paper: that of (n̂₁×n̂₂)·ê.

    Only for angles that are not small.
    """
    _, E, N1, N2 = modes(x)
    cosine = N1 @ N2 / np.linalg.norm(N1) / np.linalg.norm(N2)
    return np.arccos(cosine) * np.sign(np.cross(N1, N2) @ E)


def printed_force(x, k, theta, theta0):
    return k * ratio(x) * (np.sin(theta / 2) - np.sin(theta0 / 2)) * modes(x)[0]


def triangles(rng):
    """Two coplanar triangles that share an edge along x: a flat hinge."""
    a, b = rng.uniform(-2, -0.3), rng.uniform(0.3, 2)
    return np.array(
        [
            [rng.normal(), rng.uniform(0.3, 2), 0],
            [rng.normal(), -rng.uniform(0.3, 2), 0],
            [a, 0, 0],
            [b, 0, 0],
        ]
    )


def folded(flat, theta, rng):
    """Rotate the second triangle about the edge by θ, then apply a random rigid motion.

    Lengths and areas do not change.
    """
    x = flat.copy()
    x[1] = Rotation.from_rotvec([theta, 0, 0]).apply(x[1])
    return Rotation.random(random_state=int(rng.integers(2**31))).apply(x) + rng.normal(size=3)


def force(rest, x, k, **parameters):
    system = taut.System(
        rest, mass=1.0, energies=[laws.bridson_bending(HINGE, k=k, **parameters)], pose=x
    )
    return system.f(system.initial_state())


@pytest.mark.parametrize("bent", [False, True], ids=["flat at rest", "bent at rest"])
def test_force_matches_the_paper_for_isometric_bends(bent):
    rng = np.random.default_rng(3)
    for theta in np.linspace(-3.1, 3.1, 63):
        flat, k = triangles(rng), rng.uniform(0.1, 10)
        theta0 = rng.uniform(-2.5, 2.5) if bent else 0.0
        x = folded(flat, theta, rng)
        expected = printed_force(x, k, theta, theta0)
        got = force(folded(flat, theta0, rng), x, k)
        # positions of about 1 are rounded, and θ amplifies that by |u|
        assert got == pytest.approx(
            expected, abs=1e-13 * k * ratio(x) * max(1.0, np.abs(modes(x)[0]).max()) ** 2
        )


def rest_angle(x):
    """The angle that taut measures on a shape."""
    return (
        taut.System(x, mass=1.0, energies=[laws.bridson_bending(HINGE, k=1.0)])
        ._placed_energies["bridson_bending"]
        .parameters.constant["theta0"][0]
    )


def test_angle_sign_and_gradient_match_the_paper():
    rng = np.random.default_rng(4)
    for theta in (-2.8, -1.5, -0.4, 0.4, 1.5, 2.8):
        flat = triangles(rng)
        x = folded(flat, theta, rng)
        assert rest_angle(x) == pytest.approx(theta, abs=1e-13)
        assert angle(x) == pytest.approx(theta, abs=1e-13)
        step = 1e-6
        gradient = np.zeros((4, 3))
        for i, j in np.ndindex(4, 3):
            d = np.zeros((4, 3))
            d[i, j] = step
            gradient[i, j] = (rest_angle(x + d) - rest_angle(x - d)) / (2 * step)
        u = modes(x)[0]
        assert -gradient == pytest.approx(
            u, abs=1e-7 * np.abs(u).max() ** 3
        )  # central difference: step² and rounding/step
        assert np.abs(u.sum(axis=0)).max() < 1e-13 * np.abs(u).max(), "no translation"
        assert np.abs(np.cross(x, u).sum(axis=0)).max() < 1e-12 * np.abs(u).max(), "no rotation"


def test_deformed_triangles_differ_from_the_paper_only_in_the_coefficient():
    rng = np.random.default_rng(5)
    for _ in range(20):
        flat = triangles(rng)
        x = folded(flat, rng.choice([-1, 1]) * rng.uniform(0.3, 2), rng) + 0.1 * rng.normal(
            size=(4, 3)
        )
        ours, theirs = force(flat, x, 2.0), printed_force(x, 2.0, angle(x), 0.0)
        assert abs(ratio(x) / ratio(flat) - 1) > 1e-3
        assert ours * (ratio(x) / ratio(flat)) == pytest.approx(theirs, rel=1e-9, abs=1e-12)
        assert force(flat, x, 2.0, ratio=ratio(x)) == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def test_force_with_current_coefficient_is_not_conservative():
    """The force of the paper does work on a closed path (fold, shrink, unfold, grow); this law does
    none.

    This is why the law uses the ratio of the rest shape.
    """
    flat = triangles(np.random.default_rng(6))
    s = np.linspace(0, 2 * np.pi, 2001)
    path = []
    for theta, size in zip(1 + 0.5 * np.cos(s), 1 + 0.2 * np.sin(s), strict=True):
        x = flat.copy()
        x[1] = Rotation.from_rotvec([theta, 0, 0]).apply(x[1])
        x[:, 1:] *= size  # the heights change, the edge does not
        path.append(x)
    path = np.array(path)
    system = taut.System(flat, mass=1.0, energies=[laws.bridson_bending(HINGE, k=1.0)])
    ours = np.array([system.f(taut.State(0.0, x, np.zeros((4, 3)))) for x in path])
    theirs = np.array([printed_force(x, 1.0, angle(x), 0.0) for x in path])
    work = [np.sum((f[1:] + f[:-1]) / 2 * np.diff(path, axis=0)) for f in (ours, theirs)]
    assert abs(work[0]) < 1e-5 < 1e-2 < abs(work[1])  # the trapezoidal rule: 1/2000²


def test_damping_matches_the_paper_and_dissipates():
    rng = np.random.default_rng(7)
    for theta in np.linspace(-3.0, 3.0, 25):
        x, v, k = folded(triangles(rng), theta, rng), rng.normal(size=(4, 3)), rng.uniform(0.1, 10)
        system = taut.System(x, mass=1.0, damping=[laws.bridson_damping(HINGE, k=k)], velocity=v)
        got = system.f(system.initial_state())
        u, E, _, _ = modes(x)
        rate, length = np.sum(u * v), np.linalg.norm(E)  # u = -∂θ/∂x, so this is -dθ/dt
        assert got == pytest.approx(-k * length * rate * u, abs=1e-12 * k * np.abs(u).max() ** 2)
        power = np.sum(got * v)
        assert power == pytest.approx(-k * length * rate**2, rel=1e-10)
        assert power < 0, "the opposite sign would add energy"
        turning = np.cross(rng.normal(size=3), x) + rng.normal(size=3)
        still = taut.System(
            x, mass=1.0, damping=[laws.bridson_damping(HINGE, k=k)], velocity=turning
        )
        assert np.abs(still.f(still.initial_state())).max() < 1e-12 * k * np.abs(u).max() ** 2, (
            "no rigid motion is damped"
        )


def test_hinge_frequency_and_damping_rate():
    """A flat hinge has one mode.

    ω² = ½kc Σ|u|²/m, since V'' = ½kc; its damping rate is k_d|E| Σ|u|²/m.
    """
    flat, m = triangles(np.random.default_rng(8)), np.array([0.5, 1.0, 2.0, 0.7])
    bending, damper = laws.bridson_bending(HINGE, k=3.0), laws.bridson_damping(HINGE, k=0.2)
    system = taut.System(flat, mass=m, energies=[bending], damping=[damper])
    u, E, _, _ = modes(flat)
    inverse = np.sum(np.sum(u**2, axis=1) / m)  # moment of inertia against folding
    state = system.initial_state()
    root = np.repeat(m, 3) ** -0.5
    for matrix, expected in (
        (system.K(state), 1.5 * ratio(flat)),
        (system.D(state), 0.2 * np.linalg.norm(E)),
    ):
        found = np.linalg.eigvalsh(root[:, None] * matrix.toarray() * root)
        assert found[-1] == pytest.approx(expected * inverse, rel=1e-12)
        assert np.abs(found[:-1]).max() < 1e-12 * found[-1]


def folding_sheet():
    mesh = taut.mesh.sheet(3, 3, size=0.3, pattern="alternating")
    rng = np.random.default_rng(9)
    return taut.System(
        mesh.points,
        mass=taut.areal_mass(mesh, 0.2),
        energies=[laws.spring(mesh.edges, k=50.0), laws.bridson_bending(mesh.hinges, k=1e-3)],
        damping=[laws.bridson_damping(mesh.hinges, k=1e-3)],
        velocity=0.5 * rng.normal(size=(mesh.n, 3)),
    )


def test_folding_sheet_conserves_momentum_and_balances_energy():
    system = folding_sheet()
    ledger, begin = taut.Ledger(), system.initial_state()
    *_, (state, _) = taut.simulate(
        system, taut.ImplicitMidpoint(), h=1e-3, until=0.05, ledger=ledger
    )
    total = ledger.total()
    assert system.momentum(state) == pytest.approx(system.momentum(begin), abs=1e-9)
    assert total.dissipated["bridson_damping"] > 1e-5
    assert abs(total.gap) < 1e-12 * total.scale


def test_a_folding_sheet_obeys_the_angular_momentum_law_of_implicit_euler():
    """No force of a step has a torque at its end: ΔL = h Σ m v' × v, and linear momentum is
    conserved.

    The steps are long enough for large folds.
    """
    system, h = folding_sheet(), 0.02
    old = system.initial_state()
    for new, _ in taut.simulate(
        system, taut.ImplicitEuler(tolerance=taut.Tolerance(1e-12)), h=h, until=0.2
    ):
        gained = h * system.mass @ np.cross(new.v, old.v)
        gross = np.sum(system.mass * np.linalg.norm(old.q, axis=1) * np.linalg.norm(old.v, axis=1))
        assert np.abs(gained).max() > 1e-6 * gross
        assert system.angular_momentum(new) - system.angular_momentum(old) == pytest.approx(
            gained, abs=1e-11 * gross
        )
        assert system.momentum(new) == pytest.approx(system.momentum(old), abs=1e-11 * gross)
        old = new


@pytest.mark.parametrize(("h", "k"), [(0.02, 0.5), (1e-3, 0.01)])
@pytest.mark.parametrize("sign", [1, -1])
def test_damping_is_continuous_where_the_angle_wraps_at_pi(h, k, sign):
    """Two triangles at θ = ±3.1 keep folding at 8 rad/s and pass through each other.

    The damper dissipates k |E| (dθ/dt)² there as everywhere.
    """
    reach = 0.8  # of the second triangle, which turns about the edge along x; the others are held
    c, s = reach * np.cos(3.1), sign * reach * np.sin(3.1)
    x = np.array([[0.5, reach, 0], [0.5, -c, -s], [0, 0, 0], [1, 0, 0]])
    v = np.array([[0.0, 0, 0], [0, 8 * sign * s, -8 * sign * c], [0, 0, 0], [0, 0, 0]])
    springs = laws.spring([[1, 2], [1, 3]], k=1e4)
    system = taut.System(
        x,
        mass=1.0,
        fixed=[0, 2, 3],
        energies=[springs],
        damping=[laws.bridson_damping(HINGE, k=k)],
        velocity=v,
    )
    ledger = taut.Ledger()
    run = list(taut.simulate(system, taut.ImplicitEuler(), h=h, until=0.2, ledger=ledger))
    angles = np.array([sign * 3.1, *(np.arctan2(-s.q[1, 2], -s.q[1, 1]) for s, _ in run)])
    assert np.abs(np.diff(angles)).max() > 6, "the angle must pass ±π"
    folds = sign * np.diff(np.unwrap(angles))
    assert folds.min() > 0, "the motion must continue past ±π"
    assert folds[0] == pytest.approx(
        8 * h, rel=0.03
    )  # the motion before and after the jump is the same
    assert folds[:-1] == pytest.approx(folds[1:], rel=0.06)
    energy = np.array(
        [system.T(s) + system.V(s) for s in (system.initial_state(), *(s for s, _ in run))]
    )
    assert np.diff(energy).max() < 0
    taken = [entry.dissipated["bridson_damping"] for entry in ledger.entries]
    # Ψ of the step is ½k|E|(2 sin(Δθ/2)/h)²: the moment is k|E| sin(Δθ)/h, and a step along the
    # chord does work r sin Δθ/r
    assert taken == pytest.approx(k * np.sin(folds) ** 2 / h, rel=5e-3)


@pytest.mark.parametrize(
    "law", [laws.bridson_bending, laws.bridson_damping], ids=lambda law: law.name
)
def test_reject_bad_hinges(law):
    good = triangles(np.random.default_rng(10))
    kind = "energies" if law is laws.bridson_bending else "damping"
    two = [*HINGE, [4, 5, 6, 7]]

    def build(second, k=1.0):
        taut.System(np.concatenate([good, second]), mass=1.0, **{kind: [law(two, k=k)]})

    build(good + 5)
    met, narrow = good.copy(), good.copy()
    met[3] = met[2]
    narrow[1] = 0.3 * narrow[2] + 0.7 * narrow[3]
    with pytest.raises(
        taut.errors.LawError, match=rf"{law.name}.*element 1 .*two particles in the same place"
    ):
        build(met)
    with pytest.raises(
        taut.errors.LawError, match=rf"{law.name}.*element 1 .*second triangle without area"
    ):
        build(narrow)
    with pytest.raises(taut.errors.LawError, match=rf"{law.name}.*'k' of element 1 .* got -1"):
        build(good, k=[1.0, -1.0])
