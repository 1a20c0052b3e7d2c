"""Rest values that flow: yield, creep and creases; the ledger, the State, and a resumed run."""

import pickle

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import scripted
from taut.errors import LawError, ModelError
from taut.formula import norm
from taut.run.encoding import hash_state, state_from_bytes, state_to_bytes
from taut.run.record import record, resume

BAR = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
CLOSED = 1e-12  # of the gap of the ledger, part of its scale


def pulled(lengths, **parameters):
    """A bar of 1 m whose length follows a table over 1 s each, [m]."""
    times = np.arange(len(lengths), dtype=float)

    def path(t):
        return np.array([[np.interp(t, times, lengths), 0.0, 0.0]])

    law = laws.plastic_spring([[0, 1]], **{"k": 100.0, "yield_strain": 0.05, **parameters})
    return taut.System(BAR, mass=1.0, fixed=[0], energies=[law], constraints=[scripted([1], path)])


def run(system, until, h=0.02, integrator=None, state=None):
    ledger = taut.Ledger()
    steps = taut.simulate(
        system, integrator or taut.ImplicitEuler(), h=h, until=until, state=state, ledger=ledger
    )
    states = [state for state, _ in steps]
    for entry in ledger.entries:
        assert abs(entry.gap) <= CLOSED * entry.scale
        assert all(heat >= 0.0 for heat in entry.plastic.values())
    return states, ledger.total()


@pytest.mark.parametrize(
    ("length", "rest"), [(1.04, 1.0), (1.2, 1.2 / 1.05), (0.96, 1.0), (0.8, 0.8 / 0.95)]
)
def test_bar_keeps_what_exceeds_its_yield(length, rest):
    """Pulled to L and back: l₀ = L/(1 + ε_y) in tension, L/(1 - ε_y) in compression."""
    states, _ = run(pulled([1.0, length, rest]), until=2.0)
    end = states[-1]
    assert end.rest.get("plastic_spring", np.ones(1))[0] == pytest.approx(rest, rel=1e-12)
    system = pulled([1.0, length, rest])
    assert system.f(end)[1, 0] == pytest.approx(0.0, abs=1e-10)
    assert system.V(end) == pytest.approx(0.0, abs=1e-12)


def test_plastic_work_is_the_force_at_the_yield_times_the_way():
    """dW = k ε_y l₀ dl with l = l₀(1 + ε_y), from l = 1.05 to 1.2 m; what remains is elastic.

    With a step of 1 mm the force exceeds the yield by at most 0.1 N of 5 N, once each step.
    """
    _, total = run(pulled([1.0, 1.2]), until=1.0, h=0.005)
    rest = 1.2 / 1.05
    # ∫ k ε_y l₀ dl less the gain of the elastic energy ½ k ε_y² l₀²
    work = 100.0 * 0.05 * (rest**2 - 1) / 2 * 1.05
    stored = 0.5 * 100.0 * 0.05**2 * (rest**2 - 1)
    assert total.plastic["plastic_spring"] == pytest.approx(work - stored, rel=0.02)
    assert total.stored["plastic_spring"] == pytest.approx(0.5 * 100.0 * (1.2 - rest) ** 2)


def test_creep_under_constant_load_has_its_rate():
    """A dashpot in series: dl₀/dt = creep·F/k, in steps of h creep·(1 - e^{-ch})/(ch).

    A heavily damped weight of 2 N on 100 N/m: 0.02 m elastic, and 0.3/s of that per second.
    """
    h, creep = 0.02, 0.3
    system = taut.System(
        BAR,
        mass=0.01,
        fixed=[0],
        energies=[
            laws.plastic_spring([[0, 1]], k=100.0, yield_strain=0.5, creep=creep),
            laws.force([1], f=(2.0, 0, 0)),
        ],
        damping=[laws.drag(alpha=2.0)],
    )
    states, _ = run(system, until=3.0, h=h)
    rest = np.array([state.rest["plastic_spring"][0] for state in states])
    rate = np.diff(rest[50:]) / h
    expected = creep * 0.02 * (1 - np.exp(-creep * h)) / (creep * h)
    # The drag holds back 2 kg/s · 6 mm/s of the 2 N.
    assert rate == pytest.approx(np.full_like(rate, expected), rel=0.01)


CARD = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, -0.5], [-0.5, 0, 0], [0.5, 0, 0]])


def folded(angle):
    """Positions of a hinge (c, d, a, b) whose first wing is turned up by an angle."""
    q = CARD.copy()
    q[0] = [0.0, 0.5 * np.sin(angle), 0.5 * np.cos(angle)]
    return q


def test_folded_paper_keeps_its_crease():
    """Folded to 2.5 rad with a yield of 0.4 rad, held for a second and let go: 2.1 rad remain."""

    def path(t):
        return folded(2.5 * min(t, 1.0))[[0]]

    system = taut.System(
        CARD,
        mass=0.01,
        fixed=[1, 2, 3],
        energies=[laws.plastic_bending([[0, 1, 2, 3]], c=0.1, yield_angle=0.4)],
        damping=[laws.drag(alpha=0.5)],
        constraints=[scripted([0], path, until=2.0)],
    )
    springs = laws.spring([[0, 2], [0, 3]], k=1e3)
    system = system.with_(energies=[*system.energies, springs])
    states, total = run(system, until=5.0)
    assert abs(states[-1].rest["plastic_bending"][0]) == pytest.approx(2.1, abs=0.02)
    wing = states[-1].q[0]
    assert np.arctan2(wing[1], wing[2]) == pytest.approx(2.1, abs=0.02)
    assert total.plastic["plastic_bending"] > 0.0


def test_hinge_flows_the_shorter_way_around():
    """From a rest angle of 3 rad to -3 rad the change is 0.28 rad: the rest follows over π."""

    def place(angle, **given):
        law = laws.plastic_bending([[0, 1, 2, 3]], c=1.0, yield_angle=0.1, **given)
        system = taut.System(folded(angle), mass=1.0, energies=[law])
        return system._placed_energies["plastic_bending"]

    there = float(place(3.0).parameters.constant["theta0"][0])
    back = float(place(-3.0).parameters.constant["theta0"][0])
    assert (abs(there), back) == (pytest.approx(3.0), pytest.approx(-there))
    placed = place(3.0, theta0=there)
    packed = placed.parameters.pack(0.0)
    assert placed.flow(folded(3.0), packed, 0.1)[0] == there
    flowed = placed.flow(folded(-3.0), packed, 0.1)[0]
    # 3 + 0.283 - 0.1 rad is beyond π, and so on the other side
    assert flowed == pytest.approx(np.sign(back) * (3.0 + 0.1))


@pytest.mark.parametrize(
    "make",
    [
        taut.ImplicitEuler,
        taut.ImplicitMidpoint,
        taut.BDF2,
        taut.TRBDF2,
        taut.LinearlyImplicitEuler,
        taut.SymplecticEuler,
        taut.RK4,
        lambda: taut.Adaptive(taut.ImplicitEuler()),
    ],
    ids=lambda m: getattr(m, "__name__", "Adaptive"),
)
def test_every_integrator_flows_and_closes_the_book(make):
    net = chain()
    states, total = run(net, until=0.4, h=0.005, integrator=make())
    assert total.plastic["plastic_spring"] > 1e-3
    assert (states[-1].rest["plastic_spring"] > 0.1).any()


def chain():
    """A chain that falls into its own length and yields."""
    rope = taut.mesh.rope(6, end=(0.6, 0, 0))
    springs = laws.plastic_spring(rope.edges, k=300.0, yield_strain=0.02, creep=0.5)
    return taut.System(rope.points, mass=0.2, fixed=[0, 6], energies=[springs, laws.gravity()])


def test_resumed_run_has_the_same_bits(tmp_path):
    calls = []

    def stop():
        calls.append(None)
        return len(calls) > 12

    whole = record(tmp_path / "whole", chain(), taut.BDF2(), h=0.02, until=0.6)
    first = record(tmp_path / "run", chain(), taut.BDF2(), h=0.02, until=0.6, stop=stop)
    assert first.outcome == "interrupted"
    second = resume(tmp_path / "run", chain(), taut.BDF2())
    assert second.outcome == "finished"
    assert len(second.state.rest["plastic_spring"]) == 6
    assert hash_state(second.state) == hash_state(whole.state)
    text = (tmp_path / "whole" / "ledger.csv").read_text()
    assert "plastic plastic_spring_J" in text.splitlines()[0]
    assert text == (tmp_path / "run" / "ledger.csv").read_text()


def test_state_keeps_rest_values():
    states, _ = run(chain(), until=0.2)
    state = states[-1]
    for copy in (state_from_bytes(state_to_bytes(state)), pickle.loads(pickle.dumps(state))):
        assert np.array_equal(copy.rest["plastic_spring"], state.rest["plastic_spring"])
        assert hash_state(copy) == hash_state(state)
    assert state.with_(v=np.zeros_like(state.v)).rest is not None
    assert np.array_equal(state.with_(t=9.0).rest["plastic_spring"], state.rest["plastic_spring"])
    system = chain()
    members = system.members(state)
    stretched = np.linalg.norm(np.diff(state.q, axis=0), axis=1)
    rest = state.rest["plastic_spring"]
    assert members.strain == pytest.approx(stretched / rest - 1)
    assert members.force == pytest.approx(300.0 * (stretched - rest))


def test_states_may_alternate_on_one_system():
    """Evaluations do not leak rest values from one state to another."""
    system = chain()
    fresh, flowed = system.initial_state(), run(system, until=0.2)[0][-1]
    before = system.V(fresh), system.V(flowed)
    assert (system.V(fresh), system.V(flowed), system.V(fresh)) == (*before, before[0])
    assert system.V(flowed) == pytest.approx(chain().V(flowed), rel=1e-15)


def test_wrong_rest_values_are_errors():
    system, state = chain(), chain().initial_state()
    with pytest.raises(ModelError, match="one value for each of its 6 elements"):
        system.V(state.with_(rest={"plastic_spring": [1.0]}))
    with pytest.raises(ModelError, match=r"no law 'plastic_sprin' .* did you mean"):
        system.V(state.with_(rest={"plastic_sprin": np.ones(6)}))
    with pytest.raises(ModelError, match="one finite number per element"):
        state.with_(rest={"plastic_spring": [np.nan]})


def test_gradients_and_batches_refuse_what_flows():
    system = chain()
    with pytest.raises(ModelError, match=r"rest values that flow \('plastic_spring'\)"):
        taut.batch(system, taut.ImplicitEuler(), 0.01, 0.02, parameters={"gravity.g": [(0, -9, 0)]})
    with pytest.raises(ModelError, match="do not pass through rest values that flow"):
        taut.gradient(
            taut.simulate(system, taut.ImplicitEuler(), h=0.02, until=0.3),
            lambda state: (state.q[3, 1], np.eye(21)[10].reshape(7, 3)),
            ["plastic_spring.k"],
        )


def test_own_laws_flow():
    """A spring of a user whose rest length goes half of the way to its length in each step."""

    @taut.energy(
        rest={"l0": lambda x: norm(x[1] - x[0])},
        flow={"l0": lambda x, l0, share: l0 + share * (norm(x[1] - x[0]) - l0)},
    )
    def lazy_spring(x, k, l0, share):
        return k / 2 * (norm(x[1] - x[0]) - l0) ** 2 + 0 * share

    system = taut.System(
        BAR,
        mass=1.0,
        fixed=[0, 1],
        pose=[[0, 0, 0], [2.0, 0, 0]],
        energies=[lazy_spring([[0, 1]], k=1.0, share=0.5)],
    )
    states, _ = run(system, until=0.06)
    assert [state.rest["lazy_spring"][0] for state in states] == pytest.approx([1.5, 1.75, 1.875])
    with pytest.raises(LawError, match="flow for an unknown parameter 'l1'"):
        taut.energy(flow={"l1": lambda x: norm(x[1])})(lambda x, k: k * norm(x[1]))
