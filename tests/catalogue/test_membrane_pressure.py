"""Pressure on open membranes held at their rim, and the goals of form finding as laws."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import fixed, on_line, scripted


def bulged():
    """An open surface away from the origin, its rim in place and its inside displaced."""
    disc = taut.mesh.disc(4)
    rest = disc.points + np.array([2.0, -1.0, 3.0])
    pose = np.array(rest)
    inside = np.setdiff1d(np.arange(disc.n), disc.boundary)
    pose[inside] += 0.3 * np.random.default_rng(4).normal(size=(len(inside), 3))
    return disc, rest, pose


def test_every_corner_carries_a_third_of_its_triangles_the_rim_included():
    """f_i = p × ⅓ Σ of the vector areas at i. The forces add up to p times the area of the hole; V
    is -p times the volume between rest and pose.
    """
    disc, rest, pose = bulged()
    film = taut.System(
        rest,
        mass=1.0,
        energies=[laws.membrane_pressure(disc.triangles, p=200.0)],
        fixed=disc.boundary,
        pose=pose,
    )
    state = film.initial_state()
    a, b, c = pose[disc.triangles].transpose(1, 0, 2)
    shares = np.zeros_like(pose)
    for corner in disc.triangles.T:
        np.add.at(shares, corner, np.cross(b - a, c - a) / 6)
    np.testing.assert_allclose(film.f(state), 200.0 * shares, atol=1e-11)
    hole = 12 * np.sin(2 * np.pi / 24)
    np.testing.assert_allclose(film.f(state).sum(axis=0), [0, 0, 200.0 * hole], atol=1e-10)
    lid = np.concatenate([disc.triangles, disc.triangles[:, ::-1] + disc.n])
    a, b, c = np.concatenate([pose, rest])[lid].transpose(1, 0, 2)
    cones = np.einsum("ij,ij->", a, np.cross(b, c))
    assert film.V(state) == pytest.approx(-200.0 * cones / 6, rel=1e-11)


def test_agrees_with_the_pressure_in_a_closed_surface():
    ball = taut.mesh.sphere(2)
    q = 1.3 * ball.points + 0.1 * np.random.default_rng(1).normal(size=ball.points.shape)
    bodies = [
        taut.System(ball.points, mass=1.0, energies=[law(ball.triangles, p=7.0)])
        for law in (laws.pressure, laws.membrane_pressure)
    ]
    closed, swept = ((body, body.initial_state().with_(q=q)) for body in bodies)
    np.testing.assert_allclose(swept[0].f(swept[1]), closed[0].f(closed[1]), atol=1e-12)
    difference = (swept[0].K(swept[1]) - closed[0].K(closed[1])).toarray()
    assert np.abs(difference).max() <= 1e-12


def test_reject_rims_that_are_not_held():
    disc, rest, _ = bulged()
    law = laws.membrane_pressure(disc.triangles, p=1.0)
    rim = disc.boundary
    cases = [
        ({}, "of the rim is not fixed"),
        ({"fixed": rim[1:]}, f"particle {rim[0]} of the rim is not fixed"),
        ({"constraints": [fixed(rim, until=1.0)]}, "of the rim is not fixed"),
        ({"constraints": [on_line(rim, (0, 0, 1))]}, "of the rim is not fixed"),
        ({"constraints": [scripted(rim, lambda t: rest[rim])]}, "of the rim is not fixed"),
        ({"fixed": rim, "pose": 1.1 * rest}, "of the rim starts elsewhere than at its reference"),
    ]
    for more, match in cases:
        with pytest.raises(taut.errors.ModelError, match=match):
            taut.System(rest, mass=1.0, energies=[law], **more)
    taut.System(rest, mass=1.0, energies=[law], constraints=[fixed(rim)])
    moved = laws.membrane_pressure(
        disc.triangles, p=1.0, reference=(1.1 * rest)[disc.triangles].reshape(-1, 9)
    )
    taut.System(rest, mass=1.0, energies=[moved], fixed=rim, pose=1.1 * rest)
    with pytest.raises(taut.errors.LawError, match="use membrane_pressure"):
        laws.pressure(disc.triangles, p=1.0)
    twisted = np.array(disc.triangles)
    twisted[0] = twisted[0, ::-1]
    with pytest.raises(taut.errors.LawError, match="same direction in both triangles"):
        laws.membrane_pressure(twisted, p=1.0)


def test_the_work_of_a_pump_on_a_drum():
    """∫p dv along a run: the ledger books what the pump does, by the volume under the skin."""
    disc = taut.mesh.disc(4)
    ends = disc.points[disc.edges]
    short = 0.8 * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    skin = laws.spring(disc.edges, k=50.0, l0=short)
    drum = taut.System(
        disc.points,
        mass=0.01,
        energies=[skin, laws.membrane_pressure(disc.triangles, p=3.0)],
        fixed=disc.boundary,
    )
    ledger = taut.Ledger()
    *_, (state, _) = taut.simulate(drum, taut.ImplicitMidpoint(), 1 / 200, 0.2, ledger=ledger)
    a, b, c = state.q[disc.triangles].transpose(1, 0, 2)
    area = np.cross(b - a, c - a)[:, 2] / 2
    swept = float(area @ (a + b + c)[:, 2]) / 3
    assert swept > 0.01
    assert ledger.total().work["membrane_pressure"] == pytest.approx(3.0 * swept, rel=1e-3)


def test_planarity_of_a_folded_square():
    """A corner raised by z: d = z/√(2z² + 4), the distance of the diagonals."""
    z, k = 0.7, 3.0
    face = taut.System(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, z]],
        mass=1.0,
        energies=[laws.planarity([[0, 1, 2, 3]], k=k)],
    )
    state = face.initial_state()
    assert face.V(state) == pytest.approx(k / 2 * z**2 / (2 * z**2 + 4), rel=1e-13)
    slope = k * z * 4 / (2 * z**2 + 4) ** 2
    assert face.f(state)[3, 2] == pytest.approx(-slope, rel=1e-12)
    assert np.abs(face.f(state).sum(axis=0)).max() <= 1e-14
    pentagon = np.array([[1.0, 0, 0], [0.3, 1, 0], [-0.8, 0.6, 0], [-0.8, -0.6, 0], [0.3, -1, 0]])
    tilted = pentagon @ np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0] + 2.0
    flat = taut.System(tilted, mass=1.0, energies=[laws.planarity([[0, 1, 2, 3, 4]], k=k)])
    assert abs(flat.V(flat.initial_state())) <= 1e-28
    assert np.abs(flat.f(flat.initial_state())).max() <= 1e-14
