"""The visual model of a scene, a run and a system."""

import numpy as np
import pytest

import taut
from taut import laws, scene
from taut.run.record import record
from taut.show.visual_model import VisualBody, model_from_run, model_from_scene, model_from_system

BEAM = """
[time]
h = 0.01
duration = 0.05

[[body]]
name = "beam"
mesh = { shape = "block", nx = 2, ny = 1, nz = 1, size = [2.0, 1.0, 1.0] }
render = {shape = "ball", radius = 0.3, spacing = 0.15, surface = true, translate = [1.0, 0.5, 0.5]}
density = 1000.0
hold = [{ where = "x == 0" }]

[[body.law]]
law = "spring"
on = "edges"
k = 1e5

[[law]]
law = "gravity"

[[body]]
name = "rope"
mesh = { shape = "rope", n = 3 }
mass = 0.1
"""


def test_render_mesh_follows_affine_motions():
    found = model_from_scene(scene.read_text(BEAM))
    ball, rope = found.pieces
    assert (ball.start, ball.stop, rope.start, rope.stop, found.n) == (0, 12, 12, 16, 16)
    assert found.held.tolist() == [0, 3, 6, 9]
    rest = np.concatenate([scene.read_text(BEAM).parts()[0].mesh.positions, rope.mesh.positions])
    A, b = (
        np.array([[1.1, 0.2, 0.0], [-0.3, 0.9, 0.1], [0.0, 0.05, 1.2]]),
        np.array([1.0, 2.0, 3.0]),
    )
    assert ball.positions(rest) == pytest.approx(ball.mesh.positions, abs=1e-12)
    assert ball.positions(rest @ A.T + b) == pytest.approx(ball.mesh.positions @ A.T + b, abs=1e-12)
    assert rope.positions(rest).tolist() == rope.mesh.positions.tolist()
    assert ball.triangles.shape == (len(ball.faces["triangle"]), 3)
    assert (len(rope.triangles), rope.lines.tolist()) == (0, [[0, 1], [1, 2], [2, 3]])
    assert found.system.n == 16


def test_faces_of_solids_point_outwards():
    (piece,) = model_from_scene(scene.load("beam")).pieces
    shown = taut.mesh.Mesh(piece.mesh.points, piece.faces)
    assert shown.enclosed_volume == pytest.approx(piece.mesh.volumes.sum())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[1.0, 0.5, 0.5]",
            "[9.0, 0.5, 0.5]",
            r"body\[0\]\.render, line 9: point \d+ is far outside of the simulated mesh",
        ),
        (
            '"ball"',
            '"bal"',
            r"body\[0\]\.render\.shape, line 9: unknown generator 'bal'; did you mean 'ball'",
        ),
    ],
)
def test_reject_render_mesh_that_does_not_fit(old, new, message):
    with pytest.raises(taut.errors.SceneError, match=message):
        scene.read_text(BEAM.replace(old, new)).build()


def test_model_of_a_run_matches_its_scene(tmp_path):
    made = scene.read_text(BEAM)
    built = made.build()
    made.record(tmp_path / "a", built=built)
    with taut.open_run(tmp_path / "a") as run:
        found = model_from_run(run)
        assert [piece.name for piece in found.pieces] == ["beam", "rope"]
        assert found.system.V(run.state()) == pytest.approx(built.system.V(run.state()))
        assert np.isfinite(found.pieces[0].positions(run.frames[-1].q)).all()


def test_run_without_a_scene_shows_particles(tmp_path):
    ball = taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()])
    record(tmp_path, ball, taut.ImplicitEuler(), h=0.1, until=0.2)
    with taut.open_run(tmp_path) as run:
        found = model_from_run(run)
        assert found.pieces[0].positions(run.frames[0].q).tolist() == [[0.0, 10.0, 0.0]]
        with pytest.raises(taut.errors.RunError, match="recorded without a scene"):
            _ = found.system


def test_a_system_shows_its_springs():
    system = taut.System(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
        mass=1.0,
        energies=[laws.spring([[1, 0], [1, 2]], k=1.0), laws.gravity()],
        fixed=[2],
    )
    found = model_from_system(system)
    assert (found.pieces[0].lines.tolist(), found.held.tolist()) == ([[0, 1], [1, 2]], [2])


def test_explicit_boundary_faces_are_drawn_once():
    block = taut.mesh.block(1, 1, 1)
    both = block.with_(cells={**block.cells, "quad": block.boundary_faces["quad"][:2, ::-1]})
    found = VisualBody("both", both, 0, 8).faces["quad"]
    assert len(found) == 6
    assert found[:2].tolist() == block.boundary_faces["quad"][:2, ::-1].tolist()
