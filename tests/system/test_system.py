"""System assembly against dense sums; joined bodies, inactive elements, 2D."""

import copy
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taut
from taut import laws
from taut.constraints import on_plane
from taut.linalg.blocks import BlockMatrix, Pattern, PatternUnion
from taut.linalg.low_rank import RankOne
from taut.system.terms import Inputs
from taut.system.workspace import workspace_for


def net(rng, n=9, **more):
    x = rng.normal(size=(n, 3))
    edges = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.6])
    triples = np.array([(i, (i + 1) % n, (i + 3) % n) for i in range(n)])
    energies = [
        laws.spring(edges, k=rng.uniform(1, 9, len(edges))),
        laws.rod_hinge(triples, k=0.7),
        laws.gravity(),
        laws.pin([2], k=3.0),
    ]
    return taut.System(
        x,
        mass=rng.uniform(1, 2, n),
        energies=energies,
        pose=x + 0.3 * rng.normal(size=x.shape),
        **more,
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([{}, {"project": True}, {"metric": True}]))
def test_sums_equal_dense_sums(seed, form):
    rng = np.random.default_rng(seed)
    system = net(rng)
    state = system.initial_state()
    f, k, v = np.zeros((system.n, 3)), np.zeros((system.n, 3, system.n, 3)), 0.0
    for placed in system._placed_energies.values():
        v += placed.values(state.q).sum()
        gradients, hessians = placed.gradients(state.q), placed.hessians(state.q, **form)
        s = placed.particles
        for e, g, h in zip(
            placed.elements, gradients, hessians.reshape(-1, s, 3, s, 3), strict=True
        ):
            f[e] -= g
            for a in range(s):
                for b in range(s):
                    k[e[a], :, e[b], :] += h[a, :, b, :]
    assert system.V(state) == pytest.approx(v, rel=1e-13)
    assert sum(system.V_by_law(state).values()) == pytest.approx(v, rel=1e-13)
    np.testing.assert_allclose(system.f(state), f, rtol=1e-12, atol=1e-12 * np.abs(f).max())
    if "metric" in form:
        assembly = workspace_for(system).assembly("potential", state)
        matrix = assembly.hessian([Inputs.at(state)] * 4, np.zeros(system.n), **form).to_scipy()
    else:
        matrix = system.K(state, **form)
    np.testing.assert_allclose(
        matrix.toarray(), k.reshape(3 * system.n, -1), rtol=1e-12, atol=1e-12 * np.abs(k).max()
    )
    assert abs(matrix - matrix.T).max() == 0.0


def test_free_solid_has_exactly_six_zero_modes():
    """Two tetrahedra sharing a face, springs on all edges: only rigid motions have zero energy."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.0]])
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (1, 4), (2, 4), (3, 4)]
    system = taut.System(x, mass=1.0, energies=[laws.spring(edges, k=1.0)])
    values = np.linalg.eigvalsh(system.K(system.initial_state()).toarray())
    assert np.abs(values[:6]).max() < 1e-14
    assert values[6] > 0.05


def test_momenta_and_kinetic_energy():
    system = taut.System([[1, 0, 0], [0, 2, 0]], mass=[2.0, 3.0], velocity=[[0, 1, 0], [1, 0, 0]])
    state = system.initial_state()
    assert system.T(state) == 2.5
    assert system.momentum(state).tolist() == [3.0, 2.0, 0.0]
    assert system.angular_momentum(state).tolist() == [0.0, 0.0, 2.0 - 6.0]
    assert system.angular_momentum(state, about=(0, 2, 0)).tolist() == [0.0, 0.0, 2.0]


def test_rest_shape_pose_and_velocity_are_independent():
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=1.0)],
        pose=[[0, 0, 0], [3, 0, 0]],
        velocity=[[0, 0, 0], [0, 7, 0]],
    )
    state = system.initial_state()
    assert (state.q[1, 0], state.v[1, 1], system.V(state)) == (3.0, 7.0, 2.0)
    assert system.rest[1, 0] == 1.0


def test_switched_off_elements_drop_out_and_only_the_pattern_is_rebuilt():
    system = taut.System(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
        mass=1.0,
        pose=[[0, 0, 0], [2, 0, 0], [4, 0, 0]],
        energies=[laws.spring([[0, 1], [1, 2]], k=1.0), laws.gravity()],
    )
    state = system.initial_state()
    torn = state.with_(active={"spring": np.array([True, False])})
    assert (system.V(state), system.V(torn)) == (1.0, 0.5)
    assert system.f(torn)[2].tolist() == [0.0, -9.81, 0.0]
    assert not system.K(torn).toarray()[3:6, 6:9].any()
    assert system.K(state).toarray()[3:6, 6:9].any()
    assert len(workspace_for(system).assembly("potential", torn).pattern.indices) == 5
    kernel = workspace_for(system).assembly("potential", state).terms[0].compiled
    assert workspace_for(system).assembly("potential", torn).terms[0].compiled is kernel
    after, _ = taut.ImplicitEuler().step(system, torn, 0.1)
    assert after.active["spring"].tolist() == [True, False]
    assert after.v[2].tolist() == pytest.approx([0.0, -0.981, 0.0])


def test_active_masks_are_checked():
    system = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0)])
    state = system.initial_state()
    with pytest.raises(taut.errors.ModelError, match="no law 'sprung'; did you mean 'spring'"):
        system.V(state.with_(active={"sprung": [True]}))
    with pytest.raises(taut.errors.ModelError, match=r"must have the shape \(1,\), got \(2,\)"):
        system.V(state.with_(active={"spring": [True, True]}))
    with pytest.raises(taut.errors.ModelError, match="needs a mask"):
        state.with_(active={"spring": [0]})


def test_an_element_error_is_named_by_its_own_number_when_others_are_off():
    @taut.energy
    def steep(x, k):
        return k * taut.formula.log(x[0][0])

    system = taut.System(
        [[1.0, 0, 0], [2.0, 0, 0], [-1.0, 0, 0]], mass=1.0, energies=[steep([0, 1, 2], k=1.0)]
    )
    state = system.initial_state().with_(active={"steep": [False, True, True]})
    with pytest.raises(taut.errors.SingularState, match=r"element 2 \(particles \[2\]\)"):
        system.V(state)


def test_repeated_laws_have_distinct_names():
    system = taut.System(
        np.eye(3),
        mass=1.0,
        energies=[
            laws.spring([[0, 1]], k=1.0),
            laws.spring([[1, 2]], k=1.0),
            laws.spring([[0, 2]], k=1.0, name="brace"),
        ],
    )
    assert list(system.V_by_law(system.initial_state())) == ["spring", "spring 2", "brace"]


def test_joined_bodies_move_as_they_would_alone():
    rng = np.random.default_rng(5)
    a, b = (
        net(rng, fixed=[0], damping=[laws.spring_damping([[0, 1]], c=0.3)]),
        net(rng, 6, constraints=[on_plane([1], (0, 1, 0))]),
    )
    both = taut.join(a, b)
    assert both.n == a.n + b.n

    def make(s):
        integrator = taut.ImplicitEuler(tolerance=taut.Tolerance(1e-13))
        return integrator.step(s, s.initial_state(), 0.05)[0]

    joined = make(both)
    np.testing.assert_allclose(joined.q[: a.n], make(a).q, atol=1e-12)
    np.testing.assert_allclose(joined.q[a.n :], make(b).q, atol=1e-12)


def test_a_flat_system_stays_flat():
    system = taut.System(
        [[0, 0], [1, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=10.0), laws.force([1], f=(0, 1.0, 5.0))],
        fixed=[0],
    )
    for state, _ in taut.simulate(system, taut.ImplicitEuler(), 0.1, 1.0):
        assert not state.q[:, 2].any()
        assert not state.v[:, 2].any()
    assert abs(state.q[1, 1]) > 0.01


def test_elements_beyond_the_first_chunk():
    """More elements than one thread takes at a time, so that chunk borders are crossed."""
    n = 1500
    x = np.column_stack([np.arange(n), np.zeros(n), np.zeros(n)]).astype(float)
    system = taut.System(
        x,
        mass=1.0,
        energies=[laws.spring(np.column_stack([np.arange(n - 1), np.arange(1, n)]), k=2.0)],
        pose=1.5 * x,
    )
    state = system.initial_state()
    assert system.V(state) == pytest.approx((n - 1) * 0.25)
    f = system.f(state)[:, 0]
    assert f[0] == pytest.approx(1.0)
    assert np.abs(f[1:-1]).max() < 1e-12


def test_evaluation_allocates_nothing_that_stays():
    rng = np.random.default_rng(0)
    system = net(rng)
    state = system.initial_state()
    assembly = workspace_for(system).assembly("potential", state)
    matrix = assembly.matrix
    for _ in range(3):
        assembly.hessian([Inputs.at(state)] * 4, np.zeros(system.n), project=False)
        assert workspace_for(system).assembly("potential", state) is assembly
        assert assembly.matrix is matrix


def test_union_of_patterns():
    a, b = Pattern.from_pairs(np.array([[0, 1]]), 3), Pattern.from_pairs(np.array([[1, 2]]), 3)
    both = PatternUnion([a, b])
    assert len(both.pattern.indices) == 3 + 4
    assert PatternUnion([a, a]).pattern is a
    for part, slots in zip((a, b), both.slots, strict=True):
        np.testing.assert_array_equal(both.pattern.rows[slots], part.rows)
        np.testing.assert_array_equal(both.pattern.indices[slots], part.indices)


@pytest.mark.parametrize("wide", [False, True])
def test_sum_of_matrices_on_different_patterns(wide):
    """Against dense matrices, one with entries for all particles; on the union of both patterns and
    on the wider one.
    """
    a = Pattern.from_pairs(np.array([[0, 1]]), 3)
    b = Pattern.from_pairs(np.array([[1, 2], [0, 1]] if wide else [[1, 2]]), 3)
    values = [np.arange(9.0 * len(p.indices)).reshape(-1, 3, 3) for p in (a, b)]
    one, two = (
        BlockMatrix(a, values[0]),
        BlockMatrix(b, values[1], (RankOne(3.0, np.ones((3, 3))),)),
    )
    total = PatternUnion([a, b]).sum([one, two], [2.0, -0.5])
    assert (total.pattern is b) == wide
    expected = 2.0 * one.to_scipy().toarray() - 0.5 * two.to_scipy().toarray()
    np.testing.assert_array_equal(
        total.to_scipy().toarray(), expected
    )  # small whole numbers and halves: exact


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"points": [[0, 0, np.nan]]}, "must be finite, got .* for particle 0"),
        ({"points": [[0, 0, 0, 0]]}, r"got \(1, 4\)"),
        ({"points": np.zeros((0, 3))}, "at least one particle"),
        ({"points": [["a", 0, 0]]}, "must be numbers"),
        ({"mass": 0.0}, "masses must be positive and finite, got 0.0 for particle 0"),
        ({"mass": [1.0, 2.0]}, r"mass must be one number .* got \(2,\)"),
        ({"fixed": [3]}, "no particle 3"),
        ({"fixed": [0.5]}, "expected particle indices"),
        ({"fixed": [True, False]}, "one entry per particle"),
        ({"pose": np.zeros((2, 3))}, r"pose must have the shape .* got \(2, 3\)"),
        ({"constraints": [3]}, "constraints must be a list of constraints, got 3"),
        ({"energies": laws.gravity()}, "energies must be a list of energies"),
        ({"mass": "heavy"}, "mass must be a number"),
        ({"points": [[0.0, 0]], "pose": [[0, 0, 1.0]]}, "pose: particle 0 leaves the plane"),
    ],
)
def test_reject_bad_systems(arguments, message):
    with pytest.raises(taut.errors.ModelError, match=message):
        taut.System(**{"points": [[0.0, 0, 0]], "mass": 1.0, **arguments})


def test_reject_bad_changes():
    system = taut.System([[0, 0, 0]], mass=1.0)
    with pytest.raises(taut.errors.ModelError, match="no 'masses'; did you mean 'mass'"):
        system.with_(masses=2.0)
    with pytest.raises(
        taut.errors.ModelError, match=r"velocities v must be finite, got .* for particle 0"
    ):
        system.initial_state().with_(v=[[np.inf, 0, 0]])


def test_arrays_of_a_system_cannot_be_changed():
    system = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.gravity([0])])
    for array in (
        system.rest,
        system.mass,
        system.pose,
        system.velocity,
        system.energies[0].elements,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_state_survives_pickle_and_copy():
    state = taut.State(
        1.0, [[0, 1, 2]], [[3, 4, 5]], active={"spring": [True]}, history={"q1": [[0, 0, 0]]}
    )
    for again in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert (again.t, again.q.tolist(), again.active["spring"].tolist()) == (
            1.0,
            [[0, 1, 2]],
            [True],
        )
        assert list(again.history) == ["q1"]


def test_reject_state_of_another_system():
    system = taut.System(np.eye(3), mass=1.0, energies=[laws.spring([[0, 2]], k=1.0)])
    other = taut.State(0.0, [[0, 0, 0]], [[0, 0, 0]])
    for method in (
        system.V,
        system.f,
        system.K,
        system.D,
        system.T,
        system.momentum,
        system.angular_momentum,
        system.V_by_law,
    ):
        with pytest.raises(
            taut.errors.ModelError, match="the state must have 3 particles as the system has, got 1"
        ):
            method(other)


def test_threads_do_not_share_buffers():
    rng = np.random.default_rng(3)
    system = net(rng)
    sibling = system.with_(velocity=rng.normal(size=(9, 3)))
    states = [
        system.initial_state().with_(q=system.pose + 0.1 * rng.normal(size=(9, 3)))
        for _ in range(8)
    ]
    expected = [system.f(s) for s in states]
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda i: (system, sibling)[i % 2].f(states[i % 8]), range(200)))
    for i, f in enumerate(got):
        np.testing.assert_array_equal(f, expected[i % 8])


def test_joined_body_accepts_new_masses():
    body = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.gravity()])
    heavier = taut.join(body, body).with_(mass=10.0)
    np.testing.assert_allclose(heavier.f(heavier.initial_state())[:, 1], -98.1)


def test_new_points_reset_the_pose():
    system = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0)
    assert system.with_(points=[[0, 0, 0], [5, 0, 0]]).initial_state().q[1, 0] == 5.0


def test_state_arrays_cannot_be_changed_behind_its_back():
    given = np.zeros((1, 3))
    state = taut.State(0.0, given, given)
    given += 1.0
    assert not state.q.any()
    with pytest.raises(ValueError, match="read-only"):
        state.q[0, 0] = 1.0


def test_directional_derivatives_match_the_gradient():
    system = net(np.random.default_rng(5), n=40)
    state = system.initial_state()
    assembly = workspace_for(system).assembly("potential", state)
    inputs = [Inputs.at(state)] * len(assembly.terms)
    gradient = assembly.gradient(inputs)[1].copy()
    scale, out = np.linspace(-2.0, 2.0, system.n), np.empty((system.n, 3))
    assembly.scaled_gradient(inputs, scale, out)
    np.testing.assert_array_equal(out, scale[:, None] * gradient)


def test_overflowing_sum_of_forces_names_the_particle():
    spikes = laws.force([1, 1, 0], f=[[1.2e308, 0, 0], [1.2e308, 0, 0], [1, 0, 0]])
    system = taut.System(np.eye(3), mass=1.0, energies=[spikes])
    with pytest.raises(taut.TautError, match="sum of the forces overflows at particle 1"):
        system.f(taut.State(0.0, np.zeros((3, 3)), np.zeros((3, 3))))


def test_forces_after_an_equilibrium_include_all_laws():
    """The search for an equilibrium shares terms with the system, but not their buffers."""
    points = [[0, 0, 0], [0, -1, 0]]
    spring = laws.spring([[0, 1]], k=100.0)
    system = taut.System(points, mass=1.0, energies=[spring, laws.gravity()], fixed=[0])
    rest = taut.equilibrium(system)
    assert system.f(rest.state)[1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


METHODS = [
    *("D", "K", "L", "M", "P", "T", "V", "V_by_law", "angular_momentum", "elements", "f"),
    *("initial_state", "load_forces", "members", "momentum", "particle", "selection", "with_"),
]
ATTRIBUTES = [
    *("constraints", "contact", "damping", "energies", "fixed", "flat", "loads", "mass", "n"),
    "pose",
    "rest",
    "velocity",
]


def test_public_names():
    """What tab completion offers, on the class and on a system, is public and has a docstring."""
    assert [name for name in dir(taut.System) if not name.startswith("_")] == METHODS
    system = taut.System([[0, 0, 0]], mass=1.0)
    offered = [name for name in dir(system) if not name.startswith("_")]
    assert offered == sorted([*METHODS, *ATTRIBUTES])
    assert all(getattr(taut.System, name).__doc__ for name in METHODS)
    for name in ATTRIBUTES:
        assert re.search(rf"^    {name} : ", taut.System.__doc__, re.MULTILINE), name
