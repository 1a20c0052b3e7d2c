"""Wavefront OBJ: names, comments, continued lines, dropped data, and small files that could be
expensive.
"""

import tracemalloc

import numpy as np
import pytest

import taut
from taut.mesh import UV, Mesh

V = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
POINTS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
TWO = {"triangle": [[0, 1, 2], [1, 3, 2]]}


@pytest.fixture
def read(tmp_path):
    def of(content: bytes) -> Mesh:
        (tmp_path / "x.obj").write_bytes(content)
        return taut.mesh.read(tmp_path / "x.obj")

    return of


@pytest.fixture
def back(tmp_path):
    def of(mesh: Mesh) -> Mesh:
        taut.mesh.write(mesh, tmp_path / "y.obj")
        return taut.mesh.read(tmp_path / "y.obj")

    return of


def list_groups(mesh: Mesh) -> dict:
    return {
        name: {kind: index.tolist() for kind, index in by_kind.items()}
        for name, by_kind in mesh.groups.items()
    }


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("x\\", "x_"),
        ("a#b", "a_b"),
        ("a b", "a_b"),
        ("", "_"),
        ("a\ud800", "a_"),
        ("a\x1cb", "a_b"),
        ("material:a b\\", "material:a_b_"),
    ],
)
def test_unsupported_names_are_changed_and_reported(name, word, back, log):
    mesh = back(
        Mesh(POINTS, TWO, groups={name: {"triangle": [0]}, "ä-1": {"triangle": [1], "point": [3]}})
    )
    assert list_groups(mesh) == {word: {"triangle": [0]}, "ä-1": {"triangle": [1], "point": [3]}}
    assert mesh.cells["triangle"].tolist() == TWO["triangle"]
    assert [r.getMessage() for r in log.records] == [f"OBJ: renamed groups: {name!r} to {word!r}"]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (
            {"a b": [0], "a_b": {"triangle": [0]}},
            (
                "group names must differ in OBJ, got 'a b' "
                "and 'a_b', which both become 'a_b'; rename one"
            ),
        ),
        ({"default": {"triangle": [0]}}, "cannot hold a group called 'default'"),
        ({"material:(null)": {"triangle": [0]}}, r"cannot hold a group called 'material:\(null\)'"),
        (
            {"material:a": {"triangle": [0, 1]}, "material:b": {"triangle": [1]}},
            "triangle 1: must have one material in OBJ, got 2: a and b",
        ),
    ],
)
def test_reject_names_that_would_be_lost(groups, message, tmp_path):
    with pytest.raises(taut.errors.MeshError, match=message):
        taut.mesh.write(Mesh(POINTS, TWO, groups=groups), tmp_path / "x.obj")
    assert not (tmp_path / "x.obj").exists()


def test_empty_groups_are_dropped_and_reported(back, log):
    mesh = back(
        Mesh(
            POINTS,
            TWO,
            groups={"default": [], "also none": {"tet": []}, "some": [1], "material:red": [2]},
        )
    )
    assert list_groups(mesh) == {"some": {"point": [1]}, "material:red": {"point": [2]}}
    assert [r.getMessage() for r in log.records] == [
        "OBJ: left out groups without members: 'default', 'also none'"
    ]


def test_texture_coordinates_are_written_for_whole_faces(tmp_path, back, log):
    coordinates = [[0, 0], [1, 0], [0, 1]]
    mesh = back(Mesh(POINTS, TWO, uv=UV(coordinates, {"triangle": [[0, 1, 2], [0, 1, -1]]})))
    assert (tmp_path / "y.obj").read_text().splitlines()[-2:] == ["f 1/1 2/2 3/3", "f 2 4 3"]
    assert mesh.uv.corners["triangle"].tolist() == [[0, 1, 2], [-1, -1, -1]]
    assert [r.getMessage() for r in log.records] == [
        (
            "OBJ: left out the texture coordinates of 1 lines, "
            "or of faces that have them at some corners only"
        )
    ]
    log.clear()
    assert (
        back(Mesh(POINTS, TWO, uv=UV(np.empty((0, 2)), {"triangle": np.full((2, 3), -1)}))).uv
        is None
    )
    assert not log.records


@pytest.mark.parametrize("extension", [".obj", ".off"])
def test_dropped_colours_are_reported(extension, tmp_path, log):
    rgba = np.array([[1, 0, 0, 0.5], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0.25, 0, 0]])
    path = tmp_path / f"x{extension}"
    for color, kept, word in (
        (rgba, rgba[:, :3], "left out the alpha"),
        (rgba[:, :2], None, r"its shape must be (n, 3), got (4, 2)"),
        (rgba[:, 0], None, r"its shape must be (n, 3), got (4,)"),
        (np.where(rgba[:, :3] == 1, np.nan, 0), None, "it must be finite"),
    ):
        log.clear()
        taut.mesh.write(Mesh(POINTS, TWO, point_data={"color": color}), path)
        assert len(log.records) == 1
        assert word in log.text
        mesh = taut.mesh.read(path)
        assert (None if kept is None else kept.tolist()) == (
            mesh.point_data["color"].tolist() if mesh.point_data else None
        )


def test_comments_end_with_their_line_and_follow_a_space(read):
    mesh = read(
        b"# made in C:\\models\\\nv 9 9 9\n"
        + V
        + b"g p#1 # one\nf 1 2 3\ng p#2\nf 1 2 \\\r\n 3 \\\r\n4#\n".replace(b"#\n", b" #\\\n")
    )
    assert mesh.n == 4
    assert mesh.cells["quad"].tolist() == [[0, 1, 2, 3]]
    assert list_groups(mesh) == {"p#1": {"triangle": [0]}, "p#2": {"quad": [0]}}


def test_line_numbers_count_continued_lines(read):
    with pytest.raises(
        taut.errors.MeshError,
        match=r"line 7, face 1: a corner must be vertex\[/texture\[/normal\]\], got 'x'",
    ):
        read(V + b"f 1 \\\n2 \\\n3\nf 1 2 x\n")
    with pytest.raises(
        taut.errors.MeshError,
        match="line 5: the file ends after a backslash, which must be followed by a line",
    ):
        read(V + b"f 1 2 3\nf 1 2 3 \\\n")


def test_byte_order_mark_is_skipped(read, tmp_path):
    bom = b"\xef\xbb\xbf"
    assert read(bom + V + b"f 1 2 3\n").n == 3
    assert read(bom + b"# comment\n" + V + b"f 1 2 3\n").n == 3
    for name, content in (
        ("x.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
        (
            "x.mesh",
            (
                b"MeshVersionFormatted 1\nDimension 3\nVertices 3\n"
                b"0 0 0 0\n1 0 0 0\n0 1 0 0\nTriangles 1\n1 2 3 0\nEnd\n"
            ),
        ),
    ):
        (tmp_path / name).write_bytes(bom + content)
        assert taut.mesh.read(tmp_path / name).n == 3


def test_ignored_statements_are_reported(read, tmp_path, log):
    read(
        b"mtllib a.mtl\nv 0 0 0 1\n"
        + V
        + b"vt 0 0\nvn 0 0 1\ns off\ng a\nf 1//1 2//1 3//1\nvn 1 0 0\n"
    )
    assert [r.getMessage() for r in log.records] == [
        f"{tmp_path / 'x.obj'}: not kept: mtllib, s, vn, vt, weights of v"
    ]
    log.clear()
    mesh = read(V + b"vt 0 0 0\nvt 1 0 0\nvt 0 1 0\nf 1/1 2/2 3/3\n")
    assert mesh.uv.coordinates.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert not log.records


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "x.obj",
            b"v 0 1_0 0\n" + V + b"f 1 2 3\n",
            "line 1, vertex 0: must be a number, got '1_0'",
        ),
        (
            "x.obj",
            V * 4 + b"g a_b\nf 1 2 3\nf 1 2 1_0\n",
            r"line 15, face 1: a corner must be vertex\[/texture\[/normal\]\], got '1_0'",
        ),
        (
            "x.obj",
            V * 4 + b"f 1//1 2//1 3//1_0\n",
            r"line 13, face 0: a corner must be vertex\[/texture\[/normal\]\], got '3//1_0'",
        ),
        (
            "x.obj",
            V + b"f 1/1/1/1 2 3\n",
            r"line 4, face 0: a corner must be vertex\[/texture\[/normal\]\], got '1/1/1/1'",
        ),
        (
            "x.off",
            b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 0_2\n",
            "line 6, face 0: must be an integer, got '0_2'",
        ),
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nDimension 3\nVertices 1\n0 1_0 0 0\n",
            "line 4, vertex 0: must be a number, got '1_0'",
        ),
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nDimension 3\nVertices 1_0\n",
            "line 3: the number of Vertices must be a non-negative integer, got '1_0'",
        ),
    ],
)
def test_reject_underscores_in_numbers(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(taut.errors.MeshError, match=message):
        taut.mesh.read(tmp_path / name)


def test_underscores_in_names_are_accepted(read):
    assert list_groups(read(V + b"g a_b\nusemtl c_d\nf 1 2 3\n")) == {
        "a_b": {"triangle": [0]},
        "material:c_d": {"triangle": [0]},
    }


def test_objects_groups_and_materials_are_independent(read):
    mesh = read(
        V
        + (
            b"o a\ng a b b\nf 1 2 3\nusemtl m\nf 1 2 3\ng c\nf 1 2 3 1\n"
            b"l 1 2 3\no\nusemtl\nf 3 1\np 2 3\np 1\ng\nf 1 2 3\n"
        )
    )
    assert list_groups(mesh) == {
        "a": {"triangle": [0, 1], "quad": [0], "line": [0, 1]},
        "b": {"triangle": [0, 1]},
        "c": {"quad": [0], "line": [0, 1, 2], "point": [0, 1, 2]},
        "material:m": {"triangle": [1], "quad": [0], "line": [0, 1]},
    }
    assert mesh.cells["line"].tolist() == [[0, 1], [1, 2], [2, 0]]


def test_lines_of_different_lengths_keep_their_order(read):
    mesh = read(V + b"l 1 2 3\nl 3 2\nf 1 2 3\nl 3 1 2 3\nl 1 3\n")
    assert mesh.cells["line"].tolist() == [[0, 1], [1, 2], [2, 1], [2, 0], [0, 1], [1, 2], [0, 2]]


NAMES = b"g " + b" ".join(b"a%d" % i for i in range(20000)) + b"\n"
SIZES = b"".join(b"f " + b"1 " * k + b"\n" for k in range(3, 300))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            V + NAMES + b"f 1 2 3\n" * 20000,
            (
                "group 'a0': groups must have at most 1048576 "
                "members in a file of this size, got 400000000"
            ),
        ),
        (
            V + b"f 1 2 3\n" + NAMES + b"p " + b"1 " * 20000,
            (
                "group 'a0': groups must have at most 1048576 "
                "members in a file of this size, got 400000000"
            ),
        ),
        (
            V + NAMES[:1600] + b"\n" + SIZES,
            (
                "group 'a0': groups by kind of cell must be at "
                "most 65536 in a file of this size, got 65813"
            ),
        ),
        (V + NAMES[:30000] + b"\nusemtl x" * 20000 + b"\nf 1 2 3\n", None),
        (V + SIZES + b"g a\ng b\n" * 10000, None),
        (V + b"f 1 2 3\n" + b"g a\n" * 100000, None),
        (V + b"f " + b"1 " * 100000 + b"\nf 1 2 \\\n3\n", None),
        (b"\\\n" * 200000 + V + b"f 1 2 3\n", None),
    ],
    ids=["faces", "points", "kinds", "materials", "sizes", "labels", "long", "continued"],
)
def test_small_files_use_little_memory(content, message, read):
    tracemalloc.start()
    if message is None:
        assert read(content).cells
    else:
        with pytest.raises(taut.errors.MeshError, match=message):
            read(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150 * len(content)
