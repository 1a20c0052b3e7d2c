"""Bodies joined by stitches, attachments and pins."""

import numpy as np
import pytest

import taut
from taut import laws

G = 9.81
TET = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.2, 1.1, 0], [0.3, 0.2, 0.9]])
EDGES = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


def body(pose=TET, k=200.0, **more):
    return taut.System(
        TET, mass=[1.0, 2.0, 0.5, 1.5], energies=[laws.spring(EDGES, k=k)], pose=pose, **more
    )


def rotation_matrix(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


# stitches


def two_bodies(k):
    """Two tetrahedra in flight; corners 1, 2, 3 of one are stitched to the same corners of the
    other.
    """
    far = TET @ rotation_matrix(0.4).T * [1, 1, -1] + np.array([0.3, 0.2, 2.5])
    mirror = TET * [1, 1, -1]
    second = taut.System(
        mirror,
        mass=0.8,
        energies=[laws.spring(EDGES, k=150.0)],
        pose=far,
        velocity=np.full((4, 3), -0.2),
    )
    both = taut.join(body(velocity=[[0.1, 0.5, 0]] * 4), second)
    stitches = laws.zero_length_spring([[i, i + 4] for i in (1, 2, 3)], k=k, name="stitches")
    return both.with_(energies=[*both.energies, stitches])


def test_stitched_bodies_conserve_momenta():
    """Linear momentum is conserved by every integrator.

    Angular momentum is conserved by the midpoint rule, whose forces have no torque halfway.
    """
    system = two_bodies(k=80.0)
    start = system.initial_state()
    *_, (state, _) = taut.simulate(
        system, taut.ImplicitMidpoint(tolerance=taut.Tolerance(1e-11)), 0.02, 1.0
    )
    gross = np.sum(system.mass * np.linalg.norm(state.v, axis=1))
    np.testing.assert_allclose(
        system.momentum(state), system.momentum(start), rtol=0, atol=1e-12 * gross
    )
    np.testing.assert_allclose(
        system.angular_momentum(state), system.angular_momentum(start), rtol=0, atol=1e-11 * gross
    )
    gaps = [np.linalg.norm(s.q[1:4] - s.q[5:8], axis=1).max() for s in (start, state)]
    assert abs(gaps[1] - gaps[0]) > 0.1  # the bodies have met and pulled on each other


def test_stitches_pull_two_bodies_together():
    """Nothing else acts, and both faces have the same rest shape.

    They meet exactly, and no spring is strained.
    """
    system = two_bodies(k=80.0)
    rest = taut.equilibrium(system)
    assert np.abs(rest.state.q[1:4] - rest.state.q[5:8]).max() < 1e-8
    assert np.abs(rest.members.force).max() < 1e-6
    assert rest.stability.zero == 6


def test_a_stitch_carries_the_weight_below_it():
    """A tetrahedron hung by one stitch from a fixed one.

    The stitch opens by mg/k, and the hook carries everything.
    """
    k = 400.0
    upper = body(fixed=range(4))
    lower = body(pose=TET - np.array([0.0, 3.0, 0.0]))
    both = taut.join(upper, lower)
    stitch = laws.zero_length_spring([[0, 6]], k=k)
    hung = both.with_(energies=[*both.energies, stitch, laws.gravity(range(4, 8))])
    rest = taut.equilibrium(hung)
    np.testing.assert_allclose(rest.state.q[0] - rest.state.q[6], [0, 5.0 * G / k, 0], atol=1e-7)
    np.testing.assert_allclose(rest.reactions.sum(axis=0), [0, 5.0 * G, 0], atol=1e-6)


# attachments

CORNERS = {  # the simplex, and the barycentric weights of the attached point
    "edge": (TET[:2], [0.3, 0.7]),
    "triangle": (TET[:3], [0.2, 0.5, 0.3]),
    "tetrahedron": (TET, [0.1, 0.2, 0.3, 0.4]),
}


@pytest.mark.parametrize("where", CORNERS)
@pytest.mark.parametrize("how", ["measured", "given"])
def test_a_weight_at_a_point_of_a_simplex(where, how):
    """It hangs mg/k below the point, and each corner carries mg times its barycentric weight."""
    corners, weights = CORNERS[where]
    point, k, m = np.array(weights) @ corners, 90.0, 0.4
    n = len(corners)
    given = {"weights": [weights]} if how == "given" else {}
    start = point if how == "measured" else point + np.array([0.5, 0.7, -0.2])
    system = taut.System(
        [start, *corners],
        mass=m,
        fixed=range(1, n + 1),
        energies=[laws.attachment([range(n + 1)], k=k, **given), laws.gravity([0])],
    )
    rest = taut.equilibrium(system)
    np.testing.assert_allclose(rest.state.q[0], point - np.array([0, m * G / k, 0]), atol=1e-9)
    np.testing.assert_allclose(rest.reactions[1:], np.outer(weights, [0, m * G, 0]), atol=1e-8)


def test_point_off_a_triangle_is_attached_to_its_projection():
    """At height 0.4 above the triangle.

    The spring has that length, and the weights are those of the projected point.
    """
    corners, weights = CORNERS["triangle"]
    points = [np.array(weights) @ corners + np.array([0, 0, 0.4]), *corners]
    system = taut.System(points, mass=1.0, energies=[laws.attachment([range(4)], k=90.0)])
    np.testing.assert_allclose(
        system._placed_energies["attachment"].parameters.constant["weights"], [weights], atol=1e-14
    )
    np.testing.assert_allclose(
        system.f(system.initial_state()), np.outer([-1, *weights], [0, 0, 90.0 * 0.4]), atol=1e-13
    )


def test_attachment_weights_are_normalised():
    """Doubled weights give the same point; shares ¼, ¼, ½ may be given as 1, 1, 2."""
    corners, _ = CORNERS["triangle"]
    pose = np.array([[0.7, 0.1, 0.3], *corners])
    point = np.array([0.25, 0.25, 0.5]) @ corners
    for weights in ([0.25, 0.25, 0.5], [1, 1, 2], [10.0, 10.0, 20.0]):
        attached = laws.attachment([range(4)], k=70.0, weights=[weights])
        system = taut.System(pose, mass=1.0, energies=[attached])
        expected = 70.0 * np.outer([1, -0.25, -0.25, -0.5], point - pose[0])
        np.testing.assert_allclose(system.f(system.initial_state()), expected, atol=1e-13)


def test_an_attachment_has_neither_net_force_nor_torque():
    """For any corner positions: the reaction acts at the attached point, and the pull acts along
    the gap.
    """
    rng = np.random.default_rng(5)
    for corners, weights in CORNERS.values():
        n = len(corners)
        pose = rng.normal(size=(n + 1, 3)) + 3.0
        attached = laws.attachment([range(n + 1)], k=70.0, weights=[weights])
        system = taut.System([TET.mean(axis=0), *corners], mass=1.0, energies=[attached], pose=pose)
        force = system.f(system.initial_state())
        gross = np.abs(force).sum()
        assert np.abs(force.sum(axis=0)).max() < 1e-14 * gross
        assert np.abs(np.cross(pose, force).sum(axis=0)).max() < 1e-14 * gross * np.abs(pose).max()
        np.testing.assert_allclose(
            force[0], 70.0 * (np.array(weights) @ pose[1:] - pose[0]), rtol=1e-13
        )


@pytest.mark.parametrize(
    "cage",
    [taut.mesh.block(2, 2, 2, cells="tet"), taut.mesh.sheet(3, 3, pattern="alternating")],
    ids=["tets", "triangles"],
)
def test_many_points_by_an_embedding(cage):
    """`taut.mesh.embed` finds cells and weights of points of another body.

    At the embedded positions the attachments exert no force.
    """
    rng = np.random.default_rng(6)
    points = rng.uniform(0.1, 0.9, (20, 3)) * [1, 1, 1 if cage.blocks(3) else 0]
    rider = taut.mesh.embed(points, cage)
    both = taut.join(*(taut.System(x, mass=1.0) for x in (cage.points, points)))
    elements = np.column_stack([cage.n + np.arange(20), rider.indices])
    ride = laws.attachment(elements, k=50.0, weights=rider.weights)
    system = both.with_(energies=[ride])
    assert system.V(system.initial_state()) < 1e-25
    np.testing.assert_allclose(
        both.with_(energies=[laws.attachment(elements, k=50.0)])
        ._placed_energies["attachment"]
        .parameters.constant["weights"],
        rider.weights,
        atol=1e-13,
    )
    moved = cage.points + 0.1 * np.sin(3 * cage.points[:, ::-1])
    state = system.initial_state().with_(q=np.concatenate([moved, points]))
    gap = points - np.einsum("mk,mki->mi", rider.weights, moved[rider.indices])
    assert system.V(state) == pytest.approx(25.0 * np.sum(gap**2), rel=1e-12)


def test_attachments_carry_the_lower_body():
    """A block held at its top carries a second block with a different mesh by attachments.

    The attachments carry the lower block, the supports carry both, and the total moment vanishes.
    """
    upper, lower = (
        taut.mesh.block(2, 2, 2, cells="tet"),
        taut.mesh.block(3, 1, 3, (0.9, 0.5, 0.9), cells="tet"),
    )
    x = lower.points + np.array([0.05, -0.5, 0.05])
    soft = [laws.spring(upper.edges, k=2000.0), laws.gravity()]
    one = taut.System(upper.points, mass=0.1, fixed=upper.select("y == max"), energies=soft)
    two = taut.System(x, mass=0.05, energies=[laws.spring(lower.edges, k=2000.0), laws.gravity()])
    face = lower.select("y == max")
    seat = taut.mesh.embed(x[face], upper)
    both = taut.join(one, two)
    hooks = laws.attachment(
        np.column_stack([upper.n + face, seat.indices]), k=5000.0, weights=seat.weights
    )
    system = both.with_(energies=[*both.energies, hooks])
    rest = taut.equilibrium(system)
    q, pull = rest.state.q, system.with_(energies=[hooks]).f(rest.state)
    weight = np.zeros((system.n, 3))
    weight[:, 1] = -G * system.mass
    np.testing.assert_allclose(
        pull[upper.n :].sum(axis=0), -weight[upper.n :].sum(axis=0), atol=1e-5
    )
    np.testing.assert_allclose(rest.reactions.sum(axis=0), -weight.sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(np.cross(q, rest.reactions + weight).sum(axis=0), 0.0, atol=1e-5)


# pins


def test_a_soft_pin_follows_its_target():
    """At rest the particle hangs mg/k below the target of the function of time."""
    k, m = 300.0, 2.0
    system = taut.System(
        [[0, 0, 0]],
        mass=m,
        energies=[laws.pin([0], k=k, target=lambda t: (t, 2 * t, 0)), laws.gravity()],
    )
    rest = taut.equilibrium(system, system.initial_state().with_(t=0.5))
    np.testing.assert_allclose(rest.state.q[0], [0.5, 1.0 - m * G / k, 0], atol=1e-12)


def test_work_of_a_moving_pin_equals_energy_gain():
    """A target that moves off with u.

    x lags as u/ω sin ωt, and the hand does ∫ku(ut - x) dt = mu²(1 - cos ωt).
    """
    k, m, u, end = 300.0, 2.0, 0.7, 0.4
    ledger = taut.Ledger()
    system = taut.System(
        [[0, 0, 0]], mass=m, energies=[laws.pin([0], k=k, target=lambda t: (u * t, 0, 0))]
    )
    *_, (state, _) = taut.simulate(system, taut.TRBDF2(), 1 / 1000, end, ledger=ledger)
    omega = np.sqrt(k / m)
    total = ledger.total()
    # second order in ωh = 0.012: the position is off by 1e-6, the work by 3e-5
    assert state.q[0, 0] == pytest.approx(u * end - u / omega * np.sin(omega * end), rel=2e-6)
    assert total.work["pin"] == pytest.approx(m * u**2 * (1 - np.cos(omega * end)), rel=5e-5)
    assert abs(total.gap) < 1e-13 * total.scale


# rejected input


@pytest.mark.parametrize(
    ("energy", "message"),
    [
        (
            laws.zero_length_spring([[0, 1], [1, 2]], k=[1.0, -3.0]),
            r"'k' of element 1 \(particles \[1, 2\]\) must be at least 0, got -3",
        ),
        (laws.pin([3], k=-1.0), "'pin': parameter 'k' must be at least 0, got -1"),
        (
            laws.attachment([[3, 0, 1, 2]], k=-1.0),
            "'attachment': parameter 'k' must be at least 0, got -1",
        ),
        (laws.attachment([[3, 0, 1, 2]], k=1.0, weights=[[0.5, 0.5]]), "attachment"),
        (laws.attachment([[3, 0, 1, 4]], k=1.0), r"'attachment': .*element 0"),
        (laws.attachment([[3, 0, 5]], k=1.0), r"'attachment': .*element 0"),
        (laws.attachment([[3, 0, 1, 2, 4]], k=1.0), r"'attachment': .*element 0"),
        (laws.pin([3], k=1.0, target=(0, np.nan, 0)), "'pin': parameter 'target' .* nan"),
    ],
)
def test_reject_bad_joints(energy, message):
    """Particle 4 lies on the line through 0 and 1, and 5 coincides with 0.

    A degenerate edge, triangle and tetrahedron.
    """
    points = [*TET, [2.0, 0, 0], TET[0]]
    with pytest.raises(taut.errors.LawError, match=message):
        taut.System(points, mass=1.0, energies=[energy])


def test_reject_stitch_of_a_particle_to_itself():
    with pytest.raises(taut.errors.LawError, match="element 1 names a particle twice"):
        laws.zero_length_spring([[0, 1], [2, 2]], k=1.0)


def test_an_offset_attachment_carries_a_weight_above_its_triangle():
    """It sinks by m g/k below its place at a height above the triangle."""
    corners = [[0, 0, 0], [1, 0, 0], [0, 0, -1]]
    lamp = taut.System(
        [[0.2, 0.3, -0.3], *corners],
        mass=0.5,
        fixed=[1, 2, 3],
        energies=[laws.offset_attachment([[0, 1, 2, 3]], k=1000.0), laws.gravity([0])],
    )
    rest = taut.equilibrium(lamp)
    np.testing.assert_allclose(rest.state.q[0], [0.2, 0.3 - 0.5 * G / 1000, -0.3], atol=1e-9)
    # the corners carry it in the proportions of the weights
    np.testing.assert_allclose(rest.reactions[1:, 1], 0.5 * G * np.array([0.5, 0.2, 0.3]))


def test_an_offset_attachment_follows_a_turning_triangle():
    """A quarter turn of the triangle turns its place with it, where no force is left."""
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, -1]])
    point = np.array([[0.2, 0.3, -0.3]])
    law = laws.offset_attachment([[0, 1, 2, 3]], k=50.0)
    system = taut.System(np.concatenate([point, triangle]), mass=1.0, energies=[law])
    turned = system.rest @ rotation_matrix(np.pi / 2).T
    state = system.initial_state()
    assert np.abs(system.f(state.with_(q=turned))).max() < 1e-13
    flat = turned.copy()
    flat[0] -= [-0.3, 0, 0]  # on the triangle: 0.3 m from its place
    assert system.V(state.with_(q=flat)) == pytest.approx(25 * 0.3**2, rel=1e-12)
