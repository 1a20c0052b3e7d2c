"""Pressure inside closed surfaces and tension along them."""

import numpy as np
import pytest
from scipy.optimize import brentq

import taut
from taut import laws
from taut.constraints import on_line


def bumpy(kind):
    """A closed surface without symmetry, far from the origin."""
    mesh = (
        taut.mesh.sphere(3) if kind == "sphere" else taut.mesh.torus(14, 10, pattern="alternating")
    )
    x = mesh.points
    return x * (1 + 0.2 * np.sin(3 * x[:, :1] + x[:, 1:2])) + np.array(
        [3.0, -2.0, 1.0]
    ), mesh.triangles


def areas_around(points, triangles):
    """⅓ Σ of the vector areas [m²] of the triangles at each particle."""
    a, b, c = points[triangles].transpose(1, 0, 2)
    shares = np.zeros_like(points)
    for corner in triangles.T:
        np.add.at(shares, corner, np.cross(b - a, c - a) / 6)
    return shares


def enclosed_volume(points, triangles):
    a, b, c = (points - points[0])[triangles].transpose(1, 0, 2)
    return np.einsum("ni,ni->", a, np.cross(b, c)) / 6


@pytest.mark.parametrize("kind", ["sphere", "torus"])
def test_pressure_force_is_a_third_of_adjacent_areas_without_net_force(kind):
    """f_i = p × ⅓ Σ of the vector areas at i, for any origin.

    The sums of forces and of torques vanish.
    """
    x, triangles = bumpy(kind)
    system = taut.System(x, mass=1.0, energies=[laws.pressure(triangles, p=200.0)])
    state = system.initial_state()
    force = system.f(state)
    gross = np.abs(force).sum()
    np.testing.assert_allclose(
        force, 200.0 * areas_around(x, triangles), rtol=0, atol=1e-13 * gross
    )
    assert np.abs(force.sum(axis=0)).max() < 1e-13 * gross
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-13 * gross * np.abs(x).max()
    assert system.V(state) == pytest.approx(-200.0 * enclosed_volume(x, triangles), rel=1e-12)


def balloon(p, mesh):
    edges = laws.spring(mesh.edges, k=60.0)
    return taut.System(mesh.points, mass=0.05, energies=[edges, laws.pressure(mesh.triangles, p=p)])


def test_ledger_records_p_dv_as_work():
    """A pump reaches 30 Pa in half a second.

    ∫p dv along the run, here by the trapezoidal rule over its frames.
    """
    mesh = taut.mesh.sphere(2)

    def ramp(t):
        return 30.0 * np.sin(np.pi * min(t, 0.5))

    ledger = taut.Ledger()
    system = balloon(ramp, mesh)
    frames = [(0.0, enclosed_volume(system.pose, mesh.triangles))]
    for state, _ in taut.simulate(system, taut.ImplicitMidpoint(), 1 / 400, 1.0, ledger=ledger):
        frames.append((state.t, enclosed_volume(state.q, mesh.triangles)))
    t, v = np.array(frames).T
    p = np.array([ramp(now) for now in t])
    total = ledger.total()
    assert v[-1] > 1.2 * v[0]
    # both rules have an error of h²: here they differ by 7e-6
    assert total.work["pressure"] == pytest.approx(
        np.sum((p[1:] + p[:-1]) / 2 * np.diff(v)), rel=2e-5
    )
    assert set(total.stored) == {"spring"}
    assert abs(total.gap) < 1e-13 * total.scale


def test_work_of_constant_pressure_is_p_times_volume_gain():
    """v is a cubic form, so a midpoint step by d gains v(m + d/2) - v(m - d/2) = d·∇v(m) + v(d)/4.

    The remainder is the error of the integrator.
    """
    mesh = taut.mesh.sphere(2)
    ledger = taut.Ledger()
    places = [mesh.points]
    for state, _ in taut.simulate(
        balloon(20.0, mesh), taut.ImplicitMidpoint(), 1 / 400, 0.3, ledger=ledger
    ):
        places.append(state.q)
    gain = enclosed_volume(places[-1], mesh.triangles) - enclosed_volume(places[0], mesh.triangles)
    cubes = sum(enclosed_volume(d, mesh.triangles) for d in np.diff(places, axis=0))
    assert abs(cubes / gain) > 1e-7
    assert ledger.total().work["pressure"] == pytest.approx(20.0 * (gain - cubes / 4), rel=1e-12)


GOLDEN = (1 + np.sqrt(5)) / 2
SOLIDS = {  # corners, and the number of edges at each
    "tetrahedron": ([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], 3),
    "octahedron": (
        [(s * (a == 0), s * (a == 1), s * (a == 2)) for a in range(3) for s in (1, -1)],
        4,
    ),
    "icosahedron": (
        [np.roll((0, a, b * GOLDEN), r) for r in range(3) for a in (1, -1) for b in (1, -1)],
        5,
    ),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_regular_balloons_are_in_equilibrium(name):
    """Edges of a regular solid under pressure stay regular, and the force on a corner balances
    along its radius R.

    Springs: z k(a - a₀) a/2R inwards, z edges a corner, since an edge a leans by a/2R. Pressure: p
    (dv/dR)/N with v = cR³.
    """
    corners, z = SOLIDS[name]
    x = np.array(corners, dtype=float)
    x /= np.linalg.norm(x[0])
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    a0 = apart[apart > 1e-9].min()
    near = np.isclose(apart, a0)
    faces = [
        (i, j, k)
        for i in range(len(x))
        for j in range(i)
        for k in range(j)
        if near[i, j] and near[j, k] and near[i, k]
    ]
    faces = np.array([f if np.linalg.det(x[list(f)]) > 0 else f[::-1] for f in faces])
    c = enclosed_volume(x, faces)
    k, p = 50.0, 20.0
    radius = brentq(
        lambda R: 3 * p * c * R**2 / len(x) - z * k * a0 * (R - 1) * a0 / 2, 1.0, 1.6, xtol=1e-15
    )
    edges = np.argwhere(np.triu(near))
    system = taut.System(x, mass=1.0, energies=[laws.spring(edges, k=k), laws.pressure(faces, p=p)])
    rest = taut.equilibrium(system)
    assert radius > 1.03
    centre = rest.state.q.mean(axis=0)
    np.testing.assert_allclose(np.linalg.norm(rest.state.q - centre, axis=1), radius, rtol=1e-9)
    assert rest.members.force == pytest.approx(k * a0 * (radius - 1), rel=1e-8)
    assert rest.stability.zero == 6


def test_soap_bubble_obeys_laplace_law():
    """Laplace's law p = 2σ/R, to second order in the triangle size.

    For uniform scaling of the triangulated sphere, p 3v = σ 2A (forces times positions).
    """
    sigma, radius = 0.03, 0.2
    errors = []
    for n in (4, 8, 16):
        mesh = taut.mesh.sphere(n, radius)
        film = taut.System(
            mesh.points, mass=1.0, energies=[laws.surface_tension(mesh.triangles, stress=sigma)]
        )
        air = film.with_(energies=[laws.pressure(mesh.triangles, p=1.0)])
        inwards, outwards = (np.sum(s.f(s.initial_state()) * mesh.points) for s in (film, air))
        errors.append(-inwards / outwards / (2 * sigma / radius) - 1)
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 1e-3
    np.testing.assert_allclose(orders, 2.0, atol=0.05)


def dome(rings, p, sigma, rim):
    """A film over a round hole.

    A disc whose particles move vertically, with a fixed floor below it to close the surface.
    """
    disc = taut.mesh.disc(rings, rim, plane="xz")
    inside = np.setdiff1d(np.arange(disc.n), disc.boundary)
    floor = np.arange(disc.n)
    floor[inside] = disc.n + np.arange(len(inside))
    points = np.concatenate([disc.points, disc.points[inside]])
    up, down = disc.triangles, floor[disc.triangles][:, ::-1]
    a, b, c = points[up].transpose(1, 0, 2)
    if np.cross(b - a, c - a)[:, 1].sum() < 0:
        up, down = up[:, ::-1], down[:, ::-1]
    return taut.System(
        points,
        mass=1.0,
        fixed=np.concatenate([disc.boundary, floor[inside]]),
        energies=[
            laws.surface_tension(up, stress=sigma),
            laws.pressure(np.concatenate([up, down]), p=p),
        ],
        constraints=[on_line(inside, (0, 1, 0))],
    ), np.argmin(np.linalg.norm(disc.points, axis=1))


def test_film_over_a_hole_is_a_spherical_cap():
    """Under pressure p the film has radius R = 2σ/p and height R - √(R² - a²) over a hole of radius
    a.

    The error is of second order in the triangle size.
    """
    sigma, rim, radius = 0.05, 0.1, 0.13
    height = radius - np.sqrt(radius**2 - rim**2)
    errors = []
    for rings in (4, 8, 16):
        system, top = dome(rings, 2 * sigma / radius, sigma, rim)
        errors.append(abs(taut.equilibrium(system).state.q[top, 1] / height - 1))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 6e-4
    np.testing.assert_allclose(orders, 2.0, atol=0.15)


TET = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


@pytest.mark.parametrize(
    ("triangles", "message"),
    [
        (TET[1:], r"not closed: 3 edges belong to one triangle only, such as \[0, 1\]"),
        (
            np.concatenate([TET[1:], TET[:1, ::-1]]),
            r"not closed: 3 edges have the same direction .* such as \[0, 1\]",
        ),
        ([[0, 1, 2, 3]], "elements must be triangles"),
    ],
)
def test_reject_open_surfaces(triangles, message):
    with pytest.raises(taut.errors.LawError, match=message):
        laws.pressure(triangles, p=1.0)


def test_reject_non_finite_pressure():
    with pytest.raises(
        taut.errors.LawError, match="'pressure': parameter 'p' must be a finite number, got nan"
    ):
        taut.System(np.eye(4)[:, :3], mass=1.0, energies=[laws.pressure(TET[:, ::-1], p=np.nan)])
