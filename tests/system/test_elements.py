"""M, P, S_i, E_j, L and the elements' V, f and K, against formulas and the sums of a System.

The closed forms of a spring are those of the textbooks: V = ½k(l - l0)², f_0 = k(l - l0) d,
K_00 = k[(1 - l0/l)(I - dd') + dd'] with d the unit vector from its first particle to its second.
"""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import taut
from taut import laws
from taut.constraints import on_line, on_plane, scripted
from tests.laws.specimens import ENERGIES
from tests.laws.specimens import state as positions
from tests.laws.test_totals import TOTALS


def spring_by_hand(x, k, l0):
    """V, f (6,) and K (6, 6) of one spring between two points, (2, 3)."""
    length = np.linalg.norm(x[1] - x[0])
    d = (x[1] - x[0]) / length
    pull = k * (length - l0) * d
    block = k * ((1 - l0 / length) * (np.eye(3) - np.outer(d, d)) + np.outer(d, d))
    stiffness = np.block([[block, -block], [-block, block]])
    return k / 2 * (length - l0) ** 2, np.concatenate([pull, -pull]), stiffness


def tangle(rng, n=7):
    """Springs of different stiffness, bending and gravity, away from rest."""
    x = rng.normal(size=(n, 3))
    edges = np.array([(i, j) for i in range(n) for j in range(i)])
    chain = np.array([(i, i + 1, i + 2) for i in range(n - 2)])
    return taut.System(
        x,
        mass=rng.uniform(0.5, 2.0, n),
        energies=[
            laws.spring(edges, k=rng.uniform(1.0, 50.0, len(edges))),
            laws.rod_hinge(chain, k=3.0),
            laws.gravity(),
        ],
        pose=x + 0.3 * rng.normal(size=x.shape),
        velocity=rng.normal(size=x.shape),
    )


def assemble(system, state):
    """V, f (3n,) and K (3n, 3n) by the sums over all elements of all energies."""
    V, f, K = 0.0, np.zeros(3 * system.n), np.zeros((3 * system.n,) * 2)
    for name in system.V_by_law(state):
        each = system.elements(state, name)
        for j in range(len(each)):
            E = system.selection(j, name)
            V += each.V[j]
            f += E.T @ each.f[j]
            K += E.T @ each.K[j] @ E
    return V, f, K


def check_sums(system, state):
    V, f, K = assemble(system, state)
    assert pytest.approx(system.V(state), rel=1e-13) == V
    scale = np.abs(K).max()
    np.testing.assert_allclose(f, system.f(state).ravel(), atol=1e-12 * scale)
    np.testing.assert_allclose(K, system.K(state).toarray(), atol=1e-13 * scale)


def test_each_spring_matches_the_closed_form():
    rng = np.random.default_rng(0)
    system = tangle(rng)
    state = system.initial_state()
    spring = system.energies[0]
    each = system.elements(state, spring)
    assert len(each) == 21
    assert (each.f.shape, each.K.shape) == ((21, 6), (21, 6, 6))
    for j, pair in enumerate(spring.elements):
        l0 = np.linalg.norm(system.rest[pair[1]] - system.rest[pair[0]])
        V, f, K = spring_by_hand(state.q[pair], spring.parameters["k"][j], l0)
        assert each.V[j] == pytest.approx(V, rel=1e-12)
        np.testing.assert_allclose(each.f[j], f, atol=1e-12 * np.abs(f).max())
        np.testing.assert_allclose(each.K[j], K, atol=1e-12 * np.abs(K).max())
        np.testing.assert_array_equal(each.particles[j], pair)


def test_sums_over_elements_are_those_of_the_system():
    """V = Σ V_j, f = Σ E_jᵀf_j, K = Σ E_jᵀK_j E_j."""
    system = tangle(np.random.default_rng(1))
    check_sums(system, system.initial_state())


def test_joined_bodies_keep_their_numbers():
    rng = np.random.default_rng(2)
    one, two = tangle(rng), tangle(rng, 5)
    both = taut.join(one, two)
    state = both.initial_state()
    check_sums(both, state)
    assert both.elements(state, "spring 2").particles.min() == one.n
    np.testing.assert_allclose(
        both.elements(state, "spring 2").K,
        two.elements(two.initial_state(), "spring").K,
        rtol=1e-13,
    )


def test_switched_off_elements_are_zero_and_are_not_evaluated():
    """An element without a finite value may be switched off; the others keep their numbers."""

    @taut.energy
    def inverse(x, k):
        d = x[1] - x[0]
        return k / taut.formula.dot(d, d)

    points = [[0, 0, 0], [0, 0, 0], [2, 0, 0]]
    charges = inverse([[0, 1], [0, 2], [1, 2]], k=[1.0, 2.0, 4.0])
    system = taut.System(points, mass=1.0, energies=[charges])
    state = system.initial_state()
    with pytest.raises(taut.errors.SingularState, match=r"element 0 \(particles \[0, 1\]\)"):
        system.elements(state)
    state = state.with_(active={"inverse": [False, True, True]})
    each = system.elements(state)
    assert each.active.tolist() == [False, True, True]
    assert each.V.tolist() == [0.0, 0.5, 1.0]
    assert not each.f[0].any()
    assert not each.K[0].any()
    np.testing.assert_allclose(each.f[1], [-0.5, 0, 0, 0.5, 0, 0], atol=1e-15)  # 2k/d³
    check_sums(system, state)


def test_parameters_are_those_of_the_time():
    spring = laws.spring([[0, 1]], k=lambda t: 10.0 + t, l0=1.0)
    system = taut.System([[0, 0, 0], [3, 0, 0]], mass=1.0, energies=[spring])
    state = system.initial_state()
    assert system.elements(state).V.tolist() == [20.0]
    assert system.elements(state.with_(t=5.0), spring).V.tolist() == [30.0]


@pytest.mark.parametrize("name", ENERGIES)
def test_every_energy_has_elements(name):
    """f_j is minus the difference quotient of V_j, and K_j that of -f_j, of each element."""
    rng = np.random.default_rng(3)
    placed = ENERGIES[name].placed(rng)
    system = taut.System(placed.rest, mass=placed.mass, energies=[placed.bound])
    start, h, s = system.initial_state().with_(q=positions(rng, placed)), 1e-6, placed.particles
    each = system.elements(start)
    scale = max(np.abs(each.f).max(), np.abs(each.K).max(), 1e-3)
    for i in range(3 * s):
        e = np.zeros((s, 3))
        e.flat[i] = h
        # The elements of a specimen share no particles: one coordinate of all is moved at once.
        ends = [start.with_(q=start.q + sign * np.tile(e, (len(each), 1))) for sign in (1, -1)]
        up, down = (system.elements(end) for end in ends)
        slope, curvature = (up.V - down.V) / (2 * h), (up.f - down.f) / (2 * h)
        np.testing.assert_allclose(each.f[:, i], -slope, atol=1e-6 * scale)
        np.testing.assert_allclose(each.K[:, :, i], -curvature, atol=1e-6 * scale)


def test_totals_have_no_elements_of_their_own():
    ball = taut.mesh.sphere(1)
    for name in TOTALS:
        law = getattr(laws, name)(ball.triangles, **TOTALS[name][0])
        system = taut.System(ball.points, mass=1.0, energies=[law])
        with pytest.raises(taut.errors.LawError, match="an energy of a total has no V, f and K"):
            system.elements(system.initial_state())
        assert system.selection(3).shape == (9, 36)


def test_no_elements_at_all():
    spring = laws.spring(np.empty((0, 2), dtype=int), k=1.0)
    system = taut.System([[0, 0, 0]], mass=1.0, energies=[spring])
    each = system.elements(system.initial_state())
    assert (len(each), each.f.shape, each.K.shape) == (0, (0, 6), (0, 6, 6))


def test_mass_matrix_and_lagrangian():
    system = tangle(np.random.default_rng(4))
    state = system.initial_state()
    v = state.v.ravel()
    kinetic = 0.5 * np.sum(system.mass * np.sum(state.v**2, axis=1))
    assert 0.5 * v @ (system.M @ v) == pytest.approx(kinetic, rel=1e-14)
    assert system.L(state) == pytest.approx(kinetic - system.V(state), rel=1e-13)
    assert system.M.shape == (21, 21)
    assert (system.M - scipy.sparse.diags_array(system.M.diagonal())).nnz == 0


def test_euler_lagrange_equation_holds():
    """d/dt ∂L/∂v = M a, ∂L/∂q = f: the right sides by difference quotients of L."""
    system = tangle(np.random.default_rng(5))
    state, h = system.initial_state(), 1e-6
    for i in range(3 * system.n):
        e = np.zeros(3 * system.n)
        e[i] = h
        move = e.reshape(-1, 3)
        momentum = system.L(state.with_(v=state.v + move)) - system.L(state.with_(v=state.v - move))
        force = system.L(state.with_(q=state.q + move)) - system.L(state.with_(q=state.q - move))
        assert momentum / (2 * h) == pytest.approx((system.M @ state.v.ravel())[i], abs=1e-6)
        assert force / (2 * h) == pytest.approx(system.f(state).ravel()[i], abs=1e-6)


def test_particle_and_element_selections():
    system = tangle(np.random.default_rng(6))
    q = system.initial_state().q
    for i in range(system.n):
        np.testing.assert_array_equal(system.particle(i) @ q.ravel(), q[i])
    for j, chain in enumerate(system.energies[1].elements):
        E = system.selection(j, "rod_hinge")
        assert (E.shape, E.nnz) == ((9, 21), 9)
        stacked = scipy.sparse.vstack([system.particle(int(i)) for i in chain])
        assert abs(E - stacked).nnz == 0


def test_projection_selects_free_coordinates():
    """P Pᵀ = I, q = Pᵀ P q + b with b what constraints prescribe, at all times of a run."""
    slope = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
    x = np.arange(15.0).reshape(5, 3)
    system = taut.System(
        x,
        mass=1.0,
        fixed=[0],
        constraints=[
            on_line([1], slope),
            on_plane([2], (0, 0, 1)),
            scripted([3], lambda t: x[3] + [np.sin(t), 0, 0]),
        ],
    )
    P = system.P
    assert P.shape == (1 + 2 + 3, 15)
    np.testing.assert_allclose((P @ P.T).toarray(), np.eye(6), atol=1e-15)
    row = np.concatenate([np.zeros(3), slope, np.zeros(9)])
    np.testing.assert_allclose(np.abs(P.toarray()[0]), row, atol=1e-15)
    for state, _ in taut.simulate(system, taut.ImplicitEuler(), 0.1, 0.3):
        b = state.q.ravel() - P.T @ (P @ state.q.ravel())
        np.testing.assert_allclose(b[:3], x[0], atol=1e-15)
        np.testing.assert_allclose(b[9:12], x[3] + [np.sin(state.t), 0, 0], atol=1e-14)
        assert not b[12:].any()


def test_planar_system():
    """Three numbers per particle; P leaves z out."""
    spring = laws.spring([[0, 1], [1, 2]], k=5.0)
    flat = taut.System(
        [[0, 0], [1, 0], [1, 1]], mass=1.0, fixed=[0], energies=[spring],
        pose=[[0, 0], [1.5, 0], [1, 1.5]],
    )  # fmt: skip
    assert flat.P.shape == (4, 9)
    assert (flat.P @ np.arange(9.0)).tolist() == [3, 4, 6, 7]
    check_sums(flat, flat.initial_state())


def test_a_step_written_in_matrices():
    """P(M + h²K)Pᵀ v̂' = P(M v + h f) is the step of LinearlyImplicitEuler(project=False)."""
    system = tangle(np.random.default_rng(7)).with_(fixed=[0, 4])
    state, h = system.initial_state(), 0.05
    M, K, P, v, f = system.M, system.K(state), system.P, state.v.ravel(), system.f(state).ravel()
    A, b = P @ (M + h**2 * K) @ P.T, P @ (M @ v + h * f)
    expected = (P.T @ scipy.sparse.linalg.spsolve(A.tocsc(), b)).reshape(-1, 3)
    new, _ = taut.LinearlyImplicitEuler(project=False).step(system, state, h)
    np.testing.assert_allclose(new.v, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.particle(7), "there are 7 particles, counted from 0; there is no particle 7"),
        (lambda s: s.particle(-1), "there is no particle -1"),
        (lambda s: s.particle(1.5), "index of the particle must be an integer, got 1.5"),
        (lambda s: s.selection(21, "spring"), "there are 21 elements, counted from 0"),
        (lambda s: s.selection(0), "3 energies, not one; law must name one of: 'spring', 'rod"),
        (lambda s: s.selection(0, "sprng"), "no energy 'sprng'.*spring"),
        (lambda s: s.elements(s.initial_state(), laws.gravity()), "law must be an energy of this"),
        (lambda s: s.elements(s.initial_state(), 3), "got 3"),
        (
            lambda s: s.elements(taut.State(0.0, [[0, 0, 0]], [[0, 0, 0]]), "spring"),
            "must have 7 particles",
        ),
        (
            lambda s: taut.System([[0, 0, 0]], mass=1.0).selection(0),
            "0 energies, not one; law must name one of: none",
        ),
    ],
)
def test_errors_name_the_mistake(call, message):
    with pytest.raises(taut.errors.ModelError, match=message):
        call(tangle(np.random.default_rng(8)))


def test_results_are_copies():
    system = tangle(np.random.default_rng(9))
    state = system.initial_state()
    first = system.elements(state, "spring").K.copy()
    system.elements(state, "spring").K[:] = np.nan
    system.M.data[:] = np.nan
    np.testing.assert_array_equal(system.elements(state, "spring").K, first)
    assert np.isfinite(system.M.data).all()
