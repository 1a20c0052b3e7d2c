"""Writing is atomic, keeps permissions and links, and rejects bad arguments."""

import os
import stat
import threading

import numpy as np
import pytest

import taut
from taut.mesh import Mesh, sphere

SMALL = sphere(1)


def test_links_and_permissions_are_kept(tmp_path):
    (tmp_path / "real.obj").write_text("old")
    (tmp_path / "real.obj").chmod(0o600)
    (tmp_path / "link.obj").symlink_to("real.obj")
    taut.mesh.write(SMALL, tmp_path / "link.obj")
    assert (tmp_path / "link.obj").is_symlink()
    assert taut.mesh.read(tmp_path / "real.obj").n == 12
    assert stat.S_IMODE((tmp_path / "real.obj").stat().st_mode) == 0o600
    new = tmp_path / "new.obj"
    taut.mesh.write(SMALL, new)
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(new.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_multi_file_formats_are_written_completely_or_not_at_all(tmp_path):
    (tmp_path / "x.node").write_text("old")
    (tmp_path / "x.face").mkdir()
    with pytest.raises(
        taut.errors.MeshError, match=r"x\.face: cannot be written: it is a directory"
    ):
        taut.mesh.write(SMALL, tmp_path / "x.node")
    assert (tmp_path / "x.node").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.face", "x.node"]


def test_reject_link_loops(tmp_path):
    (tmp_path / "x.obj").symlink_to("x.obj")
    with pytest.raises(taut.errors.MeshError, match="cannot be written"):
        taut.mesh.write(SMALL, tmp_path / "x.obj")


def test_long_names_and_concurrent_writes(tmp_path):
    path, errors = tmp_path / ("x" * 250 + ".obj"), []

    def write():
        try:
            for _ in range(20):
                taut.mesh.write(SMALL, path)
        except taut.errors.MeshError as error:
            errors.append(error)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert os.listdir(tmp_path) == [path.name]
    assert taut.mesh.read(path).n == 12


def test_reject_bad_arguments():
    for call, message in (
        (lambda: taut.mesh.write("x.obj", SMALL), "mesh must be a Mesh, got str"),
        (lambda: taut.mesh.write(SMALL, 3), "path must be a string or a Path, got int"),
        (lambda: taut.mesh.write(SMALL, "a\0.obj"), "path must not contain a null character"),
        (lambda: taut.mesh.read(3), "path must be a string or a Path"),
        (lambda: taut.mesh.read("x.obj", up=["z"]), "up must be 'x', 'y' or 'z', got"),
        (lambda: taut.mesh.read("x.obj", scale=True), "scale must be a positive number"),
        (lambda: taut.mesh.read("x.obj", scale=10**400), "scale must be a positive number"),
    ):
        with pytest.raises(taut.errors.MeshError, match=message):
            call()


def test_numpy_scale_and_overflow(tmp_path):
    taut.mesh.write(
        Mesh([[0, 0, 0], [1e300, 0, 0], [0, 1, 0]], {"triangle": [[0, 1, 2]]}), tmp_path / "x.obj"
    )
    assert taut.mesh.read(tmp_path / "x.obj", scale=np.float32(0.5)).points[2, 1] == 0.5
    with pytest.raises(taut.errors.MeshError, match=r"x\.obj, point 1: position must be finite"):
        taut.mesh.read(tmp_path / "x.obj", scale=1e20)


def test_vector_data_is_not_rotated_and_reported(tmp_path, log):
    taut.mesh.write(SMALL.with_(point_data={"velocity": np.ones((12, 3))}), tmp_path / "x.vtu")
    taut.mesh.read(tmp_path / "x.vtu", up="z")
    assert "maps with three columns are left as they are: velocity" in log.text


def test_mesh_is_immutable():
    mesh = SMALL.with_(groups={"a": [0]}, point_data={"w": np.ones(12)})
    for change in (
        lambda: mesh.groups.update(b={}),
        lambda: mesh.groups["a"].clear(),
        lambda: mesh.cells.pop("triangle"),
        lambda: mesh.point_data.__setitem__("w", 1),
    ):
        with pytest.raises(taut.errors.MeshError, match="a mesh is immutable"):
            change()
