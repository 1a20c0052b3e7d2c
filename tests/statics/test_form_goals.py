"""Goals of form finding, struts, and pressure on membranes, against geometry and statics."""

import numpy as np
import pytest

import taut
from taut import laws


def test_target_length():
    """A loaded cable with a goal of 1.25 m for each half, over a span of 2 m sags by 0.75 m."""
    form = taut.form_finding(
        [[0, 0, 0], [1, 0, -0.5], [2, 0, 0]],
        fixed=[0, 2],
        edges=[[0, 1], [1, 2]],
        density=1.0,
        loads=(0, 0, -1.0),
        goals=[laws.spring([[0, 1], [1, 2]], k=1e7, l0=1.25)],
    )
    assert form.points[1] == pytest.approx([1, 0, -0.75], abs=1e-6)
    assert form.energies["spring"] == pytest.approx(0.0, abs=1e-6)


def test_target_force():
    """A cable of density d against one of given force N: d x = N."""
    form = taut.form_finding(
        [[0, 0, 0], [2, 0.1, 0], [5, 0, 0]],
        fixed=[0, 2],
        edges=[[0, 1]],
        density=4.0,
        goals=[laws.tension([[1, 2]], force=6.0)],
    )
    assert form.points[1] == pytest.approx([1.5, 0, 0], abs=1e-7)
    assert form.forces == pytest.approx([6.0])


def test_forces_of_3_4_and_5_newtons_meet_at_a_right_angle():
    """Varignon's frame, by `equilibrium`."""
    anchors = np.array([[0.0, 0, 0], [4, 0, 0], [1, 5, 0]])
    frame = taut.System(
        [*anchors, [1.5, 1.5, 0]],
        mass=1.0,
        fixed=[0, 1, 2],
        energies=[laws.tension([[3, 0], [3, 1], [3, 2]], force=[3.0, 4.0, 5.0])],
    )
    rest = taut.equilibrium(frame)
    along = anchors - rest.state.q[3]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    assert along[0] @ along[1] == pytest.approx(0.0, abs=1e-7)
    assert along[0] @ along[2] == pytest.approx(-3 / 5, abs=1e-7)
    assert rest.members.force == pytest.approx([3.0, 4.0, 5.0])


def test_equal_lengths():
    """Cables of densities 1, 2, 4 have lengths as 4, 2, 1; the goal makes them equal."""
    chain = {"fixed": [0, 3], "edges": [[0, 1], [1, 2], [2, 3]], "density": [1.0, 2.0, 4.0]}
    points = [[0, 0, 0], [0.5, 0, 0], [1, 0, 0], [3.5, 0, 0]]
    assert taut.form_finding(points, **chain).lengths == pytest.approx([2.0, 1.0, 0.5])
    goal = laws.equal_lengths([[0, 1, 2], [1, 2, 3]], k=1e8)
    found = taut.form_finding(points, **chain, goals=[goal])
    assert found.lengths == pytest.approx([3.5 / 3] * 3, rel=1e-6)
    pair = laws.equal_lengths([[0, 1, 2, 3]], k=1e8)
    found = taut.form_finding(points, **chain, goals=[pair])
    assert found.lengths[0] == pytest.approx(found.lengths[2], rel=1e-6)


def diagonal_distances(q, quads):
    a, b, c, d = q[quads].transpose(1, 0, 2)
    normal = np.cross(c - a, d - b)
    return np.abs(np.einsum("ij,ij->i", b - a, normal)) / np.linalg.norm(normal, axis=1)


def test_planar_faces():
    """A net of quads between four corners of unequal height, and the same of flat panes."""
    quads = taut.mesh.sheet(4, 4, pattern="quad")
    points = np.array(quads.points)
    corners = quads.corners()
    points[corners[0], 2] = 0.4
    cells = quads.cells["quad"]
    net = {"fixed": corners, "edges": quads.edges, "density": 1.0, "loads": (0, 0, 0.1)}
    plain = taut.form_finding(points, **net)
    panes = taut.form_finding(points, **net, goals=[laws.planarity(cells, k=1e4)])
    assert diagonal_distances(plain.points, cells).max() > 1e-2
    assert diagonal_distances(panes.points, cells).max() < 5e-5  # falls as 1/k


def test_points_on_a_sphere_and_in_a_plane():
    """The goals hold up to the force over their stiffness; in the plane other forces decide."""
    disc = taut.mesh.disc(4)
    points = np.array(disc.points)
    points[:, 2] = 0.3 * (1 - (points**2).sum(axis=1))
    inside = np.setdiff1d(np.arange(disc.n), disc.boundary)
    net = {"fixed": disc.boundary, "edges": disc.edges, "density": 1.0}
    ball = laws.sphere_spring(inside, k=1e7, centre=(0, 0, 0), radius=1.0)
    dome = taut.form_finding(points, **net, goals=[ball])
    assert np.linalg.norm(dome.points, axis=1) == pytest.approx(1.0, abs=1e-6)
    flat = taut.form_finding(
        points,
        **net,
        goals=[laws.plane_spring([0], k=1e7, normal=(0, 0, 2.0), through=(0, 0, 0.25))],
    )
    assert flat.points[0] == pytest.approx([0, 0, 0.25], abs=1e-6)


def test_motion_that_a_goal_leaves_free_has_no_bound():
    form = taut.form_finding(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [5, 5, 1.0]],
        fixed=[0, 2],
        edges=[[0, 1], [1, 2]],
        density=1.0,
        goals=[laws.plane_spring([3], k=10.0, normal=(0, 0, 1), through=(0, 0, 0))],
    )
    assert form.points[3] == pytest.approx([5, 5, 0], abs=1e-9)
    assert form.solver_error == np.inf
    assert "one form of many" in str(form)


def test_tensegrity_prism():
    """Force densities 1/√3 in the horizontal cables, 1 in the bracing, -1 in the struts hold the
    three-strut prism, its triangles turned by 150° (Tibert, Pellegrino 2003): with four of its six
    points fixed, the other two are determined.
    """
    ring = 2 * np.pi / 3 * np.arange(3)
    turned = ring + np.radians(150)
    top = np.column_stack([np.cos(turned), np.sin(turned), np.full(3, 1.3)])
    prism = np.concatenate([np.column_stack([np.cos(ring), np.sin(ring), np.zeros(3)]), top])
    horizontal = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]
    struts = [[0, 3], [1, 4], [2, 5]]
    bracing = [[1, 3], [2, 4], [0, 5]]
    density = [1 / np.sqrt(3)] * 6 + [-1.0] * 3 + [1.0] * 3
    start = np.array(prism)
    start[4:] += [[0.3, -0.2, 0.1], [-0.1, 0.4, 0.2]]
    net = {"edges": horizontal + struts + bracing, "density": density}
    form = taut.form_finding(start, fixed=[0, 1, 2, 3], **net)
    assert form.points == pytest.approx(prism, abs=1e-12)
    assert form.forces[6:9] == pytest.approx(-np.linalg.norm(prism[3] - prism[0]) * np.ones(3))
    assert np.abs(form.reactions).max() <= 1e-12  # self-stress: the supports carry nothing
    assert form.solver_error <= 1e-13
    with pytest.raises(taut.errors.ModelError, match="matrix is singular; fix more points"):
        taut.form_finding(start, fixed=[0, 1, 2], **net)


def test_load_off_a_net_with_struts_is_named():
    points = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [5, 5, 5]]
    net = {"fixed": [0, 2], "edges": [[0, 1], [1, 2]], "density": [2.0, -1.0]}
    with pytest.raises(taut.errors.ModelError, match="nothing holds particle 3 against its load"):
        taut.form_finding(points, **net, loads=(0, 0, 1.0))
    # 2 N/m·(0 - x) - 1 N/m·(2 - x) + p = 0: x = -2 m, z = 1 m
    loads = [[0, 0, 0], [0, 0, 1.0], [0, 0, 0], [0, 0, 0]]
    form = taut.form_finding(points, **net, loads=loads)
    assert form.points[1] == pytest.approx([-2, 0, 1], abs=1e-13)


def test_crossed_frame():
    """Cables around a quad and struts across it, of densities 1 and -1, make a parallelogram."""
    points = [[0, 0, 0], [3, 0, 1], [4, 2, 0], [0, 0, 9]]
    frame = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]
    form = taut.form_finding(
        points, fixed=[0, 1, 2], edges=frame, density=[1.0, 1.0, 1.0, 1.0, -1.0, -1.0]
    )
    assert form.points[3] == pytest.approx([1, 2, -1], abs=1e-13)
    assert form.outcome != "not converged"


def test_unstable_strut_in_a_membrane_is_reported():
    """A film of stress 1 N/m gives a point less stiffness than a strut of 20 N/m takes away."""
    sheet = taut.mesh.sheet(4, 4)
    points = [*sheet.points, [0.5, 0.5, 0.01]]
    with pytest.raises((taut.NotConverged, taut.errors.ModelError)):
        taut.form_finding(
            points,
            fixed=[*sheet.boundary, sheet.n],
            triangles=sheet.triangles,
            stress=1.0,
            edges=[[12, sheet.n]],
            density=-20.0,
        )


def cap(rings, radius):
    """A film of 0.05 N/m over a hole of radius 0.1 m, blown to a sphere of the given radius."""
    disc = taut.mesh.disc(rings, radius=0.1)
    film = {"fixed": disc.boundary, "triangles": disc.triangles, "stress": 0.05}
    return taut.form_finding(disc.points, **film, pressure=2 * 0.05 / radius)


@pytest.mark.parametrize("radius", [0.2, 0.13, 0.105])
def test_film_under_pressure_is_a_cap(radius):
    """p = 2σ/R for a film with one surface (Young, Laplace): all points on the sphere of radius R
    through the rim, with an error of h², which is estimated.
    """
    errors = []
    for rings in (6, 12):
        form = cap(rings, radius)
        centre = np.array([0, 0, -np.sqrt(radius**2 - 0.1**2)])
        errors.append(np.abs(np.linalg.norm(form.points - centre, axis=1) - radius).max())
        assert form.mesh_error == pytest.approx(errors[-1], rel=0.5)
        assert form.qualities.min() > 0.6
        # the supports carry the pressure on the hole, a regular polygon of 6·rings sides
        sides = 6 * rings
        hole = sides / 2 * 0.1**2 * np.sin(2 * np.pi / sides)
        assert form.reactions[:, 2].sum() == pytest.approx(-2 * 0.05 / radius * hole, rel=2e-3)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)


def test_pressure_beyond_the_hemisphere_has_no_equilibrium():
    with pytest.raises(taut.errors.ModelError, match="nothing holds particle"):
        cap(4, 0.09)


def test_reject_bad_pressure_and_goals():
    disc = taut.mesh.disc(2)
    film = {"fixed": disc.boundary, "triangles": disc.triangles, "stress": 1.0}
    cases = [
        ({"pressure": [1.0, 2.0]}, "pressure must be one number"),
        ({"goals": 3}, "goals must be a list of energies, got 3"),
        ({"goals": [laws.drag(alpha=1.0)]}, "goals must be a list of energies, got <damping"),
        ({"pressure": 1.0, "fixed": disc.boundary[1:]}, "of the rim is not fixed"),
    ]
    for more, match in cases:
        with pytest.raises(taut.TautError, match=match):
            taut.form_finding(disc.points, **{**film, **more})
    with pytest.raises(taut.errors.ModelError, match="pressure acts on triangles"):
        taut.form_finding(
            disc.points, fixed=disc.boundary, edges=disc.edges, density=1.0, pressure=1.0
        )
