"""Proofs of steps, against steps in arithmetic of fifty digits."""

import json

import numpy as np
import pytest

import taut
from taut import laws
from taut.errors import ModelError
from tests.proof.exact_steps import find_distances


def chain(count=5, k=1e3):
    points = [[0.1 * i, 0.02 * i * i, 0.01 * i] for i in range(count)]
    pairs = [[i, i + 1] for i in range(count - 1)]
    return taut.System(
        points, mass=0.1, fixed=[0], energies=[laws.spring(pairs, k=k), laws.gravity()]
    )


def rod():
    angles = np.linspace(0, 1.5, 6)
    points = np.stack([np.sin(angles), -np.cos(angles), 0.1 * angles], axis=1)
    pairs = [[i, i + 1] for i in range(5)]
    triples = [[i, i + 1, i + 2] for i in range(4)]
    energies = [laws.spring(pairs, k=1e4), laws.rod_bending(triples, EI=0.1), laws.gravity()]
    return taut.System(points, mass=0.05, fixed=[0, 1], energies=energies)


def shell():
    mesh = taut.mesh.triangulated(taut.mesh.sheet(3, 3, plane="xz"))
    return taut.System(
        mesh.points,
        mass=taut.areal_mass(mesh, 0.3),
        fixed=mesh.corners("left"),
        energies=[
            laws.spring(mesh.edges, k=1e3),
            laws.shell_bending(mesh.hinges, c=1e-3),
            laws.gravity(),
        ],
        damping=[laws.spring_damping(mesh.edges, c=0.1)],
        loads=[laws.wind(mesh.triangles, velocity=(3.0, 0.0, 1.0))],
    )


SYSTEMS = pytest.mark.parametrize("build", [chain, rod, shell])


def take_steps(system, count, h=0.01, **options):
    state, integrator = system.initial_state(), taut.ImplicitEuler(**options)
    for _ in range(count):
        before, (state, _) = state, integrator.step(system, state, h)
    return before, state


@SYSTEMS
def test_distances_bound_the_error_in_fifty_digits(build):
    system = build()
    before, new = take_steps(system, 3)
    proof = taut.prove(system, before, new, 0.01)
    assert proof.proven, proof.reason
    exact = find_distances(system, before, new, 0.01)
    assert (exact <= proof.distances).all()
    # What remains of the tolerance is known to better than the rounding of positions.
    assert proof.distance <= 1.01 * exact.max() + 1e-15
    assert proof.unique > 1e3 * proof.distance
    free = ~system._projector.is_fixed
    assert (proof.distances[~free] == 0.0).all()


@SYSTEMS
def test_moved_positions_are_known_to_be_as_far_as_they_are(build):
    system = build()
    before, new = take_steps(system, 2)
    rng = np.random.default_rng(7)
    found = 0
    for size in (1e-12, 1e-10, 1e-8, 1e-4, 1e-1):
        q = np.array(new.q)
        free = ~system._projector.is_fixed
        q[free] += size * rng.normal(size=(free.sum(), 3))
        moved = taut.State(new.t, q, new.v)
        proof = taut.prove(system, before, moved, 0.01)
        if proof.proven:
            found += 1
            exact = find_distances(system, before, moved, 0.01)
            assert (exact <= proof.distances).all()
            assert proof.distance <= 1.01 * exact.max() + 1e-15
        else:
            assert "step's matrix" in proof.reason or "solution" in proof.reason
    assert found >= 3  # 1e-8 m away the solution is still the only one


def test_velocities_are_bounded():
    system = chain()
    before, new = take_steps(system, 3)
    exact = np.array(new.v)
    proof = taut.prove(system, before, new, 0.01)
    assert proof.velocity < 1e-6
    wrong = taut.State(new.t, new.q, exact + 0.5 * np.eye(5, 3, k=-1))
    assert taut.prove(system, before, wrong, 0.01).velocity >= 0.5


def test_a_saddle_is_not_proven():
    # A strut under twice the load at which it buckles, in a step too long for inertia to hold it.
    system = taut.System(
        [[0, 0, 0], [0, 1, 0], [0, 2, 0]],
        mass=1.0,
        fixed=[0, 2],
        energies=[laws.spring([[0, 1], [1, 2]], k=1e3, l0=1.5)],
    )
    state = system.initial_state()
    still = taut.State(1.0, state.q, state.v)
    proof = taut.prove(system, state, still, 1.0)
    assert not proof.proven
    assert "positive definite" in proof.reason
    assert str(proof).startswith("not proven: ")


def test_a_cable_about_to_go_slack_is_not_proven():
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=[laws.cable([[0, 1]], k=10.0)]
    )
    state = system.initial_state()
    still = taut.State(0.1, state.q, state.v)
    proof = taut.prove(system, state, still, 0.1)
    assert not proof.proven
    assert "cable" in proof.reason
    stretched = taut.State(0.0, [[0, 0, 0], [1.2, 0, 0]], state.v)
    new, _ = taut.ImplicitEuler().step(system, stretched, 0.1)
    assert taut.prove(system, stretched, new, 0.1).proven


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"contact": True}, "contact is not covered"),
        ({"damping": [laws.rayleigh(alpha=0.1, beta=0.01)]}, "Rayleigh damping is not covered"),
    ],
)
def test_what_is_not_covered_is_said(options, reason):
    sheet = taut.mesh.triangulated(taut.mesh.sheet(3, 3))
    if options.get("contact"):
        options = {"contact": taut.contact(sheet.triangles, range=0.01)}
    springs = laws.spring(sheet.edges, k=10.0)
    system = taut.System(sheet.points, mass=0.1, energies=[springs, laws.gravity()], **options)
    state = system.initial_state()
    new, _ = taut.ImplicitEuler().step(system, state, 0.01)
    proof = taut.prove(system, state, new, 0.01)
    assert (proof.proven, proof.reason) == (False, reason)


def test_a_step_of_another_integrator_is_not_proven_to_be_one_of_this():
    system = chain(k=1e5)
    state = system.initial_state()
    new, _ = taut.SymplecticEuler().step(system, state, 1e-3)
    proof = taut.prove(system, state, new, 1e-3)
    # If anything, that the solution of implicit Euler is farther away than its tolerance.
    assert not proof.proven or proof.distance > 1e-7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"h": -0.01}, "h must be positive, got -0.01"),
        ({"h": 0.02}, "new must be the state after a step of h = 0.02 s"),
        ({"new": None}, "state and new must be States"),
        ({"held": True}, "particle 0 is 0.1 m away from its place"),
    ],
)
def test_arguments_are_checked(change, message):
    system = chain()
    before, new = take_steps(system, 1)
    if change.pop("held", False):
        q = np.array(new.q)
        q[0, 0] += 0.1
        change = {"new": taut.State(new.t, q, new.v)}
    arguments = {"new": new, "h": 0.01, **change}
    with pytest.raises(ModelError, match=message):
        taut.prove(system, before, **arguments)


def test_the_command_proves_a_built_in_scene(command):
    code, out, _ = command("prove", "pendulum", "--steps", "2", "--json")
    rows = json.loads(out)
    assert code == 0
    assert [row["proven"] for row in rows] == [True, True]
    assert all(row["distance"] < 1e-12 and row["unique"] > 1e-5 for row in rows)
    code, out, _ = command("prove", "ropes", "--steps", "1")
    assert code == 1
    assert "not proven: contact is not covered" in out
