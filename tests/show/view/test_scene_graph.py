"""What is drawn where, picking, and saved pages."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("viser", reason="the extra view is not installed")

import taut
from taut import laws, scene
from taut.errors import ModelError, RunError
from taut.run.open_run import open_run
from taut.run.record import record
from taut.show.view import saving
from taut.show.view._appearance import StrainColours, collect_lines, collect_springs
from taut.show.view._inverted_cells import InvertedCells
from taut.show.view._picking import intersect_ray, pick_particle
from taut.show.view.saving import Recorder, save_run, write_page
from taut.show.view.viewer import view_run, view_scene, view_system
from taut.show.visual_model import VisualBody, VisualModel, model_from_run
from tests.show.view.browser import until
from tests.show.view.scenes import CLOTH, cloth, record_scene

TORN = CLOTH.replace("k = 40.0", "k = 40.0\nbreaking_strain = 0.02").replace(
    "A small cloth", "A *weak* <cloth>"
)


@pytest.fixture(scope="module")
def viewer():
    with view_scene(cloth(), port=0) as made:
        yield made


def test_a_ray_hits_the_first_triangle():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1.0]])
    both = np.array([[0, 1, 2], [3, 4, 5]])
    assert intersect_ray((0.2, 0.3, 9.0), (0, 0, -2.0), points, both).tolist() == [0.2, 0.3, 1.0]
    assert intersect_ray((0.2, 0.3, -9.0), (0, 0, 1.0), points, both).tolist() == [0.2, 0.3, 0.0]
    assert intersect_ray((0.2, 0.3, 9.0), (0, 0, 1.0), points, both) is None  # behind the eye
    assert intersect_ray((0.9, 0.9, 9.0), (0, 0, -1.0), points, both) is None  # beside it
    assert intersect_ray((5.0, 0.2, 0.0), (-1.0, 0, 0), points, both) is None  # along its plane


def test_a_ray_picks_the_particle_nearest_to_its_hit():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.85, 0.05, 5.0]])
    faces = np.array([[0, 1, 2]])
    assert pick_particle((0.8, 0.1, 9.0), (0, 0, -1.0), points, faces, points[:3]) == 1
    assert (
        pick_particle((0.8, 0.1, 9.0), (0, 0, -1.0), points, faces[:0], points) == 3
    )  # no surface: the one nearest to the ray


def test_strains_are_those_of_the_formula_and_their_colours_are_symmetric():
    rope = taut.System(
        [[0, 0, 0], [2, 0, 0], [2, 1, 0]], mass=1.0, energies=[laws.spring([[0, 1], [1, 2]], k=1.0)]
    )
    springs = collect_springs(rope)
    strains = springs.strains(np.array([[0, 0, 0], [2.5, 0, 0], [2.5, 0.75, 0]]))
    assert strains.tolist() == pytest.approx([0.25, -0.25], abs=1e-15)
    scale = StrainColours()
    longer, shorter = scale.map(strains)
    assert scale.limit == 0.25
    assert longer[0] > longer[2]
    assert shorter[2] > shorter[0]
    assert StrainColours().map(np.zeros(1)).std() < 5  # grey


def test_pinning_by_a_click_along_a_ray(viewer):
    q = viewer.source.newest.q
    particle = 40
    viewer.pointer.click(
        "/surface 0", None, q[particle] + np.array([0.01, 0.01, 3.0]), (0.0, 0.0, -1.0)
    )
    viewer.source.wait(lambda now: particle in now.held)
    viewer.pointer.click("/particles", particle, (0, 0, 0), (0, 0, 1))
    viewer.source.wait(lambda now: particle not in now.held)
    viewer.pointer.click("/particles", 10**6, (0, 0, 0), (0, 0, 1))
    viewer.pointer.click("/nothing", None, (0, 0, 0), (0, 0, 1))
    assert viewer.source._commands.clicks == {particle: 2}


def test_a_drag_moves_the_target_as_far_as_the_pointer(viewer):
    q = viewer.source.newest.q
    start = q[40] + [0.01, 0.0, 0.0]
    viewer.pointer.drag(7, "start", "/surface 0", None, start, start)
    viewer.pointer.drag(7, "update", "/surface 0", None, start, start + np.array([0.1, 0.2, 0.3]))
    now = viewer.source.wait(lambda now: bool(now.drags) and now.drags[0][1][2] > 0.2)
    assert now.drags[0][0] == 40
    assert now.drags[0][1] == pytest.approx(q[40] + [0.1, 0.2, 0.3])
    viewer.pointer.drag(7, "end", "/surface 0", None, start, start)
    viewer.source.wait(lambda now: not now.drags)


def test_layers_are_shown_and_hidden_with_their_newest_positions(viewer):
    viewer.graph.set_visible("surface", False)
    viewer.source.step()
    now = viewer.source.wait(lambda now: now.step >= 1)
    until(lambda: viewer.graph.snapshot.number >= now.number, "it was not shown")
    viewer.graph.set_visible("surface", True)
    piece = viewer.model.pieces[0]
    assert viewer.graph.surfaces[0].visible
    assert np.array_equal(
        viewer.graph.surfaces[0].vertices, piece.positions(now.q).astype(np.float32)
    )
    viewer.graph.set_visible("particles", True)
    assert np.array_equal(viewer.graph._particles.batched_positions, now.q.astype(np.float32))
    viewer.graph.set_visible("particles", False)


def test_surface_and_springs_are_of_one_moment(viewer, monkeypatch):
    graph = viewer.graph
    # Segments so dear that springs are sent with every third snapshot only.
    monkeypatch.setattr(
        "taut.show.view._scene_graph._MAX_SEGMENTS_PER_SECOND", len(graph.springs) * 10
    )
    piece, shown = graph.pieces[0], []
    for step in range(9):
        q = graph.snapshot.q + 0.001
        graph.show(replace(graph.snapshot, q=q, step=step), rate=30.0)
        shown.append(np.array(graph.surfaces[0].vertices))
        ends = graph._lines.points[:, 0]
        first = graph.springs.pairs[:, 0] - piece.start
        np.testing.assert_allclose(ends, shown[-1][first], atol=1e-6)
    assert 3 <= len({vertices.tobytes() for vertices in shown}) <= 4


def test_a_simulation_that_nobody_watches_any_more_is_paused(monkeypatch):
    monkeypatch.setattr("taut.show.view.viewer._UNWATCHED_SECONDS", 0.3)
    with view_scene(cloth(), port=0) as viewer:
        watching = {0: object()}
        monkeypatch.setattr(viewer.server.viser, "get_clients", lambda: watching)
        viewer.source.play()
        viewer.source.wait(lambda now: now.step >= 2)
        until(lambda: viewer.broadcaster.updates >= 2, "nothing was shown")
        watching.clear()
        assert not viewer.source.wait(lambda now: not now.playing).error


def test_torn_springs_and_their_faces_are_left_out(tmp_path):
    with view_scene(cloth(TORN), port=0) as viewer:
        whole = len(viewer.graph.surfaces[0].faces)
        viewer.source.set_speed(1e6)
        viewer.source.set_sliders(gravity=30.0)
        viewer.source.play()
        viewer.source.wait(lambda now: any(not mask.all() for mask in now.active.values()))
        viewer.source.pause()
        now = viewer.source.wait(lambda now: not now.playing)
        until(lambda: len(viewer.graph.surfaces[0].faces) < whole, "all faces are still there")
        until(
            lambda: len(viewer.graph._lines.points) == now.active["spring"].sum(),
            "torn springs are still there",
        )
        assert (
            "\\*weak\\* \\<cloth\\>" in viewer.panel.status.content
        )  # a title is text, not markup


def test_a_body_of_lines_can_be_dragged_by_its_particles():
    chain = taut.System(
        [[0.1 * i, 0, 0] for i in range(5)],
        mass=0.1,
        fixed=[0],
        energies=[laws.spring([[i, i + 1] for i in range(4)], k=10.0)],
    )
    with view_system(chain, taut.ImplicitEuler(), 0.01, title="chain", port=0) as viewer:
        assert viewer.graph.visible["particles"]
        assert [node.name for node in viewer.graph.pickable_nodes()] == ["/particles"]
        assert viewer.graph._lines.points.shape == (4, 2, 3)
        viewer.pointer.drag(1, "start", "/particles", 3, (0, 0, 0), (0, 0, 0.1))
        assert viewer.source.wait(lambda now: bool(now.drags)).drags[0][0] == 3


def test_a_run_without_a_scene_shows_its_particles(tmp_path):
    ball = taut.System([[0, 10, 0], [1, 10, 0]], mass=1.0, energies=[laws.gravity()])
    record(tmp_path / "run", ball, taut.ImplicitEuler(), h=0.1, until=0.5)
    with view_run(tmp_path / "run", port=0) as viewer:
        assert len(viewer.graph.springs) == 0
        viewer.source.seek(5)
        now = viewer.source.wait(lambda now: now.frame == 5)
        until(
            lambda: np.array_equal(
                viewer.graph._particles.batched_positions, now.q.astype(np.float32)
            ),
            "it was not shown",
        )
        status = viewer.panel.status.content
        assert "converged: unbalanced acceleration" in status
        assert "13.9 m/s² at work" in status  # of the step and of gravity, √(a² + g²)
        assert "velocity error at most" in status


def test_an_existing_page_is_kept(tmp_path, monkeypatch):
    folder, file = record_scene(tmp_path / "run", CLOTH.replace("0.3", "0.02")), tmp_path / "a.html"
    file.write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr(saving, "open_run", None)  # rejected before anything is read
        with pytest.raises(ModelError, match="overwrite"):
            save_run(folder, file)
        with pytest.raises(ModelError, match="no folder"):
            save_run(folder, tmp_path / "no" / "a.html")
        with pytest.raises(ModelError, match="is a folder"):
            save_run(folder, tmp_path, overwrite=True)
    assert file.read_text() == "mine"
    assert save_run(folder, file, overwrite=True) == 2
    assert "<title>A small cloth</title>" in file.read_text()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.html", "run"]


def test_a_page_that_cannot_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "a.html"
    file.write_text("mine")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RunError, match=r"(?i)no space left"):
        write_page(file, "yours", overwrite=True)
    assert file.read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.html"]


@pytest.fixture
def sent(monkeypatch):
    """The times and arrays of saved pages, by (node, property)."""
    found = {}
    page = Recorder.make_page

    def looked(self):
        buffers = self._serializer._binary_buffers
        for t, message in self._serializer._messages:
            for key, value in {**message.get("props", {}), **message.get("updates", {})}.items():
                if isinstance(value, dict) and "__binary_index" in value:
                    array = np.frombuffer(buffers[value["__binary_index"]], dtype=value["dtype"])
                    found.setdefault((message["name"], key), []).append((t, array))
        found["bytes"] = sum(buffer.nbytes for buffer in buffers)
        return page(self)

    monkeypatch.setattr(Recorder, "make_page", looked)
    return found


def test_the_colours_of_a_page_have_one_range(tmp_path, sent):
    folder = record_scene(tmp_path / "run", CLOTH.replace("0.3", "0.1"))
    save_run(folder, tmp_path / "a.html")
    with open_run(folder) as run:
        springs, frames = collect_springs(model_from_run(run).system), list(run.frames)
    scale = StrainColours()
    strains = [springs.strains(frame.q) for frame in frames]
    scale.include(np.array(strains))
    assert np.abs(strains[1]).max() < 0.2 * scale.limit  # a separate range would give other colours
    assert len(sent["/springs", "colors"]) == len(frames)
    for (_, colours), each in zip(sent["/springs", "colors"], strains, strict=True):
        assert np.array_equal(colours.reshape(-1, 2, 3)[:, 0], scale.map(each))


def test_a_page_has_the_last_frame_and_keeps_its_limits(tmp_path, sent, monkeypatch):
    folder = record_scene(tmp_path / "run", every=1)  # 31 frames
    with open_run(folder) as run:
        last = run.frames[-1].q.astype(np.float32)
    monkeypatch.setattr(saving, "_MAX_FRAMES", 20)
    assert save_run(folder, tmp_path / "a.html") == 20
    assert np.array_equal(sent["/surface 0", "vertices"][-1][1].reshape(-1, 3), last)
    sent.clear()
    monkeypatch.setattr(saving, "_MAX_BYTES", 100_000)
    count = save_run(folder, tmp_path / "b.html")
    assert 5 < count < 20
    assert sent["bytes"] < 100_000
    times = [t for t, _ in sent["/surface 0", "vertices"]]
    assert times[-1] == pytest.approx(0.3)
    assert np.diff(times).max() < 2 * np.diff(times).min() + 0.011  # evenly, to a step
    assert np.array_equal(sent["/surface 0", "vertices"][-1][1].reshape(-1, 3), last)


def test_a_page_shows_torn_springs_torn_to_its_end(tmp_path, sent):
    # up and off, and back to the rest
    jerk = 'where = "y == max"\nmove = [[0, 0, 0, 0], [0.1, 0, 0.3, 0], [0.3, 0, -0.4, 0]]'
    folder = record_scene(
        tmp_path / "run",
        TORN.replace('where = "y == max"', jerk).replace("duration = 0.3", "duration = 0.18"),
        every=3,
    )
    with open_run(folder) as run:
        model, ended = model_from_run(run), run.state().active["spring"]
        springs, last = collect_springs(model.system), run.frames[-1]
        by_strain = springs.strains(last.q) <= 0.02
    assert (~ended).sum() > 0
    assert (by_strain & ~ended).any()  # some are slack again
    save_run(folder, tmp_path / "a.html")
    assert len(sent["/springs", "points"][-1][1]) == 6 * ended.sum()


def test_wind_blows_on_the_simulated_mesh():
    block = CLOTH.replace(
        'shape = "sheet", nx = 8, ny = 8', 'shape = "block", nx = 2, ny = 2, nz = 2'
    ).replace(
        "density = 0.2",
        "density = 0.2\n"
        'render = { shape = "sphere", n = 4, radius = 0.4, translate = [0.5, 0.5, 0.5] }',
    )
    with view_scene(cloth(block), port=0) as viewer:
        assert viewer.model.pieces[0].embedding is not None
        viewer.source.set_sliders(wind=6.0)
        viewer.source.step()
        now = viewer.source.wait(lambda now: now.step == 1)
        begun = viewer.source.initial_state.q
    assert (
        (now.q - begun)[:, 0].mean() > 1e-4
    )  # about ½ρu²A h²/m, with ½ρu² = 22 Pa, A = 1 m², h = 10 ms and m = 0.2 kg, some held


def test_lines_are_drawn_if_springs_are_not_known(tmp_path):
    folder = record_scene(tmp_path / "run", CLOTH.replace("0.3", "0.02"))
    with open_run(folder) as run:
        model = model_from_run(run)
    assert len(collect_lines(model)) == 0  # a sheet of faces has no lines
    assert len(collect_springs(model.system)) == len(model.pieces[0].mesh.edges)


FALLING = CLOTH.replace('[[body.hold]]\nwhere = "y == max"\n', "")
"""A cloth that falls: nothing holds it."""


def test_a_grid_that_is_no_ground_is_hidden_when_bodies_are_below():
    with view_scene(cloth(FALLING), port=0) as viewer:
        ground = viewer.graph.ground
        assert (ground.is_real, ground._grid.visible) == (False, True)
        assert ground._grid.shadow_opacity == 0.0
        height = ground.height
        viewer.source.set_speed(1000.0)
        viewer.source.play()
        viewer.source.wait(lambda now: now.q[:, 1].min() < height)
        until(lambda: not ground._grid.visible, "bodies seem to pass through the ground")
        viewer.source.reset()
        until(lambda: ground._grid.visible, "the grid is still hidden")
        assert ground._grid.position[1] == height


def test_a_ground_is_shown_where_bodies_come_to_rest():
    text = FALLING.replace("[[body]]", "[contact]\nground = -0.02\nrange = 0.01\n[[body]]", 1)
    planes = "planes = [{ point = [9, 0, 0], normal = [-1, 0, 0] }]\n[[body]]"
    with view_scene(cloth(text.replace("[[body]]", planes, 1)), port=0) as viewer:
        ground, arrows = viewer.graph.ground, viewer.graph.arrows
        assert (ground.is_real, ground.height) == (True, -0.02)
        assert ground._grid.position[1] == pytest.approx(-0.02)
        assert "/plane 0" in viewer.server.viser.scene._handle_from_node_name
        viewer.graph.set_visible("contact forces", True)
        viewer.source.set_speed(1000.0)
        viewer.source.play()
        now = viewer.source.wait(lambda now: now.step >= 15 or bool(now.error))
        viewer.source.pause()
        now = viewer.source.wait(lambda now: not now.playing)
        assert not now.error
        assert now.q[:, 1].min() > -0.02
        until(lambda: arrows._node.points.any(), "no forces are shown")
        until(lambda: viewer.graph.snapshot is now, "the last snapshot is not shown")
        starts, ends = arrows._node.points[:, 0], arrows._node.points[:, 1]
        assert (ends[:, 1] > starts[:, 1]).all()  # the ground pushes upwards
        assert starts[:, 1].max() < -0.01  # within its range
        viewer.graph.set_visible("contact forces", False)
        assert not arrows._node.visible


def test_obstacles_are_neither_marked_nor_dragged_nor_released():
    changes = [("body.cloth.mesh.nx", 4), ("body.cloth.mesh.ny", 4), ("body.ball.mesh.n", 2)]
    with view_scene(scene.load("drape", overrides=changes), port=0) as viewer:
        assert len(viewer.source.newest.held) == len(viewer.source.newest.q) - 25
        assert len(viewer.graph._held.batched_positions) == 0
        viewer.pointer.drag(1, "start", "/surface 1", None, (0, 0.25, 0), (0, 1, 0))
        viewer.pointer.click("/surface 1", None, (0, 5, 0), (0, -1, 0))
        viewer.pointer.click("/particles", 30, (0, 0, 0), (0, 0, 1))
        assert (dict(viewer.source._commands.drags), viewer.source._commands.clicks) == ({}, {})
        viewer.pointer.drag(1, "start", "/surface 0", None, (0, 0.27, 0), (0, 1, 0))
        assert len(viewer.source._commands.drags) == 1


def test_inverted_cells_are_drawn_and_counted(viewer):
    """A tetrahedron pushed through its base: one cell, six edges; none the right way round."""
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    mesh = taut.mesh.Mesh(points, {"tet": [[0, 1, 2, 3]]})
    nothing = np.zeros(0, np.int64)
    model = VisualModel("a tet", (VisualBody("tet", mesh, 0, 4),), 4, nothing)
    shown = InvertedCells(viewer.server.viser.scene, model)
    shown.show(points)
    assert (shown.count, shown._node.visible) == (0, False)
    shown.show(points * [1.0, 1.0, -0.5])
    assert (shown.count, shown._node.visible, shown._node.points.shape) == (1, True, (6, 2, 3))
