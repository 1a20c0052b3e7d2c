"""Mesh files: round trips of random meshes, and files spliced from valid ones."""

import logging
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import taut
from benchmarks.reliability.hostile_meshes import samples
from taut.mesh import Mesh
from taut.mesh.files import FORMATS

SAMPLES = {name: files for name, files in samples().items() if len(files) == 1}
BY_FORMAT = {
    suffix: [name for name in SAMPLES if Path(name).suffix == suffix] for suffix in FORMATS
}
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
CORNERS = {"line": 2, "triangle": 3, "quad": 4, "tet": 4}
SINGLE = {".stl", ".glb"}  # points in single precision
NUMBERS = st.floats(-1e6, 1e6).map(
    lambda v: float(np.float32(v))
)  # single precision, which every format can hold


@st.composite
def meshes(draw):
    """A small mesh of lines, triangles, quads or tetrahedra, with a group and data.

    All points are distinct and used.
    """
    n = draw(st.integers(4, 9))
    points = np.array(
        draw(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=n, max_size=n, unique=True))
    )
    kinds = draw(st.lists(st.sampled_from(list(CORNERS)), min_size=1, max_size=2, unique=True))
    corners = st.permutations(range(n))
    cells = {
        kind: [draw(corners)[: CORNERS[kind]] for _ in range(draw(st.integers(1, 3)))]
        for kind in kinds
    }
    cells.setdefault("line", []).extend([i, i + 1] for i in range(n - 1))
    word = st.text("abcXYZ_09", min_size=1, max_size=6)
    groups = {f"g{draw(word)}": sorted(draw(st.sets(st.integers(0, n - 1), min_size=1)))}
    return Mesh(
        points,
        cells,
        groups=groups,
        point_data={f"d{draw(word)}": draw(st.lists(NUMBERS, min_size=n, max_size=n))},
    )


@pytest.mark.parametrize("suffix", FORMATS)
@settings(max_examples=25, deadline=None, suppress_health_check=QUIET)
@given(mesh=meshes())
def test_write_read_round_trip(tmp_path, suffix, mesh):
    logging.getLogger("taut").setLevel(logging.ERROR)  # silence warnings about dropped data
    path = tmp_path / f"x{suffix}"
    for old in tmp_path.iterdir():
        old.unlink()
    try:
        taut.mesh.write(mesh, path)
    except taut.errors.MeshError:  # cells that the format cannot hold
        return
    found = taut.mesh.read(path)
    if suffix == ".stl":  # STL stores triangles without shared points
        assert found.positions[found.triangles].tolist() == mesh.positions[mesh.triangles].tolist()
        return
    assert found.points.tolist() == mesh.points.tolist()
    assert {kind: np.asarray(c).tolist() for kind, c in found.cells.items()} == {
        k: np.asarray(c).tolist() for k, c in mesh.cells.items()
    }
    for name, values in found.point_data.items():
        np.testing.assert_array_equal(np.ravel(values), np.ravel(mesh.point_data[name]))


@pytest.mark.parametrize("suffix", [suffix for suffix, names in BY_FORMAT.items() if names])
@settings(max_examples=60, deadline=None, suppress_health_check=QUIET)
@given(data=st.data())
def test_spliced_files_give_a_mesh_or_a_mesh_error(tmp_path, suffix, data):
    """The beginning of one file, a piece of another and the end of a third.

    The pieces are well-formed but do not belong together.
    """
    logging.getLogger("taut").setLevel(logging.ERROR)
    parts = [
        next(iter(SAMPLES[data.draw(st.sampled_from(BY_FORMAT[suffix]))].values()))
        for _ in range(3)
    ]
    cuts = [data.draw(st.integers(0, len(part))) for part in parts]
    inserted = data.draw(
        st.binary(max_size=8)
        | st.sampled_from([b"", b"\n", b"-1 ", b"1e400", b"\xff" * 4, b"\0" * 8, b"2147483648 "])
    )
    path = tmp_path / f"x{suffix}"
    path.write_bytes(
        parts[0][: cuts[0]]
        + inserted
        + parts[1][min(cuts[:2]) : max(cuts[:2])]
        + parts[2][cuts[2] :]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = taut.mesh.read(path)
        except taut.errors.MeshError as error:
            message = str(error)
        else:
            assert np.isfinite(found.points).all()
            assert all(
                0 <= np.min(c) <= np.max(c) < found.n for c in found.cells.values() if np.size(c)
            )
            return
    assert str(path) in message
    assert "memory" not in message
