"""The side to which a rest angle bends.

Hinges of shells and of rods in the plane; and which rods count as straight.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import taut
from taut import laws

HINGES = [laws.shell_bending, laws.discrete_shell_bending, laws.bridson_bending]
shells = pytest.mark.parametrize("law", HINGES, ids=lambda law: law.name)
TIGHT = taut.Tolerance(1e-12)


def bind(law, hinges, stiffness=2.0, **more):
    return law(hinges, **{"c" if law is laws.shell_bending else "k": stiffness}, **more)


def measure_rest_angle(law, points, elements, **stiffness):
    """The rest angles [rad] that a law measures on a shape."""
    return (
        taut.System(points, mass=1.0, energies=[law(elements, **stiffness)])
        ._placed_energies[law.name]
        .parameters.constant["theta0"]
    )


@shells
@pytest.mark.parametrize("theta0", [0.5, -0.5])
def test_positive_rest_angle_bends_a_hinge_away_from_its_front(law, theta0):
    """(c, d, a, b), the edge along x, a, b, c counterclockwise seen from +z.

    With θ₀ > 0 d goes down, away from that side.
    """
    flat = np.array([[0.3, 0.8, 0.0], [0.6, -0.7, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    sides = laws.spring([[1, 2], [1, 3]], k=1e3)
    system = taut.System(
        flat, mass=1.0, fixed=[0, 2, 3], energies=[sides, bind(law, [[0, 1, 2, 3]], theta0=theta0)]
    )
    bent = taut.equilibrium(system, tolerance=TIGHT).state.q[1]
    # the springs keep their length and the hinge its angle, so nothing is strained: exact
    assert bent == pytest.approx([0.6, -0.7 * np.cos(theta0), -0.7 * np.sin(theta0)], abs=1e-9)


@shells
@pytest.mark.parametrize("corner", [0, 1])
def test_both_apexes_move_to_the_same_side(law, corner):
    """From flat, a positive rest angle pushes c and d down and the edge up, whichever is free."""
    flat = np.array([[0.3, 0.8, 0.0], [0.6, -0.7, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    system = taut.System(flat, mass=1.0, energies=[bind(law, [[0, 1, 2, 3]], theta0=0.5)])
    force = system.f(system.initial_state())
    assert force[corner, 2] < -0.1
    assert force[2:, 2].min() > 0.1


@shells
def test_closed_outward_surface_has_positive_angles(law):
    """All 30 of an icosahedron are arccos(√5/3), 41.8°; turned inside out, the negative of it."""
    ball = taut.mesh.sphere(1)
    inside_out = ball.with_(cells={"triangle": ball.triangles[:, ::-1]})
    stiffness = {"c" if law is laws.shell_bending else "k": 1.0}
    for mesh, sign in ((ball, 1), (inside_out, -1)):
        angles = measure_rest_angle(law, mesh.points, mesh.hinges, **stiffness)
        assert angles == pytest.approx(np.full(30, sign * np.arccos(np.sqrt(5) / 3)), abs=1e-14)


@shells
def test_positive_rest_angles_turn_a_sheet_into_a_dome(law):
    """Of a sheet in the plane of x and y whose triangles face +z, held in the middle, the rim goes
    down.
    """
    mesh = taut.mesh.sheet(2, 2, pattern="alternating")
    corners = mesh.points[mesh.triangles]
    assert np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2].min() > 0
    middle = int(np.argmin(np.linalg.norm(mesh.points - mesh.points.mean(axis=0), axis=1)))
    energies = [laws.spring(mesh.edges, k=500.0), bind(law, mesh.hinges, 0.5, theta0=0.1)]
    rim = np.delete(np.arange(mesh.n), middle)
    system = taut.System(mesh.points, mass=1.0, fixed=[middle], energies=energies)
    height = taut.equilibrium(system).state.q[:, 2]
    assert height[rim].mean() < height[middle] - 0.01


@pytest.mark.parametrize("theta0", [0.5, -0.5])
def test_positive_rest_angle_turns_a_planar_rod_left(theta0):
    """Six links along x, the first held: link i points to iθ₀, counterclockwise for θ₀ > 0.

    Nothing is strained.
    """
    rod = taut.mesh.rope(6, end=(6, 0, 0))
    energies = [
        laws.spring(rod.edges, k=1e3),
        laws.planar_rod_bending(rod.rod_hinges, EI=2.0, theta0=theta0),
    ]
    system = taut.System(rod.points[:, :2], mass=1.0, fixed=[0, 1], energies=energies)
    links = np.diff(taut.equilibrium(system, tolerance=TIGHT).state.q[:, :2], axis=0)
    turned = theta0 * np.arange(6)
    assert links == pytest.approx(np.stack([np.cos(turned), np.sin(turned)], axis=1), abs=1e-9)


RODS = [(laws.rod_bending, "EI"), (laws.rod_hinge, "k")]
rods = pytest.mark.parametrize(("law", "stiffness"), RODS, ids=[law.name for law, _ in RODS])


@rods
def test_a_ring_of_a_thousand_links_keeps_its_curvature(law, stiffness):
    """A ring of 1000 links has angles of 2π/1000; an arc of a ring of a million keeps its 6e-6."""
    n = 1000
    a = 2 * np.pi * np.arange(n) / n
    ring = np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)
    triples = (np.arange(n)[:, None] + np.arange(3)) % n
    assert measure_rest_angle(law, ring, triples, **{stiffness: 1.0}) == pytest.approx(
        np.full(n, 2 * np.pi / n), abs=1e-12
    )
    turn = 2 * np.pi / 1e6
    arc = [[-1, 0, 0], [0, 0, 0], [np.cos(turn), np.sin(turn), 0]]
    assert measure_rest_angle(law, arc, [[0, 1, 2]], **{stiffness: 1.0}) == pytest.approx(
        [turn], rel=1e-9
    )


@rods
def test_rounding_errors_leave_a_straight_rod_straight(law, stiffness):
    """1000 links of 1 mm, 100 m from the origin, in random directions.

    Positions are rounded to 1e-14 m, angles to 1e-11. All count as 0.
    """
    rng = np.random.default_rng(2)
    for _ in range(3):
        along = Rotation.random(random_state=int(rng.integers(2**31))).apply([1.0, 0, 0])
        points = 100 * rng.normal(size=3) + np.outer(np.linspace(0, 1, 1001), along)
        triples = np.arange(999)[:, None] + np.arange(3)
        bare = np.diff(points, axis=0)
        assert np.linalg.norm(np.cross(bare[:-1], bare[1:]), axis=1).max() > 0.0, (
            "rounding must bend the rod, or the test checks nothing"
        )
        angles = measure_rest_angle(law, points, triples, **{stiffness: 1.0})
        assert (angles == 0.0).all()


@pytest.mark.parametrize("law", HINGES[:2], ids=lambda law: law.name)
def test_hinge_folds_flat_onto_itself_and_beyond(law):
    """V is continuous where θ jumps from π to -π: θ₀ = 3 rad, then θ = 3.1 and 3.2 rad."""
    hinge = np.array([[0.5, 1.0, 0.0], [0.5, -1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    system = taut.System(hinge, mass=1.0, energies=[bind(law, [[0, 1, 2, 3]], theta0=3.0)])

    def fold(theta):
        q = hinge.copy()
        q[1] = [0.5, -np.cos(theta), -np.sin(theta)]
        return system.initial_state().with_(q=q)

    unit = system.V(fold(2.0))  # of a change by 1 rad
    for theta in (3.1, np.pi, 3.2, 4.0, 6.0):
        assert system.V(fold(theta)) == pytest.approx(unit * (theta - 3.0) ** 2, rel=1e-9)


@pytest.mark.parametrize("law", HINGES[:2], ids=lambda law: law.name)
def test_fold_of_nearly_pi_is_pressed_shut(law):
    """A load that presses a hinge of θ₀ = 3.09 rad shut is borne by its moment, beyond π.

    The moment balances the load at the apex: F cos(θ - π) = V'/h with the height h = 1.
    """
    stiffness_ratio = {"shell_bending": 1.0, "discrete_shell_bending": 6.0}  # V''/stiffness
    theta0 = 3.09
    hinge = np.array([[0.5, 1.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    hinge[1] = [0.5, -np.cos(theta0), -np.sin(theta0)]
    stiffness = bind(law, [[0, 1, 2, 3]], theta0=theta0)
    sides = laws.spring([[1, 2], [1, 3]], k=1e4)
    free = taut.System(hinge, mass=1.0, fixed=[0, 2, 3], energies=[sides, stiffness])
    curvature = 2.0 * stiffness_ratio[law.name]
    loaded = free.with_(energies=[*free.energies, laws.force([1], f=(0, 0, 0.1 * curvature))])
    found = taut.equilibrium(loaded)
    theta = np.pi + np.arctan2(found.state.q[1, 2], found.state.q[1, 1])
    assert theta > np.pi
    assert theta - theta0 == pytest.approx(0.1 * np.cos(theta - np.pi), rel=1e-3)
