"""VTK files, legacy and XML: contents, round trips; damaged files raise MeshError."""

import logging
import lzma
import re
import tracemalloc
import zlib
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest

import taut
from benchmarks.reliability.spoil import spoil
from taut.mesh import Mesh
from taut.mesh.files import vtk, vtu
from tests.mesh.meshes import real

HERE = Path("some.vtk")
HEAD = "# vtk DataFile Version 3.0\na title\nASCII\n"
POINTS = "POINTS 6 float\n0 0 0  1 0 0  1 1 0\n0 1 0  2 0 0  2 1 0\n"
TRUSS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0]], float)


def legacy(body, head=HEAD):
    return vtk.read(HERE, (head + body).encode())


def as_lists(cells):
    return {kind: rows.tolist() for kind, rows in cells.items()}


def everything(flat=False):
    """A mesh with every kind of cell, groups and data of several types."""
    rng = np.random.default_rng(3)
    kinds = {
        "line": 2,
        "triangle": 3,
        "quad": 4,
        "polygon5": 5,
        "polygon7": 7,
        "tet": 4,
        "pyramid": 5,
        "wedge": 6,
        "hex": 8,
    }
    cells = {
        kind: np.array([rng.permutation(12)[:size] for _ in range(3)])
        for kind, size in kinds.items()
    }
    return Mesh(
        rng.standard_normal((12, 2 if flat else 3)) * 10.0 ** rng.integers(-200, 200, (12, 1)),
        cells,
        groups={
            "left side": [0, 5],
            "skin": {"triangle": [1], "hex": [0, 2], "point": [3]},
            "none": {"point": []},
            "äß %": {"line": [2]},
        },
        point_data={
            "T": rng.random(12),
            "f4": rng.random((12, 3)).astype("f4"),
            "big": np.arange(12) * 10**15,
            "u8": np.arange(12, dtype="u8") + 2**63,
        },
        cell_data={
            "id": {kind: np.arange(3) + size for kind, size in kinds.items()},
            "stress": {"tet": rng.random((3, 6)), "hex": rng.random((3, 9))},
            "flag": {"line": np.array([1, -1, 0], "i1")},
        },
    )


def assert_same(a, b):
    np.testing.assert_array_equal(a.positions, b.positions)
    assert as_lists(a.cells) == as_lists(b.cells)
    assert {g: as_lists(m) for g, m in a.groups.items()} == {
        g: as_lists(m) for g, m in b.groups.items()
    }
    assert set(a.point_data) == set(b.point_data)
    assert {k: set(v) for k, v in a.cell_data.items()} == {
        k: set(v) for k, v in b.cell_data.items()
    }
    pairs = [(a.point_data[k], b.point_data[k]) for k in a.point_data]
    pairs += [
        (a.cell_data[k][kind], b.cell_data[k][kind]) for k in a.cell_data for kind in a.cell_data[k]
    ]
    for x, y in pairs:
        np.testing.assert_array_equal(x, y)
        assert x.dtype == y.dtype


@pytest.mark.parametrize("module", [vtk, vtu], ids=lambda m: m.NAME)
@pytest.mark.parametrize("flat", [False, True])
def test_write_read_round_trip(module, flat):
    mesh = everything(flat)
    again = module.read(HERE, module.write(mesh))
    assert_same(again, mesh)
    assert module.write(again) == module.write(mesh)


@pytest.mark.parametrize("suffix", [".vtk", ".vtu"])
def test_round_trip_through_mesh_read_and_write(tmp_path, suffix):
    mesh = everything()
    taut.mesh.write(mesh, tmp_path / f"a{suffix}")
    assert_same(taut.mesh.read(tmp_path / f"a{suffix}"), mesh)


def test_scanned_mesh_keeps_its_order():
    mesh = taut.mesh.read(real("spot.obj")).with_(uv=None)
    for module in (vtk, vtu):
        assert_same(module.read(HERE, module.write(mesh)), mesh)


def test_unstructured_grid_by_hand():
    mesh = legacy(
        "DATASET UNSTRUCTURED_GRID\n"
        + POINTS
        + "CELLS 6 26\n3 0 1 2\n4 0 1 3 2\n4 0 1 2 3\n3 3 4 5\n4 0 1 2 5\n2 4 5\n"
        "CELL_TYPES 6\n5 8 9 4 10 3\n"
        "CELL_DATA 6\nSCALARS mark int 1\nLOOKUP_TABLE default\n10 11 12 13 14 15\n"
        "POINT_DATA 6\nscalars T double\nLOOKUP_TABLE mine\n0 1 2 3 4 5e-1\n"
        "LOOKUP_TABLE mine 1\n0 0 0 1\n"
        "VECTORS v float\n"
        + "1 2 3\n" * 6
        + "TEXTURE_COORDINATES st 2 float\n"
        + "0.25 0.5 " * 6
        + "\n"
        "FIELD FieldData 2\na%20b 1 6 unsigned_char\n1 2 3 4 5 255\nMETADATA\nINFORMATION 1\n"
        "NAME x LOCATION y\nDATA 1 0\n\n"
        "0 2 6 short\n" + "-1 7\n" * 6
    )
    assert mesh.points.tolist() == TRUSS.tolist()
    assert as_lists(mesh.cells) == {
        "line": [[3, 4], [4, 5], [4, 5]],
        "triangle": [[0, 1, 2]],
        "quad": [[0, 1, 2, 3], [0, 1, 2, 3]],
        "tet": [[0, 1, 2, 5]],
    }
    assert as_lists(mesh.cell_data["mark"]) == {
        "line": [13, 13, 15],
        "triangle": [10],
        "quad": [11, 12],
        "tet": [14],
    }
    assert mesh.point_data["T"].tolist() == [0, 1, 2, 3, 4, 0.5]
    assert mesh.point_data["v"].tolist() == [[1, 2, 3]] * 6
    assert mesh.point_data["st"].tolist() == [[0.25, 0.5]] * 6
    assert mesh.point_data["a b"].tolist() == [1, 2, 3, 4, 5, 255]
    assert mesh.point_data["0"].tolist() == [[-1, 7]] * 6
    assert {name: array.dtype.str[1:] for name, array in mesh.point_data.items()} == {
        "T": "f8",
        "v": "f4",
        "st": "f4",
        "a b": "u1",
        "0": "i2",
    }


def test_poly_data_cell_order():
    mesh = legacy(
        "DATASET POLYDATA\n"
        + POINTS
        + "TRIANGLE_STRIPS 1 6\n5 0 1 2 3 4\nPOLYGONS 3 15\n5 0 1 2 3 4\n3 0 1 2\n4 0 1 2 3\n"
        "LINES 1 4\n3 0 1 2\nVERTICES 2 5\n1 5\n2 3 4\n"
        "CELL_DATA 7\nFIELD f 2\ngroup:pins 1 7 int\n1 0 1 0 0 0 1\nn 1 7 int\n0 1 2 3 4 5 6\n"
    )
    assert as_lists(mesh.cells) == {
        "line": [[0, 1], [1, 2]],
        "triangle": [[0, 1, 2], [0, 1, 2], [2, 1, 3], [2, 3, 4]],
        "quad": [[0, 1, 2, 3]],
        "polygon5": [[0, 1, 2, 3, 4]],
    }
    assert as_lists(mesh.cell_data["n"]) == {
        "line": [2, 2],
        "triangle": [4, 6, 6, 6],
        "quad": [5],
        "polygon5": [3],
    }
    assert as_lists(mesh.groups["pins"]) == {"line": [0, 1], "triangle": [1, 2, 3], "point": [5]}


def binary_file(new_layout):
    """A tetrahedron and a triangle as big-endian bytes."""
    parts = [
        b"# vtk DataFile Version 5.1\nb\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 float\n",
        TRUSS.astype(">f4").tobytes(),
    ]
    if new_layout:
        parts += [b"\nCELLS 3 7\nOFFSETS vtktypeint64\n", np.array([0, 4, 7], ">i8").tobytes()]
        parts += [
            b"\nCONNECTIVITY vtktypeint64\n",
            np.array([0, 1, 2, 5, 2, 1, 0], ">i8").tobytes(),
        ]
    else:
        parts += [b"\nCELLS 2 9\n", np.array([4, 0, 1, 2, 5, 3, 2, 1, 0], ">i4").tobytes()]
    parts += [
        b"\nCELL_TYPES 2\n",
        np.array([10, 5], ">i4").tobytes(),
        b"\nPOINT_DATA 6\nFIELD FieldData 3\nbits 1 6 bit\n\xa4",
    ]
    strings = b"".join(bytes([0xC0 + 3]) + b"a\nb" for _ in range(5)) + b"\x80\x80" + b"x" * 128
    parts += [
        b"\nwords 1 6 string\n",
        strings,
        b"\nT 1 6 double\n",
        np.arange(6).astype(">f8").tobytes(),
        b"\n",
    ]
    return b"".join(parts)


@pytest.mark.parametrize("new_layout", [False, True])
def test_binary(new_layout, caplog):
    caplog.set_level(logging.INFO, logger="taut")
    mesh = vtk.read(HERE, binary_file(new_layout))
    assert mesh.points.tolist() == TRUSS.tolist()
    assert as_lists(mesh.cells) == {"triangle": [[2, 1, 0]], "tet": [[0, 1, 2, 5]]}
    assert {k: v.tolist() for k, v in mesh.point_data.items()} == {
        "bits": [1, 0, 1, 0, 0, 1],
        "T": [0, 1, 2, 3, 4, 5],
    }
    assert [r.getMessage() for r in caplog.records] == ["some.vtk: left out: strings 'words'"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_endings(newline):
    text = (HEAD + "DATASET POLYDATA\n" + POINTS + "POLYGONS 1 4\n3 0 1 9\n").replace("\n", newline)
    with pytest.raises(
        taut.errors.MeshError,
        match=re.escape("some.vtk, line 9, cell 0: point indices must be 0 to 5, got 9"),
    ):
        vtk.read(HERE, text.encode())
    assert as_lists(vtk.read(HERE, text.replace("9" + newline, "5" + newline).encode()).cells) == {
        "triangle": [[0, 1, 5]]
    }


GRID = "DATASET UNSTRUCTURED_GRID\n" + POINTS
WRONG = {
    ("DATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\n"): (
        "line 4: the data set must be UNSTRUCTURED_GRID or "
        "POLYDATA, got 'STRUCTURED_POINTS'; make it an unstructured"
    ),
    GRID + ("CELLS 1 7\n6 0 1 2 3 4 5\nCELL_TYPES 1\n22\n"): (
        r"line 9, cell 0: cells must be linear, got one of "
        r"higher order \(VTK type 22\); make it linear first, as"
    ),
    GRID + ("CELLS 1 7\n6 0 1 2 3 4 5\nCELL_TYPES 1\n42\n"): (
        r"line 9, cell 0: cells must be of a kind that a Mesh "
        r"has, got a polyhedron \(VTK type 42\); cut it into"
    ),
    GRID + ("CELLS 1 7\n6 0 1 2 3 4 5\nCELL_TYPES 1\n10\n"): (
        "line 9, cell 0: a tet must have 4 corners, got 6"
    ),
    GRID + "CELLS 1 3\n2 0 1\nCELL_TYPES 1\n7\n": (
        "line 9, cell 0: a polygon must have 3 or more corners, got 2"
    ),
    GRID + ("CELLS 2 7\n2 0 1\n3 0 1 -2\nCELL_TYPES 2\n3 5\n"): (
        "line 10, cell 1: point indices must be 0 to 5, got -2"
    ),
    GRID + ("CELLS 2 7\n2 0 1\n4 0 1 2\nCELL_TYPES 2\n3 5\n"): (
        "line 10, cell 1: must fit the 7 entries of its list"
    ),
    GRID + ("CELLS 2 7\n2 0 1\n2 0 1 2\nCELL_TYPES 2\n3 5\n"): (
        "line 10: the 2 cells must have 7 entries, got 6"
    ),
    GRID + ("CELLS 3 5\nOFFSETS int\n0 3 2\nCONNECTIVITY int\n0 1 2 3 4\n"): (
        "line 10, cell 1: offsets must not decrease, got 2 after 3"
    ),
    GRID + ("CELLS 2 5\nOFFSETS int\n0 3\nCONNECTIVITY int\n0 1 2 3 4\n"): (
        "the offsets must end at 5, the number of corners, got 3"
    ),
    GRID + "CELLS 1 4\n3 0 1 2\n": "CELL_TYPES must be as many as the 1 CELLS, got 0",
    GRID + "CELLS 1 4\n3 0 x 2\n": "line 9, number 2: must be an integer, got 'x'",
    GRID + "CELLS 1000000000000 4\n3 0 1 2\n": (
        "line 8: the number of cells must fit the file, got 1000000000000"
    ),
    GRID + "CELLS -1 4\n3 0 1 2\n": (
        "line 8: the number of cells must be a non-negative integer, got '-1'"
    ),
    GRID + "POINT_DATA 5\n": "line 8: POINT_DATA must be for 6 points, got 5",
    GRID
    + (
        "POINT_DATA 6\nSCALARS T float\nLOOKUP_TABLE default\n1 2 3\n"
    ): "the file ends after 3 of 6 points",
    GRID + ("POINT_DATA 6\nSCALARS T unsigned_char\nLOOKUP_TABLE default\n1 2 3 4 5 256\n"): (
        "line 11, point 5: must be a number of type uint8, got '256'"
    ),
    GRID + ("POINT_DATA 6\nSCALARS T float 0\nLOOKUP_TABLE default\n"): (
        "the number of components must be at least 1, got 0"
    ),
    GRID + ("POINT_DATA 6\nFIELD f 1\nT 1 5 float\n1 2 3 4 5"): (
        "line 10: the array 'T' must have 6 rows, one per point, got 5"
    ),
    GRID + "PIONTS 3 float\n": (
        r"line 8: must be a keyword of UNSTRUCTURED_GRID, " r"got 'PIONTS'; did you mean 'POINTS'\?"
    ),
    ("DATASET POLYDATA\nPOINTS 1 float\n0 nan 0\n"): (
        "line 6, point 0: numbers must be finite, got nan"
    ),
    ("DATASET POLYDATA\nPOINTS 2 float\n0 1 0\n0 1e99 0\n"): (
        "line 7, point 1: must be a number of type float32, got '1e99'"
    ),
    "DATASET POLYDATA\nPOLYGONS 0 0\n": "the file must have POINTS, got none",
}


@pytest.mark.parametrize("body", WRONG)
def test_invalid_legacy_files_raise_with_line(body):
    with pytest.raises(taut.errors.MeshError, match=WRONG[body]) as caught:
        legacy(body)
    assert caught.value.path == HERE
    assert caught.value.line is not None


def test_a_truncated_binary_file_names_the_byte():
    data = binary_file(False)
    cut = data.index(b"float\n") + 6 + 5 * 12 + 3
    with pytest.raises(
        taut.errors.MeshError, match=rf"the file ends after 5 of 6 points \(byte {cut}\)"
    ):
        vtk.read(HERE, data[:cut])


def test_reject_signalling_nan_coordinates():
    data = binary_file(False)
    begin = data.index(b"float\n") + 6
    with pytest.raises(
        taut.errors.MeshError,
        match=rf"point 1: numbers must be finite, got nan \(byte {begin + 12}\)",
    ):
        vtk.read(HERE, data[: begin + 12] + b"\x7f\x80\x00\x01" + data[begin + 16 :])


# ---- XML ----


def xml(arrays, attributes="", appended="", *, n=3, m=1, pieces=1):
    """A .vtu file with the arrays of one triangle, each given as (attributes, text)."""
    names = {
        "points": 'Name="P" NumberOfComponents="3"',
        **{k: f'Name="{k}"' for k in ("connectivity", "offsets", "types")},
    }
    one = {
        k: f"<DataArray {names[k]} {a}>{text}</DataArray>"
        for k, (a, text) in arrays.items()
        if k in names
    }
    data = "".join(
        f'<DataArray Name="{k}" {a}>{text}</DataArray>'
        for k, (a, text) in arrays.items()
        if k not in names
    )
    piece = (
        f'<Piece NumberOfPoints="{n}" NumberOfCells="{m}"><PointData>{data}</PointData>'
        f"<Points>{one['points']}</Points>"
        f"<Cells>{one['connectivity']}{one['offsets']}{one['types']}</Cells></Piece>\n"
    )
    body = f"<UnstructuredGrid>{piece * pieces}</UnstructuredGrid>{appended}"
    root = f'<VTKFile type="UnstructuredGrid" {attributes}>'
    return f'<?xml version="1.0"?>\n{root}\n{body}</VTKFile>\n'.encode("latin-1")


NUMBERS = {
    "points": ("Float32", "f4", [0, 0, 0, 1, 0, 0, 0, 1.5, 0]),
    "connectivity": ("Int64", "i8", [2, 0, 1]),
    "offsets": ("Int32", "i4", [3]),
    "types": ("UInt8", "u1", [5]),
    "T": ("Float64", "f8", [0.1, -2.0, 1e300]),
}


def text_arrays(**changes):
    found = {
        k: (f'type="{t}" format="ascii"', " ".join(map(str, v))) for k, (t, _, v) in NUMBERS.items()
    }
    return found | {k: (found[k][0], text) for k, text in changes.items()}


def encode_array(content, order, width, compress, base64, block=16, apart=False):
    """Bytes as VTK stores them."""
    b64 = b64encode if base64 else bytes
    if compress is None:
        head = np.array(len(content), order + width).tobytes()
        return b64(head) + b64(content) if apart else b64(head + content)
    blocks = [content[i : i + block] for i in range(0, len(content), block)]
    packed = [compress(b) for b in blocks]
    last = len(content) % block
    return b64(
        np.array([len(blocks), block, last, *map(len, packed)], order + width).tobytes()
    ) + b64(b"".join(packed))


HEADERS = {"u4": "UInt32", "u8": "UInt64"}
COMPRESSORS = {
    "": None,
    "vtkZLibDataCompressor": zlib.compress,
    "vtkLZMADataCompressor": lzma.compress,
}


def packed_file(order, width, compressor, where, apart=False):
    compress = COMPRESSORS[compressor]
    byte_order = "LittleEndian" if order == "<" else "BigEndian"
    attributes = f'byte_order="{byte_order}" header_type="{HEADERS[width]}"'
    attributes += f' compressor="{compressor}"' if compressor else ""
    arrays, appended = {}, b""
    for name, (type_, code, values) in NUMBERS.items():
        content = encode_array(
            np.array(values, order + code).tobytes(),
            order,
            width,
            compress,
            where != "raw",
            apart=apart,
        )
        if where == "binary":
            arrays[name] = (f'type="{type_}" format="binary"', f"\n {content.decode()}\n")
        else:
            arrays[name] = (f'type="{type_}" format="appended" offset="{len(appended)}"', "")
            appended += content
    tail = (
        ""
        if where == "binary"
        else f'\n<AppendedData encoding="{where}">\n _{appended.decode("latin-1")}\n</AppendedData>'
    )
    return xml(arrays, attributes, tail)


@pytest.mark.parametrize("where", ["binary", "raw", "base64"])
@pytest.mark.parametrize("compressor", COMPRESSORS)
@pytest.mark.parametrize("width", ["u4", "u8"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_all_array_encodings(order, width, compressor, where):
    for apart in {False, not compressor and where != "raw"}:
        mesh = vtu.read(HERE, packed_file(order, width, compressor, where, apart))
        assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1.5, 0]]
        assert as_lists(mesh.cells) == {"triangle": [[2, 0, 1]]}
        assert mesh.point_data["T"].tolist() == [0.1, -2.0, 1e300]


def test_pieces_are_concatenated(caplog):
    caplog.set_level(logging.INFO, logger="taut")
    arrays = text_arrays() | {
        "s": ('type="String" format="ascii"', "1 2 3"),
        "bit": ('type="Bit" format="binary"', "AQAAAKA="),
    }
    mesh = vtu.read(HERE, xml(arrays, pieces=2))
    assert as_lists(mesh.cells) == {"triangle": [[2, 0, 1], [5, 3, 4]]}
    assert mesh.point_data["T"].tolist() == [0.1, -2.0, 1e300] * 2
    assert mesh.point_data["bit"].tolist() == [1, 0, 1] * 2
    assert [r.getMessage() for r in caplog.records] == ["some.vtk: left out: strings 's'"]
    with pytest.raises(
        taut.errors.MeshError, match="line 3, cell 0: point indices must be 0 to 2, got 3"
    ):
        vtu.read(HERE, xml(text_arrays(connectivity="3 0 1"), pieces=2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"connectivity": "0 1 3"}, "line 3, cell 0: point indices must be 0 to 2, got 3"),
        ({"connectivity": "0 1"}, "the offsets must end at 2, the number of corners, got 3"),
        ({"offsets": "-1"}, "line 3, cell 0: offsets must not decrease, got -1 after 0"),
        (
            {"types": "22"},
            (
                r"line 3, cell 0: cells must be linear, got one of "
                r"higher order \(VTK type 22\); make it linear first, as"
            ),
        ),
        ({"points": "0 0 0 1 0 0 0 inf 0"}, "line 3, point 2: numbers must be finite"),
        ({"points": "0 0 0 1 0 0 0 é 0"}, "line 3"),
        (
            {"points": "0 0 0 1 0 zero 0 1 0"},
            "line 3, point 1: the array 'P': must be a number, got 'zero'",
        ),
        ({"T": "1 2"}, "the array 'T': must have 3 numbers, 1 for each point, got 2"),
        ({"types": "5 5"}, "the array 'types': must have 1 numbers, 1 for each cell, got 2"),
    ],
)
def test_invalid_xml_files_raise(changes, message):
    with pytest.raises(taut.errors.MeshError, match=message) as caught:
        vtu.read(HERE, xml(text_arrays(**changes)))
    assert caught.value.path == HERE


def test_reject_other_xml_kinds_with_advice():
    good = xml(text_arrays())
    for old, new, message in [
        (
            b'"UnstructuredGrid"',
            b'"PolyData"',
            (
                "the type must be 'UnstructuredGrid', got 'PolyData'; "
                "make it an unstructured grid first, as ParaView's Append"
            ),
        ),
        (b"VTKFile", b"x3d", "the file must start with <VTKFile>, got <x3d>"),
        (b"</Piece>", b"", "must be well-formed XML, got: mismatched tag"),
        (b'"1.0"?>', b'"1.0" encoding="klingon"?>', "XML"),
        (b"Piece", b"Part", "must have a <Piece>, got none"),
    ]:
        with pytest.raises(taut.errors.MeshError, match=message):
            vtu.read(HERE, good.replace(old, new))
    zipped = packed_file("<", "u4", "vtkZLibDataCompressor", "raw").replace(b"vtkZLib", b"vtkLZ4")
    with pytest.raises(
        taut.errors.MeshError,
        match="the compressor must be ZLib or LZMA, got 'vtkLZ4DataCompressor'; save it with ZLib",
    ):
        vtu.read(HERE, zipped)


def test_xml_entities_are_never_expanded():
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    bomb = xml(text_arrays(points="&l11;")).replace(
        b"<VTKFile", f"<!DOCTYPE x [{laughs}]>\n<VTKFile".encode(), 1
    )
    with pytest.raises(
        taut.errors.MeshError, match="line 2: VTK files must not have a document type"
    ):
        vtu.read(HERE, bomb)


@pytest.mark.parametrize("compressor", ["vtkZLibDataCompressor", "vtkLZMADataCompressor"])
def test_reject_decompression_bombs(compressor):
    bomb = COMPRESSORS[compressor](bytes(1 << 24))
    for claimed, message in [
        (
            1 << 40,
            (
                "the array 'connectivity': must grow at most 64 times "
                "when it is decompressed; save it without compression"
            ),
        ),
        (
            1 << 10,
            "the array 'connectivity': block 0 must decompress to the 1024 bytes of its header",
        ),
    ]:
        content = b64encode(
            np.array([1, claimed, 0, len(bomb)], "<u4" if claimed < 1 << 32 else "<u8")
        ) + b64encode(bomb)
        width = "UInt32" if claimed < 1 << 32 else "UInt64"
        arrays = {k: v for k, v in text_arrays().items() if k != "T"}
        arrays["connectivity"] = ('type="Int64" format="binary"', content.decode())
        with pytest.raises(taut.errors.MeshError, match=message):
            vtu.read(HERE, xml(arrays, f'compressor="{compressor}" header_type="{width}"'))


@pytest.mark.parametrize("bits", [False, True])
def test_reject_arrays_that_share_their_bytes(bits):
    n = 20_000
    size = 24 * n
    whole = 'type="Float64" NumberOfComponents="3" format="appended" offset="0"'
    shared = 'type="Bit" NumberOfComponents="192" format="appended" offset="0"' if bits else whole
    arrays = text_arrays() | {"points": ('type="Float64" format="appended" offset="0"', "")}
    arrays = {k: v for k, v in arrays.items() if k != "T"} | {
        f"a{i}": (shared, "") for i in range(4000)
    }
    content = (np.array([size], "<u4").tobytes() + bytes(size)).decode("latin-1")
    data = xml(arrays, appended=f'<AppendedData encoding="raw">_{content}</AppendedData>', n=n)
    tracemalloc.start()
    with pytest.raises(taut.errors.MeshError, match="times as large as the file"):
        vtu.read(HERE, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8  # together these would exceed 2 GB


@pytest.mark.parametrize("what", ["POINT", "CELL"])
def test_reject_too_many_arrays(what):
    body = "DATASET POLYDATA\nPOINTS 1 float\n0 0 0\nVERTICES 1 2\n1 0\n"
    field = "".join(f"a{i} 1 1 int 0\n" for i in range(6000))
    with pytest.raises(
        taut.errors.MeshError,
        match=f"line 5011: there must be at most 5000 arrays on {what.lower()}s",
    ):
        legacy(f"{body}{what}_DATA 1\nFIELD f 6000\n{field}")
    tile = Mesh(
        TRUSS[:3],
        {"triangle": [[0, 1, 2]]},
        groups={f"g{i}": {"triangle": [0], "point": [0]} for i in range(5001)},
    )
    for module in (vtk, vtu):
        with pytest.raises(taut.errors.MeshError, match="at most 5000 groups and data"):
            module.write(tile)
    one = '<DataArray type="Int8" Name="%d">1 1 1</DataArray>'
    with pytest.raises(taut.errors.MeshError, match="at most 5000 arrays on points"):
        vtu.read(
            HERE,
            xml(text_arrays()).replace(
                b"</PointData>", "".join(one % i for i in range(5000)).encode() + b"</PointData>"
            ),
        )


def test_reject_expanding_cell_data_of_long_poly_lines():
    n = 4000
    body = (
        f"DATASET POLYDATA\nPOINTS 1 float\n0 0 0\nLINES 1 {n + 1}\n{n}{' 0' * n}\n"
        f"CELL_DATA 1\nFIELD f 1\nx {n} 1 double\n" + "1 " * n
    )
    with pytest.raises(
        taut.errors.MeshError,
        match=(
            r"cell data must take at most 67108864 bytes once "
            r"poly-lines and strips are cut, got 1\.28e\+08; leave some"
        ),
    ):
        legacy(body)


# ---- writing ----


def test_reject_names_that_cannot_be_written():
    tile = Mesh(TRUSS[:3], {"triangle": [[0, 1, 2]]}, groups={"a": [0]})
    for name, message in [
        ("group:a", "must differ, got data and a group or part called 'group:a'; rename the data"),
        ("", "must not have control characters"),
        ("a\x01", "must not have control characters"),
    ]:
        for module in (vtk, vtu):
            with pytest.raises(taut.errors.MeshError, match=message):
                module.write(tile.with_(point_data={name: [1, 2, 3]}))


# ---- damage ----


def specimens():
    cells = {"line": [[0, 1]], "quad": [[0, 1, 2, 3]], "tet": [[0, 1, 2, 5]]}
    groups = {"g": {"line": [0], "point": [2]}}
    small = Mesh(
        TRUSS,
        cells,
        groups=groups,
        point_data={"T": np.arange(6.0)},
        cell_data={"v": {"quad": [[1, 2]]}},
    )
    yield vtk, vtk.write(small)
    yield vtk, binary_file(False)
    yield vtk, binary_file(True)
    yield vtu, vtu.write(small)
    yield vtu, xml(text_arrays())
    for compressor in COMPRESSORS:
        yield vtu, packed_file(">", "u4", compressor, "raw")
        yield vtu, packed_file("<", "u8", compressor, "binary")


@pytest.mark.parametrize("index", range(11))
def test_damaged_files_give_a_mesh_or_a_mesh_error(index):
    module, data = list(specimens())[index]
    rng = np.random.default_rng(index)
    errors = []
    for _ in range(300):
        try:
            mesh = module.read(HERE, spoil(data, rng))
        except taut.errors.MeshError as error:
            errors.append(error)
        else:
            assert np.isfinite(mesh.points).all()
    assert 0 < len(errors) < 300
    assert all(
        error.path == HERE and (error.line is not None or "byte" in str(error)) for error in errors
    )
