"""Elements that break: when, what is removed with them, and the energy ledger."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import taut
from taut import laws
from taut.constraints import fixed, scripted
from tests.laws.test_integrators import OBEYS


def pulled_chain(**extra):
    """A chain of two springs; the second is the weaker one. Its end is pulled away at 1 m/s."""
    springs = laws.spring([[0, 1], [1, 2]], k=100.0, breaking_strain=[0.5, 0.2])
    return taut.System(
        [[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]],
        mass=0.1,
        energies=[springs],
        fixed=[0],
        constraints=[scripted([2], lambda t: (2.0 + t, 0, 0))],
        **extra,
    )


def test_spring_breaks_at_its_strain_and_its_energy_is_recorded():
    system, ledger = pulled_chain(damping=[laws.drag(alpha=50.0)]), taut.Ledger()
    run = taut.simulate(system, taut.ImplicitEuler(), h=0.005, until=1.0, ledger=ledger)
    before, torn = None, []
    for state, report in run:
        length = state.q[2, 0] - state.q[1, 0]
        if report.torn:
            torn.append((report, length))
        elif not torn:
            assert length <= 1.2, "no spring exceeds its breaking strain"
            before = length
    ((report, length),) = torn
    assert report.torn == run.summary.torn == 1
    assert "1 torn" in str(report)
    assert before <= 1.2 < length < 1.2 + 0.02
    entry = next(e for e in ledger.entries if e.torn)
    assert entry.torn == {"spring": pytest.approx(0.5 * 100.0 * (length - 1.0) ** 2, rel=1e-12)}
    assert max(abs(e.gap) / e.scale for e in ledger.entries) <= 1e-13
    assert "lost with torn spring" in str(entry)
    np.testing.assert_array_equal(state.active["spring"], [True, False])
    assert state.q[1, 0] == pytest.approx(1.0, abs=1e-3), (
        "the other spring must have pulled its end back"
    )
    assert system.members(state).element.tolist() == [0]


@pytest.mark.parametrize("integrator", [*OBEYS, lambda: taut.Adaptive(taut.TRBDF2(), error=1e-4)])
def test_tearing_with_every_integrator_balances_energy(integrator):
    system, ledger = pulled_chain(damping=[laws.drag(alpha=5.0)]), taut.Ledger()
    run = taut.simulate(system, integrator(), h=0.002, until=0.6, ledger=ledger)
    *_, (state, _) = run
    assert run.summary.torn == 1
    assert not state.active["spring"][1]
    total = ledger.total()
    assert total.torn["spring"] == pytest.approx(
        0.5 * 100.0 * 0.2**2, rel=0.02
    )  # detected within one step
    assert max(abs(e.gap) / e.scale for e in ledger.entries) <= 1e-12
    flows = (
        total.opening
        + total.scripted
        - sum(total.dissipated.values())
        - total.numerical
        + total.residual
    )
    assert total.kinetic + sum(total.stored.values()) + total.torn["spring"] == pytest.approx(
        flows, rel=1e-12
    )


def test_elements_on_both_ends_are_removed(tmp_path):
    """The parallel damper, the hinge over the edge and the adjacent triangle are removed; elements
    on one end stay.
    """
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.5, 1.0, 0], [0.5, -1.0, 0], [3.0, 0, 0]])
    energies = [
        laws.spring([[0, 1], [0, 2], [1, 4]], k=10.0, breaking_strain=0.1),
        laws.shell_bending([[2, 3, 0, 1]], c=0.1),
        laws.area([[0, 1, 2], [0, 2, 3]], k=1.0),
        laws.cable([[1, 0], [3, 4]], k=1.0),
    ]
    damping = [laws.spring_damping([[1, 0], [0, 2]], c=0.1), laws.drag(alpha=1.0)]
    pose = points + 0.2 * np.outer([0, 1, 0, 0, 1], [1, 0, 0])
    system = taut.System(points, mass=1.0, energies=energies, damping=damping, pose=pose)
    ledger = taut.Ledger()
    ((state, report),) = taut.simulate(
        system, taut.ImplicitEuler(), h=1e-4, until=1e-4, ledger=ledger
    )
    assert report.torn == 1
    masks = {name: mask.tolist() for name, mask in state.active.items()}
    assert masks == {
        "spring": [False, True, True],
        "shell_bending": [False],
        "area": [False, True],
        "cable": [False, True],
        "spring_damping": [False, True],
    }
    assert set(ledger.entries[0].torn) == {"spring", "area", "cable"}
    ledger.write_csv(tmp_path / "ledger.csv")
    header, row = (tmp_path / "ledger.csv").read_text().splitlines()
    books = dict(zip(header.split(","), map(float, row.split(",")), strict=True))
    assert books["torn spring_J"] == ledger.entries[0].torn["spring"] > 0.19


def sheet():
    mesh = taut.mesh.sheet(8, 6, size=(1.0, 0.7))
    springs = laws.spring(mesh.edges, k=200.0, breaking_strain=0.15)
    return taut.System(
        mesh.points,
        mass=taut.areal_mass(mesh, 0.2),
        energies=[
            springs,
            laws.spring(mesh.diagonals, k=50.0, breaking_strain=0.3, name="shear"),
            laws.gravity(),
        ],
        constraints=[
            fixed(mesh.select("y > 0.99*max")),
            scripted(mesh.select("y < 0.01"), _down(mesh)),
        ],
    )


def _down(mesh):
    start = mesh.positions[mesh.select("y < 0.01")]
    return lambda t: start - np.array([0.0, 0.5 * t, 0.0])


def test_torn_sheet_separates_and_resumes_bit_identically():
    system = sheet()
    states = [s for s, _ in taut.simulate(system, taut.ImplicitEuler(), h=0.02, until=1.0)]
    end = states[-1]
    kept = system._placed_energies["spring"].elements[end.active["spring"]]
    shear = system._placed_energies["shear"].elements[end.active["shear"]]
    pairs = np.concatenate([kept, shear])
    parts, _ = connected_components(
        coo_array((np.ones(len(pairs)), pairs.T), shape=(system.n, system.n))
    )
    assert parts >= 2
    middle = next(s for s in states if not s.active.get("spring", np.ones(1, bool)).all())
    *_, (again, _) = taut.simulate(sheet(), taut.ImplicitEuler(), h=0.02, until=1.0, state=middle)
    assert again.q.tobytes() == end.q.tobytes()
    assert again.v.tobytes() == end.v.tobytes()


def test_reject_bad_breaking_strains():
    points = [[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]]

    def system(*energies, damping=()):
        return taut.System(points, mass=1.0, energies=energies, damping=damping)

    with pytest.raises(
        taut.errors.LawError, match="only an energy on two particles with a rest length l0"
    ):
        system(laws.zero_length_spring([[0, 1]], k=1.0, breaking_strain=0.1))
    with pytest.raises(
        taut.errors.LawError, match="only an energy on two particles with a rest length l0"
    ):
        system(laws.rod_bending([[0, 1, 2]], EI=1.0, breaking_strain=0.1))
    with pytest.raises(taut.errors.LawError, match="only an energy on two particles"):
        system(damping=[laws.spring_damping([[0, 1]], c=1.0, breaking_strain=0.1)])
    with pytest.raises(
        taut.errors.LawError,
        match=r"breaking_strain of element 1 \(particles \[1, 2\]\) must be positive, got",
    ):
        system(laws.spring([[0, 1], [1, 2]], k=1.0, breaking_strain=[0.1, 0.0]))
    with pytest.raises(taut.errors.LawError, match="one number or one per element"):
        system(laws.spring([[0, 1], [1, 2]], k=1.0, breaking_strain=[0.1, 0.1, 0.1]))
    with pytest.raises(
        taut.errors.LawError, match="'breaking_strain' of element 0 must be a finite number"
    ):
        system(laws.spring([[0, 1]], k=1.0, breaking_strain=[np.nan]))
    with pytest.raises(taut.errors.LawError, match="cannot be called 'breaking_strain'"):
        taut.energy(lambda x, breaking_strain: breaking_strain)


def test_breaking_strain_survives_join_and_with():
    system = pulled_chain()
    (bound,) = taut.join(system, system.with_(pose=system.rest + 1.0, constraints=[])).energies[1:]
    assert bound.breaking_strain == [0.5, 0.2]
    assert bound.with_(k=1.0).breaking_strain == [0.5, 0.2]


def test_torn_triangles_have_no_wind():
    mesh = taut.mesh.sheet(4, 4)
    springs = laws.spring(mesh.edges, k=50.0, breaking_strain=0.2)
    sheet = taut.System(
        mesh.points,
        mass=0.01,
        energies=[springs, laws.area(mesh.triangles, k=1.0)],
        loads=[laws.wind(mesh.triangles, velocity=(0, 0, 5.0), lift=0.0)],
        pose=mesh.points * [1.0, 1.5, 1.0],
    )
    state, report = taut.ImplicitEuler().step(sheet, sheet.initial_state(), 1e-5)
    assert report.torn == 20
    assert not state.active["area"].any()
    np.testing.assert_array_equal(state.active["wind"], state.active["area"])
    assert not sheet.load_forces(state)["wind"].any()


def test_own_breaking_strain_has_priority():
    """A rope parallel to a thread on the same two particles: the thread breaks, the rope holds."""
    thread, rope = (
        laws.spring([[0, 1]], k=10.0, breaking_strain=0.1),
        laws.cable([[0, 1]], k=10.0, breaking_strain=5.0),
    )
    pair = taut.System(
        [[0, 0, 0], [0.4, 0, 0]], mass=1.0, energies=[thread, rope], pose=[[0, 0, 0], [0.45, 0, 0]]
    )
    state, report = taut.ImplicitEuler().step(pair, pair.initial_state(), 1e-4)
    assert report.torn == 1
    assert {name: mask.tolist() for name, mask in state.active.items()} == {"spring": [False]}
    whole = pair.with_(pose=[[0, 0, 0], [0.439, 0, 0]])
    assert taut.ImplicitEuler().step(whole, whole.initial_state(), 1e-4)[1].torn == 0


def test_reject_breaking_strain_without_rest_length():
    with pytest.raises(
        taut.errors.LawError, match=r"element 0 .* has a breaking strain, but no rest length"
    ):
        taut.System(
            [[0, 0, 0], [1, 0, 0]],
            mass=1.0,
            energies=[laws.cable([[0, 1]], k=1.0, l0=0.0, breaking_strain=0.1)],
        )
