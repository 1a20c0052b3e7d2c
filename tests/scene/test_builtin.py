"""Every built-in scene runs and obeys physics; coarser meshes and shorter runs save time.

Those with contact are in `test_contact_scenes`, one of several bodies in `test_several`.
"""

import numpy as np
import pytest

import taut
from taut import scene
from taut.system.workspace import workspace_for
from tests.scene import test_contact_scenes, test_several
from tests.scene.builtin_runs import load_scene, run


def test_spring_follows_the_recurrence_of_velocity_verlet():
    built = load_scene("spring")
    angle = np.arccos(1 - built.h**2 * 100.0 / 2)  # of a step: cos ω̃h = 1 - h²ω²/2
    y = [s.q[1, 1] for s in run(built)]
    assert np.allclose(y, -1 - 0.2 * np.cos(angle * np.arange(len(y))), atol=1e-11)


def test_pendulum_has_the_period_of_a_swing_from_the_horizontal():
    built = load_scene("pendulum")
    states = run(built, 2.6)
    t, x = np.array([s.t for s in states]), np.array([s.q[1, 0] for s in states])
    top = np.argmax(x[150:]) + 150
    a = np.polyfit(t[top - 3 : top + 4] - t[top], x[top - 3 : top + 4], 2)
    period = t[top] - a[1] / (2 * a[0])
    # PHYSICS: T/T₀ = 1.1803406 at 90°; the step of hω = 0.03 costs 1e-4 of it
    assert period == pytest.approx(1.1803406 * 2 * np.pi / np.sqrt(9.81), rel=3e-4)


def test_chain_comes_to_rest_in_a_catenary():
    built = load_scene("chain")
    last = run(built)[-1]
    assert last.q[-1] == pytest.approx([0.8, 0, 0], abs=1e-12)
    rest = taut.equilibrium(built.system, last)
    assert -rest.state.q[:, 1].min() == pytest.approx(
        0.265526, abs=1e-4
    )  # of 40 rigid links; k = 4e6 N/m gives 2e-5 of it
    assert -last.q[:, 1].min() == pytest.approx(
        0.265526, abs=5e-3
    )  # drag has settled it within five seconds


def test_bridge_reactions_and_deflection():
    built = load_scene("bridge")
    rest = taut.equilibrium(built.system)
    assert rest.reactions[:, 1].sum() == pytest.approx(9.81 * built.system.mass.sum(), rel=1e-8)
    y = (
        run(built, 3.0)[-1].q[:, 1].reshape(5, 41).mean(axis=0)
    )  # at t = 3 s the walker is at x = 2 m
    assert y[10] < y[30] - 0.05


def test_cloth_never_gains_energy():
    built = load_scene("cloth", ("body.cloth.mesh.nx", 12), ("body.cloth.mesh.ny", 12))
    system = built.system
    energy = [system.T(s) + system.V(s) for s in run(built, 0.6)]
    assert max(np.diff(energy)) <= 1e-9 * abs(energy[0] - energy[-1])
    assert energy[-1] < energy[0] - 0.2  # [J]: it fell


def test_flag_feels_drag_and_lift_of_every_triangle():
    built = load_scene("flag")
    mesh = built.bodies[0].mesh
    corners = mesh.positions[mesh.triangles]
    area = (
        np.linalg.norm(
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
        )
        / 2
    )
    y = corners.mean(axis=1)[:, 1]
    un = np.mean(3 * np.sin(3 * corners[:, :, 1]), axis=1)  # an element has the mean of its points
    u = np.column_stack([np.full(len(y), 8.0), 0 * y, un])
    speed = np.linalg.norm(u, axis=1)
    lift = 0.5 * (speed[:, None] * un[:, None] * [0, 0, 1] - (un**2 / speed)[:, None] * u)
    force = 1.204 / 2 * area[:, None] * (np.abs(un)[:, None] * u + lift)
    assert built.system.load_forces(built.state)["wind"].sum(axis=0) == pytest.approx(
        force.sum(axis=0), rel=1e-12
    )
    ledger = taut.Ledger()
    run(built, 0.05, ledger)
    assert ledger.total().work["wind"] > 0


def test_sheet_drapes_without_stretching():
    built = load_scene("sheet", ("body.sheet.mesh.nx", 12), ("body.sheet.mesh.ny", 12))
    last = run(built, 0.4)[-1]
    mesh = built.bodies[0].mesh
    strain = np.linalg.norm(np.diff(last.q[mesh.edges], axis=1)[:, 0], axis=1) / mesh.lengths - 1
    assert np.abs(strain).mean() < 0.01
    middles = mesh.select(
        "x == 0.5 and (z == min or z == max) or z == -0.5 and (x == min or x == max)"
    )
    assert last.q[mesh.corners(), 1].max() < last.q[middles, 1].min() < -0.05  # corners hang lowest


def test_net_carries_only_tension():
    built = load_scene("net", ("body.net.mesh.nx", 10), ("body.net.mesh.ny", 10))
    states = run(built, 0.5)
    found = [built.system.members(s) for s in states[::10]]
    assert min(m.force.min() for m in found) >= 0
    assert found[2].force.max() > 80  # [N]: it holds a weight of 26 N that came down with 6 m/s
    assert found[4].slack.sum() > found[2].slack.sum()  # and goes slack when it has thrown it back
    middle = built.bodies[0].mesh.select("nearest(2, 0, -2)")[0]
    assert max(s.v[middle, 1] for s in states) > 0.5  # [m/s]: thrown back


def test_tensegrity_signs_of_member_forces():
    built = load_scene("tensegrity")
    found = built.system.members(run(built)[-1])
    assert (found.force[found.law == "struts"] < 0).all()
    assert (found.force[found.law == "cable"] > 0).all()


def test_tower_sways_at_its_lowest_frequency_after_release():
    built = load_scene(
        "tower", ("body.tower.mesh.ny", 8), ("body.tower.mesh.nx", 1), ("body.tower.mesh.nz", 1)
    )
    states = run(built)
    top = built.bodies[0].mesh.select("y == max")
    t, x = (
        np.array([s.t for s in states]),
        np.array([s.q[top, 0].mean() - s.q[0, 0] - 0.2 for s in states]),
    )
    assert x[np.searchsorted(t, 0.495)] == pytest.approx(0.15, rel=0.01)
    free = t > 0.5
    crossings = np.flatnonzero(np.diff(np.sign(x[free])) < 0)
    when = [
        np.interp(0, [x[free][i + 1], x[free][i]], [t[free][i + 1], t[free][i]]) for i in crossings
    ]
    still = workspace_for(built.system).without_ended_constraints(1.0, built.h).system  # released
    lowest = taut.modes(still, taut.equilibrium(still).state, n=1).frequencies[0]
    assert len(when) >= 3
    assert np.diff(when).mean() == pytest.approx(
        1 / lowest, rel=0.05
    )  # 15 cm of 3 m is not a small amplitude


def test_jelly_preserves_area_and_stays_planar():
    built = load_scene("jelly", ("body.jelly.mesh.nx", 8), ("body.jelly.mesh.ny", 8))
    mesh = built.bodies[0].mesh
    states = run(built, 0.5)
    area = mesh.with_(points=states[-1].q).areas.sum()
    assert area == pytest.approx(0.09, rel=0.005)  # k = 5000 N/m against springs of 60
    assert not states[-1].q[:, 2].any()
    sway = [s.q[mesh.corners("top"), 0].mean() for s in states]
    assert sway[-1] < 0.1 < 0.25 < sway[0]  # it swings through the middle at 0.15 m


def test_beam_deflection_matches_beam_theory():
    built = load_scene("beam")
    E, rho, L, d = 4e5, 1000.0, 0.6, 0.1
    inertia = (
        d**4 / 12 * (1 + 2 / 4**2)
    )  # four cells across bend 1 + 2/n² times too stiffly (docs/guide/materials.md)
    tip = rho * 9.81 * d**2 * L**4 / (8 * E * inertia)
    light = built.system.with_(
        energies=[*built.system.energies[:-1], taut.laws.gravity(g=(0, -0.981, 0))]
    )
    end = built.bodies[0].mesh.select("x == max")
    sunk = built.state.q[end, 1].mean() - taut.equilibrium(light).state.q[end, 1].mean()
    # under a tenth of its weight, for small deflections; shear adds 3%
    assert sunk == pytest.approx(tip / 10 * 1.03, rel=0.05)


def test_bunny_preserves_its_volume_when_shaken():
    built = load_scene("bunny")
    mesh, feet = built.bodies[0].mesh, built.bodies[0].mesh.select("feet")
    last = run(built, 0.06)[-1]
    assert last.q[feet, 0] - mesh.positions[feet, 0] == pytest.approx(0.016, abs=1e-12)
    volumes = mesh.with_(points=last.q).volumes
    assert volumes.min() > 0
    assert volumes.sum() == pytest.approx(mesh.volumes.sum(), rel=0.02)
    ears = mesh.select("ears")
    assert (last.q[ears, 0] - mesh.positions[ears, 0]).mean() < 0.008  # [m]: they lag behind


def test_balloon_grows_until_skin_and_pressure_balance():
    built = load_scene("balloon", ("body.balloon.mesh.n", 4))
    mesh, last = built.bodies[0].mesh, run(built)[-1]
    skin = built.system.members(last)
    skin_only = skin.law == "spring"
    # virial: at rest Σ T l = 3 p v, whatever the shape
    inside = mesh.with_(points=last.q).enclosed_volume
    assert (skin.force * skin.length)[skin_only].sum() == pytest.approx(
        3 * 500.0 * inside, rel=1e-3
    )
    assert inside > 1.2 * mesh.enclosed_volume


def test_tear_runs_along_the_weak_seam_and_leaves_two_pieces():
    built = load_scene("tear", ("body.cloth.mesh.nx", 16), ("body.cloth.mesh.ny", 8))
    last = run(built)[-1]
    mesh, whole = built.bodies[0].mesh, last.active["spring"]
    middle = mesh.positions[mesh.edges].mean(axis=1)
    off = np.abs(middle[:, 0] - 0.6 - 0.1 * np.sin(8 * middle[:, 2]))
    assert off[~whole].max() < 0.1  # [m]: next to the seam
    pieces = taut.mesh.Mesh(mesh.positions, {"line": mesh.edges[whole]}).components
    assert pieces[mesh.select("x == min")].max() == 0
    assert set(pieces[mesh.select("x == max")]) == {1}


def test_snap_inverts_the_dome():
    built = load_scene("snap")
    states = run(built)
    heights = [s.q[0, 1] for s in states]
    assert heights[0] == pytest.approx(0.02)
    assert heights[-1] < -0.015  # one second after the load was removed
    assert taut.equilibrium(built.system, states[-1].with_(t=3.0)).stability.stable


def test_every_built_in_scene_is_tested():
    tests = {*globals(), *vars(test_contact_scenes), *vars(test_several)}
    assert [
        name
        for name in scene.names()
        if not any(test.startswith(f"test_{name}_") for test in tests)
    ] == []


@pytest.mark.parametrize("name", scene.names())
def test_description_and_round_trip(name):
    made = scene.load(name)
    assert made.title
    assert 20 < len(scene.why(name)) < 120
    assert scene.new(name).startswith("# ")
    again = scene.read_text(made.resolved())
    assert again.tables == made.tables
    assert again.resolved() == made.resolved()
    assert made.inputs() == {}
