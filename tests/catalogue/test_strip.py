"""A thin cantilever strip under end shear (Sze, Liu and Lo 2004), of springs and hinges.

L = 10, b = 1, t = 0.1, E = 1.2e6, ν = 0, so EI = 100; P_max L²/EI = 4. The published tip
displacements (U towards the wall, W along the load) have three or four digits. Hinges have a
Poisson's ratio of -0.2 on this mesh, so a strip that may bend transversely is softer than the
sheet, and c is calibrated on such a strip.
"""

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import taut
from taut import laws

LENGTH, WIDTH, THICKNESS, E = 10.0, 1.0, 0.1, 1.2e6
EI = E * WIDTH * THICKNESS**3 / 12
P_MAX = 4 * EI / LENGTH**2
LOADS = (0.1, 0.5, 1.0)
PUBLISHED = np.array([[0.103, 1.309], [1.604, 4.933], [3.286, 6.698]])


def free_strip(nx, ny):
    """EI/c of an endless free strip.

    The energy of two columns of cells per length and curvature², relaxed in all that repeats.

    K is the transverse stiffness of the flat strip; besides periodic motions the strip may twist.
    """
    side, n = LENGTH / nx, 8
    mesh = taut.mesh.sheet(n, ny, size=(n * side, WIDTH), pattern="alternating")
    column, row = np.arange(mesh.n) % (n + 1), np.arange(mesh.n) // (n + 1)
    middle = column[mesh.hinges[:, 2:]].mean(axis=1)
    system = taut.System(
        mesh.points,
        mass=1.0,
        energies=[laws.shell_bending(mesh.hinges[(middle >= 3) & (middle < 5)], c=1.0)],
    )
    across = system.K(system.initial_state()).toarray()[2::3, 2::3]
    x, y = (mesh.points - [n * side / 2, WIDTH / 2, 0])[:, :2].T
    free = np.column_stack([np.eye(2 * (ny + 1))[column % 2 + 2 * row], x * y])
    coupling = free.T @ across @ (x * x / 2)
    gain = coupling @ np.linalg.pinv(free.T @ across @ free, rcond=1e-10, hermitian=True) @ coupling
    return (x * x / 2 @ across @ (x * x / 2) - gain) / (2 * side)


def tip_displacements(nx, ny, *, back, membrane=1.0, at_the_wall=2.0, c=None):
    """Tip displacements (U, W) at the LOADS, of a strip of nx × ny cells that goes on behind the
    wall by `back` columns.

    back=1: all points on and behind the wall are held; the hinges on the wall turn for half a
    column of cells only, the half before
        it, and are `at_the_wall` times as stiff
    back=nx: the strip behind the wall is loaded as the one before it, and the wall is where they
    mirror each other; two points
        there are held, so that the strip as a whole stays where it is
    membrane : stiffness of the springs by E t
    """
    side = LENGTH / nx
    mesh = taut.mesh.sheet(nx + back, ny, size=((nx + back) * side, WIDTH), pattern="alternating")
    points = mesh.points - [back * side, 0, 0]
    x, y = points[:, 0], points[:, 1]
    on_wall, tip = np.flatnonzero(abs(x) < 1e-9), np.flatnonzero(x > LENGTH - 1e-9)
    loaded = np.flatnonzero(abs(x) > LENGTH - 1e-9)
    share = np.where((y < 1e-9) | (y > WIDTH - 1e-9), 0.5, 1.0) / ny
    held = on_wall[[0, -1]] if back == nx else np.flatnonzero(x < 1e-9)
    wall = np.isin(mesh.hinges[:, 2:], on_wall).all(axis=1) & (back != nx)
    c = EI / free_strip(nx, ny) if c is None else c
    system = taut.System(
        points,
        mass=1.0,
        fixed=held,
        energies=[
            laws.spring(mesh.edges, k=membrane * E * THICKNESS),
            laws.shell_bending(mesh.hinges, c=np.where(wall, at_the_wall * c, c)),
            laws.force(loaded, f=share[loaded, None] * [0, 0, P_MAX]),
        ],
    )
    moved = [step.state.q - points for step in taut.equilibrium(system, loads=LOADS).path]
    w0 = [share[on_wall] @ d[on_wall, 2] for d in moved]
    return np.array(
        [
            [-share[tip] @ d[tip, 0], share[tip] @ d[tip, 2] - w]
            for d, w in zip(moved, w0, strict=True)
        ]
    )


def elastica(alpha):
    """(U, W)/L of the inextensible cantilever: θ'' = -α cos θ, θ(0) = 0, θ'(1) = 0."""
    s = np.linspace(0, 1, 101)
    solution = solve_bvp(
        lambda s, y: np.stack([y[1], -alpha * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
        s,
        np.stack([s / 2, 0 * s + 0.5, s, s / 4]),
        tol=1e-10,
        max_nodes=10_000,
    )
    return 1 - solution.y[2, -1], solution.y[3, -1]


@pytest.fixture(scope="module")
def exact():
    return LENGTH * np.array([elastica(4 * load) for load in LOADS])


def test_published_values_match_the_elastica(exact):
    """To their digits: 0.5% of U at the smallest load, half a unit of its last digit; 0.15%
    otherwise.
    """
    assert abs(exact / PUBLISHED - 1)[0, 0] < 0.006
    assert abs(exact / PUBLISHED - 1).ravel()[1:].max() < 0.002


@pytest.mark.parametrize("ny", [1, 2, 4])
def test_free_strip_has_rigidity_of_four_fifths_c(ny):
    assert free_strip(10 * ny, ny) == pytest.approx(0.8, abs=1e-12)


def test_narrow_clamped_strip_converges(exact):
    """One cell wide; the hinge at the wall has 2c, as half of a mirrored one.

    The error falls faster than quadratically.
    """
    assert abs(tip_displacements(20, 1, back=1) / PUBLISHED - 1).max() < 0.01
    error = [
        abs(tip_displacements(n, 1, back=1, membrane=10.0) / exact - 1).max() for n in (10, 20, 40)
    ]
    assert error[2] < 5e-4
    assert np.log2(error[0] / error[1]) == pytest.approx(2.8, abs=0.1)
    assert np.log2(error[1] / error[2]) == pytest.approx(2.5, abs=0.1)


def test_clamp_with_single_stiffness_has_first_order_error(exact):
    """The hinge at the wall turns for half a cell too many.

    The values of docs/theory/05-cloth-and-shells.md, to their digits.
    """
    u, w = np.array(
        [tip_displacements(n, 1, back=1, at_the_wall=1.0) / exact - 1 for n in (10, 20, 40)]
    ).T  # load × cells
    assert w[0] == pytest.approx([0.12, 0.045, 0.02], abs=6e-4)
    assert u[0] == pytest.approx([0.21, 0.077, 0.033], abs=1e-3)
    assert w[2] == pytest.approx([0.062, 0.024, 0.011], abs=6e-4)
    assert np.log2(w[[0, 2], :-1] / w[[0, 2], 1:]) == pytest.approx(
        np.array([[1.4, 1.2], [1.4, 1.2]]), abs=0.06
    )


def test_sheet_held_at_its_symmetry_plane_matches_the_elastica():
    """Two and four cells wide; the wall is a mirror, so the strip may bend transversely."""
    for n, ny in ((20, 2), (40, 4)):
        assert abs(tip_displacements(n, ny, back=n) / PUBLISHED - 1).max() < 0.01
    # transverse bending stretches the sheet: a softer membrane removes the remaining difference
    assert (
        abs(tip_displacements(40, 4, back=40, membrane=0.1) / PUBLISHED - 1).ravel()[1:].max()
        < 0.001
    )


def test_clamp_that_prevents_transverse_bending_is_stiffer(exact):
    """The deflection is smaller by more than the discretisation error.

    This is the effect of a clamp at a non-zero Poisson's ratio.
    """
    mirror, wall = tip_displacements(20, 2, back=20)[:, 1], tip_displacements(20, 2, back=1)[:, 1]
    assert (wall < 0.995 * mirror).all()
    assert (wall > 0.98 * exact[:, 1]).all()


def test_uncalibrated_strip_deviates():
    assert abs(tip_displacements(20, 2, back=20, c=EI) / PUBLISHED - 1).max() > 0.05
