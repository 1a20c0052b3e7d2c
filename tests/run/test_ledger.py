"""The energy ledger balances for every integrator, each entry matches its formula, and faults are
visible.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_plane, scripted
from tests.laws.test_integrators import IMPLICIT, OBEYS, create_integrator

every = pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
ROUNDING = 1e-13  # relative to the terms of a step: some hundreds, each rounded by 1.1e-16


def machine(**changes):
    """Springs, a timed load, a moving pin, gravity and all kinds of damping.

    One scripted point and one on an oblique plane.
    """
    edges = [[0, 1], [1, 2], [2, 3], [1, 3]]
    energies = [
        laws.spring(edges, k=60.0),
        laws.gravity(),
        laws.force([2], f=lambda t: (np.sin(t), 0.3, 0.0)),
        laws.pin([3], k=3.0, target=lambda t: (2 + 0.2 * t * t, 0.0, 0.1)),
    ]
    arguments = {
        "mass": [1.0, 1.0, 0.7, 1.3],
        "energies": energies,
        "damping": [
            laws.spring_damping(edges, c=0.4),
            laws.drag(alpha=0.1),
            laws.rayleigh(alpha=0.05, beta=2e-3),
        ],
        "constraints": [
            scripted([0], lambda t: (0.3 * np.sin(2 * t), 0.1 * t * t, 0.0)),
            on_plane([2], (0, 1, 1)),
        ],
    }
    return taut.System(
        [[0, 0, 0], [1, 0, 0], [1.7, 0.4, 0.2], [2.1, -0.3, 0.5]], **{**arguments, **changes}
    )


def simulate_with_ledger(system, integrator, h, until):
    ledger = taut.Ledger()
    states = [system.initial_state()] + [
        s for s, _ in taut.simulate(system, integrator, h, until, ledger=ledger)
    ]
    return ledger, states


@every
def test_energy_balances_at_every_step(integrator):
    system = machine()
    ledger, states = simulate_with_ledger(
        system, create_integrator(integrator, taut.Tolerance(1e-10)), 0.01, 0.5
    )
    assert len(ledger) == 50
    for entry in ledger.entries:
        assert abs(entry.gap) <= ROUNDING * entry.scale
        assert set(entry.stored) == {"spring", "gravity", "pin"}
        assert set(entry.work) == {"force", "pin"}
        assert set(entry.dissipated) == {"spring_damping", "drag", "rayleigh"}
        assert min(entry.dissipated.values()) >= 0.0
    assert ledger.entries[-1].kinetic == system.T(states[-1])
    total = ledger.total()
    before = system.T(states[0]) + sum(
        v for k, v in system.V_by_law(states[0]).items() if k != "force"
    )
    assert total.opening == before
    after = total.kinetic + sum(total.stored.values())
    flows = (
        sum(total.work.values())
        + total.scripted
        - sum(total.dissipated.values())
        - total.numerical
        + total.residual
    )
    assert after == pytest.approx(before + flows, abs=len(ledger) * ROUNDING * total.scale)


@pytest.mark.parametrize("integrator", IMPLICIT, ids=lambda i: i.__name__)
def test_energy_balances_with_a_coarse_tolerance_and_residual_work_is_recorded(integrator):
    system = machine()
    ledger, _ = simulate_with_ledger(system, integrator(tolerance=taut.Tolerance(3e-2)), 0.05, 1.0)
    assert all(abs(e.gap) <= ROUNDING * e.scale for e in ledger.entries)
    worked = max(abs(e.residual) for e in ledger.entries)
    # The direct solver of a linearly implicit step leaves almost no residual.
    if not issubclass(integrator, taut.LinearlyImplicitEuler):
        assert worked > 1e-9


@cache
def exact_flows():
    """The ledger of a run with small steps."""
    return simulate_with_ledger(machine(), taut.RK4(), 1 / 512, 0.5)[0].total()


@every
def test_work_and_dissipation_converge(integrator):
    """Work and dissipation converge to those of a fine run.

    The numerical part vanishes with h, at the declared order or faster.
    """
    exact = exact_flows()
    numerical, errors = [], []
    for h in (1 / 64, 1 / 128):
        total = simulate_with_ledger(
            machine(), create_integrator(integrator, taut.Tolerance(1e-11)), h, 0.5
        )[0].total()
        numerical.append(abs(total.numerical))
        pairs = [
            (total.work, exact.work),
            (total.dissipated, exact.dissipated),
            ({"s": total.scripted}, {"s": exact.scripted}),
        ]
        errors.append(max(abs(a[k] - b[k]) for a, b in pairs for k in b))
    least = min(integrator.order, 2)  # the work of changing parameters is a formula of second order
    assert np.log2(numerical[0] / numerical[1]) >= least - 0.25
    assert np.log2(errors[0] / errors[1]) >= least - 0.25


def test_numerical_dissipation_of_implicit_euler():
    """½|Δv|²_M + V - V' - ∇V'·(q - q') in an autonomous system."""
    edges = [[0, 1], [1, 2], [2, 3], [1, 3]]
    system = machine(
        energies=[laws.spring(edges, k=60.0), laws.gravity()], damping=[], constraints=[], fixed=[0]
    )
    ledger, states = simulate_with_ledger(system, taut.ImplicitEuler(), 0.02, 0.5)
    for entry, old, new in zip(ledger.entries, states[:-1], states[1:], strict=True):
        kinetic = 0.5 * system.mass @ np.sum((new.v - old.v) ** 2, axis=1)
        bregman = system.V(old) - system.V(new) + np.vdot(system.f(new), old.q - new.q)
        assert entry.numerical == pytest.approx(kinetic + bregman, abs=1e-12 * entry.scale)
        assert kinetic > 0


def test_numerical_dissipation_of_linear_oscillations():
    system = taut.System([[0, 0, 0]], mass=2.0, energies=[laws.pin(k=18.0)], pose=[[0.3, 0, 0]])
    ledger, _ = simulate_with_ledger(
        system, taut.ImplicitMidpoint(tolerance=taut.Tolerance(1e-13)), 0.05, 5.0
    )
    assert max(abs(e.numerical) for e in ledger.entries) <= ROUNDING * ledger.total().scale
    ledger, _ = simulate_with_ledger(system, taut.ImplicitEuler(), 0.05, 5.0)
    assert sum(e.numerical for e in ledger.entries) == pytest.approx(
        0.81 - ledger.entries[-1].kinetic - ledger.entries[-1].stored["pin"]
    )


def test_load_is_recorded_as_work():
    """A constant force does work f·Δx: 3 N times the distance of two seconds."""
    system = taut.System(
        [[0, 0, 0]], mass=1.0, energies=[laws.force(f=(3.0, 0, 0))], damping=[laws.drag(alpha=2.0)]
    )
    ledger, states = simulate_with_ledger(system, taut.ImplicitEuler(), 0.01, 2.0)
    total = ledger.total()
    assert total.stored == {}
    assert total.work["force"] == pytest.approx(3.0 * states[-1].q[0, 0], rel=1e-12)


def test_rotating_damper_dissipates():
    """Two masses rotate about each other.

    Every step dissipates, and the total matches RK4 to first order.
    """
    system = taut.System(
        [[-0.5, 0, 0], [0.5, 0, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=100.0)],
        damping=[laws.spring_damping([[0, 1]], c=5.0)],
        velocity=[[0, -2.0, 0], [0, 2.0, 0]],
    )
    exact = (
        simulate_with_ledger(system, taut.RK4(), 1e-3, 1.0)[0].total().dissipated["spring_damping"]
    )
    errors = []
    for h in (0.004, 0.002):
        ledger, _ = simulate_with_ledger(system, taut.ImplicitEuler(), h, 1.0)
        assert min(e.dissipated["spring_damping"] for e in ledger.entries) >= 0.0
        assert all(abs(e.gap) <= ROUNDING * e.scale for e in ledger.entries)
        errors.append(abs(ledger.total().dissipated["spring_damping"] - exact))
    assert errors[1] < 0.6 * errors[0] < 0.1 * exact


def test_manual_changes_are_recorded_separately():
    """A push and a cut spring between two runs into one ledger."""
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=300.0), laws.gravity()],
        pose=[[0, 0, 0], [1.2, 0, 0]],
    )
    ledger, states = simulate_with_ledger(system, taut.BDF2(), 0.02, 0.2)
    push = np.array([[0, 0, 0], [0, 5.0, 0]])
    pushed = states[-1].with_(v=states[-1].v + push)
    cut = pushed.with_(active={"spring": [False]})
    for _ in taut.simulate(system, taut.BDF2(), 0.02, 0.4, ledger=ledger, state=cut):
        pass
    total = ledger.total()
    expected = system.T(pushed) - system.T(states[-1]) - system.V_by_law(states[-1])["spring"]
    assert total.between == pytest.approx(expected, rel=1e-12)
    flows = -total.numerical + total.residual + total.between
    assert total.kinetic + sum(total.stored.values()) == pytest.approx(
        total.opening + flows, abs=1e-11
    )
    assert "changed between steps" in str(total)


def test_step_size_is_accurate_at_large_times():
    system = taut.System(
        [[0, 0, 0]], mass=1.0, velocity=[[1.0, 0, 0]], damping=[laws.drag(alpha=0.5)]
    )
    ledger = taut.Ledger()
    start = system.initial_state().with_(t=1e6)
    for _ in taut.simulate(
        system,
        taut.ImplicitMidpoint(tolerance=taut.Tolerance(1e-13)),
        1e-3,
        1e6 + 0.01,
        state=start,
        ledger=ledger,
    ):
        pass
    assert ledger.entries[0].h == 1e-3
    assert abs(ledger.total().numerical) < 1e-13


@pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
def test_energy_balances_on_an_oblique_plane_far_from_the_origin(integrator):
    """No force acts: the velocity is constant, and energy balances despite coarse coordinates."""
    v = np.array([[3e-7, 0, -1e-7]])
    system = taut.System(
        [[1e6, 1e6, 0]], mass=1.0, constraints=[on_plane([0], (1, 2, 3))], velocity=v
    )
    ledger, states = simulate_with_ledger(
        system, create_integrator(integrator, taut.Tolerance()), 1e-4, 1e-2
    )
    np.testing.assert_allclose(states[-1].v, v, rtol=1e-9, atol=1e-18)
    assert all(abs(e.gap) <= ROUNDING * e.scale for e in ledger.entries)


def test_an_adaptive_entry_has_the_time_of_its_state():
    ledger, states = simulate_with_ledger(
        machine(), taut.Adaptive(taut.TRBDF2(), error=1e-5), 0.1, 1.0
    )
    assert [e.t for e in ledger.entries] == [s.t for s in states[1:]]


def test_law_named_rayleigh_is_distinct_from_rayleigh_damping():
    system = machine(damping=[laws.drag(alpha=0.1, name="rayleigh"), laws.rayleigh(alpha=0.2)])
    ledger, _ = simulate_with_ledger(system, taut.ImplicitEuler(), 0.01, 0.05)
    assert set(ledger.total().dissipated) == {"rayleigh", "rayleigh 2"}


def test_empty_ledger(tmp_path):
    with pytest.raises(taut.errors.ModelError, match="empty"):
        taut.Ledger().total()
    assert str(taut.Ledger()) == "an empty ledger"


def test_ledger_csv(tmp_path):
    ledger, states = simulate_with_ledger(machine(), taut.TRBDF2(), 0.1, 0.5)
    ledger.write_csv(tmp_path / "ledger.csv")
    table = np.genfromtxt(tmp_path / "ledger.csv", delimiter=",", names=True, deletechars="")
    assert len(table) == 5
    np.testing.assert_array_equal(table["t_s"], [s.t for s in states[1:]])
    np.testing.assert_array_equal(table["numerical_J"], [e.numerical for e in ledger.entries])
    np.testing.assert_array_equal(
        table["dissipated_drag_J"], [e.dissipated["drag"] for e in ledger.entries]
    )
    with pytest.raises(taut.errors.ModelError, match="no folder"):
        ledger.write_csv(tmp_path / "nowhere" / "ledger.csv")
    assert "dissipated by rayleigh" in str(ledger)


def test_work_of_scripted_points():
    """A spring stretched slowly by a scripted end: the work equals the stored energy."""
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1e-9,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=50.0)],
        constraints=[scripted([1], lambda t: (1 + 0.2 * t, 0, 0))],
    )
    ledger, _ = simulate_with_ledger(system, taut.ImplicitMidpoint(), 0.01, 1.0)
    assert ledger.total().scripted == pytest.approx(0.5 * 50.0 * 0.2**2, rel=1e-6)


class UnderreportsResidual(taut.ImplicitEuler):
    """Reports a smaller residual than it has."""

    def advance(self, system, state, h):
        return replace(super().advance(system, state, h), residual=np.zeros((system.n, 3)))


class WrongWeights(taut.VelocityVerlet):
    """Moves by other forces than it records."""

    weights = (0.6, 0.4)


@pytest.mark.parametrize(
    "wrong",
    [UnderreportsResidual(tolerance=taut.Tolerance(1e-2)), WrongWeights()],
    ids=["residual", "weights"],
)
def test_faulty_integrators_leave_an_energy_gap(wrong):
    ledger, _ = simulate_with_ledger(machine(), wrong, 0.05, 1.0)
    assert max(abs(e.gap) / e.scale for e in ledger.entries) > 1e4 * ROUNDING


def test_adaptive_substeps_are_all_recorded():
    system = machine()
    ledger, states = simulate_with_ledger(
        system, taut.Adaptive(taut.TRBDF2(), error=1e-6), 0.1, 1.0
    )
    assert len(ledger) == 10
    assert all(abs(e.gap) <= 10 * ROUNDING * e.scale for e in ledger.entries)
    assert ledger.entries[-1].kinetic == system.T(states[-1])
