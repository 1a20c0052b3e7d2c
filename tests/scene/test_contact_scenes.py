"""The built-in scenes with contact: nothing ever touches, and each has its physical numbers.

Coarser meshes and shorter runs save time.
"""

import numba
import numpy as np
import pytest

import taut
from tests.scene.builtin_runs import load_scene, run, run_apart

G = 9.81


def find_contact_forces(built, state):
    """Return the forces of contact and friction on all particles [N], (n, 3)."""
    return built.system.with_(energies=[], damping=[], loads=[]).f(state)


def assert_contact_carries(built, before, after, part, drag=0.0):
    """Assert m (v₁ - v₀)/h = contact + weight - drag·m v₁ for a body as a whole.

    Its springs push it nowhere: what is left is the force of contact and friction.
    """
    own = slice(part.start, part.stop)
    mass = built.system.mass[own, None]
    change = (mass * (after.v[own] - before.v[own])).sum(axis=0) / (after.t - before.t)
    weight = mass.sum() * np.array([0, -G, 0])
    carried = find_contact_forces(built, after)[own].sum(axis=0)
    expected = carried + weight - drag * (mass * after.v[own]).sum(axis=0)
    assert change == pytest.approx(expected, abs=1e-4 * G * mass.sum())


def test_curtain_rings_stay_on_the_rail_and_are_drawn():
    built = load_scene("curtain")
    states = run_apart(built, 0.8)
    rings = 558 + 3 * np.arange(11)
    start, end = states[0].q[rings], states[-1].q[rings]
    assert np.abs(end[:, 1:] - start[:, 1:]).max() < 1e-12
    assert end[-1, 0] - start[-1, 0] == pytest.approx(-1.15 * 0.3 / 2, abs=1e-12)
    assert (np.diff(end[:, 0]) > 0).all()
    assert end[-2, 0] < start[-2, 0] - 0.01


def test_drape_stays_outside_of_the_sphere():
    built = load_scene("drape", ("body.cloth.mesh.nx", 6), ("body.cloth.mesh.ny", 6))
    ledger = taut.Ledger()
    states = run_apart(built, 0.2, ledger)
    cloth = states[-1].q[:49]
    assert cloth[24, 1] > 0.25  # [m]: its middle lies on the sphere
    assert cloth[0, 1] < 0.2  # and a corner has fallen
    total = ledger.total()
    assert total.dissipated["friction"] > 0
    assert abs(total.gap) < 1e-12 * total.scale
    assert_contact_carries(built, states[-2], states[-1], built.bodies[0], drag=0.5)


def test_ropes_lie_across_each_other():
    built = load_scene("ropes")
    last = run_apart(built, 0.4)[-1]
    heights = last.q[:, 1].reshape(4, 25)
    assert heights.min() > 0.01  # half the thickness [m]
    tops = heights.max(axis=1)
    assert (np.diff(tops) > 0).all()


def test_knot_takes_up_the_length_of_a_tight_trefoil():
    built = load_scene("knot")
    d, last = 0.018, run_apart(built)[-1].q
    members = built.system.members(built.state.with_(q=last))
    assert members.force[[0, -1]] == pytest.approx(4.0, rel=0.01)  # [N]: the pull at both ends
    in_knot = np.linalg.norm(np.diff(last, axis=0), axis=1).sum() - np.linalg.norm(
        last[-1] - last[0]
    )
    # A tight open trefoil takes some ten diameters (Pierański, Przybył and Stasiak, "Tight open
    # knots", 2001), less only by passing through itself. A rope that resists bending, with gaps
    # of up to the range, takes more.
    assert 10 * d < in_knot < 14 * d


@pytest.mark.parametrize(("part", "stands"), [(0.9, True), (1.1, False)])
def test_cards_stand_up_to_the_harmonic_overhang(part, stands):
    """The k-th card from the top may jut out by half a length over k: Σ 1/(2k) lengths in all."""
    n, length, offset = 6, 0.09, 0.0
    changes = []
    for i in range(n):
        if i:
            offset += part * length / (2 * (n - i))
        changes.append((f"body.card {i + 1}.pose.translate", [offset, 0.002 + 0.0035 * i, 0]))
    built = load_scene("cards", *changes)
    if stands:
        assert built.system.pose == pytest.approx(load_scene("cards").system.pose, abs=1e-5)
        assert offset > length  # the top card lies beyond the bottom one
    states = run_apart(built, 0.3)
    top = states[-1].q[-35:]
    if not stands:
        assert top[:, 1].min() < 0.004  # [m]: it has fallen on the ground
        return
    assert top[:, 1].min() > 0.012
    push = find_contact_forces(built, states[-1])[:, 1].sum()
    assert push == pytest.approx(G * built.system.mass.sum(), rel=0.02)  # nearly at rest
    for part in built.bodies:
        assert_contact_carries(built, states[-2], states[-1], part)


def test_blanket_lies_on_the_bunny_and_hangs_down_its_flanks():
    built = load_scene(
        "blanket",
        ("body.blanket.mesh.nx", 5),
        ("body.blanket.mesh.ny", 15),
        ("body.bunny.mesh.spacing", 0.024),
    )
    states = run_apart(built, 0.3)
    rows = states[-1].q[:96].reshape(16, 6, 3)
    assert rows[7:9, :, 1].mean() > 0.13  # [m]: its middle lies on the back, at 0.15
    assert rows[[0, -1], :, 1].max() < 0.06  # its ends hang down
    assert np.abs(rows[[0, -1], :, 2]).max() < 0.11  # along the flanks
    assert_contact_carries(built, states[-2], states[-1], built.bodies[0], drag=0.5)


def test_catch_changes_the_momentum_of_the_ball_by_contact_alone():
    built = load_scene("catch")
    states = run_apart(built, 0.3)
    _, ball = built.bodies
    own = slice(ball.start, ball.stop)
    mass = built.system.mass[own, None]
    velocities = [(mass * s.v[own]).sum(axis=0)[1] / mass.sum() for s in states]
    assert min(velocities) < -3.0  # [m/s]
    assert max(velocities) > 0.5  # thrown back
    impulse = built.h * sum(find_contact_forces(built, s)[own].sum(axis=0)[1] for s in states[1:])
    gained = mass.sum() * (velocities[-1] - velocities[0] + G * states[-1].t)
    assert impulse == pytest.approx(gained, rel=1e-4)


def test_bowl_carries_the_weight_of_the_jellies():
    built = load_scene("bowl")
    ledger = taut.Ledger()
    states = run_apart(built, 0.4, ledger)
    last = states[-1]
    for part in built.bodies[1:]:
        assert_contact_carries(built, states[-2], last, part, drag=3.0)
        volumes = part.mesh.with_(points=last.q[part.start : part.stop]).volumes
        assert volumes.min() > 0
        assert volumes.sum() == pytest.approx(part.mesh.volumes.sum(), rel=0.1)
    jellies = last.q[built.bodies[1].start :]
    r = np.hypot(jellies[:, 0], jellies[:, 2])
    assert r.max() < 0.2
    assert (jellies[:, 1] > 0.1 * (r / 0.2) ** 3).all()  # above the surface of the bowl
    total = ledger.total()
    assert abs(total.gap) < 1e-11 * total.scale


def test_wrap_winds_the_flag_as_the_involute_of_the_pole():
    built = load_scene("wrap", ("body.flag.mesh.nx", 15), ("body.flag.mesh.ny", 4))
    states = run_apart(built, 1.8)
    row = states[-1].q[:80].reshape(5, 16, 3)[2]
    angle = np.unwrap(np.arctan2(row[:, 2], row[:, 0]))[-1]
    assert angle == pytest.approx(2.5 * 1.8, abs=0.6)  # the wind has turned by 4.5 rad
    # Wound by φ round the pole, L - Rφ of the flag is free, and stands off along the tangent:
    # its end is at the angle φ + atan((L - Rφ)/R), at the distance √(R² + (L - Rφ)²).
    R, L = 0.057, 0.9
    phi = np.linspace(0, angle, 10001)
    phi = phi[np.argmin(np.abs(phi + np.arctan((L - R * phi) / R) - angle))]
    assert np.hypot(row[-1, 0], row[-1, 2]) == pytest.approx(np.hypot(R, L - R * phi), rel=0.03)


@pytest.mark.parametrize(
    "name", ["drape", "ropes", "knot", "cards", "catch", "bowl", "curtain", "wrap"]
)
def test_scenes_have_the_same_bits_on_one_thread_and_two(name):
    before, ends = numba.get_num_threads(), []
    try:
        for count in (1, min(2, before)):
            numba.set_num_threads(count)
            built = load_scene(name)
            ends.append(run(built, 3 * built.h)[-1])
    finally:
        numba.set_num_threads(before)
    assert (ends[0].q == ends[1].q).all()
    assert (ends[0].v == ends[1].v).all()
