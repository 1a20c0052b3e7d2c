"""OFF and STL: columns, dropped data, and the limits of single precision."""

import struct

import numpy as np
import pytest

import taut
from taut.mesh import Mesh
from taut.mesh.files.numbers import format_rows

FACET = (
    b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
)


@pytest.fixture
def read(tmp_path):
    def of(name: str, content: bytes) -> Mesh:
        (tmp_path / name).write_bytes(content)
        return taut.mesh.read(tmp_path / name)

    return of


def off(head: str, tail: str, faces: str = "3 0 1 2\n") -> bytes:
    """Three vertices with extra columns after their position."""
    positions = ("0 0 0", "1 0 0", "0 1 0")
    return (
        f"{head}\n3 {len(faces.splitlines())} 0\n".encode()
        + "".join(f"{p} {tail}\n" for p in positions).encode()
        + faces.encode()
    )


@pytest.mark.parametrize(
    ("head", "tail", "color", "uv", "lost"),
    [
        ("OFF", "", None, None, ""),
        ("OFF", "7 7", None, None, "further numbers of vertices"),
        ("COFF", "255 0 51", [1, 0, 0.2], None, ""),
        ("COFF", "0.5 0 0.25 0.75", [0.5, 0, 0.25], None, "alpha"),
        ("CNOFF", "0 0 1 255 0 51 128", [1, 0, 0.2], None, "normals, alpha"),
        ("STOFF", "0.1 0.2", None, [0.1, 0.2], ""),
        ("STCOFF", "0.5 0 0.25 0.1 0.2", [0.5, 0, 0.25], [0.1, 0.2], ""),
        ("STCOFF", "0.5 0 0.25 0.75 0.1 0.2", [0.5, 0, 0.25], [0.1, 0.2], "alpha"),
        ("STCNOFF", "0 0 1 0.5 0 0.25 0.75 0.1 0.2", [0.5, 0, 0.25], [0.1, 0.2], "normals, alpha"),
    ],
)
def test_off_vertex_columns(head, tail, color, uv, lost, read, tmp_path, log):
    mesh = read("x.off", off(head, tail))
    assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert ([color] * 3 if color else None) == (
        mesh.point_data["color"].tolist() if mesh.point_data else None
    )
    assert ([uv] * 3 if uv else None) == (mesh.uv.coordinates.tolist() if mesh.uv else None)
    assert [r.getMessage() for r in log.records] == (
        [f"{tmp_path / 'x.off'}: not kept: {lost}"] if lost else []
    )


def test_dropped_face_colours_are_reported(read, log):
    assert read("x.off", off("OFF", "", "3 0 1 2 255 0 0\n")).cells["triangle"].tolist() == [
        [0, 1, 2]
    ]
    assert "not kept: face colours" in log.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            off("OFF", "") + b"3 0 1 2\n",
            "line 7: the file must end after its 1 faces, got more rows",
        ),
        (
            off("OFF", "", "3 0 1 2\n4 0 1 2 0\n3 0 1 9\n"),
            "line 8, face 2: point indices must be 0 to 2, got 9",
        ),
        (
            off("OFF", "", "3 0 1 2\n4 0 1 2 5\n3 0 1 2\n"),
            "line 7, face 1: point indices must be 0 to 2, got 5",
        ),
        (off("STCOFF", "1 1 1 1"), "line 3, vertex 0: must have 8 numbers, got 7"),
        (off("STCOFF", "1 1 1 1 1 1 1"), "line 3, vertex 0: must have 8 numbers, got 10"),
        (off("COFF", "1 1"), "line 3, vertex 0: must have 6 numbers, got 5"),
        (
            off("COFF", "1 1 1").replace(b"0 1 0 1", b"0 1 0 1 1"),
            "line 5, vertex 2: must have 6 numbers, got 7",
        ),
    ],
)
def test_invalid_off_raises(content, message, read):
    with pytest.raises(taut.errors.MeshError, match=message):
        read("x.off", content)


def test_stl_text_in_capitals(read):
    for content in (
        b"SOLID a\n" + FACET.upper() + b"ENDSOLID a\n",
        b"\xef\xbb\xbfsolid a\n" + FACET + b"endsolid a\n",
    ):
        mesh = read("x.stl", content)
        assert mesh.cells["triangle"].tolist() == [[0, 1, 2]]
        assert mesh.groups["a"]["triangle"].tolist() == [0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            b"normal 0 0 1",
            b"foo 0 0 1",
            "line 2, triangle 0: must be facet normal and 3 numbers, got 'facet foo 0 0 1'",
        ),
        (b"normal 0 0 1", b"normal 0 b 1", "line 2, triangle 0: must be a number, got 'b'"),
        (b"outer loop", b"outer foo", "line 3, triangle 0: must be outer loop, got 'outer foo'"),
        (b"vertex 1 0 0", b"vertex 1_0 0 0", "line 5, corner 1: must be a number, got '1_0'"),
    ],
)
def test_invalid_stl_raises(old, new, message, read):
    with pytest.raises(taut.errors.MeshError, match=message):
        read("x.stl", b"solid\n" + FACET.replace(old, new) + b"endsolid\n")


def test_normals_of_degenerate_triangles_may_be_anything(read):
    assert (
        read("x.stl", b"solid\n" + FACET.replace(b"0 0 1", b"nan nan nan", 1) + b"endsolid\n").n
        == 3
    )


def test_dropped_stl_attributes_are_reported(read, log):
    corners = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()
    head = bytes(80) + struct.pack("<I", 1) + corners
    assert read("x.stl", head + b"\0\0").n == 3
    assert not log.records
    assert read("x.stl", head + b"\1\0").n == 3
    assert "not kept: attributes of triangles" in log.text


def test_reject_points_beyond_single_precision(tmp_path):
    mesh = Mesh(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1e39, 0]], {"triangle": [[0, 1, 2], [0, 1, 3]]}
    )
    with pytest.raises(
        taut.errors.MeshError, match="triangle 1: coordinates must fit the single precision of STL"
    ):
        taut.mesh.write(mesh, tmp_path / "x.stl")
    assert not (tmp_path / "x.stl").exists()


def test_format_empty_rows():
    assert format_rows(np.empty((0, 3))) == format_rows(np.empty(0)) == []
