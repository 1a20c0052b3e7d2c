"""A system with other values of parameters: the same bits, without analysing anything again."""

import numpy as np
import pytest

import taut
from taut import laws

H = 2e-3


def build(k=200.0, c=0.1, wind=1.0):
    mesh = taut.mesh.sheet(4, 4, pattern="alternating")
    return taut.System(
        mesh.points,
        mass=0.01,
        fixed=[20],
        energies=[laws.spring(mesh.edges, k=k), laws.gravity()],
        damping=[laws.spring_damping(mesh.edges, c=c), laws.rayleigh(alpha=0.1)],
        loads=[laws.wind(mesh.triangles, velocity=(wind, 0, 0.5))],
        constraints=[taut.constraints.fixed([24], until=5 * H)],
    )


def change(system, k, c=0.1, wind=1.0):
    (spring, gravity), (damper, rayleigh), (blow,) = system.energies, system.damping, system.loads
    return system.with_(
        energies=[spring.with_(k=k), gravity],
        damping=[damper.with_(c=c), rayleigh],
        loads=[blow.with_(velocity=(wind, 0, 0.5))],
    )


def follow(integrator, get_system, steps=10):
    """Take steps, each with a stiffness of its own; a constraint ends and wind blows meanwhile."""
    system = get_system(None, 200.0, 0.1, 1.0)
    state = system.initial_state()
    for i in range(steps):
        system = get_system(system, 200.0 + i, 0.1 + 0.01 * i, 1.0 + 0.1 * i)
        state, report = integrator.step(system, state, H)
        assert report.outcome != "not converged"
    return state


INTEGRATORS = [taut.ImplicitEuler, taut.BDF2, taut.SymplecticEuler, taut.RK4]


@pytest.mark.parametrize("kind", INTEGRATORS)
def test_same_bits_as_systems_built_afresh(kind):
    fresh = follow(kind(), lambda _, *values: build(*values))
    changed = follow(
        kind(), lambda system, *values: build() if system is None else change(system, *values)
    )
    np.testing.assert_array_equal(fresh.q, changed.q)
    np.testing.assert_array_equal(fresh.v, changed.v)


@pytest.mark.parametrize("kind", INTEGRATORS)
def test_nothing_is_analysed_again(kind, monkeypatch):
    """A change traces no formula, places no law, builds no pattern and estimates no frequency."""
    integrator, system = kind(), build()
    state, _ = integrator.step(system, system.initial_state(), H)
    state, _ = integrator.step(system, state, H)  # the first of BDF2 is another method

    def forbid(name):
        def called(*_, **__):
            raise AssertionError(f"{name} was called")

        monkeypatch.setattr(name, called)

    for name in (
        "taut.binding.law.CompiledLaw",
        "taut.system._arguments.place",
        "taut.system.system.ConstraintProjector",
        "taut.linalg.blocks.Pattern.__init__",
        "taut.system.assembly.group_by_target",
        "taut.step.explicit.highest_frequency",
    ):
        forbid(name)
    for i in range(3):
        system = change(system, 201.0 + i)
        state, _ = integrator.step(system, state, H)


def test_the_system_before_is_unchanged():
    system = build()
    state = system.initial_state().with_(q=system.rest * 1.1)
    before = system.V_by_law(state)
    stiffer = change(system, 400.0)
    assert stiffer.V_by_law(state)["spring"] == pytest.approx(2 * before["spring"], rel=1e-14)
    assert system.V_by_law(state) == before
    with pytest.raises(taut.errors.ModelError, match="does not change"):
        stiffer.n = 3


def test_limits_are_checked():
    system = build()
    with pytest.raises(taut.errors.LawError, match="parameter 'k' must be at least 0, got -1"):
        change(system, -1.0)
    with pytest.raises(taut.errors.LawError, match="'k' must have the shape"):
        change(system, np.ones(3))


def test_a_large_change_warns_of_the_limit_of_an_explicit_step():
    """h ω < 2 of the new stiffness: a hundred times stiffer springs need a tenth of the step."""
    points = [[0, 0, 0], [1, 0, 0]]
    spring = laws.spring([[0, 1]], k=1.0)
    system = taut.System(points, mass=1.0, fixed=[0], energies=[spring])
    h, integrator = 1.0, taut.SymplecticEuler()
    state, report = integrator.step(system, system.initial_state(), h)
    assert report.note == ""
    stiff = system.with_(energies=[spring.with_(k=100.0)])
    _, report = integrator.step(stiff, state, h)
    assert "use h ≤ 0.2 s" in report.note


def test_other_changes_place_laws_again():
    """Elements, shapes, names and iterators: each gives the system that was asked for."""
    mesh = taut.mesh.rope(3)
    spring = laws.spring(mesh.edges, k=1.0)
    system = taut.System(mesh.points, mass=1.0, energies=[spring])
    assert len(system.with_(energies=()).energies) == 0
    assert list(system.with_(energies=iter([spring.with_(name="a")]))._placed_energies) == ["a"]
    fewer = system.with_(energies=[laws.spring(mesh.edges[:2], k=1.0)])
    assert len(fewer._placed_energies["spring"].elements) == 2
    moving = system.with_(energies=[spring.with_(k=lambda t: 1 + t)])
    assert moving._placed_energies["spring"].parameters.pack(2.0)[0, 0] == 3.0
    each = system.with_(energies=[spring.with_(k=[1.0, 2.0, 3.0])])
    assert each._placed_energies["spring"].parameters.pack(0.0)[:, 0].tolist() == [1, 2, 3]
