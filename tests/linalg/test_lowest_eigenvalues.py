"""The lowest eigenpairs by iteration, against all of them: bounds, counts, constraints, threads."""

import numba
import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line, on_plane
from taut.errors import EigenError
from taut.linalg import lowest_eigenvalues
from taut.linalg.blocks import BlockMatrix, Pattern
from taut.linalg.lowest_eigenvalues import (
    all_eigenvalues_seem_above,
    can_afford_pivots,
    find_lowest_pairs,
    find_vector_below,
)
from taut.statics.stability import estimate_zero
from taut.system.reduction import Reduction
from taut.system.workspace import workspace_for


def springs(mesh, k, stretch=1.0):
    """Springs along edges and diagonals whose rest lengths are these times a factor."""
    edges = np.vstack([mesh.edges, mesh.diagonals])
    length = np.linalg.norm(mesh.points[edges[:, 0]] - mesh.points[edges[:, 1]], axis=1)
    return laws.spring(edges, k=k, l0=stretch * length)


def free_block():
    block = taut.mesh.block(5, 5, 5)
    return taut.System(block.points, mass=1.0, energies=[springs(block, 100.0)])


def compressed_block():
    block = taut.mesh.block(4, 4, 4)
    return taut.System(block.points, mass=1.0, energies=[springs(block, 100.0, 1.5)])


def column(stretch, hinge):
    rod = taut.mesh.rope(100)
    energies = [laws.spring(rod.edges, k=1e4, l0=stretch / 100)]
    if hinge:
        energies.append(laws.rod_hinge(rod.rod_hinges, k=hinge))
    return taut.System(rod.points, mass=1.0, fixed=[0, 100], energies=energies)


def sheet(stretch):
    """A flat sheet in space, held at its rim."""
    mesh = taut.mesh.sheet(15, 15)
    x = mesh.points[:, :2]
    rim = np.flatnonzero(((x == x.min(axis=0)) | (x == x.max(axis=0))).any(axis=1))
    points = np.column_stack([x, np.zeros(len(x))])
    energies = [springs(mesh, 100.0, stretch)]
    return taut.System(points, mass=1.0, fixed=rim.tolist(), energies=energies)


def sliders():
    """A crumpled sheet with particles on lines and planes across the axes."""
    mesh = taut.mesh.sheet(12, 12)
    points = np.column_stack([mesh.points[:, :2], np.zeros(len(mesh.points))])
    pose = points + 0.02 * np.random.default_rng(3).normal(size=points.shape)
    held = [on_line([12, 40, 77], (1, 2, 3)), on_plane([100, 144, 156], (1, -1, 2))]
    return taut.System(
        pose, mass=1.0, fixed=[0], energies=[springs(mesh, 100.0, 0.9)], constraints=held
    )


def ball():
    """Water couples all particles, and is a million times stiffer than the skin."""
    mesh = taut.mesh.sphere(3, radius=0.1)
    filling = laws.enclosed_volume(mesh.triangles, k=2.2e9)
    return taut.System(mesh.points, mass=1.0, energies=[laws.spring(mesh.edges, k=200.0), filling])


SYSTEMS = {
    "rigid motions": (free_block, 0, 6),
    "strongly indefinite": (compressed_block, 8, 0),
    "column, many directions": (lambda: column(1.05, 0.0), 8, 0),
    "column, two directions": (lambda: column(1.001, 2.0), 2, 0),
    "flat sheet without stress": (lambda: sheet(1.0), 0, 8),
    "flat sheet, compressed": (lambda: sheet(1.02), 8, 0),
    "flat sheet, stretched": (lambda: sheet(0.98), 0, 0),
    "sliders": (sliders, None, None),
    "filled ball": (ball, 0, 6),
}


def constrained(system):
    """K with its constraints, what counts as zero, and all eigenvalues in the free directions."""
    state = system.initial_state()
    matrix = workspace_for(system).stiffness(state, project=False).copy()
    _, gradient, gross = workspace_for(system).potential(state)
    ones = np.ones(system.n)
    zero = estimate_zero(system._projector, state.q, gradient, gross, matrix, ones)
    reduced = Reduction.of(system._projector).matrix(matrix).toarray()
    system._projector.apply_to_matrix(matrix)
    return matrix, zero, np.linalg.eigvalsh(reduced)


@pytest.mark.parametrize("name", SYSTEMS)
def test_lowest_pairs_against_all_eigenvalues(name):
    make, negative, zeros = SYSTEMS[name]
    system = make()
    matrix, zero, exact = constrained(system)
    found = find_lowest_pairs(matrix, 8, zero)
    assert found.converged
    rounding = zero + 1e-14 * np.abs(exact).max()  # of the dense computation
    nearest = np.abs(found.values[:, None] - exact).min(axis=1)
    assert (nearest <= found.bounds + rounding).all()
    assert (found.bounds <= np.maximum(1.1e-3 * np.abs(found.values), 2 * zero)).all()
    # from above, and much closer than the bound says: the error is of the order of its square
    assert (found.values >= exact[:8] - rounding).all()
    assert found.values == pytest.approx(exact[:8], rel=1e-5, abs=2 * rounding)
    counts = (found.values < -zero).sum(), (np.abs(found.values) <= zero).sum()
    assert counts == ((exact[:8] < -zero).sum(), (np.abs(exact[:8]) <= zero).sum())
    if negative is not None:
        assert counts == (negative, zeros)
    flat = found.vectors.reshape(8, -1)
    assert flat @ flat.T == pytest.approx(np.eye(8), abs=1e-12)
    free = np.array([system._projector.project(x) for x in found.vectors])
    assert free == pytest.approx(found.vectors, abs=1e-14)


@pytest.mark.parametrize("name", SYSTEMS)
def test_signs_and_directions(name):
    matrix, zero, exact = constrained(SYSTEMS[name][0]())
    below = find_vector_below(matrix, -zero, zero)
    assert (below is not None) == (exact[0] < -zero)
    if below is not None:
        value, x = below
        assert np.einsum("ij,ij->", x, x) == pytest.approx(1.0)
        assert np.einsum("ij,ij->", x, matrix.multiply(x)) == pytest.approx(value)
        assert value == pytest.approx(exact[0], rel=0.01)
    assert all_eigenvalues_seem_above(matrix, zero, zero) == (exact[0] > zero)
    assert not all_eigenvalues_seem_above(matrix, exact[0] + 0.1 * abs(exact[0]) + 2 * zero, zero)
    assert all_eigenvalues_seem_above(matrix, exact[0] - 0.1 * abs(exact[0]) - 2 * zero, zero)


def test_same_bits_with_any_number_of_threads():
    """Enough particles for two threads to share the loops of the multigrid."""
    mesh = taut.mesh.sheet(50, 50)
    points = np.column_stack([mesh.points[:, :2], 0.1 * np.sin(3 * mesh.points[:, 0])])
    system = taut.System(points, mass=1.0, fixed=[0, 50], energies=[springs(mesh, 100.0, 0.98)])
    matrix, zero = workspace_for(system).stiffness(system.initial_state(), project=False), 1e-9
    system._projector.apply_to_matrix(matrix)
    before, results = numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            found = find_lowest_pairs(matrix, 3, zero)
            results.append((found.values.tobytes(), found.vectors.tobytes()))
    finally:
        numba.set_num_threads(before)
    assert results[0] == results[1]


def test_known_vectors_save_work(monkeypatch):
    matrix, zero, _ = constrained(sheet(0.98))
    first = find_lowest_pairs(matrix, 4, zero)
    monkeypatch.setattr(lowest_eigenvalues, "_MAX_STEPS", 3)
    assert not find_lowest_pairs(matrix, 4, zero).converged
    again = find_lowest_pairs(matrix, 4, zero, start=first.vectors)
    assert again.converged
    assert again.values == pytest.approx(first.values, rel=1e-5)


def test_an_iteration_that_does_not_converge_says_so(monkeypatch):
    matrix, zero, exact = constrained(sheet(0.98))
    monkeypatch.setattr(lowest_eigenvalues, "_MAX_STEPS", 1)
    found = find_lowest_pairs(matrix, 4, zero)
    assert not found.converged
    assert (np.abs(found.values[:, None] - exact).min(axis=1) <= found.bounds).all()
    with pytest.raises(EigenError, match="certain only to"):
        find_vector_below(matrix, 0.0, zero)
    with pytest.raises(EigenError, match="certain only to"):
        all_eigenvalues_seem_above(matrix, 0.0, zero)


def test_numbers_that_are_not_finite_raise():
    matrix, zero, _ = constrained(sheet(0.98))
    matrix.data[matrix.pattern.diagonal[100]] = np.nan
    with pytest.raises(EigenError):
        find_lowest_pairs(matrix, 4, zero)


def test_fewer_free_directions_than_pairs():
    pattern = Pattern.from_pairs(np.array([[0, 1]]), 2)
    data = np.array([np.diag([2.0, 3, 4]), -np.eye(3), -np.eye(3), np.diag([2.0, 3, 4])])
    found = find_lowest_pairs(BlockMatrix(pattern, data), 9, 1e-12)
    assert found.values == pytest.approx([1, 2, 3, 3, 4, 5])
    system = taut.System([[0, 0, 0]], mass=1.0, fixed=[0])
    matrix, zero, _ = constrained(system)
    assert len(find_lowest_pairs(matrix, 3, zero).values) == 0
    assert find_vector_below(matrix, 0.0, zero) is None
    assert all_eigenvalues_seem_above(matrix, 0.0, zero)


def test_pivots_for_ropes_and_sheets_but_not_for_large_blocks():
    """The threshold is a time of about half a second; see `MAX_PIVOT_WORK`."""
    rope = np.column_stack([np.arange(10**5 - 1), np.arange(1, 10**5)])
    assert can_afford_pivots(Pattern.from_pairs(rope, 10**5))
    for mesh, affordable in (
        (taut.mesh.sheet(100, 100), True),
        (taut.mesh.block(8, 8, 8), True),
        (taut.mesh.block(16, 16, 16), False),
    ):
        pairs = np.vstack([mesh.edges, mesh.diagonals])
        pattern = Pattern.from_pairs(pairs, len(mesh.points))
        assert can_afford_pivots(pattern) == affordable
