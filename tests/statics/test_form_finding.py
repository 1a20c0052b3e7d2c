"""Form finding against an independent linear solve, minimal surfaces, and the balance of forces."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse import csc_array
from scipy.sparse.linalg import spsolve

import taut
from taut import laws
from taut.statics._membrane import vertex_normals


def hypar(n=8):
    """A square net whose rim lies on z = x y, with arbitrary inner points."""
    net = taut.mesh.net(n, n, size=2.0)
    points = np.array(net.points)
    rim = net.select("x == min or x == max or y == min or y == max")
    points[rim, 2] = (points[rim, 0] - 1) * (points[rim, 1] - 1)
    return net, points, rim


def test_force_densities_match_a_linear_solve():
    """Schek: (CᵀQC) x = p for each coordinate, solved here by scipy."""
    rng = np.random.default_rng(2)
    net, points, rim = hypar()
    density, loads = rng.uniform(1, 9, len(net.edges)), rng.normal(size=points.shape)
    form = taut.form_finding(
        points,
        fixed=rim,
        edges=net.edges,
        density=density,
        loads=loads,
        tolerance=taut.Tolerance(1e-13),
    )
    m, n = len(net.edges), len(points)
    rows = np.repeat(np.arange(m), 2)
    c = csc_array((np.tile([1.0, -1.0], m), (rows, net.edges.ravel())), shape=(m, n))
    stiffness = (c.T @ csc_array(np.diag(density)) @ c).tocsc()
    free = np.setdiff1d(np.arange(n), rim)
    expected = points.copy()
    expected[free] = spsolve(
        stiffness[free][:, free], loads[free] - stiffness[free][:, rim] @ points[rim]
    )
    np.testing.assert_allclose(form.points, expected, atol=1e-8)
    np.testing.assert_allclose(form.forces, density * form.lengths, rtol=1e-14)
    np.testing.assert_allclose(form.reactions[rim], (stiffness @ expected - loads)[rim], atol=1e-7)
    assert np.abs(form.reactions[free]).max() == 0.0
    assert np.abs((form.reactions + loads).sum(axis=0)).max() <= 1e-6


def test_a_found_form_rebuilt_of_prestressed_cables_is_in_equilibrium():
    """Cables with rest lengths from the found forces are in stable equilibrium at the
    found form.
    """
    net, points, rim = hypar()
    form = taut.form_finding(
        points, fixed=rim, edges=net.edges, density=3.0, tolerance=taut.Tolerance(1e-13)
    )
    k = 500.0
    rest = taut.rest_length(form.points, net.edges, k, form.forces)
    cables = taut.System(
        form.points, mass=1.0, fixed=rim, energies=[laws.cable(net.edges, k=k, l0=rest)]
    )
    found = taut.equilibrium(cables, tolerance=taut.Tolerance(1e-13))
    assert np.abs(found.state.q - form.points).max() <= 1e-8
    assert found.members.force == pytest.approx(form.forces, abs=1e-8)
    assert found.stability.stable
    np.testing.assert_allclose(found.reactions, form.reactions, atol=1e-8)


def neck(height):
    """Radius of the catenoid a cosh(z/a) between rings of radius 1, the outer of the two."""
    return brentq(lambda a: a * np.cosh(height / 2 / a) - 1, 0.56, 1.0, xtol=1e-15)


@pytest.mark.parametrize("pattern", ["one-diagonal", "alternating"])
def test_a_catenoid_to_second_order(pattern):
    """The neck between two rings, radius 1 and distance 1, tends to 0.848338 as h²; and so does the
    area.
    """
    a = neck(1.0)
    area = np.pi * a**2 * (np.sinh(1 / a) + 1 / a)
    errors, areas, slips = [], [], []
    for n in (6, 12, 24):
        mesh = taut.mesh.cylinder(3 * n, n, radius=1.0, height=1.0, pattern=pattern)
        form = taut.form_finding(
            mesh.points, fixed=mesh.boundary, triangles=mesh.triangles, stress=2.0
        )
        assert form.residual <= max(form.tolerance, form.floor)
        errors.append(np.hypot(form.points[:, 0], form.points[:, 2]).min() - a)
        areas.append(form.areas.sum() - area)
        slips.append(form.slip)
    errors, areas = np.abs(errors), np.abs(areas)
    assert errors[-1] <= 4e-4
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx([2, 2], abs=0.1)
    assert np.log2(areas[:-1] / areas[1:]) == pytest.approx([2, 2], abs=0.1)
    assert slips[0] > 8 * slips[1] > 64 * slips[2]


def test_the_reactions_of_a_catenoid():
    """Each ring is pulled along the axis by 2π s a; the rings balance each other."""
    a, stress = neck(1.0), 2.0
    mesh = taut.mesh.cylinder(72, 24, radius=1.0, height=1.0, pattern="alternating")
    form = taut.form_finding(
        mesh.points, fixed=mesh.boundary, triangles=mesh.triangles, stress=stress
    )
    top = mesh.select("y == max")
    assert form.reactions[top, 1].sum() == pytest.approx(2 * np.pi * stress * a, rel=2e-3)
    assert np.abs(form.reactions.sum(axis=0)).max() <= 1e-3


def test_film_on_a_wavy_rim_balances_along_its_normals():
    """Normals change during the iteration: at the end no force remains along the final normals."""
    sheet = taut.mesh.sheet(8, 8, pattern="alternating")
    points = np.array(sheet.points)
    points[sheet.boundary, 2] = 0.3 * np.sin(2 * np.pi * points[sheet.boundary, 0])
    form = taut.form_finding(points, fixed=sheet.boundary, triangles=sheet.triangles, stress=3.0)
    film = taut.System(
        form.points, mass=1.0, energies=[laws.surface_tension(sheet.triangles, stress=3.0)]
    )
    inner = np.setdiff1d(np.arange(film.n), sheet.boundary)
    force = film.f(film.initial_state())[inner]
    across = np.einsum("ij,ij->i", force, vertex_normals(form.points, sheet.triangles)[inner])
    assert np.abs(across).max() <= 1e-9
    assert np.linalg.norm(force, axis=1).max() == pytest.approx(form.slip, rel=1e-6)


def test_film_between_distant_rings_does_not_converge():
    """Beyond the distance 1.32549 there is no catenoid: the film collapses, and this is
    reported.
    """
    mesh = taut.mesh.cylinder(24, 8, radius=1.0, height=1.4, pattern="alternating")
    with pytest.raises(taut.errors.ModelError, match="collapses"):
        taut.form_finding(mesh.points, fixed=mesh.boundary, triangles=mesh.triangles, stress=2.0)


def test_a_tent_with_edge_cables_and_unequal_rim():
    """A film between four high and low corners, with cables along its rim: all points on cables
    balance in every direction.
    """
    sheet = taut.mesh.sheet(10, 10, pattern="alternating")
    points = np.array(sheet.points)
    corners = sheet.corners()
    points[corners[[1, 2]], 2] = 0.6
    form = taut.form_finding(
        points,
        fixed=corners,
        triangles=sheet.triangles,
        stress=1.0,
        edges=sheet.boundary_edges,
        density=30.0,
    )
    rim = np.setdiff1d(sheet.boundary, corners)
    rebuilt = taut.System(
        form.points,
        mass=1.0,
        energies=[
            laws.zero_length_spring(sheet.boundary_edges, k=30.0),
            laws.surface_tension(sheet.triangles, stress=1.0),
        ],
    )
    force = rebuilt.f(rebuilt.initial_state())
    assert np.abs(force[rim]).max() <= 1e-7 * form.forces.max()
    np.testing.assert_allclose(force[corners], -form.reactions[corners], atol=1e-12)
    assert np.abs(form.reactions.sum(axis=0)).max() <= 1e-3
    assert (form.forces > 0).all()
    assert "tensions" in str(form)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        (
            {"density": [1.0, 0.0, 1.0]},
            "density of edge 1 must be positive, or negative for a strut, got 0 N/m",
        ),
        ({"density": 0.0}, "the density must be positive, or negative for a strut, got 0 N/m"),
        ({"density": np.nan}, "must be positive"),
        ({"density": "tight"}, "density must be numbers"),
        ({"density": None}, "edges and density must be given together"),
        (
            {"density": 1.0, "triangles": [[0, 1, 2]], "stress": -1.0},
            "the stress must be positive, a tension, got -1 N/m",
        ),
        ({"density": 1.0, "fixed": [0]}, "edge 0 .* collapses"),
    ],
)
def test_reject_densities_that_are_none(more, match):
    points = [[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 0, 0]]
    with pytest.raises(taut.errors.ModelError, match=match):
        taut.form_finding(points, **{"fixed": [0, 3], "edges": [[0, 1], [1, 2], [2, 3]], **more})
    with pytest.raises(taut.errors.ModelError, match="give edges and density"):
        taut.form_finding(points, fixed=[0, 3])


def test_unsupported_loaded_point_is_named():
    points = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [9, 9, 9]]
    with pytest.raises(taut.errors.ModelError, match="nothing holds particle 3"):
        taut.form_finding(
            points, fixed=[0, 2], edges=[[0, 1], [1, 2]], density=1.0, loads=(0, -1.0, 0)
        )


def test_reject_tangential_load_on_a_membrane():
    """A uniform stress carries no load along itself; a net carries it in any direction."""
    sheet = taut.mesh.sheet(6, 6)
    film = {"fixed": sheet.boundary, "triangles": sheet.triangles, "stress": 1.0}
    with pytest.raises(
        taut.errors.ModelError, match=r"load of particle 8 has 0.1 N along the membrane, of 0.1 N"
    ):
        taut.form_finding(sheet.points, **film, loads=(0.1, 0, 0))
    assert taut.form_finding(sheet.points, **film, loads=(0, 0, 0.001)).slip <= 0.1 * 0.001
    moved = taut.form_finding(
        sheet.points, fixed=sheet.boundary, edges=sheet.edges, density=1.0, loads=(0.1, 0, 0)
    )
    assert moved.slip == 0.0


def test_inconsistently_oriented_triangle_is_named():
    sheet = taut.mesh.sheet(6, 6)
    triangles = np.array(sheet.triangles)
    triangles[30] = triangles[30, ::-1]
    with pytest.raises(
        taut.errors.ModelError,
        match=r"triangles \d+ \(.*\) and 30 \(.*\) run along their common edge the same way",
    ):
        taut.form_finding(sheet.points, fixed=sheet.boundary, triangles=triangles, stress=1.0)


@pytest.mark.parametrize("edges", [[], [[0, 1], [1]], [[0, 1, 2]], [[0.5, 1.0]]])
def test_reject_bad_edges(edges):
    with pytest.raises(
        taut.errors.ModelError, match="form_finding: edges must be rows of 2 particle indices"
    ):
        taut.form_finding([[0, 0, 0], [1, 0, 0], [2, 0, 0]], fixed=[0], edges=edges, density=1.0)


def test_reject_bad_tolerance():
    with pytest.raises(taut.errors.ModelError, match="tolerance must be a taut"):
        taut.form_finding(
            [[0, 0, 0], [1, 0, 0]], fixed=[0, 1], edges=[[0, 1]], density=1.0, tolerance=1e-8
        )
