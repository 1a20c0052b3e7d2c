"""Stability, modes and directions of negative curvature by iteration, against those by pivots."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line, on_plane
from taut.errors import EigenError
from taut.linalg import lowest_eigenvalues
from taut.linalg.blocks import row_norms
from taut.statics import _curvature
from taut.statics._curvature import all_curvatures_exceed, find_negative_curvature
from taut.system.workspace import workspace_for


@pytest.fixture
def iterate(monkeypatch):
    """Make every factorisation too expensive."""

    def use():
        monkeypatch.setattr(lowest_eigenvalues, "MAX_PIVOT_WORK", -1.0)

    return use


def hanging_sheet(n, constraints=()):
    """A sheet of n × n squares, hung horizontally by its corners, and its equilibrium."""
    mesh = taut.mesh.sheet(n, n)
    points = np.column_stack([mesh.points[:, 0], 0 * mesh.points[:, 0], mesh.points[:, 1]])
    corners = [0, n, n * (n + 1), n * (n + 2)]
    energies = [
        laws.spring(mesh.edges, k=1000.0),
        laws.spring(mesh.diagonals, k=300.0),
        laws.gravity(),
    ]
    system = taut.System(
        points,
        mass=0.3 / len(points),
        fixed=corners[len(constraints) :],
        energies=energies,
        constraints=constraints,
    )
    state = system.initial_state()
    for h in (*[0.02] * 30, *[0.1] * 30, *[1.0] * 10):
        state = taut.ImplicitEuler().step(system, state, h)[0]
    return system, state


def column():
    rod = taut.mesh.rope(60)
    energies = [
        laws.spring(rod.edges, k=1e4, l0=1.002 / 60),
        laws.rod_hinge(rod.rod_hinges, k=2.0),
    ]
    system = taut.System(rod.points, mass=1.0, fixed=[0, 60], energies=energies)
    return system, system.initial_state()


def loose_sheet():
    """Stretched between its corners, with two particles that nothing holds."""
    system, state = hanging_sheet(10)
    points = np.vstack([state.q, [[3.0, 0, 0], [0, 4, 0]]])
    springs = list(system.energies)[:2]
    loose = taut.System(points, mass=1.0, fixed=[0, 10, 110, 120], energies=springs)
    return loose, loose.initial_state()


SYSTEMS = {
    "hanging sheet 10": lambda: hanging_sheet(10),
    "hanging sheet 20": lambda: hanging_sheet(20),
    "sliders": lambda: hanging_sheet(
        12, [on_line([0], (1.0, 0.2, 0.5)), on_plane([12], (1.0, -1.0, 2.0))]
    ),
    "column": column,
    "loose particles": loose_sheet,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_stability_by_iteration(name, iterate):
    system, state = SYSTEMS[name]()
    by_pivots = taut.stability(system, state, n=9)
    iterate()
    found = taut.stability(system, state, n=9)
    assert (by_pivots.method, found.method) == ("pivots", "iteration")
    assert (found.negative, found.zero) == (by_pivots.negative, by_pivots.zero)
    error = np.abs(found.eigenvalues - by_pivots.eigenvalues)
    assert (error <= found.bounds + by_pivots.bounds + found.zero_below).all()
    assert found.zero_below == by_pivots.zero_below
    assert len(found.mechanisms) == len(by_pivots.mechanisms)
    if name == "loose particles":
        assert found.zero == 6
        assert sorted(m.particles.tolist() for m in found.mechanisms) == [[121]] * 3 + [[122]] * 3
    if name == "column":
        assert found.negative == 2


@pytest.mark.parametrize("name", SYSTEMS)
def test_modes_by_iteration(name, iterate):
    system, state = SYSTEMS[name]()
    by_pivots = taut.modes(system, state, n=5)
    iterate()
    found = taut.modes(system, state, n=5)
    assert (by_pivots.method, found.method) == ("pivots", "iteration")
    assert found.omega == pytest.approx(by_pivots.omega, rel=1e-6)
    norms = np.einsum("kij,i,kij->k", found.shapes, system.mass, found.shapes)
    assert norms == pytest.approx(np.ones(5))
    assert "found by iteration; that no mode was missed is an estimate" in str(found)
    assert "iteration" not in str(by_pivots)


@pytest.mark.parametrize("method", ["pivots", "iteration"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_signs_and_directions(name, method, iterate):
    system, state = SYSTEMS[name]()
    known = taut.stability(system, state)
    stiffness = workspace_for(system).stiffness(state, project=False).copy()
    before = stiffness.data.copy()
    if method == "iteration":
        iterate()
    zero = known.zero_below
    assert all_curvatures_exceed(system._projector, stiffness, zero) == known.stable
    assert all_curvatures_exceed(system._projector, stiffness, -zero) == (known.negative == 0)
    direction = find_negative_curvature(system._projector, stiffness, zero)
    assert (direction is None) == (known.negative == 0)
    if direction is not None:
        curvature = np.einsum("ij,ij->", direction, stiffness.multiply(direction))
        assert curvature == pytest.approx(known.eigenvalues[0], rel=0.01)
        assert row_norms(direction)[system._projector.is_fixed].max(initial=0.0) == 0.0
        assert np.einsum("ij,ij->", direction, direction) == pytest.approx(1.0)
    assert (stiffness.data == before).all()


def test_equilibrium_says_how_it_was_judged(iterate):
    system, state = hanging_sheet(10)
    iterate()
    found = taut.equilibrium(system, state)
    assert found.stability.method == "iteration"
    assert found.stability.stable
    assert "found by iteration" in str(found)


def test_text_tells_what_is_estimated(iterate):
    system, state = column()
    assert "iteration" not in str(taut.stability(system, state))
    iterate()
    text = str(taut.stability(system, state))
    assert "unstable in at least 2 directions; 0 mechanisms" in text
    assert "that none is lower is an estimate, since K was not factorised" in text


def test_more_mechanisms_than_requested(iterate):
    """Of a flat sheet without stress, every particle is free across it."""
    mesh = taut.mesh.sheet(8, 8)
    points = np.column_stack([mesh.points[:, :2], np.zeros(len(mesh.points))])
    springs = [laws.spring(mesh.edges, k=10.0), laws.spring(mesh.diagonals, k=10.0)]
    system = taut.System(points, mass=1.0, fixed=[0, 8, 72, 80], energies=springs)
    iterate()
    found = taut.stability(system, n=4)
    assert (found.negative, found.zero) == (0, 4)
    assert found.mixed
    assert "neutral; at least 4 mechanisms" in str(found)
    assert "may be mixtures of more mechanisms: a larger n separates them" in str(found)
    for mechanism in found.mechanisms:
        assert np.abs(mechanism.shape[:, :2]).max() < 1e-8


def test_iteration_decides_where_the_factorisation_fails(monkeypatch):
    """And where both fail, the error is that of the way that suits the size."""
    system, state = column()
    stiffness = workspace_for(system).stiffness(state, project=False).copy()

    def fail(*_):
        raise EigenError("no pivots")

    for name in ("find_smallest", "all_eigenvalues_exceed"):
        monkeypatch.setattr(_curvature.eigen, name, fail)
    assert taut.stability(system, state).method == "iteration"
    assert taut.stability(system, state).negative == 2
    assert find_negative_curvature(system._projector, stiffness, 1e-6) is not None
    assert not all_curvatures_exceed(system._projector, stiffness, 0.0)
    monkeypatch.setattr(lowest_eigenvalues, "_MAX_STEPS", 0)
    with pytest.raises(EigenError, match="no pivots"):
        taut.stability(system, state)


@pytest.mark.parametrize("fails", [False, True])
def test_pivots_decide_where_the_iteration_does_not_converge(fails, iterate, monkeypatch):
    """Whether it ends without result, or raises."""
    system, state = column()
    stiffness = workspace_for(system).stiffness(state, project=False).copy()
    iterate()
    monkeypatch.setattr(lowest_eigenvalues, "_MAX_STEPS", 0)
    if fails:

        def fail(*_, **__):
            raise EigenError("none")

        for name in ("find_lowest_pairs", "find_vector_below", "all_eigenvalues_seem_above"):
            monkeypatch.setattr(_curvature, name, fail)
    assert taut.stability(system, state).method == "pivots"
    assert taut.modes(system, state).method == "pivots"
    assert find_negative_curvature(system._projector, stiffness, 1e-6) is not None
    assert not all_curvatures_exceed(system._projector, stiffness, 0.0)


def test_a_large_block_is_not_factorised():
    """16³ cubes: one factorisation would take fifteen seconds."""
    block = taut.mesh.block(16, 16, 16)
    ground = np.flatnonzero(block.points[:, 1] == block.points[:, 1].min())
    springs = [laws.spring(block.edges, k=1000.0), laws.spring(block.diagonals, k=300.0)]
    system = taut.System(block.points, mass=1.0, fixed=ground.tolist(), energies=springs)
    found = taut.stability(system, n=3)
    assert found.method == "iteration"
    assert found.stable
    # sway to both sides alike, then twist
    assert found.eigenvalues[1] == pytest.approx(found.eigenvalues[0], rel=1e-5)
    assert (found.bounds <= 1.1e-3 * found.eigenvalues).all()
