"""MSH files: all versions and encodings, round trips; damaged files raise MeshError."""

import logging
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from benchmarks.reliability.spoil import spoil
from taut.errors import MeshError
from taut.mesh import Mesh
from taut.mesh.files import gmsh
from tests.mesh.meshes import real

HERE = Path("some.msh")

# tags are unordered and have gaps
NODES = {
    30: (0.0, 0.0, 0.0),
    7: (1.0, 0.0, 0.0),
    9: (1.0, 1.0, 0.5),
    4: (0.0, 1.0, 0.1),
    100: (0.3, 0.3, 2.0),
}
NAMES = b'$PhysicalNames\n3\n0 5 "pins"\n2 1 "skin"\n2 2 "left half"\n$EndPhysicalNames\n'
# entity by dimension and number: its physical groups, and its elements of one type by tag
PARTS = {
    (0, 1): ([5], 15, {1: (7,), 2: (4,)}),
    (1, 1): ([1], 1, {3: (30, 7), 5: (7, 9)}),
    (2, 1): ([1, 2], 2, {6: (30, 7, 9)}),
    (2, 2): ([1], 2, {10: (30, 9, 4)}),
    (2, 3): ([], 3, {11: (30, 7, 9, 4)}),
    (3, 1): ([3], 4, {12: (30, 7, 9, 100), 20: (30, 9, 4, 100)}),
}
POINTS = list(NODES.values())
CELLS = {
    "line": [[0, 1], [1, 2]],
    "triangle": [[0, 1, 2], [0, 2, 3]],
    "quad": [[0, 1, 2, 3]],
    "tet": [[0, 1, 2, 4], [0, 2, 3, 4]],
}
GROUPS = {
    "pins": {"point": [1, 3]},
    "skin": {"triangle": [0, 1]},
    "left half": {"triangle": [0]},
    "physical1_1d": {"line": [0, 1]},  # 1 is a group of faces too
    "physical3": {"tet": [0, 1]},
}

ENCODINGS = [("2.2", ""), ("2.2", "<8"), ("2.2", ">8"), ("4", ""), ("4.0", "<8"), ("4.0", ">8")]
ENCODINGS += [("4.1", ""), ("4.1", "<8"), ("4.1", "<4"), ("4.1", ">8")]


class Encoder:
    """Numbers as text or as bytes in a byte order, with 4 or 8 bytes for a size."""

    def __init__(self, version, how):
        self.how, self.formats = how, {"i": "i", "d": "d", "s": "Q" if how.endswith("8") else "I"}
        mark = struct.pack(how[0] + "i", 1) + b"\n" if how else b""
        self.out = (
            f"$MeshFormat\n{version} {int(bool(how))} {how[1:] or 8}\n".encode()
            + mark
            + b"$EndMeshFormat\n"
        )

    def put(self, kinds, *values):
        if self.how:
            self.out += struct.pack(self.how[0] + "".join(self.formats[k] for k in kinds), *values)
        else:
            self.out += " ".join(map(repr, values)).encode() + b"\n"

    def text(self, text):
        self.out += text

    def end(self, name):
        self.out += (b"\n" if self.how else b"") + b"$End" + name + b"\n"


def encoded2(how):
    e = Encoder("2.2", how)
    e.text(NAMES + b"$Nodes\n%d\n" % len(NODES))
    for tag, point in NODES.items():
        e.put("iddd", tag, *point)
    e.end(b"Nodes")
    # an element of two groups appears twice, as Gmsh writes it
    rows = [
        (tag + 50 * j, code, group, entity, nodes)
        for (_, entity), (groups, code, elements) in PARTS.items()
        for tag, nodes in elements.items()
        for j, group in enumerate(groups or [0])
    ]
    e.text(b"$Elements\n%d\n" % len(rows))
    for tag, code, group, entity, nodes in rows:
        head = [code, 1, 2, tag] if how else [tag, code, 2]
        e.put("i" * (len(head) + 2 + len(nodes)), *head, group, entity, *nodes)
    e.end(b"Elements")
    return e


def encoded4(version, how, partitioned=False, parametric=False):
    old = version != "4.1"
    e = Encoder(version, how)
    e.text(NAMES)
    name = b"PartitionedEntities" if partitioned else b"Entities"
    e.text(b"$" + name + b"\n")
    if partitioned:
        e.put("s", 2)
        e.put("s", 1)
        e.put("ii", 99, 1)
    e.put("ssss", *(sum(d == dimension for d, _ in PARTS) for dimension in range(4)))
    for (dimension, tag), (groups, _, _) in PARTS.items():
        parent = ("iisii", (dimension, tag, 2, 1, 2)) if partitioned else ("", ())
        box = 3 if dimension == 0 and not old else 6
        bounds = ("s" + "i" * 2, (2, 1, -2)) if dimension else ("", ())
        kinds = "i" + parent[0] + "d" * box + "s" + "i" * len(groups) + bounds[0]
        e.put(kinds, tag, *parent[1], *[0.25] * box, len(groups), *groups, *bounds[1])
    e.end(name)
    e.text(b"$Nodes\n")
    e.put("ss" if old else "ssss", 2, len(NODES), *([] if old else [1, 100]))
    tags = list(NODES)
    for block, (dimension, entity) in ((tags[:3], (2, 1)), (tags[3:], (1, 1))):
        head = (entity, dimension) if old else (dimension, entity)
        e.put("iiis", *head, int(parametric), len(block))
        rest = [0.125] * dimension if parametric else []
        for tag in [] if old else block:
            e.put("s", tag)
        for tag in block:
            e.put(
                ("i" if old else "") + "d" * (3 + len(rest)),
                *([tag] if old else []),
                *NODES[tag],
                *rest,
            )
    e.end(b"Nodes")
    e.text(b"$Elements\n")
    e.put("ss" if old else "ssss", len(PARTS), 9, *([] if old else [1, 20]))
    for (dimension, entity), (_, code, elements) in PARTS.items():
        e.put("iiis", *((entity, dimension) if old else (dimension, entity)), code, len(elements))
        for tag, nodes in elements.items():
            e.put(("i" if old else "s") * (1 + len(nodes)), tag, *nodes)
    e.end(b"Elements")
    return e


def encoder(version, how):
    return encoded2(how) if version == "2.2" else encoded4(version, how)


def lists(by_kind):
    return {kind: array.tolist() for kind, array in by_kind.items()}


def assert_is_the_mesh(mesh):
    assert mesh.points.tolist() == [list(p) for p in POINTS]
    assert lists(mesh.cells) == CELLS
    assert {name: lists(group) for name, group in mesh.groups.items()} == GROUPS


@pytest.mark.parametrize(("version", "how"), ENCODINGS)
def test_all_versions_and_encodings_give_the_same_mesh(version, how):
    assert_is_the_mesh(gmsh.read(HERE, encoder(version, how).out))


@pytest.mark.parametrize(("version", "how"), ENCODINGS[3:])
@pytest.mark.parametrize("more", [{"partitioned": True}, {"parametric": True}], ids=str)
def test_partitioned_entities_and_parametric_nodes(version, how, more):
    assert_is_the_mesh(gmsh.read(HERE, encoded4(version, how, **more).out))


@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_windows_line_endings(version):
    assert_is_the_mesh(gmsh.read(HERE, encoder(version, "").out.replace(b"\n", b"\r\n")))


def test_late_entities_and_unknown_sections(caplog):
    data = encoder("4.1", "").out
    start, end = data.index(b"$Entities"), data.index(b"$Nodes")
    moved = data[:start] + data[end:] + data[start:end] + b"$Periodic\n0\n$EndPeriodic\n"
    moved += b"$Mine\nanything\n$EndMine\n" * 2 + b"$Yours\n$EndYours\n"
    with caplog.at_level(logging.INFO, "taut"):
        assert_is_the_mesh(gmsh.read(HERE, moved))
    assert [r.getMessage() for r in caplog.records] == ["some.msh: left out: $Mine, $Yours"]


def data_section(e, name, title, width, rows):
    e.text(b'$%s\n1\n"%s"\n1\n0.5\n3\n0\n%d\n%d\n' % (name, title, width, len(rows)))
    for tag, *values in rows:
        e.put("i" + "d" * width, tag, *values)
    e.end(name)


@pytest.mark.parametrize(("version", "how"), ENCODINGS)
def test_data_at_nodes_and_elements(version, how):
    e = encoder(version, how)
    data_section(e, b"NodeData", b"heat", 1, [(tag, tag / 8) for tag in NODES])
    data_section(e, b"NodeData", b"heat", 1, [(9, 2.5)])
    data_section(
        e, b"NodeData", b"pull", 3, [(tag, 1.0, 2.0, float(tag)) for tag in reversed(NODES)]
    )
    data_section(e, b"ElementData", b"stress", 1, [(20, -1.0), (10, 3.0), (12, 4.0), (1, 9.0)])
    mesh = gmsh.read(HERE, e.out)
    assert mesh.point_data["heat"].tolist() == [tag / 8 for tag in NODES]
    np.testing.assert_array_equal(mesh.point_data["heat@1"], [np.nan, np.nan, 2.5, np.nan, np.nan])
    assert mesh.point_data["pull"].tolist() == [[1.0, 2.0, float(tag)] for tag in NODES]
    np.testing.assert_array_equal(mesh.cell_data["stress"]["triangle"], [np.nan, 3.0])
    np.testing.assert_array_equal(mesh.cell_data["stress"]["tet"], [4.0, -1.0])
    assert mesh.cell_data["stress"].keys() == {"triangle", "tet"}


def test_public_file_matches_its_raw_bytes():
    path = real("hand.msh")
    data = path.read_bytes()
    at = data.index(b"$Nodes\n") + len(b"$Nodes\n")
    n, at = int(data[at : data.index(b"\n", at)]), data.index(b"\n", at) + 1
    nodes = [struct.unpack_from("<iddd", data, at + 28 * i) for i in range(n)]
    at = data.index(b"$Elements\n") + len(b"$Elements\n")
    m, at = int(data[at : data.index(b"\n", at)]), data.index(b"\n", at) + 1
    cells = {2: [], 4: []}
    while sum(map(len, cells.values())) < m:
        code, count, depth = struct.unpack_from("<3i", data, at)
        size = {2: 3, 4: 4}[code]
        for i in range(count):
            record = struct.unpack_from(
                f"<{1 + depth + size}i", data, at + 12 + 4 * i * (1 + depth + size)
            )
            cells[code].append([node - 1 for node in record[1 + depth :]])
        at += 12 + 4 * count * (1 + depth + size)
    mesh = gmsh.read(path, data)
    assert (mesh.n, len(mesh.cells["triangle"]), len(mesh.cells["tet"])) == (7234, 9556, 29998)
    assert [node[0] for node in nodes] == list(range(1, n + 1))
    assert mesh.points.tolist() == [list(node[1:]) for node in nodes]
    assert lists(mesh.cells) == {"triangle": cells[2], "tet": cells[4]}
    assert mesh.cell_data["E"]["tet"].shape == (29998,)
    assert (np.abs(mesh.volumes) > 0).all()


def everything():
    rng = np.random.default_rng(1)
    sizes = {"line": 2, "triangle": 3, "quad": 4, "tet": 4, "pyramid": 5, "wedge": 6, "hex": 8}
    cells = {
        kind: np.array([rng.permutation(20)[:size] for _ in range(6)])
        for kind, size in sizes.items()
    }
    return Mesh(
        rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-250, 250, (20, 1)),
        cells,
        groups={
            "a b": {"triangle": [0, 2, 3], "tet": [1, 5]},
            "say 'so'": {"triangle": [2, 3, 4], "point": [3, 7]},
            "pins": [7, 9, 11],
            "physical1": {"quad": [5], "hex": [0], "line": [0, 1]},
            "none": [],
            "äß": {"wedge": range(6)},
        },
        point_data={
            "t": rng.normal(size=20),
            "of 3": rng.normal(size=(20, 3)),
            "gaps": np.where(rng.random(20) < 0.5, np.nan, 1.0),
        },
        cell_data={
            "s": {
                "triangle": rng.normal(size=6),
                "tet": rng.normal(size=(6, 9)),
                "hex": rng.normal(size=6),
            },
            "$End": {"hex": rng.normal(size=6)},
            "id": {kind: np.arange(6.0) + size for kind, size in sizes.items()},
        },
    )


def test_write_read_round_trip_is_bit_identical():
    mesh = everything()
    back = gmsh.read(HERE, gmsh.write(mesh))
    np.testing.assert_array_equal(back.points, mesh.points)
    assert lists(back.cells) == lists(mesh.cells)
    assert {name: lists(group) for name, group in back.groups.items()} == {
        name: lists(group) for name, group in mesh.groups.items()
    }
    assert back.point_data.keys() == mesh.point_data.keys()
    for name, values in mesh.point_data.items():
        np.testing.assert_array_equal(back.point_data[name], values)
    for name, by_kind in mesh.cell_data.items():
        assert back.cell_data[name].keys() == by_kind.keys()
        for kind, values in by_kind.items():
            np.testing.assert_array_equal(back.cell_data[name][kind], values)
    assert gmsh.write(back) == gmsh.write(mesh)


def test_non_float_data_keeps_its_values():
    mesh = Mesh(
        [[0, 0], [1, 0]],
        {"line": [[0, 1]]},
        point_data={"on": np.array([True, False]), "id": np.array([3, -(2**40)])},
    )
    back = gmsh.read(HERE, gmsh.write(mesh))
    assert back.points.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert (back.point_data["on"].tolist(), back.point_data["id"].tolist()) == (
        [1.0, 0.0],
        [3.0, -(2.0**40)],
    )


def test_data_of_equal_width_share_a_section():
    data = gmsh.write(everything())
    assert [data.count(b'$ElementData\n1\n"%s"\n' % name) for name in (b"s", b"$End", b"id")] == [
        2,
        1,
        1,
    ]


def test_long_doubles_are_written_as_doubles():
    line = Mesh(
        [[0, 0], [1, 0]],
        {"line": [[0, 1]]},
        cell_data={"w": {"line": np.array([0.1], np.longdouble)}},
    )
    back = gmsh.read(
        HERE, gmsh.write(line.with_(point_data={"t": np.array([1.0, 2.5], np.longdouble)}))
    )
    assert (back.point_data["t"].tolist(), back.cell_data["w"]["line"].tolist()) == (
        [1.0, 2.5],
        [float(np.longdouble(0.1))],
    )
    if np.isfinite(huge := np.longdouble("1e400")):
        with pytest.raises(MeshError, match="MSH data must fit 64-bit floats, got a larger number"):
            gmsh.write(line.with_(point_data={"t": np.array([1.0, huge])}))


@pytest.mark.parametrize("name", ["a\nb", 'say "so"', "half\ud800"])
def test_reject_names_that_cannot_be_written(name):
    line = Mesh([[0, 0], [1, 0]], {"line": [[0, 1]]})
    for what, changed in [
        ("group", line.with_(groups={name: [0]})),
        ("data", line.with_(point_data={name: [0, 1]})),
    ]:
        with pytest.raises(
            MeshError, match=f"must not contain .*, got {what} {re.escape(repr(name))}"
        ):
            gmsh.write(changed)


def bad2(old, new):
    data = encoder("2.2", "").out
    assert old in data
    return data.replace(old, new, 1)


def bad4(old, new):
    data = encoder("4.1", "").out
    assert old in data
    return data.replace(old, new, 1)


ELEMENT = b"$EndElements\n$ElementData\n0\n0\n3\n0\n1\n0\n$EndElementData\n"
DATA = b"$EndElements\n$NodeData\n0\n0\n3\n0\n%s\n$EndNodeData\n"
# a damaged file, the error message, the start of the line that the error names, and the element
WRONG = {
    "unknown node": (
        bad2(b"6 2 2 1 1 30 7 9", b"6 2 2 1 1 30 8 9"),
        r"element 6 must name nodes that exist, got 8",
        b"6 2 2 1",
        "triangle 0",
    ),
    "unknown node 4.1": (
        bad4(b"10 30 9 4\n", b"10 30 9 5\n"),
        r"element 10 must name nodes that exist, got 5",
        b"10 30 9",
        "triangle 1",
    ),
    "coordinates must be finite": (
        bad2(b"9 1.0 1.0 0.5", b"9 1.0 nan 0.5"),
        "coordinates must be finite",
        b"9 1.0",
        "point 2",
    ),
    "not finite 4.1": (
        bad4(b"1.0 1.0 0.5", b"1.0 inf 0.5"),
        "coordinates must be finite",
        b"1.0 inf",
        "point 2",
    ),
    "no number": (
        bad2(b"9 1.0 1.0 0.5", b"9 1.0 l.0 0.5"),
        r"must be a number, got 'l\.0'",
        b"9 1.0",
        None,
    ),
    "too few numbers": (
        bad2(b"9 1.0 1.0 0.5", b"9 1.0 0.5"),
        r"must have 4 numbers, got 3",
        b"9 1.0",
        "node 2",
    ),
    "too many numbers": (
        bad2(b"9 1.0 1.0 0.5", b"9 1.0 0.5 0.5 1.5"),
        r"must have 4 numbers, got 5",
        b"9 1.0",
        "node 2",
    ),
    "short element": (
        bad2(b"6 2 2 1 1 30 7 9", b"6 2 2 1 1 30 7"),
        r"must have 8 numbers, got 7",
        b"6 2 2 1",
        "element 6",
    ),
    "short element 4.1": (
        bad4(b"12 30 7 9 100\n", b"12 30 7 100\n"),
        r"must have 5 numbers, got 4",
        b"12 30 7",
        "element 12",
    ),
    "shifted 4.1": (
        bad4(b"10 30 9 4\n", b"10 30 9\n"),
        r"must have 4 numbers, got 3",
        b"10 30 9",
        "element 10",
    ),
    "second order": (
        bad2(b"6 2 2 1 1 30 7 9", b"6 9 2 1 1 30 7 9 4 4 4"),
        (
            r"elements must have corners only \(save with Mesh\.ElementOrder "
            r"= 1\), got a triangle with 6 nodes, of higher"
        ),
        b"6 9 2",
        "element 6",
    ),
    "second order 4.1": (
        bad4(b"3 1 4 2\n", b"3 1 11 2\n"),
        (
            r"elements must have corners only \(save with Mesh\.ElementOrder "
            r"= 1\), got a tet with 10 nodes, of higher order"
        ),
        b"3 1 11 2",
        "element block",
    ),
    "node twice": (
        bad2(b"\n7 1.0", b"\n30 1.0"),
        "node tags must differ, got 30 twice",
        b"30 1.0",
        "point 1",
    ),
    "node twice 4.1": (
        bad4(b"2 1 0 3\n30\n7\n", b"2 1 0 3\n30\n30\n"),
        "node tags must differ, got 30 twice",
        b"30\n9\n",
        "point 1",
    ),
    "element twice": (
        bad2(b"\n10 2", b"\n6 2").replace(b"$EndElements\n", ELEMENT),
        r"element tags must differ where elements have values, got 6 twice",
        b"6 2 2 1 2",
        "element 6",
    ),
    "more than announced": (
        bad2(b"$Nodes\n5", b"$Nodes\n4"),
        r"the section must end after the entries it announces, got more",
        b"100 0.3",
        None,
    ),
    "fewer than announced": (
        bad2(b"$Nodes\n5", b"$Nodes\n6"),
        "ends after 5 of 6 nodes",
        b"$EndNodes",
        None,
    ),
    "a huge count": (
        bad4(b"2 1 0 3\n", b"2 1 0 9000000000000000\n"),
        "ends after",
        b"$EndNodes",
        None,
    ),
    "a huge count of elements": (
        bad2(b"$Elements\n", b"$Elements\n99999999999999"),
        "ends after",
        b"$EndElements",
        None,
    ),
    "a negative count": (
        bad4(b"2 1 0 3\n", b"2 1 0 -3\n"),
        r"the number of nodes must not be negative, got -3",
        b"30\n",
        None,
    ),
    "no end": (
        bad2(b"$EndNodes", b"$EndNode"),
        r"the section must end with \$EndNodes, got the end of the file",
        b"$Nodes",
        None,
    ),
    "stray words": (
        bad2(b"$EndNodes\n", b"$EndNodes\nhello\n"),
        r"must be the start of a section such as \$Nodes, got 'hello'",
        b"hello",
        None,
    ),
    "no nodes": (
        bad2(b"$Nodes", b"$Comments").replace(b"EndNodes", b"EndComments"),
        "no section \\$Nodes",
        None,
        None,
    ),
    "a bad name": (
        bad2(b'2 1 "skin"', b"2 1 skin"),
        "must be 'dimension number \"name\"', got '2 1 skin'",
        b"2 1 skin",
        "name 1",
    ),
    "a version to come": (
        bad2(b"2.2 0 8", b"5.0 0 8"),
        (
            r"the version must be 2, 4\.0 or 4\.1, got 5\.0; "
            r"save it as MSH 4\.1 \(Mesh\.MshFileVersion = 4\.1\)"
        ),
        b"5.0",
        None,
    ),
    "MSH 1": (
        b"$NOD\n1\n1 0 0 0\n$ENDNOD\n",
        (
            r"the version must be 2, 4\.0 or 4\.1, got 1; save "
            r"it as MSH 4\.1 \(Mesh\.MshFileVersion = 4\.1\)"
        ),
        None,
        None,
    ),
    "Fluent": (
        b'(0 "Fluent")\n(2 3)\n',
        r"must be a mesh of Gmsh, got one of Fluent, whose files are called \.msh too",
        None,
        None,
    ),
    "parameters": (
        bad2(b"$Nodes", b"$ParametricNodes").replace(b"EndN", b"EndParametricN"),
        "SaveParametric = 0",
        b"5\n",
        None,
    ),
    "byte order": (
        encoder("4.1", "<8").out.replace(b"\1\0\0\0\n$End", b"\2\0\0\0\n$End"),
        "byte order",
        b"\2",
        None,
    ),
    "binary cut": (
        encoder("2.2", "<8").out.replace(b"$Nodes\n5", b"$Nodes\n6"),
        "ends after 5 of 6 nodes .*byte",
        None,
        None,
    ),
    "data for nothing": (
        bad2(b"$EndElements\n", DATA % b"1\n1\n8 1.5"),
        r"the node must exist, got 8",
        b"8 1.5",
        "value 0 of 'NodeData'",
    ),
    "components": (
        bad2(b"$EndElements\n", DATA % b"9999999999\n0"),
        r"values must have as many components as fit the section, got 9999999999",
        b"3\n0\n99999",
        None,
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_invalid_files_raise_with_line_and_element(what):
    data, message, begins, element = WRONG[what]
    with pytest.raises(MeshError, match=message) as caught:
        gmsh.read(HERE, data)
    line = None if begins is None else 2 + data[: data.index(b"\n" + begins)].count(b"\n")
    assert (caught.value.path, caught.value.line, caught.value.element) == (HERE, line, element)


def test_reject_sparse_data_that_expands_too_much():
    n = 20_000
    nodes = b"$Nodes\n%d\n" % n + b"".join(b"%d 0 0 0\n" % i for i in range(n)) + b"$EndNodes\n"
    one = b"$NodeData\n0\n0\n3\n0\n1\n1\n1 1\n$EndNodeData\n"
    with pytest.raises(
        MeshError, match="the data must be at most 32 times as large as the file; split it"
    ):
        gmsh.read(HERE, b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + nodes + one * 2000)


SMALL = b"$Nodes\n1 3 1 3\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n"
HEAD = b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (b"$A%d\n$EndA%d\n", r"there must be at most 1000 sections; split the file"),
        (
            b"$Elements\n0 0 0 0\n$EndElements\n",
            r"there must be at most 1000 sections; split the file",
        ),
        (
            b"$NodeData\n0\n0\n3\n0\n1\n0\n$EndNodeData\n",
            r"there must be at most 10000 sections of data; split the file",
        ),
    ],
)
def test_reject_many_small_sections(section, message, caplog):
    many = b"".join(section.replace(b"%d", b"%d" % i) for i in range(10_001))
    with caplog.at_level(logging.INFO, "taut"), pytest.raises(MeshError, match=message) as caught:
        gmsh.read(HERE, HEAD + SMALL + many)
    assert caught.value.line > 1000
    assert not caplog.records


def groups_on_one_entity(count):
    numbers = b" ".join(b"%d" % i for i in range(1, count + 1))
    return (
        HEAD
        + b"$Entities\n0 0 1 0\n1 0 0 0 0 0 0 %d %s 0\n$EndEntities\n" % (count, numbers)
        + SMALL
    )


def test_an_entity_of_many_groups_may_have_many_blocks():
    # visiting each group for each block would take 1e9 visits
    groups, blocks = 19_000, 60_000
    elements = (
        b"$Elements\n%d 1 1 1\n" % blocks
        + b"2 1 2 0\n" * (blocks - 1)
        + b"2 1 2 1\n1 1 2 3\n$EndElements\n"
    )
    mesh = gmsh.read(HERE, groups_on_one_entity(groups) + elements)
    assert len(mesh.groups) == groups
    assert lists(mesh.groups["physical19000"]) == {"triangle": [0]}


def test_number_of_groups_is_bounded_for_reading_and_writing():
    elements = b"$Elements\n1 1 1 1\n2 1 2 1\n1 1 2 3\n$EndElements\n"
    with pytest.raises(MeshError, match="there must be at most 20000 physical groups, got 20001"):
        gmsh.read(HERE, groups_on_one_entity(20_001) + elements)
    line = Mesh([[0, 0], [1, 0]], {"line": [[0, 1]]})
    with pytest.raises(
        MeshError, match="MSH must have at most 20000 groups, counted by dimension, got 20001"
    ):
        gmsh.write(line.with_(groups={str(i): [] for i in range(20_001)}))
    with pytest.raises(MeshError, match="at most 10000 names"):
        gmsh.write(line.with_(point_data={str(i): [0, 1] for i in range(10_001)}))


@pytest.mark.parametrize(("version", "how"), [*ENCODINGS, ("written", "")])
def test_damaged_files_are_meshes_or_mesh_errors(version, how):
    e = encoder("2.2" if version == "written" else version, how)
    data_section(e, b"NodeData", b"heat", 1, [(tag, tag / 8) for tag in NODES])
    data_section(e, b"ElementData", b"stress", 3, [(20, -1.0, 0.0, 1.0), (10, 3.0, 0.0, 1.0)])
    data = gmsh.write(everything()) if version == "written" else e.out
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(300):
        try:
            mesh = gmsh.read(HERE, spoil(data, rng))
        except MeshError as error:
            refused += error.path == HERE or "point" in str(error)
        else:
            assert np.isfinite(mesh.points).all()
    assert refused > 90
