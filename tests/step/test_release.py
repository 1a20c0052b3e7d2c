"""Constraints that end: exact before, free afterwards, with balanced energy and bit-identical
resumes.
"""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import fixed, handle, on_line, on_plane, scripted
from taut.run.record import record, resume
from taut.system.workspace import workspace_for
from tests.laws.test_integrators import create_integrator, every


def hanging(*constraints):
    """Two balls joined by a spring; the lower one swings."""
    return taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=[1.0, 2.0],
        energies=[laws.spring([[0, 1]], k=200.0), laws.gravity()],
        damping=[laws.spring_damping([[0, 1]], c=0.3), laws.drag(alpha=0.1)],
        constraints=constraints,
        velocity=[[0, 0, 0], [0, 0, 1]],
    )


@every
def test_release_is_exact_and_energy_balances(integrator):
    system, ledger = hanging(fixed([0], until=0.1)), taut.Ledger()
    states = [
        s
        for s, _ in taut.simulate(system, create_integrator(integrator), 0.005, 0.2, ledger=ledger)
    ]
    assert all((s.q[0] == 0.0).all() for s in states[:20])
    alone = hanging()
    momenta = np.array([alone.momentum(s) for s in states[19:]])
    start = states[19]
    # free, the centre of mass falls: p' = -αMv + Mg with the drag of both balls, M = 3 kg
    t = np.array([s.t for s in states[19:]]) - start.t
    rate = 0.1
    exact = -9.81 * 3 / rate + (momenta[0, 1] + 9.81 * 3 / rate) * np.exp(-rate * t)
    # twice ½ h T |p''| of a first-order method over T = 0.1 s, or of the one first-order step
    # with which BDF2 restarts
    span = {1: 0.1, 2: 0.005}.get(integrator.order, 1e-6)
    assert momenta[:, 1] == pytest.approx(exact, abs=0.005 * span * rate * 9.81 * 3)
    assert all(abs(e.gap) <= 1e-12 * e.scale for e in ledger.entries)
    assert all(
        e.scripted == pytest.approx(0.0, abs=1e-9) for e in ledger.entries
    )  # a hold at rest does no work, nor does its end


def test_released_scripted_particle_keeps_its_velocity():
    led = scripted([0], lambda t: (2.0 * t, 0.0, 0.0), until=0.1)
    ball = taut.System([[0, 0, 0]], mass=1.0, constraints=[led])
    *_, (state, _) = taut.simulate(ball, taut.ImplicitMidpoint(), 0.01, 0.3)
    assert state.q[0] == pytest.approx([0.6, 0, 0], abs=1e-12)
    assert state.v[0] == pytest.approx([2.0, 0, 0], abs=1e-10)


@pytest.mark.parametrize(
    ("constraint", "free"),
    [
        (handle([0], turn=lambda t: (0, 0, t), about=(1, 0, 0), until=0.05), 3),
        (on_line([0], (1, 0, 0), until=0.05), 3),
        (on_plane([0], (0, 1, 0), until=0.05), 3),
    ],
    ids=lambda c: getattr(c, "kind", None),
)
def test_every_kind_of_constraint_can_end(constraint, free):
    system = hanging(constraint, on_plane([1], (0, 0, 1)))
    assert (
        np.linalg.matrix_rank(
            workspace_for(system)
            .without_ended_constraints(0.04, 0.01)
            .system._projector.free_directions[0]
        )
        < free
    )
    later = workspace_for(system).without_ended_constraints(0.05 - 1e-17, 0.01).system
    assert np.linalg.matrix_rank(later._projector.free_directions[0]) == free
    assert later._projector.free_directions[1] == pytest.approx(np.diag([1, 1, 0]))
    assert workspace_for(system).without_ended_constraints(7.0, 0.01).system is later  # built once


def test_adaptive_step_releases_within_the_step():
    """Substeps after the release are free, so the error of the step falls with their size."""
    falls = []
    for error in (1e-3, 1e-5):
        system = taut.System(
            [[0, 0, 0]], mass=1.0, energies=[laws.gravity()], constraints=[fixed([0], until=0.52)]
        )
        steps = taut.Adaptive(taut.ImplicitEuler(), error=error)
        *_, (state, _) = taut.simulate(system, steps, 0.1, 1.0)
        falls.append(abs(state.q[0, 1] + 9.81 * 0.48**2 / 2))
    assert falls[1] < 0.3 * falls[0]


def test_run_resumed_across_a_release_is_bit_identical(tmp_path):
    system = hanging(fixed([0], until=0.05))
    whole = record(tmp_path / "whole", system, taut.BDF2(), h=0.01, until=0.1)
    stopped = record(tmp_path / "parts", system, taut.BDF2(), h=0.01, until=0.1, stop=lambda: True)
    while stopped.outcome != "finished":
        stopped = resume(
            tmp_path / "parts", hanging(fixed([0], until=0.05)), taut.BDF2(), stop=lambda: True
        )
    assert (stopped.state.q == whole.state.q).all()
    assert (stopped.state.v == whole.state.v).all()


def test_reject_resume_with_another_release_time(tmp_path):
    record(
        tmp_path / "a",
        hanging(fixed([0], until=0.05)),
        taut.BDF2(),
        h=0.01,
        until=0.1,
        stop=lambda: True,
    )
    with pytest.raises(taut.errors.RunError, match="'constraints' differs"):
        resume(tmp_path / "a", hanging(fixed([0], until=0.06)), taut.BDF2())


@pytest.mark.parametrize("until", [0.0, -1.0, float("nan"), float("inf"), True, "soon"])
def test_reject_bad_release_times(until):
    with pytest.raises(taut.errors.ModelError, match="`until` must be"):
        fixed([0], until=until)
