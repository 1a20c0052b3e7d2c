"""PLY: names and types round trip, declared types are enforced, and dropped data is reported."""

import struct
import tracemalloc

import numpy as np
import pytest

import taut
from taut.mesh import UV, Mesh

POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
MIXED = {"triangle": [[0, 1, 2]], "quad": [[0, 1, 2, 3]]}
VERTEX = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
FACE = "element face 1\nproperty list uchar int vertex_indices\n"
EYE = np.eye(3)
CORNERS = "0 0 0\n1 0 0\n0 1 0\n"


def read(tmp_path, content):
    path = tmp_path / "x.ply"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return taut.mesh.read(path)


def text(vertex="", face="", rows=CORNERS, faces="3 0 1 2\n", before="", behind=""):
    """A text file of three vertices and a face, with further properties and elements."""
    header = f"ply\n{before}format ascii 1.0\n{VERTEX}{vertex}{FACE}{face}{behind}end_header\n"
    return f"{header}{rows}{faces}"


def binary(faces, count=1, length="uchar", vertices=EYE, behind=b"", order="little"):
    """The same file in binary."""
    face = f"element face {count}\nproperty list {length} int vertex_indices\n"
    code = "<f4" if order == "little" else ">f4"
    return (
        f"ply\nformat binary_{order}_endian 1.0\n{VERTEX}{face}end_header\n".encode()
        + vertices.astype(code).tobytes()
        + faces
        + behind
    )


def round_trip(tmp_path, mesh):
    taut.mesh.write(mesh, tmp_path / "trip.ply")
    return taut.mesh.read(tmp_path / "trip.ply")


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"point_data": {"x": [9.0, 9, 9, 9]}}, "'x'"),
        ({"point_data": {"nx": [9.0, 9, 9, 9]}}, "'nx'"),
        ({"point_data": {"s": [1.0, 2, 3, 4], "t": [1.0, 2, 3, 4]}}, "s, t together"),
        (
            {"point_data": {"red": [1, 2, 3, 4], "green": [1, 2, 3, 4], "blue": [1, 2, 3, 4]}},
            "red, green, blue together",
        ),
        ({"point_data": {"red": [1, 2, 3, 4], "color": np.ones((4, 3))}}, "'red'"),
        ({"cell_data": {"vertex_indices": {"triangle": [5], "quad": [6]}}}, "'vertex_indices'"),
        ({"cell_data": {"texcoord": {"triangle": [5], "quad": [6]}}}, "'texcoord'"),
        (
            {"point_data": {"a": np.empty((4, 0))}},
            "data must have components in PLY, got none in 'a'",
        ),
        (
            {"point_data": {"a": [0, 0, 0, 2**53 + 1]}},
            r"integers must be at most 2\*\*53 in PLY, got larger ones in 'a'; make them floats",
        ),
        (
            {"point_data": {"a\ud800": [0, 0, 0, 1]}},
            r"PLY names must be valid Unicode, got 'a\\ud800'; rename it",
        ),
        ({"groups": {"\udc00": [1]}}, r"PLY names must be valid Unicode, got '\\udc00'; rename it"),
    ],
)
def test_reject_ambiguous_data(parts, named, tmp_path):
    with pytest.raises(taut.errors.MeshError, match=named):
        taut.mesh.write(Mesh(POINTS, MIXED, **parts), tmp_path / "x.ply")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "values",
    [
        {"triangle": [1.5], "quad": [2]},
        {"triangle": [1.5], "quad": [[2.0, 3.0]]},
        {"triangle": [1], "quad": [2**40]},
        {"triangle": [1], "quad": [3 * 2**30]},
        {"triangle": [1.5]},
        {"quad": [[7, 8, 9]]},
        {"quad": [np.nan]},
    ],
)
def test_cell_data_of_some_kinds_and_of_different_types(values, tmp_path):
    back = round_trip(
        tmp_path, Mesh(POINTS, MIXED, cell_data={"a": values, "b": {"triangle": [1], "quad": [2]}})
    )
    assert {kind: c.tolist() for kind, c in back.cells.items()} == MIXED
    assert list(back.cell_data["a"]) == list(values)
    for kind, value in values.items():
        np.testing.assert_array_equal(back.cell_data["a"][kind], value)
        floats = np.array(value).dtype.kind == "f" or 2**40 in values.get(
            "quad", []
        )  # integers too large for PLY become doubles
        assert (back.cell_data["a"][kind].dtype.kind == "f") == floats
    assert {kind: v.tolist() for kind, v in back.cell_data["b"].items()} == {
        "triangle": [1],
        "quad": [2],
    }


NAMES = [
    "a b",
    "a_b",
    "",
    " ",
    "a%20b",
    "%",
    "%-",
    "50%",
    "größe",
    "日本",
    "group:a",
    "only:triangle:a",
    "a\nb",
    "end_header",
    "\x85",
]


def test_names_round_trip(tmp_path):
    mesh = Mesh(
        POINTS,
        MIXED,
        groups={name: {"point": [i % 4], "quad": [0]} for i, name in enumerate(NAMES)}
        | {"none": {}},
        point_data={name: np.full(4, i) for i, name in enumerate(NAMES)},
        cell_data={name: {"triangle": [i], "quad": [-i]} for i, name in enumerate(NAMES)}
        | {name + "'": {"quad": [i]} for i, name in enumerate(NAMES)},
    )
    back = round_trip(tmp_path, mesh)

    def plain(parts):
        return {
            name: {kind: v.tolist() for kind, v in by_kind.items()}
            for name, by_kind in parts.items()
        }

    assert plain(back.groups) == plain(mesh.groups)
    assert plain(back.cell_data) == plain(mesh.cell_data)
    assert plain({"all": back.point_data}) == plain({"all": mesh.point_data})


def test_foreign_names_are_unchanged(tmp_path):
    mesh = read(
        tmp_path,
        text(
            "property int 50%\nproperty int %41\nproperty int only:foo:a\n",
            rows="0 0 0 1 2 3\n" * 3,
        ),
    )
    assert list(mesh.point_data) == ["50%", "%41", "only:foo:a"]


@pytest.mark.parametrize(
    "dtype", [np.float16, np.longdouble, np.float32, bool, np.int8, np.uint16, np.uint64, ">f8"]
)
def test_every_number_type_round_trips(dtype, tmp_path):
    back = round_trip(
        tmp_path, Mesh(POINTS, MIXED, point_data={"a": np.array([0, 1, 1, 0], dtype)})
    )
    assert back.point_data["a"].tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    "color",
    [[[0.0, 0.5, 1.0]] * 4, [[0.2, 0.4, 2.0]] * 4, [[0, 128, 255]] * 4, [0.1, 0.2, 0.3, 0.4]],
)
def test_colours_round_trip(color, tmp_path):
    np.testing.assert_array_equal(
        round_trip(tmp_path, Mesh(POINTS, MIXED, point_data={"color": color})).point_data["color"],
        color,
    )


def test_s_and_t_data_do_not_collide_with_face_texture_coordinates(tmp_path):
    uv = UV([[0, 0], [1, 0], [1, 1]], {"triangle": [[0, 1, 2]]})
    back = round_trip(
        tmp_path, Mesh(POINTS, MIXED, uv=uv, point_data={"s": [1, 2, 3, 4], "t": [5, 6, 7, 8]})
    )
    assert back.point_data["t"].tolist() == [5, 6, 7, 8]
    assert back.uv.coordinates[back.uv.corners["triangle"]].tolist() == [[[0, 0], [1, 0], [1, 1]]]
    assert back.uv.corners["quad"].tolist() == [[-1] * 4]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            text(faces="3 0 1 1.7\n"),
            r"line 13, face 0: vertex_indices must be of type int32, got 1\.7",
        ),
        (
            text(faces="3 0 1 nan\n"),
            "line 13, face 0: vertex_indices must be of type int32, got nan",
        ),
        (
            text(faces="3 0 1 4294967296\n"),
            "line 13, face 0: vertex_indices must be of type int32, got 4294967296",
        ),
        (
            text("property uchar a\n", rows="0 0 0 1\n1 0 0 300\n0 1 0 2\n"),
            "line 12, vertex 1: a must be of type uint8, got 300",
        ),
        (
            text("property char a\n", rows="0 0 0 1\n\n1 0 0 -129\n0 1 0 2\n"),
            "line 13, vertex 1: a must be of type int8, got -129",
        ),
        (
            text(face="property list char int a\n", faces="3 0 1 2 200" + " 0" * 200),
            "line 14, face 0: a must be of type int8, got 200",
        ),
        (text(faces="3 0 1 x\n"), "line 13, face 0: must be a number, got 'x'"),
        (text(faces="3 0 1 1_0\n"), "line 13, face 0: must be a number, got '1_0'"),
        (
            text(rows="0 0 0\n1 0 nan\n0 1 0\n"),
            "line 11, vertex 1: numbers must be finite, got nan",
        ),
        (
            text("property float x\n"),
            "line 7, element vertex: the property 'x' must occur once, got it again",
        ),
        (
            text(before="format ascii 1.0\n"),
            (
                r"line 3: must be a format, element, property or "
                r"comment in its place, got 'format ascii 1\.0'"
            ),
        ),
        (
            text(faces="3 0 1 2\n3 0 2 1\n"),
            "line 14: the file must end after its last element, got 1 more rows",
        ),
        (
            binary(b"\3" + struct.pack("<3i", 0, 1, 9)),
            r"face 0: point indices must be 0 to 2, got 9 \(byte 205\)",
        ),
        (
            binary(
                b"\3" + struct.pack("<3i", 0, 1, 2) + b"\4" + struct.pack("<4i", 0, 1, 2, -1), 2
            ),
            r"face 1: point indices must be 0 to 2, got -1 \(byte 218\)",
        ),
        (
            binary(b"\3" + struct.pack("<3i", 0, 1, 2), vertices=np.full((3, 3), np.nan)),
            r"vertex 0: numbers must be finite, got nan \(byte 169\)",
        ),
        (
            binary(b"\3" + struct.pack("<3i", 0, 1, 2), behind=b"junk"),
            r"the file must end after its last element, got 4 more bytes \(byte 218\)",
        ),
        (
            binary(b"\3" + struct.pack("<3i", 0, 1, 2), behind=b"\n\n"),
            r"the file must end after its last element, got 2 more bytes \(byte 218\)",
        ),
        (
            binary(b"\3" + struct.pack("<3i", 0, 1, 2) + b"\4" + bytes(15), 2),
            "ends after 3 of 4 entries of vertex_indices in face 1",
        ),
        (
            binary(b"\3" + struct.pack("<3i", 0, 1, 2) + b"\0", 3),
            "face 2: the file ends after 2 of 3 face rows",
        ),
        (
            binary(b"\3" + struct.pack("<3i", 0, 1, 2) + b"\xff", 2, "char"),
            (
                r"the number of entries of vertex_indices in "
                r"face 1 must not be negative, got -1 \(byte 218\)"
            ),
        ),
        (
            binary(b"\3" + np.array([0, 1, 1.5], "<f4").tobytes()).replace(
                b"uchar int", b"uchar float"
            ),
            r"face 0: corners must be integers, got (1\.5|nan) \(byte 207\)",
        ),
        (
            binary(b"\3" + np.array([0, 1, np.nan], "<f4").tobytes()).replace(
                b"uchar int", b"uchar float"
            ),
            r"face 0: corners must be integers, got (1\.5|nan) \(byte 207\)",
        ),
    ],
)
def test_invalid_files_raise_and_name_the_place(content, message, tmp_path):
    with pytest.raises(taut.errors.MeshError, match=message):
        read(tmp_path, content)


def test_byte_colours_in_text_files_are_scaled(tmp_path):
    mesh = read(
        tmp_path,
        text(
            "".join(f"property uchar {c}\n" for c in ("red", "green", "blue")),
            rows="0 0 0 1 0 1\n" * 3,
        ),
    )
    assert mesh.point_data["color"].tolist() == [[1 / 255, 0, 1 / 255]] * 3


def test_comment_may_contain_end_header(tmp_path):
    for word in (
        "comment the end_header follows\n",
        "comment end_header\n",
        "obj_info end_header\n",
    ):
        assert len(read(tmp_path, text(before=word)).triangles) == 1
        assert len(read(tmp_path, text(before=word).replace("\n", "\r\n")).triangles) == 1
    content = binary(b"\3" + struct.pack("<3i", 0, 1, 2), behind=b"\n").replace(
        b"ply\n", b"ply\ncomment end_header\n"
    )
    assert len(read(tmp_path, content).triangles) == 1


def test_a_body_may_begin_with_a_line_feed(tmp_path):
    header, body = binary(b"\3" + struct.pack("<3i", 0, 1, 2)).split(b"end_header\n")
    number = b"\n\n\n\x3f"  # a float that begins with the byte of a line feed
    content = (header + b"end_header\n").replace(b"\n", b"\r") + number + body[4:]
    assert read(tmp_path, content).points[0, 0] == np.frombuffer(number, "<f4")[0]


def test_dropped_properties_are_named(tmp_path, log):
    extra = "property list uchar int odd\nproperty float nx\n"
    content = text(
        extra,
        rows="0 0 0 1 5 0\n1 0 0 0 0\n0 1 0 2 5 6 0\n",
        behind="element tet 1\nproperty list uchar int corners\n",
    )
    mesh = read(tmp_path, content + "4 0 1 2 2\n")
    assert not mesh.point_data
    (line,) = [record.getMessage() for record in log.records]
    assert "left out" in line
    for word in ("vertex.nx", "vertex.odd (lists of different lengths)", "the element tet"):
        assert word in line


def test_dropped_face_and_strip_properties_are_named(tmp_path, log):
    read(tmp_path, text(face="property list uchar float texcoord\n", faces="3 0 1 2 5 0 0 0 0 0\n"))
    assert "face.texcoord of 1 faces" in log.text
    strips = "element tristrips 1\nproperty list int int vertex_indices\nproperty int colour\n"
    read(
        tmp_path,
        f"ply\nformat ascii 1.0\n{VERTEX}{strips}element edge 1\nproperty int a\nend_header\n"
        f"{CORNERS}3 0 1 2 7\n9\n",
    )
    assert "tristrips.colour, the element edge" in log.text


def test_texture_coordinates_after_a_face_with_too_few(tmp_path):
    content = text(
        face="property list uchar float texcoord\n",
        faces="3 0 1 2 5 9 9 9 9 9\n3 2 1 0 6 1 2 3 4 5 6\n",
    )
    mesh = read(tmp_path, content.replace("face 1", "face 2"))
    assert mesh.uv.corners["triangle"][0].tolist() == [-1, -1, -1]
    assert mesh.uv.coordinates[mesh.uv.corners["triangle"][1]].tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("order", ["little", "big"])
def test_faces_of_many_sizes_in_binary(order, tmp_path):
    rng, sign = np.random.default_rng(1), "<" if order == "little" else ">"
    points = rng.random((9, 3))
    faces = [rng.permutation(9)[: rng.integers(3, 8)].tolist() for _ in range(50)]
    quality = rng.random(50)
    header = f"ply\nformat binary_{order}_endian 1.0\n{VERTEX}".replace("vertex 3", "vertex 9")
    header += "element face 50\nproperty short a\n"
    header += "property list ushort uint vertex_indices\nproperty double quality\nend_header\n"
    body = points.astype(sign + "f4").tobytes()
    for i, face in enumerate(faces):
        body += struct.pack(f"{sign}hH{len(face)}Id", -i, len(face), *face, quality[i])
    mesh = read(tmp_path, header.encode() + body)
    for kind, cells in mesh.cells.items():
        which = [i for i, face in enumerate(faces) if len(face) == cells.shape[1]]
        assert cells.tolist() == [faces[i] for i in which]
        assert mesh.cell_data["a"][kind].tolist() == [-i for i in which]
        assert mesh.cell_data["quality"][kind].tolist() == quality[which].tolist()


def test_triangle_strips(tmp_path):
    header = (
        f"ply\nformat ascii 1.0\n{VERTEX}element tristrips 4\n"
        f"property list int int vertex_indices\nend_header\n{CORNERS}"
    )
    mesh = read(tmp_path, header + "5 0 1 2 0 1\n0\n2 0 1\n9 -1 0 1 2 -1 -1 2 1 0\n")
    assert mesh.cells["triangle"].tolist() == [
        [0, 1, 2],
        [2, 1, 0],
        [2, 0, 1],
        [0, 1, 2],
        [2, 1, 0],
    ]
    with pytest.raises(
        taut.errors.MeshError, match="line 16, tristrips 3: point indices must be 0 to 2, got 7"
    ):
        read(tmp_path, header + "5 0 1 2 0 1\n0\n2 0 1\n9 -1 0 1 2 -1 -1 2 1 7\n")


def test_many_elements_and_strips_are_read(tmp_path):
    elements = "".join(f"element a{i} 0\n" for i in range(50000))
    assert len(read(tmp_path, text(before="", behind=elements)).triangles) == 1
    strips = "element tristrips 200000\nproperty list int int vertex_indices\n"
    mesh = read(
        tmp_path,
        f"ply\nformat ascii 1.0\n{VERTEX}{strips}end_header\n{CORNERS}"
        + "3 0 1 2\n"
        + "0\n" * 199999,
    )
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    "content",
    [
        binary(b"\3" + bytes(12) + b"\1" + bytes(4) + bytes(50000), 50002),
        text(faces="\n" * 500000),
        text(faces="0\n" * 50000),
    ],
    ids=["lists", "breaks", "rows"],
)
def test_expensive_files_use_bounded_memory(content, tmp_path):
    tracemalloc.start()
    try:
        with pytest.raises(taut.errors.MeshError):
            read(tmp_path, content)
        assert tracemalloc.get_traced_memory()[1] < 100 * len(content)
    finally:
        tracemalloc.stop()


def test_reject_too_many_properties_of_too_many_kinds(tmp_path):
    face = "element face 300\nproperty list ushort uchar vertex_indices\n" + "".join(
        f"property uchar group:{i}\n" for i in range(300)
    )
    rows = b"".join(struct.pack("<H", size) + bytes(size) + b"\1" * 300 for size in range(3, 303))
    content = (
        f"ply\nformat binary_little_endian 1.0\n{VERTEX}{face}end_header\n".encode()
        + bytes(36)
        + rows
    )
    with pytest.raises(
        taut.errors.MeshError,
        match=(
            "element face: properties times kinds of cell must be at most "
            "65536 in a file of this size, got 300 properties of 300 kinds"
        ),
    ):
        read(tmp_path, content)
