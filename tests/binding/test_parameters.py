"""Parameters: scalars, one value or vector per element, functions of time, rest values, masses."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.formula import Vector, dot, norm
from taut.system.workspace import workspace_for

X = np.array([[0.0, 0, 0], [1, 0, 0], [1, 2, 0], [1, 2, 3]])
CHAIN = [[0, 1], [1, 2], [2, 3]]


def forces(*energies, t=0.0, pose=None):
    system = taut.System(X, mass=[1.0, 2.0, 3.0, 4.0], energies=energies, pose=pose)
    return system.f(system.initial_state().with_(t=t))


def test_rest_lengths_are_measured_on_the_rest_shape():
    assert not forces(laws.spring(CHAIN, k=5.0)).any()
    pull = forces(laws.spring(CHAIN, k=[5.0, 6.0, 7.0]), pose=2 * X)
    np.testing.assert_allclose(pull[3], [0, 0, -7.0 * 3])


def test_scalar_and_per_element_agree():
    np.testing.assert_array_equal(
        forces(laws.spring(CHAIN, k=5.0, l0=0.5)),
        forces(laws.spring(CHAIN, k=[5.0] * 3, l0=np.full(3, 0.5))),
    )


def test_functions_of_time():
    law = laws.spring(CHAIN, k=5.0, l0=lambda t: [1.0 + t, 2.0, 3.0])
    assert not forces(law).any()
    np.testing.assert_allclose(forces(law, t=0.5)[0], [-2.5, 0, 0])


def test_an_actuated_spring_is_evaluated_at_the_new_time():
    """Implicit Euler with l₀(t): one free particle, one Newton step, computed by hand."""
    h, k = 0.1, 50.0
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=2.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=k, l0=lambda t: 1.0 + 0.3 * t)],
    )
    state, _ = taut.ImplicitEuler().step(system, system.initial_state(), h)
    expected = (2.0 * 1.0 / h**2 + k * (1.0 + 0.3 * h)) / (2.0 / h**2 + k)
    assert state.q[1, 0] == pytest.approx(expected, rel=1e-13)


def test_vector_and_per_element_values_of_length_three_differ():
    three = X[:3]
    system = taut.System(
        three,
        mass=[1.0, 2.0, 3.0],
        energies=[laws.gravity(), laws.force(f=(1.0, 0, 0)), laws.force([0, 1, 2], f=np.eye(3))],
    )
    f = system.f(system.initial_state())
    weight, push = np.outer([1, 2, 3], [0, -9.81, 0]), np.array([1.0, 0, 0])
    np.testing.assert_allclose(f, weight + push + np.eye(3))


def test_gravity_defaults_to_the_masses():
    np.testing.assert_allclose(forces(laws.gravity())[:, 1], -9.81 * np.array([1, 2, 3, 4]))
    np.testing.assert_allclose(forces(laws.gravity([2], g=(0, 0, 1.0), mass=10.0))[2], [0, 0, 10.0])


def test_law_on_several_particles_receives_their_masses():
    @taut.energy
    def attraction(x, mass, strength):
        return -strength * mass[0] * mass[1] / norm(x[1] - x[0])

    system = taut.System(X[:2], mass=[2.0, 5.0], energies=[attraction([[0, 1]], strength=3.0)])
    assert system.V(system.initial_state()) == pytest.approx(-30.0)


def test_vector_per_element_of_any_width():
    @taut.energy
    def plane(x, coefficients):
        return (
            coefficients[0]
            + coefficients[1] * x[0][0]
            + coefficients[2] * x[0][1]
            + coefficients[3] * x[0][2]
        )

    c = np.arange(8.0).reshape(2, 4)
    system = taut.System(X[:2], mass=1.0, energies=[plane([0, 1], coefficients=c)])
    np.testing.assert_allclose(system.f(system.initial_state()), -c[:, 1:])


def test_a_moving_target():
    system = taut.System(
        [[0, 0, 0]], mass=1.0, energies=[laws.pin(k=4.0, target=lambda t: (t, 0, 0))]
    )
    np.testing.assert_allclose(system.f(system.initial_state().with_(t=3.0)), [[12.0, 0, 0]])


def test_parameter_names_do_not_collide_with_generated_code():
    @taut.energy
    def confusing(x, é, e9, i, E, x0x, project):
        return é * x[0][0] + e9 * x[0][1] + i * E * x0x * project * x[0][2]

    system = taut.System(
        [[1.0, 10.0, 100.0]],
        mass=1.0,
        energies=[confusing(é=2.0, e9=3.0, i=1.0, E=2.0, x0x=3.0, project=4.0)],
    )
    assert system.V(system.initial_state()) == 2 + 30 + 2400


def test_changed_helper_function_recompiles_the_law():
    space = {"taut": taut, "norm": norm}
    exec("def stretch(x): return norm(x[1] - x[0])", space)
    exec("@taut.energy\ndef law(x, k): return k * stretch(x) ** 2", space)
    bound = space["law"]([[0, 1]], k=1.0)
    values = []
    for factor in (1, 10):
        exec(f"def stretch(x): return {factor} * norm(x[1] - x[0])", space)
        system = taut.System([[0, 0, 0], [2, 0, 0]], mass=1.0, energies=[bound])
        values.append(system.V(system.initial_state()))
    assert values == [4.0, 400.0]


def test_parameters_are_copied_when_bound():
    k = np.array([1.0, 1.0, 1.0])
    law = laws.spring(CHAIN, k=k, l0=0.5)
    k[0] = 100.0
    assert forces(law)[0, 0] == pytest.approx(0.5)


def test_plane_vectors_in_a_plane_system():
    flat = taut.System(
        [[0, 0], [1, 0]],
        mass=2.0,
        energies=[laws.gravity(g=(0, -9.81)), laws.force([0], f=(1.0, 2.0))],
    )
    np.testing.assert_allclose(flat.f(flat.initial_state()), [[1, 2 - 19.62, 0], [0, -19.62, 0]])
    with pytest.raises(taut.errors.LawError, match="3 components, got 2"):
        forces(laws.gravity(g=(0, -9.81)))


def test_constants_of_the_formula_may_be_numpy_arrays():
    weights = np.array([1.0, 2.0, 3.0])

    @taut.energy
    def weighted(x, k):
        return dot(k * weights, x[0]) + dot(weights * k, x[0][np.int64(0)] * weights)

    system = taut.System([[1.0, 1.0, 1.0]], mass=1.0, energies=[weighted(k=2.0)])
    assert system.V(system.initial_state()) == 12 + 28


def test_dissipation_can_have_rest_values():
    @taut.dissipation(rest={"l0": lambda x: norm(x[1] - x[0])})
    def relative_damping(x, c, l0):
        return c / 2 * (taut.formula.rate(norm(x[1] - x[0])) / l0) ** 2

    system = taut.System(
        [[0, 0, 0], [2, 0, 0]],
        mass=1.0,
        damping=[relative_damping([[0, 1]], c=8.0)],
        velocity=[[0, 0, 0], [3, 0, 0]],
    )
    assert system.f(system.initial_state())[1, 0] == pytest.approx(-8.0 * 3 / 4)


def test_vector_annotation_in_a_user_law():
    @taut.energy
    def push(x, direction: Vector):
        return -dot(direction, x[0])

    assert forces(push([1], direction=(0, 2.0, 0)))[1].tolist() == [0.0, 2.0, 0.0]
    with pytest.raises(taut.errors.LawError, match="3 components, got 2"):
        forces(push([1], direction=(0, 2.0)))


def test_parameters_changed_between_steps():
    """A spring stiffened half-way moves like one that is stiff from the half-way state."""
    system = taut.System(
        [[0, 0, 0], [1.2, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=5.0, l0=1.0)],
    )
    integrator, state = taut.ImplicitEuler(), system.initial_state()
    for _ in range(3):
        state, _ = integrator.step(system, state, 0.1)
    stiff = system.with_(energies=[system.energies[0].with_(k=500.0)])
    after, _ = integrator.step(stiff, state, 0.1)
    expected = (state.q[1, 0] / 0.01 + state.v[1, 0] / 0.1 + 500.0) / (1 / 0.01 + 500.0)
    assert after.q[1, 0] == pytest.approx(expected, rel=1e-12)
    assert (
        workspace_for(stiff).assembly("increments", state).pattern
        is workspace_for(system).assembly("increments", state).pattern
    )
