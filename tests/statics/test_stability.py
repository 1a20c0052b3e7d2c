"""Eigenvalues of the stiffness: buckling, limit points, mechanisms, counts of large matrices."""

import numpy as np
import pytest
from scipy.sparse import csc_array, diags_array

import taut
from taut import laws
from taut.constraints import on_line, on_plane, scripted
from taut.linalg import eigen
from taut.linalg.low_rank import Factor, SparsePlusLowRank
from taut.statics import stability
from taut.statics._rigid_motions import find_free_motions


def bisect(stable, low, high):
    """The load at which `stable` changes from True to False, to rounding."""
    assert stable(low)
    assert not stable(high)
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if stable(middle) else (low, middle)
    return (low + high) / 2


@pytest.mark.parametrize(("n", "expected"), [(10, 0.991802), (20, 0.997946)])
def test_euler_buckling_by_bisection(n, expected):
    """P = 4(B/l')sin²(π/2N) with B = k/2 and l' the compressed link; over Euler's π²EI/L², EI = B
    l', it is 0.991802, 0.997946.
    """
    k, stiff = 2.0, 300.0 * n
    rod = taut.mesh.rope(n)
    energies = [laws.spring(rod.edges, k=stiff), laws.rod_hinge(rod.rod_hinges, k=k)]
    guided = taut.System(
        rod.points,
        mass=1.0,
        fixed=[0],
        energies=energies,
        constraints=[on_line(range(1, n + 1), (1, 0, 0))],
    )
    free = guided.with_(constraints=[on_line([n], (1, 0, 0))])

    def pressed(load):
        loaded = guided.with_(energies=[*energies, laws.force([n], f=(-load, 0, 0))])
        return taut.equilibrium(loaded, tolerance=taut.Tolerance(1e-13)).state

    estimate = (k / 2) * n * 4 * np.sin(np.pi / (2 * n)) ** 2
    critical = bisect(
        lambda load: taut.stability(free, pressed(load), n=1).negative == 0,
        0.8 * estimate,
        1.2 * estimate,
    )
    link = 1 / n - critical / stiff
    assert critical == pytest.approx(4 * (k / 2) / link * np.sin(np.pi / (2 * n)) ** 2, rel=1e-8)
    euler = np.pi**2 * (k / 2 * link) / (n * link) ** 2
    assert critical / euler == pytest.approx(expected, abs=1e-6)
    # two planes to buckle in
    assert taut.stability(free, pressed(1.01 * critical)).negative == 2


def test_limit_load_of_a_shallow_truss():
    """The apex pressed down by a script: K changes sign where l³ = l₀, and the reaction there is
    the limit load.
    """
    height, k = 0.2, 1000.0
    rest = np.hypot(1, height)
    bars = [laws.spring([[0, 2], [1, 2]], k=k)]
    points = [[-1, 0], [1, 0], [0, height]]
    held = taut.System(
        points,
        mass=1.0,
        fixed=[0, 1],
        energies=bars,
        constraints=[scripted([2], lambda t: (0, height - t))],
    )
    free = held.with_(constraints=[on_line([2], (0, 1))])
    start = held.initial_state()

    def at(down):
        return taut.equilibrium(held, start.with_(t=down), tolerance=taut.Tolerance(1e-13))

    down = bisect(lambda s: taut.stability(free, at(s).state).negative == 0, 0.0, height)
    length = rest ** (1 / 3)
    y = np.sqrt(length**2 - 1)
    assert height - down == pytest.approx(y, rel=1e-9)
    assert -at(down).reactions[2, 1] == pytest.approx(
        2 * k * (rest - length) * y / length, rel=1e-9
    )


def test_compressed_spring_is_unstable_transversely():
    """Transverse to a spring of force N and length l the stiffness is N/l, twice; along it k."""
    system = taut.System(
        [[0, 0, 0], [2, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=10.0, l0=2.5)],
    )
    found = taut.stability(system)
    assert found.eigenvalues == pytest.approx([-2.5, -2.5, 10.0])
    assert (found.negative, found.zero, found.stable) == (2, 0, False)
    assert [m.eigenvalue for m in found.mechanisms] == pytest.approx([-2.5, -2.5])
    assert "unstable in 2 directions" in str(found)
    assert "particles 1" in str(found)


def test_constraints_across_the_axes():
    """Eigenvalues of S K S in the free directions, against a dense computation."""
    rng = np.random.default_rng(5)
    n = 7
    edges = [(i, j) for i in range(n) for j in range(i)]
    held = [
        on_line([1], (1, 2, 3)),
        on_plane([2, 3], (1, -1, 2)),
        on_plane([3], (0, 1, 1)),
        on_line([6], (0, 1, 0)),
    ]
    system = taut.System(
        rng.normal(size=(n, 3)),
        mass=1.0,
        fixed=[0],
        energies=[laws.spring(edges, k=9.0)],
        constraints=held,
    )
    state = system.initial_state()
    project = np.zeros((3 * n, 3 * n))
    for i in range(n):
        project[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = system._projector.free_directions[i]
    free = 1 + 2 + 1 + 3 + 3 + 1
    dense = np.linalg.eigvalsh(
        project @ system.K(state).toarray() @ project + 1e6 * (np.eye(3 * n) - project)
    )[:free]
    found = taut.stability(system, state, n=100)
    assert len(found.eigenvalues) == free
    assert found.eigenvalues == pytest.approx(dense, abs=1e-9)
    assert (found.negative, found.zero) == (0, 0)


def test_mechanisms_are_localised():
    """Two loose hinges far from each other: each zero mode names one particle."""
    points = [[0, 0], [1, 0], [2, 0], [10, 0], [11, 0], [12, 0]]
    system = taut.System(
        points,
        mass=1.0,
        fixed=[0, 2, 3, 5],
        energies=[laws.spring([[0, 1], [1, 2], [3, 4], [4, 5]], k=7.0)],
    )
    found = taut.stability(system)
    assert (found.negative, found.zero) == (0, 2)
    assert sorted(m.particles.tolist() for m in found.mechanisms) == [[1], [4]]
    assert found.eigenvalues == pytest.approx([0, 0, 14, 14])


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_rigid_motions_count_as_zero_wherever_the_body_is(offset):
    block = taut.mesh.block(2, 2, 2)
    springs = [laws.spring(block.edges, k=1e6), laws.spring(block.diagonals, k=1e6)]
    found = taut.stability(taut.System(block.positions + offset, mass=1.0, energies=springs), n=8)
    assert (found.negative, found.zero) == (0, 6)
    assert (found.eigenvalues[6:] > 1e4).all()


def prism():
    """A free tensegrity prism: three struts, nine prestressed cables, twisted by 150°."""
    angle = np.arange(3) * 2 * np.pi / 3
    ends = [
        np.column_stack([np.cos(angle + t), np.full(3, y), np.sin(angle + t)])
        for y, t in ((0.0, 0.0), (1.0, 5 * np.pi / 6))
    ]
    points = np.concatenate(ends)
    cables = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 5], [1, 3], [2, 4]])
    length = np.linalg.norm(points[cables[:, 1]] - points[cables[:, 0]], axis=1)
    energies = [
        laws.cable(cables, k=100.0, l0=0.9 * length),
        laws.spring([[0, 3], [1, 4], [2, 5]], k=1000.0),
    ]
    pose = points + 0.1 * np.random.default_rng(0).normal(size=points.shape)
    return taut.System(points, mass=1.0, energies=energies, pose=pose)


def test_a_prestressed_free_body_has_six_rigid_motions_whatever_its_residual():
    """A tensegrity, solved loosely: rotation has a spurious stiffness |residual|/size; prestress
    stiffens all other modes.
    """
    for relative in (1e-7, 1e-12):
        found = taut.equilibrium(prism(), tolerance=taut.Tolerance(relative))
        assert (found.stability.negative, found.stability.zero) == (0, 6)
        members = found.members
        assert (members.force[members.law == "cable"] > 1.0).all()
        assert (members.force[members.law == "spring"] < -1.0).all()
        assert taut.stability(prism(), found.state, n=7).eigenvalues[6] > 1.0


def test_a_basis_of_mechanisms_is_made_local():
    """Unit vectors mixed by a rotation are recovered."""
    rng = np.random.default_rng(7)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    local = np.eye(12)[:, [1, 4, 7, 10]]
    found = np.abs(stability._localise(local @ turn))
    assert np.sort(found, axis=0)[-1] == pytest.approx(np.ones(4))
    assert found.sum() == pytest.approx(4.0)


def test_a_straight_chain_without_tension_far_from_the_origin():
    """Its link lengths are exact only to rounding of the coordinates; transversely this must not
    count as stiffness of either sign.
    """
    rope = taut.mesh.rope(10)
    system = taut.System(
        rope.positions + 1e4,
        mass=1.0,
        fixed=[0, 10],
        energies=[laws.spring(rope.edges, k=1e3, l0=0.1)],
    )
    found = taut.stability(system)
    assert (found.negative, found.zero) == (0, 18)


def test_system_without_free_particles_is_stable():
    found = taut.stability(taut.System([[0, 0, 0]], mass=1.0, fixed=[0]))
    assert found.stable
    assert len(found.eigenvalues) == 0
    assert "nothing can move" in str(found)


def test_reject_bad_number_of_eigenvalues():
    for n in (0, -1, 2.5, "six", True):
        with pytest.raises(taut.errors.ModelError, match="stability: n"):
            taut.stability(taut.System([[0, 0, 0]], mass=1.0), n=n)


def laplacian(nx, ny, shift=0.0):
    """A grid with fixed rim: eigenvalues 4 - 2cos(iπ/(nx+1)) - 2cos(jπ/(ny+1)) - shift."""
    a, b = (
        diags_array(
            [-np.ones(m - 1), 2 * np.ones(m), -np.ones(m - 1)], offsets=[-1, 0, 1]
        ).toarray()
        for m in (nx, ny)
    )
    x, y = (2 - 2 * np.cos(np.arange(1, m + 1) * np.pi / (m + 1)) for m in (nx, ny))
    matrix = np.kron(a, np.eye(ny)) + np.kron(np.eye(nx), b) - shift * np.eye(nx * ny)
    return csc_array(matrix), np.sort((x[:, None] + y).ravel()) - shift


@pytest.mark.parametrize(("nx", "ny"), [(12, 13), (25, 25), (18, 40)])
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_smallest_eigenvalues_and_counts_of_a_grid(nx, ny, shift):
    """Dense and Lanczos (above 300 rows) alike, with double eigenvalues on the square grid and
    negative ones when shifted.
    """
    matrix, exact = laplacian(nx, ny, shift)
    found = eigen.find_smallest(matrix, 7, 1e-10)
    assert found.values == pytest.approx(exact[:7], abs=1e-11)
    assert found.negative == (exact < 0).sum()
    assert found.zero == 0
    assert found.vectors.T @ found.vectors == pytest.approx(np.eye(7), abs=1e-12)
    assert (found.negative > 0) == (shift > 0)


def test_zero_eigenvalues_of_large_matrices_are_counted():
    """A free chain of 500 has one zero eigenvalue; three of them side by side have three."""
    n = 500
    chain = diags_array(
        [-np.ones(n - 1), np.r_[1.0, 2 * np.ones(n - 2), 1.0], -np.ones(n - 1)], offsets=[-1, 0, 1]
    )
    three = csc_array(np.kron(np.eye(3), chain.toarray()))
    found = eigen.find_smallest(three, 5, 1e-13)
    exact = 4 * np.sin(np.pi / (2 * n)) ** 2
    assert (found.negative, found.zero) == (0, 3)
    assert found.values[:3] == pytest.approx(0.0, abs=1e-13)
    assert found.values[3:] == pytest.approx([exact, exact], rel=1e-8)


def test_inaccurate_eigenpair_raises(monkeypatch):
    matrix, _ = laplacian(5, 5)
    monkeypatch.setattr(np.linalg, "eigh", lambda a: (np.zeros(len(a)), np.eye(len(a))))
    with pytest.raises(eigen.EigenError, match="must be at most"):
        eigen.find_smallest(matrix, 3, 1e-10)


def test_missed_eigenvalue_is_detected(monkeypatch):
    """Lanczos omits the lowest pair: the count by inertia detects this."""
    matrix, _ = laplacian(20, 21)
    true = eigen._lanczos

    def blind(a, k, tol, negative, zero):
        values, vectors = true(a, k + 1, tol, negative, zero)
        return values[1:], vectors[:, 1:]

    monkeypatch.setattr(eigen, "_lanczos", blind)
    with pytest.raises(eigen.EigenError, match="Lanczos found"):
        eigen.find_smallest(matrix, 3, 1e-10)


def compressed_block(m, factor):
    """A free block of m³ cubes; springs on edges and diagonals, longer than these by a factor."""
    block = taut.mesh.block(m, m, m)
    springs = []
    for edges in (block.edges, block.diagonals):
        length = np.linalg.norm(block.points[edges[:, 0]] - block.points[edges[:, 1]], axis=1)
        springs.append(laws.spring(edges, k=100.0, l0=factor * length))
    return taut.System(block.points, mass=1.0, energies=springs)


@pytest.mark.parametrize("factor", [1.2, 1.5, 2.0])
@pytest.mark.parametrize("m", [3, 4])
def test_counts_of_strongly_indefinite_matrices(m, factor):
    """Half of the eigenvalues are negative: LDLᵀ without pivoting fails, and the counts are still
    exact.
    """
    system = compressed_block(m, factor)
    found = taut.stability(system)
    exact = np.linalg.eigvalsh(system.K(system.initial_state()).toarray())
    assert found.negative == (exact < -found.zero_below).sum() > 20
    assert found.zero == (np.abs(exact) <= found.zero_below).sum() >= 3
    assert found.eigenvalues[:6] == pytest.approx(exact[:6], rel=1e-9)


def test_inaccurate_factorisation_is_not_used_for_counts(monkeypatch):
    """The factorisation of another matrix is detected; all eigenvalues are then computed, and a
    matrix too large for that raises.
    """
    matrix, exact = laplacian(18, 20, 0.5)
    other, _ = laplacian(18, 20, 0.5 + 1e-6)
    assert eigen._represents(Factor(matrix), matrix, 1e-10)
    assert not eigen._represents(Factor(other), matrix, 1e-10)
    monkeypatch.setattr(eigen, "_represents", lambda *_: False)
    found = eigen.find_smallest(matrix, 3, 1e-10)
    assert found.negative == (exact < 0).sum()
    assert found.values == pytest.approx(exact[:3], abs=1e-11)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", len(exact) - 1)
    with pytest.raises(eigen.EigenError, match="without pivoting"):
        eigen.find_smallest(matrix, 3, 1e-10)


def test_inconsistent_counts_are_rejected(monkeypatch):
    matrix, exact = laplacian(18, 20, 0.5)
    counts = iter([9, 5])
    monkeypatch.setattr(eigen, "count_below", lambda *_: next(counts))
    found = eigen.find_smallest(matrix, 3, 1e-10)
    assert (found.negative, found.zero) == ((exact < 0).sum(), 0)


def test_the_lowest_pair_and_positive_definiteness():
    matrix, exact = laplacian(25, 25, 0.5)
    assert exact[0] < 0
    value, vector = eigen.find_lowest(matrix, 1e-10)
    assert value == pytest.approx(exact[0], rel=0.01)
    assert vector @ vector == pytest.approx(1.0)
    assert vector @ (matrix @ vector) == pytest.approx(value)
    assert eigen.all_eigenvalues_exceed(matrix, exact[0] - 1e-6)
    assert not eigen.all_eigenvalues_exceed(matrix, exact[0] + 1e-6)
    assert not eigen.all_eigenvalues_exceed(matrix, exact[300] + 1e-6)


def test_a_slender_free_body_has_six_rigid_motions():
    """Rotation about its long axis has stiffness ‖r‖/√Σ|x⊥|², much more than |r| over
    its length.
    """
    rng = np.random.default_rng(0)
    body = taut.mesh.block(12, 1, 1, size=(12, 0.1, 0.1))
    length = np.linalg.norm(body.points[body.edges[:, 0]] - body.points[body.edges[:, 1]], axis=1)
    stressed = laws.spring(body.edges, k=1e3, l0=length * rng.uniform(0.9, 1.1, len(length)))
    pose = body.points + 0.003 * rng.normal(size=body.points.shape)
    system = taut.System(
        body.points, mass=1.0, energies=[stressed, laws.spring(body.diagonals, k=1e3)], pose=pose
    )
    for relative in (1e-6, 1e-8):
        found = taut.equilibrium(system, tolerance=taut.Tolerance(relative)).stability
        assert (found.negative, found.zero) == (0, 6)


def test_free_turns_under_constraints():
    """About two fixed points a body rotates by |ω| = 1/√Σ|x⊥|²; held by three not at all; a free
    pair about its centre: 1/√½.
    """
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 2, 0], [0.5, 0, 3]])

    def turn(points, **held):
        projector = taut.System(points, mass=1.0, **held)._projector
        _, turns = find_free_motions(projector, np.array(points), np.ones(len(points)))
        return np.linalg.norm(turns, 2) if len(turns) else 0.0

    assert turn(points, fixed=[0, 1]) == pytest.approx(1 / np.sqrt(2**2 + 3**2))
    assert turn(points, fixed=[0, 1, 2]) == 0.0
    assert turn(points[:2]) == pytest.approx(1 / np.sqrt(0.5))


def test_more_mechanisms_than_requested_are_reported_as_mixed():
    rope = taut.mesh.rope(10)
    system = taut.System(
        rope.points, mass=1.0, fixed=[0, 10], energies=[laws.spring(rope.edges, k=1e3)]
    )
    few, all_ = taut.stability(system, n=4), taut.stability(system, n=18)
    assert few.mixed
    assert "mixtures of all 18 mechanisms: n=18 separates them" in str(few)
    assert not all_.mixed
    assert "mixtures" not in str(all_)
    assert sorted(len(m.particles) for m in all_.mechanisms) == [1] * 18


def test_reject_arguments_of_wrong_type():
    system = taut.System([[0, 0, 0]], mass=1.0)
    with pytest.raises(taut.errors.ModelError, match=r"stability: a taut.State is needed, got 6"):
        taut.stability(system, 6)
    with pytest.raises(
        taut.errors.ModelError, match=r"stability: system must be a taut.System, got None"
    ):
        taut.stability(None)


FILLINGS = {"gas": {"p": 500.0}, "enclosed_volume": {"k": 2.2e9}}


@pytest.mark.parametrize("name", FILLINGS)
@pytest.mark.parametrize("squeeze", [1.0, 0.95])
def test_filled_ball_without_forming_the_full_matrix(name, squeeze, monkeypatch):
    """Counts and smallest eigenvalues of the full K, also where it is unstable; a filling couples
    all particles.
    """
    ball = taut.mesh.sphere(4, radius=0.1)
    filling = getattr(laws, name)(ball.triangles, **FILLINGS[name])
    body = taut.System(ball.points, mass=1e-3, energies=[laws.spring(ball.edges, k=200.0), filling])
    state = taut.equilibrium(body).state
    squeezed = state.with_(q=state.q * [squeeze, squeeze**-0.5, squeeze**-0.5])
    exact = np.linalg.eigvalsh(body.K(squeezed).toarray())
    monkeypatch.setattr(SparsePlusLowRank, "toarray", None)
    found = taut.stability(body, squeezed, n=9)
    assert len(exact) > eigen.DENSE_UP_TO
    assert found.zero == (np.abs(exact) <= found.zero_below).sum()
    assert found.negative == (exact < -found.zero_below).sum()
    assert (found.zero == 6) == (squeeze == 1.0)
    # error of eigvalsh: a few ε times the largest eigenvalue
    assert found.eigenvalues[:9] == pytest.approx(
        exact[:9], abs=found.zero_below + 10 * eigen.EPS * exact[-1]
    )
