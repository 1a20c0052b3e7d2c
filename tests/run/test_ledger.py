"""The energy book: it closes for every integrator, each item is what its formula says.

And a fault shows.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_plane, scripted
from tests.laws.test_integrators import OBEYS, made

every = pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
ROUNDING = (
    1e-13  # of the magnitudes that went into a step: some hundreds of them, rounded by 1.1e-16 each
)


def machine(**changes):
    """Springs, a timed load, a pin that moves, gravity, all dampings.

    A scripted point and one on an oblique plane.
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


def booked(system, integrator, h, until):
    ledger = taut.Ledger()
    states = [system.initial_state()] + [
        s for s, _ in taut.simulate(system, integrator, h, until, ledger=ledger)
    ]
    return ledger, states


@every
def test_the_books_close_step_by_step(integrator):
    system = machine()
    ledger, states = booked(system, made(integrator, taut.Tolerance(1e-10)), 0.01, 0.5)
    assert len(ledger) == 50
    for entry in ledger:
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


@pytest.mark.parametrize(
    "integrator", [i for i in OBEYS if i.stability != "conditional"], ids=lambda i: i.__name__
)
def test_the_books_close_with_a_coarse_tolerance_and_the_residual_is_booked(integrator):
    system = machine()
    ledger, _ = booked(system, integrator(tolerance=taut.Tolerance(3e-2)), 0.05, 1.0)
    assert all(abs(e.gap) <= ROUNDING * e.scale for e in ledger)
    worked = max(abs(e.residual) for e in ledger)
    if integrator is not taut.LinearlyImplicitEuler:  # whose direct solver leaves next to nothing
        assert worked > 1e-9


@cache
def exact_flows():
    """The book of a fine run."""
    return booked(machine(), taut.RK4(), 1 / 512, 0.5)[0].total()


@every
def test_flows_converge_to_those_of_the_motion(integrator):
    """Work and dissipation to those of a fine run.

    The numerical part vanishes as h does, at the order declared or faster.
    """
    exact = exact_flows()
    numerical, errors = [], []
    for h in (1 / 64, 1 / 128):
        total = booked(machine(), made(integrator, taut.Tolerance(1e-11)), h, 0.5)[0].total()
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
    """½|Δv|²_M + V - V' - ∇V'·(q - q'), where nothing depends on time."""
    edges = [[0, 1], [1, 2], [2, 3], [1, 3]]
    system = machine(
        energies=[laws.spring(edges, k=60.0), laws.gravity()], damping=[], constraints=[], fixed=[0]
    )
    ledger, states = booked(system, taut.ImplicitEuler(), 0.02, 0.5)
    for entry, old, new in zip(ledger, states[:-1], states[1:], strict=True):
        kinetic = 0.5 * system.mass @ np.sum((new.v - old.v) ** 2, axis=1)
        bregman = system.V(old) - system.V(new) + np.vdot(system.f(new), old.q - new.q)
        assert entry.numerical == pytest.approx(kinetic + bregman, abs=1e-12 * entry.scale)
        assert kinetic > 0


def test_midpoint_takes_nothing_from_linear_oscillations_and_implicit_euler_half_dv_squared():
    system = taut.System([[0, 0, 0]], mass=2.0, energies=[laws.pin(k=18.0)], pose=[[0.3, 0, 0]])
    ledger, _ = booked(system, taut.ImplicitMidpoint(tolerance=taut.Tolerance(1e-13)), 0.05, 5.0)
    assert max(abs(e.numerical) for e in ledger) <= ROUNDING * ledger.total().scale
    ledger, _ = booked(system, taut.ImplicitEuler(), 0.05, 5.0)
    assert sum(e.numerical for e in ledger) == pytest.approx(
        0.81 - ledger.entries[-1].kinetic - ledger.entries[-1].stored["pin"]
    )


def test_a_load_is_booked_as_work():
    """A constant force does f·Δ, whatever becomes of it: 3 N times the way of two seconds."""
    system = taut.System(
        [[0, 0, 0]], mass=1.0, energies=[laws.force(f=(3.0, 0, 0))], damping=[laws.drag(alpha=2.0)]
    )
    ledger, states = booked(system, taut.ImplicitEuler(), 0.01, 2.0)
    total = ledger.total()
    assert total.stored == {}
    assert total.work["force"] == pytest.approx(3.0 * states[-1].q[0, 0], rel=1e-12)


def test_a_damper_that_turns_dissipates():
    """Two masses turn about each other.

    At every step something is taken, and in all what RK4 takes, to first order.
    """
    system = taut.System(
        [[-0.5, 0, 0], [0.5, 0, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=100.0)],
        damping=[laws.spring_damping([[0, 1]], c=5.0)],
        velocity=[[0, -2.0, 0], [0, 2.0, 0]],
    )
    exact = booked(system, taut.RK4(), 1e-3, 1.0)[0].total().dissipated["spring_damping"]
    errors = []
    for h in (0.004, 0.002):
        ledger, _ = booked(system, taut.ImplicitEuler(), h, 1.0)
        assert min(e.dissipated["spring_damping"] for e in ledger) >= 0.0
        assert all(abs(e.gap) <= ROUNDING * e.scale for e in ledger)
        errors.append(abs(ledger.total().dissipated["spring_damping"] - exact))
    assert errors[1] < 0.6 * errors[0] < 0.1 * exact


def test_what_is_changed_by_hand_is_booked_as_such():
    """A push, and a spring that is cut, between two runs into one ledger."""
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=300.0), laws.gravity()],
        pose=[[0, 0, 0], [1.2, 0, 0]],
    )
    ledger, states = booked(system, taut.BDF2(), 0.02, 0.2)
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


def test_far_from_the_start_of_time_h_is_h():
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
def test_on_an_oblique_plane_far_away(integrator):
    """Nothing acts: the velocity stays, and the book closes, though coordinates are coarse."""
    v = np.array([[3e-7, 0, -1e-7]])
    system = taut.System(
        [[1e6, 1e6, 0]], mass=1.0, constraints=[on_plane([0], (1, 2, 3))], velocity=v
    )
    ledger, states = booked(system, made(integrator, taut.Tolerance()), 1e-4, 1e-2)
    np.testing.assert_allclose(states[-1].v, v, rtol=1e-9, atol=1e-18)
    assert all(abs(e.gap) <= ROUNDING * e.scale for e in ledger)


def test_an_adaptive_entry_has_the_time_of_its_state():
    ledger, states = booked(machine(), taut.Adaptive(taut.TRBDF2(), error=1e-5), 0.1, 1.0)
    assert [e.t for e in ledger] == [s.t for s in states[1:]]


def test_a_law_called_rayleigh_is_not_mixed_up_with_rayleighs():
    system = machine(damping=[laws.drag(alpha=0.1, name="rayleigh"), laws.rayleigh(alpha=0.2)])
    ledger, _ = booked(system, taut.ImplicitEuler(), 0.01, 0.05)
    assert set(ledger.total().dissipated) == {"rayleigh", "rayleigh 2"}


def test_an_empty_ledger_says_so(tmp_path):
    with pytest.raises(taut.errors.ModelError, match="empty"):
        taut.Ledger().total()
    assert str(taut.Ledger()) == "an empty ledger"


def test_the_table_of_a_run(tmp_path):
    ledger, states = booked(machine(), taut.TRBDF2(), 0.1, 0.5)
    ledger.write_csv(tmp_path / "ledger.csv")
    table = np.genfromtxt(tmp_path / "ledger.csv", delimiter=",", names=True, deletechars="")
    assert len(table) == 5
    np.testing.assert_array_equal(table["t_s"], [s.t for s in states[1:]])
    np.testing.assert_array_equal(table["numerical_J"], [e.numerical for e in ledger])
    np.testing.assert_array_equal(
        table["dissipated_drag_J"], [e.dissipated["drag"] for e in ledger]
    )
    with pytest.raises(taut.errors.ModelError, match="no folder"):
        ledger.write_csv(tmp_path / "nowhere" / "ledger.csv")
    assert "dissipated by rayleigh" in str(ledger)


def test_scripted_points_work():
    """A spring stretched slowly by a scripted end: the work is the energy stored."""
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1e-9,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=50.0)],
        constraints=[scripted([1], lambda t: (1 + 0.2 * t, 0, 0))],
    )
    ledger, _ = booked(system, taut.ImplicitMidpoint(), 0.01, 1.0)
    assert ledger.total().scripted == pytest.approx(0.5 * 50.0 * 0.2**2, rel=1e-6)


class Careless(taut.ImplicitEuler):
    """Says that it solved more exactly than it did."""

    def advance(self, system, state, h):
        return replace(super().advance(system, state, h), residual=np.zeros((system.n, 3)))


class Slipped(taut.VelocityVerlet):
    """Wrong weights: it moves by other forces than it books."""

    weights = (0.6, 0.4)


@pytest.mark.parametrize(
    "wrong", [Careless(tolerance=taut.Tolerance(1e-2)), Slipped()], ids=["residual", "weights"]
)
def test_a_fault_shows_as_a_gap(wrong):
    ledger, _ = booked(machine(), wrong, 0.05, 1.0)
    assert max(abs(e.gap) / e.scale for e in ledger) > 1e4 * ROUNDING


def test_adaptive_steps_are_booked_in_full():
    system = machine()
    ledger, states = booked(system, taut.Adaptive(taut.TRBDF2(), error=1e-6), 0.1, 1.0)
    assert len(ledger) == 10
    assert all(abs(e.gap) <= 10 * ROUNDING * e.scale for e in ledger)
    assert ledger.entries[-1].kinetic == system.T(states[-1])
