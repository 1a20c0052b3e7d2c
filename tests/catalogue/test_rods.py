"""Chains, hinges, cables and stiffening springs against closed forms.

Stiffness, forces, buckling, frequencies, rejected input.
"""

import numpy as np
import pytest
from scipy.optimize import brentq

import taut
from taut import laws
from taut.constraints import on_line

TIGHT = taut.Tolerance(1e-13)
HINGED = [[0, 1, 2]]


def state_at(system, q):
    return system.initial_state().with_(q=np.asarray(q, dtype=float))


def bent_rod(angle, a=0.7, b=1.1):
    """Three particles whose segments of length a and b enclose an angle, in an oblique plane."""
    u, v = np.array([1, 2, 2]) / 3, np.array([2, 1, -2]) / 3
    return np.array([-a * u, 0 * u, b * (np.cos(angle) * u + np.sin(angle) * v)])


def three(law, q, **parameters):
    return taut.System(q, mass=1.0, energies=[law(HINGED, **parameters)])


# chains


def measure_stiffness(n, energies, force=2.0):
    """Stiffness [N/m] of a chain of n links along x, held at one end and pulled at the other."""
    rod = taut.mesh.rope(n)
    system = taut.System(
        rod.points,
        mass=1.0,
        fixed=[0],
        energies=[*energies(rod), laws.force([n], f=(force, 0, 0))],
        constraints=[on_line(range(1, n + 1), (1, 0, 0))],
    )
    return force / (taut.equilibrium(system, tolerance=TIGHT).state.q[n, 0] - 1)


@pytest.mark.parametrize("n", [1, 7, 40])
def test_chain_of_n_springs_has_stiffness_k_over_n(n):
    assert measure_stiffness(n, lambda rod: [laws.spring(rod.edges, k=n * 30.0)]) == pytest.approx(
        30.0, rel=1e-10
    )


@pytest.mark.parametrize(
    ("n", "ks", "kb"), [(2, 30.0, 5.0), (9, 30.0, 5.0), (10, 1.0, 6.0), (60, 30.0, 0.5)]
)
def test_skip_springs_add_four_times_their_stiffness_up_to_end_effects(n, ks, kb):
    """Links extend by u* + c(rⁱ + r^(N+1-i)), with r + 1/r = -(2 + ρ), ρ = k_s/k_b.

    The end links have one skip instead of two.
    """
    ratio = ks / kb
    root = np.sqrt(ratio * (ratio + 4))
    r = (root - 2 - ratio) / 2
    exact = (ks + 4 * kb) / (1 + 4 / (n * root) * (1 - r**n) / (1 + r**n))
    found = measure_stiffness(
        n, lambda rod: [laws.spring(rod.edges, k=n * ks), laws.spring(rod.skips, k=n * kb)]
    )
    assert found == pytest.approx(exact, rel=1e-10)
    assert (
        ks + 4 * kb * (1 - 1 / n) >= found
    )  # the chain with equal links: a trial shape, which cannot be softer than the true one


def test_skip_springs_do_not_resist_small_bending():
    """Across a straight rod K is zero.

    Bent by θ with links that keep their length, V = 2 k l² (1 - cos(θ/2))²: of fourth order, so the
    moment dV/dθ is of third, where that of a hinge is of first.
    """
    n, k = 6, 50.0
    rod = taut.mesh.rope(n)
    straight = taut.System(
        rod.points, mass=1.0, energies=[laws.spring(rod.edges, k=1e4), laws.spring(rod.skips, k=k)]
    )
    stiffness = straight.K(straight.initial_state()).toarray().reshape(n + 1, 3, n + 1, 3)
    # only the rounding of l - l₀, a few 1e-17 m
    assert np.abs(stiffness[:, 1:, :, 1:]).max() <= 1e4 * 1e-14
    skip = taut.System(bent_rod(0.0, 1, 1), mass=1.0, energies=[laws.spring([[0, 2]], k=k)])
    angles = np.array([0.04, 0.08, 0.16])
    energies = np.array([skip.V(state_at(skip, bent_rod(a, 1, 1))) for a in angles])
    assert energies == pytest.approx(2 * k * (1 - np.cos(angles / 2)) ** 2, rel=1e-9)
    moments = np.array(
        [
            np.linalg.norm(skip.f(state_at(skip, bent_rod(a, 1, 1)))[2] * np.sin(a / 2))
            for a in angles
        ]
    )
    assert moments == pytest.approx(2 * k * (1 - np.cos(angles / 2)) * np.sin(angles / 2), rel=1e-9)
    assert np.log2(moments[1:] / moments[:-1]) == pytest.approx(
        [3, 3], abs=0.01
    )  # sin and cos bend the slope by θ²/8


# hinges


@pytest.mark.parametrize("law", [laws.rod_hinge, laws.rod_bending])
def test_stiffness_of_a_straight_hinge(law):
    """θ ≈ |g·w| with g = (1/a, -1/a - 1/b, 1/b) and w the displacements across.

    K = B ggᵀ ⊗ (I - ttᵀ), B = EI/l or k/2.
    """
    a, b, stiff = 0.7, 1.1, 3.0
    q = bent_rod(0.0, a, b)
    system = three(
        law, q, **({"k": 2 * stiff} if law is laws.rod_hinge else {"EI": stiff * (a + b) / 2})
    )
    g, t = np.array([1 / a, -1 / a - 1 / b, 1 / b]), np.array([1, 2, 2]) / 3
    exact = stiff * np.kron(np.outer(g, g), np.eye(3) - np.outer(t, t))
    assert system.K(system.initial_state()).toarray() == pytest.approx(
        exact, abs=1e-13 * np.abs(exact).max()
    )


@pytest.mark.parametrize("angle", [1e-3, 0.4, 2.5])
@pytest.mark.parametrize("theta0", [0.0, 0.9])
def test_stiffness_of_a_bent_rod(angle, theta0):
    """K = B(∇θ∇θᵀ + (θ - θ₀)∇²θ), with the gradient and the Hessian of θ as docs/theory/04-rods.md
    derives them.
    """
    a, b, stiff = 0.7, 1.1, 3.0
    q = bent_rod(angle, a, b)
    t, r = (q[1] - q[0]) / a, (q[2] - q[1]) / b
    n = np.cross(t, r) / np.sin(angle)
    p, s, nn = np.cross(n, t), np.cross(n, r), np.outer(n, n)
    gradient = np.concatenate([-p / a, s / b])
    aa = (np.outer(t, p) + np.outer(p, t) + nn / np.tan(angle)) / a**2
    bb = (-np.outer(r, s) - np.outer(s, r) + nn / np.tan(angle)) / b**2
    ab = -nn / (a * b * np.sin(angle))
    hessian = stiff * (
        np.outer(gradient, gradient) + (angle - theta0) * np.block([[aa, ab], [ab, bb]])
    )
    from_positions = np.kron([[-1, 1, 0], [0, -1, 1]], np.eye(3))
    exact = from_positions.T @ hessian @ from_positions
    system = three(laws.rod_bending, q, EI=stiff, l=1.0, theta0=theta0)
    # n is known to 1e-16/θ and, at θ = 1e-3 and θ₀ > 0, is multiplied by a stiffness of θ₀/θ
    assert system.K(system.initial_state()).toarray() == pytest.approx(
        exact, abs=1e-12 * np.abs(exact).max()
    )


def test_moments_of_the_hinge_laws():
    """The force on an end is (dV/dθ)/a across its segment.

    (k/2)sin(θ - θ₀) of `rod_hinge`, bounded; (EI/l)(θ - θ₀) else.
    """
    a, b, k = 0.7, 1.1, 4.0
    for theta0 in (0.0, 0.6):
        rest = bent_rod(theta0, a, b)
        soft, hard = (
            three(laws.rod_hinge, rest, k=k),
            three(laws.rod_bending, rest, EI=k / 2 * (a + b) / 2),
        )
        for angle in (1e-7, 0.3, np.pi / 2, 3.0):
            q = bent_rod(angle, a, b)
            # rounding changes an angle of 1e-7 by 1e-9
            for system, moment in (
                (soft, k / 2 * np.sin(angle - theta0)),
                (hard, k / 2 * (angle - theta0)),
            ):
                force = system.f(state_at(system, q))
                assert np.linalg.norm(force[0]) * a == pytest.approx(abs(moment), rel=1e-8)
                assert np.linalg.norm(force[2]) * b == pytest.approx(abs(moment), rel=1e-8)
                assert (
                    force[2] @ (q[2] - q[0]) * (angle - theta0) > 0
                )  # it straightens an overbent rod, which lengthens it
                assert np.abs(force.sum(axis=0)).max() <= 1e-13
    folded = three(laws.rod_hinge, bent_rod(0.0), k=k)
    assert folded.V(state_at(folded, bent_rod(np.pi))) == pytest.approx(k, rel=1e-12)


def test_energy_of_a_thread_is_continuous_where_a_segment_vanishes():
    """V of `rod_hinge` goes to k/4 there from every side, and is the formula beyond a tenth."""
    k, l, theta0 = 4.0, 2.0, 0.6  # noqa: E741
    system = three(laws.rod_hinge, bent_rod(0.0, l, l), k=k, theta0=theta0)
    a = bent_rod(0.0, l, l)[1] - bent_rod(0.0, l, l)[0]
    start = np.array([0.0, 0.3, -0.1])
    for direction in np.random.default_rng(0).normal(size=(20, 3)):
        direction /= np.linalg.norm(direction)
        turning = np.arccos(direction @ a / l)

        def energy(length, direction=direction):
            middle = start + length * direction
            return system.V(state_at(system, np.array([start, middle, middle + a])))

        assert energy(1e-12) == pytest.approx(k / 4, rel=1e-9)
        lengths = np.linspace(0.0, 0.2 * l, 400)
        steps = np.diff([energy(length) for length in lengths])
        assert np.abs(steps).max() <= 0.02 * k
        assert energy(0.1001 * l) == pytest.approx(k / 2 * (1 - np.cos(turning - theta0)))


@pytest.mark.parametrize("seed", range(4))
def test_a_thread_in_one_place_takes_a_step(seed):
    """Stiff hinges, springs too soft to keep their segments apart: the step has a minimum."""
    rng = np.random.default_rng(seed)
    rod = taut.mesh.rope(12)
    system = taut.System(
        rod.points,
        mass=1e-3,
        energies=[laws.spring(rod.edges, k=1.0), laws.rod_hinge(rod.rod_hinges, k=100.0)],
        pose=np.zeros((rod.n, 3)),
        velocity=rng.normal(size=(rod.n, 3)),
    )
    state, report = taut.ImplicitEuler().step(system, system.initial_state(), 1e-2)
    assert report.outcome == "converged"
    assert system.V(state) <= system.V(system.initial_state()) + system.T(system.initial_state())


@pytest.mark.parametrize(("n", "expected"), [(10, 0.991802), (20, 0.997946)])
@pytest.mark.parametrize("law", [laws.rod_hinge, laws.rod_bending])
def test_euler_buckling_of_a_rod_in_physical_units(law, n, expected):
    """Stable up to P = 4(B/l')sin²(π/2N) and not beyond, B = EI/l = k/2 and l' = l - P/k the
    compressed link; P/P_E as in the table, P_E = π²(B l')/(N l')². (Links that are found by
    bisection: tests/step/test_stability.py.)
    """
    stiff, B = 300.0 * n, 1.0
    rod = taut.mesh.rope(n)
    hinges = law(rod.rod_hinges, **({"k": 2 * B} if law is laws.rod_hinge else {"EI": B / n}))
    system = taut.System(
        rod.points,
        mass=1.0,
        fixed=[0],
        energies=[laws.spring(rod.edges, k=stiff), hinges],
        constraints=[on_line([n], (1, 0, 0))],
    )
    s = np.sin(np.pi / (2 * n))
    critical = brentq(
        lambda p: p - 4 * B / (1 / n - p / stiff) * s**2,
        0.0,
        8 * B * n * s**2,
        xtol=1e-15,
        rtol=1e-14,
    )
    link = 1 / n - critical / stiff
    assert critical / (np.pi**2 * B * link / (n * link) ** 2) == pytest.approx(expected, abs=5e-7)
    # 1e-7 of the load changes the lowest eigenvalue by ten times what counts as zero; there are two
    # planes to buckle in
    for factor, negative in ((1 - 1e-7, 0), (1 + 1e-7, 2)):
        pressed = rod.points * n * (1 / n - factor * critical / stiff)
        assert taut.stability(system, state_at(system, pressed), n=1).negative == negative


def ring(n, angle=2 * np.pi):
    """n links of length 1/n along an arc of the given angle: particles (n + 1, 2)."""
    direction = angle * (np.arange(n) + 0.5) / n
    return np.vstack(
        [[0, 0], np.cumsum(np.column_stack([np.cos(direction), np.sin(direction)]) / n, axis=0)]
    )


@pytest.mark.parametrize("law", [laws.rod_hinge, laws.rod_bending])
def test_a_ring_keeps_its_shape_and_an_opened_one_closes(law):
    """Rest angles are measured.

    No force acts at rest; opened to half its angle the ring closes until its ends just touch.
    """
    n = 16
    links, hinges = [[i, i + 1] for i in range(n)], [[i, i + 1, i + 2] for i in range(n - 1)]
    energies = [
        laws.spring(links, k=1e3),
        law(hinges, **({"k": 2.0} if law is laws.rod_hinge else {"EI": 0.1})),
    ]
    system = taut.System(ring(n), mass=1.0, fixed=[0], energies=energies)
    assert (
        np.abs(system.f(system.initial_state())).max() <= 1e-12
    )  # rounding of lengths, 1e-16 m, times 1e3 N/m
    opened = system.with_(pose=ring(n, np.pi))
    assert np.linalg.norm(opened.initial_state().q[n]) > 0.6
    found = taut.equilibrium(opened, tolerance=TIGHT)
    assert np.linalg.norm(found.state.q[n]) <= 1e-10
    assert sum(found.energies.values()) <= 1e-18
    radii = np.linalg.norm(found.state.q - found.state.q[:n].mean(axis=0), axis=1)
    assert radii == pytest.approx(np.full(n + 1, 1 / (2 * n * np.sin(np.pi / n))), rel=1e-9)


# cables and stiffening springs


def test_a_cable_pulls_and_does_not_push():
    system = taut.System([[0, 0, 0], [2, 0, 0]], mass=1.0, energies=[laws.cable([[0, 1]], k=100.0)])
    for length, tension in ((2.5, 50.0), (1.9, 0.0), (0.0, 0.0)):
        assert system.f(state_at(system, [[0, 0, 0], [length, 0, 0]]))[1] == pytest.approx(
            [-tension, 0, 0]
        )


def test_a_prestressed_cable_is_a_string():
    """ω_j = 2√(T/ma) sin(jπ/2(N+1)), each in two planes.

    The frequencies along the string are higher, 2√(k/m) sin(…).
    """
    n, a, m, k, tension = 12, 0.25, 0.02, 4e4, 35.0
    rope = taut.mesh.rope(n + 1, end=(a * (n + 1), 0, 0))
    l0 = taut.rest_length(rope.points, rope.edges, k=k, force=tension)
    string = taut.System(
        rope.points, mass=m, fixed=[0, n + 1], energies=[laws.cable(rope.edges, k=k, l0=l0)]
    )
    assert np.abs(string.f(string.initial_state())[1:-1]).max() <= 1e-9
    sines = 2 * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))
    expected = np.sort(
        np.concatenate(
            [
                np.sqrt(tension / (m * a)) * sines,
                np.sqrt(tension / (m * a)) * sines,
                np.sqrt(k / m) * sines,
            ]
        )
    )
    assert taut.modes(string, n=3 * n).omega == pytest.approx(expected, rel=1e-8)


def test_a_stiffening_spring_has_the_force_and_stiffness_of_its_formula():
    """Force k l₀ (ε + β ε³) and stiffness k (1 + 3β ε²), doubled at ε = 1/√(3β).

    Across it the stiffness is force/length.
    """
    k, beta, l0 = 40.0, 12.0, 0.5
    system = taut.System(
        [[0, 0, 0], [l0, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.stiffening_spring([[0, 1]], k=k, beta=beta)],
    )
    double = 1 / np.sqrt(3 * beta)
    for strain in (-0.3, 0.0, 0.1, double, 0.8):
        state = state_at(system, [[0, 0, 0], [0, l0 * (1 + strain), 0]])
        pull = k * l0 * (strain + beta * strain**3)
        assert system.f(state)[1] == pytest.approx([0, -pull, 0], rel=1e-12, abs=1e-13)
        block = np.diag(
            [pull / (l0 * (1 + strain)), k * (1 + 3 * beta * strain**2), pull / (l0 * (1 + strain))]
        )
        assert system.K(state).toarray()[3:, 3:] == pytest.approx(block, rel=1e-12, abs=1e-12)
    assert system.K(state_at(system, [[0, 0, 0], [0, l0 * (1 + double), 0]])).toarray()[
        4, 4
    ] == pytest.approx(2 * k)


# rejected input


@pytest.mark.parametrize("law", [laws.rod_hinge, laws.rod_bending, laws.planar_rod_bending])
@pytest.mark.parametrize("neighbour", [2, 4])
def test_reject_elements_with_coincident_particles(law, neighbour):
    points = np.array([[0.0, 0], [1, 0], [2, 0], [3, 0], [4, 1]])
    points[3] = points[neighbour]
    with pytest.raises(
        taut.errors.LawError,
        match=rf"law '{law.name}': element 1 .*has two particles in the same place",
    ):
        taut.System(
            points, mass=1.0, energies=[law([[0, 1, 2], [2, 3, 4]], **{law.parameters[0]: 1.0})]
        )


@pytest.mark.parametrize(
    ("law", "size", "parameters", "named"),
    [
        (laws.spring, 2, {"k": [1.0, -1.0]}, "k"),
        (laws.cable, 2, {"k": [1.0, -1.0]}, "k"),
        (laws.cable, 2, {"k": 1.0, "l0": [1.0, -0.1]}, "l0"),
        (laws.stiffening_spring, 2, {"k": 1.0, "beta": [0.0, -2.0]}, "beta"),
        (laws.stiffening_spring, 2, {"k": 1.0, "beta": 1.0, "l0": [1.0, 0.0]}, "l0"),
        (laws.rod_clamp, 2, {"EI": [1.0, -1.0]}, "EI"),
        (laws.rod_hinge, 3, {"k": [1.0, -1.0]}, "k"),
        (laws.rod_hinge, 3, {"k": 1.0, "theta0": [0.1, -0.1]}, "theta0"),
        (laws.rod_bending, 3, {"EI": [1.0, -1.0]}, "EI"),
        (laws.rod_bending, 3, {"EI": 1.0, "l": [1.0, 0.0]}, "l"),
        (laws.planar_rod_bending, 3, {"EI": [1.0, -1.0]}, "EI"),
    ],
)
def test_reject_parameters_out_of_range(law, size, parameters, named):
    elements = [list(range(size)), list(range(1, size + 1))]
    with pytest.raises(taut.errors.LawError, match=rf"law '{law.name}': .*'{named}' of element 1"):
        taut.System(taut.mesh.rope(4).points, mass=1.0, energies=[law(elements, **parameters)])


def test_a_clamp_needs_a_segment():
    with pytest.raises(taut.errors.LawError, match=r"law 'rod_clamp': .*element 0"):
        taut.System(
            [[1, 2, 3], [1, 2, 3]], mass=1.0, fixed=[0], energies=[laws.rod_clamp([[0, 1]], EI=1.0)]
        )
