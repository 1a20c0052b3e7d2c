"""PC2, parsed by hand; and its OBJ file, read by taut."""

import os
import signal
import struct

import numpy as np
import pytest

from taut.mesh import read
from taut.show.export import GrowingPointCache, export
from tests.show.export.scenes import BODIES, PLAIN, cloth, fine, positions, record_scene

USED = [
    range(7),
    range(6),
    range(1, 5),
    range(3),
    range(16),
]  # the first point of the jelly is inside and belongs to no face


def cache(path):
    """The header, and points (samples, points, 3)."""
    data = path.read_bytes()
    word, version, points, start, sampling, samples = struct.unpack_from("<12siiffi", data)
    assert (word, version, start) == (b"POINTCACHE2\0", 1, 0.0)
    assert len(data) == 32 + samples * points * 12
    return sampling, np.frombuffer(data, "<f4", offset=32).reshape(samples, points, 3)


@pytest.mark.parametrize("body", range(5))
def test_points_of_each_body(run, where, tmp_path, body):
    done = export(run, tmp_path / "x.pc2")
    assert [file.name for file in done.files] == [
        f"x_{name}.{end}" for name in PLAIN for end in ("pc2", "obj")
    ]
    sampling, x = cache(done.files[2 * body])
    assert sampling == 1.0
    np.testing.assert_array_equal(
        x, np.array([frame[body][list(USED[body])] for frame in where]).astype(np.float32)
    )


def test_obj_file_holds_the_first_sample(run, where, tmp_path):
    export(run, tmp_path / "x.pc2", start=0.02)
    for name, body, mesh in (("cloth", 0, cloth()), ("jelly_cube_2", 4, fine())):
        found = read(tmp_path / f"x_{name}.obj")
        np.testing.assert_array_equal(found.points, where[1][body])
        assert {kind: c.tolist() for kind, c in found.cells.items()} == {
            kind: c.tolist() for kind, c in mesh.cells.items()
        }
        for kind, corners in mesh.uv.corners.items():
            np.testing.assert_array_equal(
                found.uv.coordinates[found.uv.corners[kind]], mesh.uv.coordinates[corners]
            )
    assert (
        read(tmp_path / "x_Jelly_cube.obj").n
        == cache(tmp_path / "x_Jelly_cube.pc2")[1].shape[1]
        == 4
    )


def test_sampling_is_given_in_target_frames(run, where, tmp_path):
    export(run, tmp_path / "x.pc2", fps=25, every=2)  # frames 1 and 3 of three: 0 s and 0.08 s
    sampling, x = cache(tmp_path / "x_cloth.pc2")
    assert (sampling, len(x)) == (2.0, 2)
    np.testing.assert_array_equal(x[1], where[4][0].astype(np.float32))


def test_single_body_is_written_under_the_plain_name(tmp_path):
    folder = record_scene(tmp_path / "run", BODIES[: BODIES.index("[[body]]", 10)])
    done = export(folder, tmp_path / "x.pc2")
    assert [file.name for file in done.files] == ["x.pc2", "x.obj"]
    np.testing.assert_array_equal(
        cache(done.files[0])[1], np.float32([frame[0] for frame in positions(folder)])
    )


def test_uneven_frame_times_are_reported(run, tmp_path, log):
    export(run, tmp_path / "x.pc2", at_most=4)  # 0, 2, 3, 5
    assert "assumes equal times between frames" in log.text


@pytest.mark.parametrize("stopped", [True, False])
def test_a_cache_that_grows_with_a_run_equals_an_export(command, tmp_path, stopped, monkeypatch):
    scene = record_scene(tmp_path / "source").joinpath("scene.toml")
    words = ("run", scene, "-o", "run", "--cache", "grown/x.pc2", "--quiet")
    if stopped:
        sizes = []
        add = GrowingPointCache.add

        def add_then_stop(grown, t, q):
            add(grown, t, q)
            sizes.append(len(cache(tmp_path / "grown/x_cloth.pc2")[1]))
            if len(sizes) == 3:
                os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(GrowingPointCache, "add", add_then_stop)
        assert command(*words)[0] == 130
        assert sizes == [1, 2, 3]
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        (tmp_path / "grown/x_cloth.pc2").unlink()
        words = ("resume", "run", "--cache", "grown/x.pc2", "--quiet")
    assert command(*words) == (0, "", "")
    assert command("export", "run", "-o", "whole/x.pc2", "--quiet")[0] == 0
    grown = {path.name: path.read_bytes() for path in (tmp_path / "grown").iterdir()}
    assert sorted(grown) == sorted(f"x_{name}.pc2" for name in PLAIN)
    for name, data in grown.items():
        assert data == (tmp_path / "whole" / name).read_bytes()
    for name in grown:
        (tmp_path / "grown" / name).unlink()
    code, out, _ = command("resume", "run", "--cache", "grown/x.pc2")
    assert (code, "the run is finished" in out) == (0, True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "grown").iterdir()} == grown


def test_a_growing_cache_replaces_files_only_with_overwrite(command, tmp_path):
    (tmp_path / "x.pc2").write_text("mine")
    words = ("run", "spring", "--set", "time.duration=0.02", "-o", "run", "--cache")
    code, _, err = command(*words, "x.pc2")
    assert (code, "output exists: x.pc2" in err) == (2, True)
    assert not (tmp_path / "run").exists()
    assert (tmp_path / "x.pc2").read_text() == "mine"
    code, _, err = command(*words, "x.abc")
    assert (code, "must end in .pc2" in err) == (2, True)
    assert command(*words, "x.pc2", "--overwrite")[0] == 0
    assert cache(tmp_path / "x.pc2")[1].shape == (3, 2, 3)
