"""Static equilibria: closed forms, bad starts, load steps, rejected input."""

import numba
import numpy as np
import pytest
from scipy.optimize import brentq

import taut
from taut import laws
from taut.constraints import on_line, on_plane, scripted
from taut.formula import norm
from taut.statics import _equilibrium_search as search
from taut.statics import _proximal_descent as descent

G = 9.81
TIGHT = taut.Tolerance(1e-12)  # for positions compared to 1e-9


def chain(n, k=1e8, *, law=laws.cable, **more):
    """n links of length 1/n between (0, 0, 0) and (0.8, 0, 0), laid out straight, with a mass of
    1/n on every particle.
    """
    rope = taut.mesh.rope(n, end=(0.8, 0, 0))
    return taut.System(
        rope.points,
        mass=1 / n,
        fixed=[0, n],
        energies=[law(rope.edges, k=n * k, l0=1 / n), laws.gravity()],
        **more,
    )


def sag_of_rigid_links(n):
    """Balance of forces: link i hangs at tan θ_i = (n - 1 - 2i)/2 · w/H, where H gives the span
    0.8.
    """
    slope = (n - 1 - 2 * np.arange(n)) / 2
    pull = brentq(
        lambda h: np.sum(1 / np.sqrt(1 + (slope / h) ** 2)) / n - 0.8, 1e-3, 1e3, xtol=1e-14
    )
    angles = np.arctan(slope / pull)
    return np.cumsum(np.sin(angles) / n).max()


@pytest.mark.parametrize(("n", "expected"), [(20, 0.265792), (40, 0.265526)])
def test_sag_of_rigid_links_from_a_horizontal_start(n, expected):
    found = taut.equilibrium(chain(n))
    sag = -found.state.q[:, 1].min()
    assert sag == pytest.approx(expected, abs=1e-6)
    assert sag == pytest.approx(sag_of_rigid_links(n), abs=1e-7)
    assert found.stability.stable
    assert found.outcome in ("converged", "rounding floor")


def test_refined_links_tend_to_the_catenary():
    """The error of N links is O(1/N²); extrapolation gives the sag of the catenary, 2c sinh(D/2c) =
    L.
    """
    c = brentq(lambda c: 2 * c * np.sinh(0.4 / c) - 1.0, 0.1, 1.0)
    continuous = c * (np.cosh(0.4 / c) - 1)
    assert continuous == pytest.approx(0.265438, abs=5e-7)
    sags = [-taut.equilibrium(chain(n, 1e7)).state.q[:, 1].min() for n in (8, 16, 32)]
    errors = np.array(sags) - continuous
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx([2, 2], abs=0.02)
    assert (4 * sags[2] - sags[1]) / 3 == pytest.approx(0.265438, abs=1e-6)


@pytest.mark.parametrize("law", [laws.spring, laws.cable])
@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_reactions_balance_loads(law, solver):
    """Σ R + Σ m g = 0 and Σ x × (R + m g) = 0; the ends pull up and outwards.

    At the start springs are compressed and cables slack.
    """
    system = chain(10, 1e4, law=law)
    found = taut.equilibrium(system, solver=solver, tolerance=taut.Tolerance(1e-13))
    weight = system.mass[:, None] * np.array([0.0, -G, 0.0])
    loads = found.reactions + weight
    assert np.abs(loads.sum(axis=0)).max() <= 1e-10
    assert np.abs(np.cross(found.state.q, loads).sum(axis=0)).max() <= 1e-10
    assert np.abs(found.reactions[1:-1]).max() == 0.0
    assert found.reactions[0, 1] == pytest.approx(found.reactions[-1, 1], rel=1e-9)
    assert found.reactions[0, 0] < 0.0 < found.reactions[-1, 0]
    assert (found.state.v == 0.0).all()


def test_a_weight_on_a_spring():
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=2.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=981.0), laws.gravity()],
    )
    found = taut.equilibrium(system, tolerance=TIGHT)
    assert found.state.q[1] == pytest.approx([0.0, -1.02, 0.0], abs=1e-9)
    assert found.members.force[0] == pytest.approx(2 * G, rel=1e-9)
    assert found.energies == pytest.approx(
        {"spring": 0.5 * 981 * 0.02**2, "gravity": -2 * G * 1.02}
    )
    assert found.residual <= max(found.tolerance, found.floor)
    text = str(found)
    assert text.startswith(found.outcome)
    assert "stable" in text
    assert "39.24" in text  # the spring's end and the fixed particle's own weight


def test_an_inverted_pendulum_leaves_its_saddle():
    """Straight above its support is an equilibrium, an unstable one."""
    above = taut.System(
        [[0, 0, 0], [0, 1, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=1e4), laws.gravity()],
    )
    found = taut.equilibrium(above, tolerance=TIGHT)
    assert found.left_saddles == 1
    assert found.state.q[1] == pytest.approx([0.0, -1.0 - G / 1e4, 0.0], abs=1e-7)
    assert found.stability.stable
    assert "1 saddles left" in str(found)


def column(n, load, k=2.0, stiff=1e3):
    """n links of length 1/n and hinges, pinned at one end, pressed along x at the other."""
    rod = taut.mesh.rope(n)
    energies = [
        laws.spring(rod.edges, k=stiff * n),
        laws.rod_hinge(rod.rod_hinges, k=k),
        laws.force([n], f=(-load, 0, 0)),
    ]
    plane = on_plane(range(1, n), normal=(0, 0, 1))
    return taut.System(
        rod.points,
        mass=1.0,
        fixed=[0],
        energies=energies,
        constraints=[on_line([n], (1, 0, 0)), plane],
    )


def test_a_compressed_column_buckles_above_its_critical_load():
    """P = 4(B/l')sin²(π/2n): 1% below it stays straight, 5% above it leaves the saddle and bends as
    the elastica does at P/P_E.
    """
    n, k = 10, 2.0
    critical = 4 * (k / 2) * n * np.sin(np.pi / (2 * n)) ** 2
    straight = taut.equilibrium(column(n, 0.99 * critical, k, 1e5), tolerance=TIGHT)
    assert straight.left_saddles == 0
    assert np.abs(straight.state.q[:, 1]).max() <= 1e-9
    bent = taut.equilibrium(column(n, 1.05 * critical, k, 1e5), tolerance=TIGHT)
    assert bent.left_saddles == 1
    assert bent.stability.stable
    # for small amplitudes the links' middle deflects by about √(8(P/P_c - 1))·L/π
    assert np.abs(bent.state.q[:, 1]).max() == pytest.approx(np.sqrt(8 * 0.05) / np.pi, rel=0.05)
    assert bent.reactions[[0, n], 1] == pytest.approx([0.0, 0.0], abs=1e-7)


def test_a_flat_sheet_without_stress_sags():
    sheet = taut.mesh.sheet(6, 6, plane="xz")
    system = taut.System(
        sheet.points,
        mass=taut.areal_mass(sheet, 0.2),
        fixed=sheet.corners(),
        energies=[
            laws.spring(sheet.edges, k=1000.0),
            laws.spring(sheet.diagonals, k=300.0),
            laws.gravity(),
        ],
    )
    assert not taut.stability(system).stable
    found = taut.equilibrium(system, tolerance=TIGHT)
    assert found.stability.stable
    assert found.state.q[:, 1].min() < -0.05
    assert found.reactions[:, 1].sum() == pytest.approx(0.2 * G, rel=1e-8)
    assert found.reactions[sheet.corners(), 1] == pytest.approx(np.full(4, 0.05 * G), rel=1e-6)


def test_a_free_body_without_load_stays_and_has_six_rigid_motions():
    block = taut.mesh.block(1, 1, 1)
    springs = [laws.spring(block.edges, k=50.0), laws.spring(block.diagonals, k=50.0)]
    found = taut.equilibrium(taut.System(block.points, mass=1.0, energies=springs))
    assert (found.stability.negative, found.stability.zero) == (0, 6)
    assert np.abs(found.state.q - block.positions).max() <= 1e-12
    assert (found.stability.rigid, found.stability.mechanisms) == (6, ())
    assert found.stability.stable


def test_unsupported_particles_are_named():
    rope = taut.mesh.rope(3)
    energies = [laws.spring(rope.edges, k=100.0), laws.gravity()]
    with pytest.raises(taut.errors.ModelError, match=r"nothing holds particle \d against its load"):
        taut.equilibrium(taut.System(rope.points, mass=1.0, energies=energies))
    loose = taut.System(
        [[0, 0, 0], [0, -1, 0], [5, 5, 5]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=100.0), laws.gravity()],
    )
    with pytest.raises(taut.errors.ModelError, match="nothing holds particle 2"):
        taut.equilibrium(loose)


def test_unloaded_mechanism_is_reported():
    """A loose particle without load has three zero modes; to turn about the spring is one of them,
    and a rigid motion of the whole."""
    system = taut.System(
        [[0, 0, 0], [0, -1, 0], [5, 5, 5]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=100.0), laws.gravity([1])],
    )
    found = taut.equilibrium(system, tolerance=TIGHT)
    assert found.state.q[1, 1] == pytest.approx(-1 - G / 100, rel=1e-9)
    assert (found.stability.negative, found.stability.zero) == (0, 3)
    assert found.stability.rigid == 1
    assert [m.particles.tolist() for m in found.stability.mechanisms] == [[2]] * 2
    assert not found.stability.stable


def test_on_an_inclined_line_and_plane():
    """A pin holds a particle on a slope: it slips by m g sin α/k, the slope carries m g cos α."""
    along = np.array([3.0, -4.0, 0.0]) / 5
    for constraint in (on_line([0], along), on_plane([0], (4.0, 3.0, 0.0))):
        system = taut.System(
            [[1, 2, 3]],
            mass=2.0,
            energies=[laws.pin(k=50.0), laws.gravity()],
            constraints=[constraint],
        )
        found = taut.equilibrium(system, tolerance=taut.Tolerance(1e-13))
        assert found.state.q[0] - [1, 2, 3] == pytest.approx(2 * G * 0.8 / 50 * along, abs=1e-12)
        assert found.reactions[0] == pytest.approx(
            2 * G * 0.6 * np.array([0.8, 0.6, 0.0]), abs=1e-11
        )


def test_two_dimensions():
    """Two bars at 45° carry a weight: mg/√2 each; the solution stays planar."""
    system = taut.System(
        [[-1, 0], [1, 0], [0, -1]],
        mass=3.0,
        fixed=[0, 1],
        energies=[laws.spring([[0, 2], [1, 2]], k=1e6), laws.gravity([2])],
    )
    found = taut.equilibrium(system)
    assert (found.state.q[:, 2] == 0.0).all()
    assert found.members.force == pytest.approx([3 * G / np.sqrt(2)] * 2, rel=1e-4)
    assert len(found.stability.eigenvalues) == 2
    assert found.reactions[:, 2] == pytest.approx(0.0)


def test_uses_constraints_and_parameters_at_the_time_of_the_state():
    system = taut.System(
        [[0, 0, 0], [0, -1, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=lambda t: 100.0 + t), laws.gravity()],
        constraints=[scripted([0], lambda t: (t, 0, 0))],
    )
    start = system.initial_state()
    found = taut.equilibrium(system, start.with_(t=2.0), tolerance=TIGHT)
    assert found.state.t == 2.0
    assert found.state.q == pytest.approx(np.array([[2.0, 0, 0], [2.0, -1 - G / 102, 0]]), abs=1e-8)


def test_inactive_elements_stay_inactive():
    system = taut.System(
        [[0, 0, 0], [0, -1, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1], [0, 1]], k=[100.0, 300.0]), laws.gravity()],
    )
    state = system.initial_state().with_(active={"spring": [True, False]})
    found = taut.equilibrium(system, state, tolerance=TIGHT)
    assert found.state.q[1, 1] == pytest.approx(-1 - G / 100, rel=1e-9)
    assert found.members.element.tolist() == [0]
    assert taut.equilibrium(system, tolerance=TIGHT).state.q[1, 1] == pytest.approx(
        -1 - G / 400, rel=1e-9
    )


def test_load_factors_scale_gravity_and_forces():
    system = taut.System(
        [[0, 0, 0], [0, -1, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=100.0), laws.gravity(), laws.force([1], f=(0, -10.0, 0))],
    )
    found = taut.equilibrium(system, loads=[0.5, 1.0, 1.5], tolerance=TIGHT)
    assert [step.factor for step in found.path] == [0.5, 1.0, 1.5]
    for step in found.path:
        assert step.state.q[1, 1] == pytest.approx(-1 - step.factor * (G + 10) / 100, rel=1e-9)
        assert step.stability.stable
    assert found.reactions[0, 1] == pytest.approx(1.5 * (2 * G + 10), rel=1e-9)
    assert found.energies["force"] == pytest.approx(1.5 * 10.0 * found.state.q[1, 1])


def truss(height=0.2, k=1000.0, load=0.0):
    """Two bars from (∓1, 0) to an apex that moves vertically under a load."""
    return taut.System(
        [[-1, 0], [1, 0], [0, height]],
        mass=1.0,
        fixed=[0, 1],
        constraints=[on_line([2], (0, 1))],
        energies=[laws.spring([[0, 2], [1, 2]], k=k), laws.force([2], f=(0, -load, 0))],
    )


def limit_of_the_truss(height=0.2, k=1000.0):
    """P(y) = 2k(l₀ - l) y/l has its maximum where l³ = l₀·1²."""
    rest = np.hypot(1, height)
    length = rest ** (1 / 3)
    y = np.sqrt(length**2 - 1)
    return y, 2 * k * (rest - length) * y / length


def test_a_shallow_truss_snaps_through_at_its_limit_load():
    y, limit = limit_of_the_truss()
    found = taut.equilibrium(
        truss(load=limit), loads=[0.5, 0.9, 0.999, 1.001, 1.2], tolerance=TIGHT
    )
    heights = [step.state.q[2, 1] for step in found.path]
    assert all(step.stability.stable for step in found.path)
    assert heights[0] > heights[1] > heights[2] > y
    assert heights[3] < -0.2  # the bars are stretched on the other side
    assert heights[4] < heights[3]
    rest = np.hypot(1, 0.2)
    for step in found.path:
        h = step.state.q[2, 1]
        length = np.hypot(1, h)
        assert 2000 * (rest - length) * h / length == pytest.approx(step.factor * limit, rel=1e-7)


def test_load_step_is_halved_after_failure(monkeypatch):
    """An injected fault fails load steps above 0.3. The load step is halved until it succeeds."""
    reached, asked = [0.0], []

    def careful(objective, *rest):
        record = descent.minimise_proximal(objective, *rest)
        asked.append(objective.load_factor)
        if abs(objective.load_factor - reached[-1]) > 0.3:
            record.outcome = "not converged"
        else:
            reached.append(objective.load_factor)
        return record

    monkeypatch.setattr(search, "minimise_proximal", careful)
    system = chain(10, 1e4)
    found = taut.equilibrium(system, loads=[1.0], tolerance=TIGHT)
    assert asked == [1.0, 0.5, 0.25, 0.5, 1.0, 0.75, 1.0]
    assert [step.factor for step in found.path] == [1.0]
    assert found.reactions[0, 1] == pytest.approx(11 * 0.1 * G / 2, rel=1e-8)


def test_failing_load_steps_are_reported(monkeypatch):
    def failing(objective, *rest):
        record = descent.minimise_proximal(objective, *rest)
        record.outcome, record.reason = "not converged", "planted"
        return record

    monkeypatch.setattr(search, "minimise_proximal", failing)
    with pytest.raises(
        taut.NotConverged, match=r"no equilibrium at load factor 0\.0039.*planted"
    ) as caught:
        taut.equilibrium(chain(4, 1e4), loads=[1.0])
    assert caught.value.state.q.shape == (5, 3)


def test_an_energy_without_a_smooth_minimum_does_not_converge():
    """A string of constant tension contracts until its ends meet: there is no smooth
    equilibrium.
    """

    @taut.energy(invariant="rigid motion")
    def constant_tension(x, tension):
        return tension * norm(x[1] - x[0])

    system = taut.System(
        [[0, 0, 0], [1, 0, 0], [1, 2, 0]],
        mass=1.0,
        fixed=[0, 2],
        energies=[constant_tension([[0, 1], [1, 2]], tension=[3.0, 1.0])],
    )
    with pytest.raises(taut.NotConverged) as caught:
        taut.equilibrium(system)
    assert caught.value.state.q[1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)


@pytest.mark.parametrize("bad", [[], [np.nan], ["much"], 3.0, "12"])
def test_reject_bad_load_factors(bad):
    with pytest.raises(taut.errors.ModelError, match="equilibrium: "):
        taut.equilibrium(truss(), loads=bad)


def test_reject_bad_states_and_solvers():
    with pytest.raises(taut.errors.ModelError, match="particles"):
        taut.equilibrium(truss(), taut.State(0.0, np.zeros((2, 3)), np.zeros((2, 3))))
    with pytest.raises(taut.errors.ModelError, match="must be finite"):
        taut.equilibrium(truss(), truss().initial_state().with_(q=np.full((3, 3), np.nan)))
    with pytest.raises(taut.errors.ModelError, match="solver"):
        taut.equilibrium(truss(), solver="magic")


def test_results_are_bit_identical_for_one_and_two_threads():
    results, before = [], numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        results.append(taut.equilibrium(chain(30, 1e4)))
    numba.set_num_threads(before)
    assert results[0].state.q.tobytes() == results[1].state.q.tobytes()
    assert results[0].reactions.tobytes() == results[1].reactions.tobytes()


@pytest.mark.parametrize("excess", [1e-3, 1e-4, 1e-5])
def test_a_column_just_above_its_critical_load_does_not_stay_on_the_saddle(excess):
    """The energy falls as ε², by less than its rounding.

    With links at angles a cos((i - ½)π/N) and s = sin(π/2N),
    V = -ε B s² N a² + B s²(1 - 4s²) N a⁴/16 + …, and at rest a² = 8ε/(1 - 4s²).
    """
    n, k, stiff = 10, 2.0, 1e5
    s = np.sin(np.pi / (2 * n))
    critical = 4 * (k / 2) * n * s**2
    found = taut.equilibrium(
        column(n, (1 + excess) * critical / (1 - critical / stiff), k, stiff), tolerance=TIGHT
    )
    assert found.left_saddles >= 1
    assert found.stability.stable
    middle = np.sqrt(8 * excess / (1 - 4 * s**2)) / (2 * n * s)
    assert np.abs(found.state.q[:, 1]).max() == pytest.approx(middle, rel=2e-3)


@pytest.mark.parametrize(
    ("moves", "message"), [(False, "cannot leave it"), (True, "returns to it")]
)
def test_unstable_saddle_raises(monkeypatch, moves, message):
    """Injected fault: the search finds no way off the saddle, or one that returns to it."""
    monkeypatch.setattr(
        search.EquilibriumSearch,
        "_find_point_near_saddle",
        lambda self, *_: self.q if moves else None,
    )
    with pytest.raises(taut.NotConverged, match=f"is unstable, and the search {message}") as caught:
        taut.equilibrium(column(4, 5.0))
    report = caught.value.report
    assert report.residual <= report.tolerance
    assert (report.outcome, report.note) == ("not converged", str(caught.value))


def test_strongly_compressed_springs_converge():
    """A net with springs twice as long as its edges: its stiffness is strongly indefinite at the
    start.
    """
    sheet = taut.mesh.sheet(10, 10)
    system = taut.System(
        sheet.points,
        mass=1.0,
        fixed=sheet.corners(),
        energies=[laws.spring(sheet.edges, k=100.0, l0=0.2)],
    )
    found = taut.equilibrium(system)
    assert found.stability.negative == 0
    assert found.members.length == pytest.approx(np.full(len(sheet.edges), 0.2), rel=1e-6)


def test_stability_includes_the_load_factor():
    """Half a load factor equals half the load, bit by bit, including the zero threshold, at a
    residual large enough to affect it.
    """
    loose = taut.Tolerance(1e-7)
    full = chain(10, 1e4)
    half = full.with_(energies=[full.energies[0], laws.gravity(g=(0, -G / 2, 0))])
    a, b = (
        taut.equilibrium(full, loads=[0.5], tolerance=loose),
        taut.equilibrium(half, loads=[1.0], tolerance=loose),
    )
    assert a.state.q.tobytes() == b.state.q.tobytes()
    assert a.stability.zero_below == b.stability.zero_below
    assert a.stability.eigenvalues.tobytes() == b.stability.eigenvalues.tobytes()


def test_member_force_of_a_linear_law_includes_the_load_factor():
    @taut.energy(invariant="translation")
    def jack(x, push):
        return -push * (x[1][0] - x[0][0])

    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=100.0), jack([[0, 1]], push=20.0)],
    )
    found = taut.equilibrium(system, loads=[0.25], tolerance=TIGHT)
    assert found.members.length == pytest.approx([1.05, 1.05])
    assert found.members.force == pytest.approx([5.0, -5.0])


def test_compressed_spring_of_zero_length_raises():
    """The force of a spring of length 0 has no direction; a cable of length 0 is slack."""
    points = [[1, 2, 3], [1, 2, 3]]
    spring = taut.System(
        points, mass=1.0, fixed=[0], energies=[laws.spring([[0, 1]], k=5.0, l0=2.0)]
    )
    with pytest.raises(
        taut.errors.ModelError,
        match=r"element 0 of 'spring' \(particles 0 and 1\) has length 0 and rest length 2 m",
    ):
        taut.equilibrium(spring)
    cable = taut.System(points, mass=1.0, fixed=[0], energies=[laws.cable([[0, 1]], k=5.0, l0=2.0)])
    assert taut.equilibrium(cable).stability.zero == 3
    weight = spring.with_(energies=[*spring.energies, laws.gravity()])
    assert taut.equilibrium(weight, tolerance=TIGHT).members.length == pytest.approx([2 + G / 5])


def test_overflowing_load_raises():
    with pytest.raises(taut.errors.SingularState, match="overflow at particle 1"):
        taut.equilibrium(chain(2, 1e4), loads=[1e300])


def test_reject_arguments_of_wrong_type():
    system = truss()
    with pytest.raises(
        taut.errors.ModelError, match=r"tolerance must be a taut\.Tolerance, got 1e-08"
    ):
        taut.equilibrium(system, tolerance=1e-8)
    with pytest.raises(taut.errors.ModelError, match=r"equilibrium: a taut.State is needed, got"):
        taut.equilibrium(system, system)
    with pytest.raises(
        taut.errors.ModelError, match=r"equilibrium: system must be a taut.System, got 3"
    ):
        taut.equilibrium(3)
