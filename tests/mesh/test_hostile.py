"""Hostile files: each raises one MeshError that names the file and the place."""

import os
import re
import struct
import tracemalloc

import numpy as np
import pytest

import taut
from benchmarks.reliability import heavy_meshes as heavy
from benchmarks.reliability import hostile_meshes as hostile
from taut.mesh.files import FORMATS

SAMPLES = hostile.samples()
HEAVY = heavy.files()
PLY = hostile.BY_HAND["text.ply"]
FACET = b"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
MEDIT = b"MeshVersionFormatted 1\nDimension 3\nVertices 2\n0 0 0 0\n1 0 0 0\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "x.obj",
            b"v 0 0 0\nv 1 0 0\nv 0 1\nf 1 2 3\n",
            (
                r"line 3, vertex 2: must have 3 numbers \(4 "
                r"with a weight, 6 or 7 with a colour\), got 2"
            ),
        ),
        (
            "x.obj",
            b"v 0 0 0\nv 1 0 nan\nf 1 2\n",
            "line 2, vertex 1: numbers must be finite, got nan",
        ),
        (
            "x.obj",
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\n# \n\nf 1 2 4\n",
            "line 6, face 0: vertex indices must be 1 to 3, got '1 2 4'",
        ),
        (
            "x.obj",
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n",
            "line 4, face 0: vertex indices must be 1 to 3, got '1 2 0'",
        ),
        (
            "x.obj",
            b"v 0 0 0\nf 1 -2 -1\nv 1 0 0\nv 0 1 0\n",
            "line 2, face 0: vertex indices must be 1 to 3, got '1 -2 -1'",
        ),
        (
            "x.obj",
            b"v 0 0 0\nv 1 0 0\nf 1\n",
            r"line 3, face 0: must have at least 2 corners \(1 for p\), got '1'",
        ),
        (
            "x.obj",
            b"v 0 0 0\nv 1 0 0\nl 1 2\nf 1 2 x/1\n",
            r"line 4, face 0: a corner must be vertex\[/texture\[/normal\]\], got 'x/1'",
        ),
        (
            "x.obj",
            b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1/1 2/2 3/3\n",
            (
                "line 4, face 0: must name no texture coordinates, "
                "since the file has none, got '1/1 2/2 3/3'"
            ),
        ),
        ("x.obj", b"v 0 0 0\nvertex 1 2 3\n", "line 2: must be an OBJ keyword, got 'vertex'"),
        (
            "x.obj",
            b"v 0 0 0\ncurv 0 1 1 2\n",
            "line 2: must be a keyword of polygons, got 'curv' of a free-form shape",
        ),
        ("x.obj", b"v 0 0 0\nv 1 0 0\n", "a mesh must have cells, got 2 points and no cells"),
        ("x.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n", "line 4: the file ends after 2 of 3 vertices"),
        (
            "x.off",
            b"OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
            "line 6: the file ends before face 1 of 2",
        ),
        (
            "x.off",
            b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
            "line 6, face 0: point indices must be 0 to 2, got 3",
        ),
        (
            "x.off",
            b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n",
            "line 6, face 0: point indices must be 0 to 2, got -1",
        ),
        ("x.off", b"OFF\n999999999999 1 0\n0 0 0\n", "ends after 1 of 999999999999 vertices"),
        (
            "x.off",
            b"OFF\n-3 1 0\n",
            "line 2: the counts must not be negative, got -3 vertices and 1 faces",
        ),
        (
            "x.off",
            b"OFF BINARY\n",
            (
                "line 1: the file must start with OFF, COFF, "
                "NOFF or STOFF and be text, got 'OFF BINARY'"
            ),
        ),
        (
            "x.mesh",
            MEDIT + b"Tetrahedra 1\n1 2 3 4 0\n",
            "line 7, tet 0: point indices must be 1 to 2, got 3",
        ),
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nVertices 99999999\n0 0 0 0\n",
            "line 4: the file ends in vertex 1 of 99999999",
        ),
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nVertices 1\n0 inf 0 0\n",
            "line 3, vertex 0: numbers must be finite, got inf",
        ),
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nDimension 4\n",
            "line 2: the dimension must be 2 or 3, got 4",
        ),
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nVertexes 4\n",
            "line 2: must be a Medit keyword, got 'Vertexes'",
        ),
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nDimension 3\nTriangles 0\nEnd\n",
            "the file must have Vertices, got none",
        ),
        (
            "x.stl",
            FACET + b"endloop\n",
            "line 6, triangle 0: must be vertex and 3 numbers, got 'endloop'",
        ),
        (
            "x.stl",
            FACET + b"vertex 1 x 0\nendloop\nendfacet\nendsolid\n",
            "line 6, corner 2: must be a number, got 'x'",
        ),
        (
            "x.stl",
            bytes(80) + struct.pack("<I", 4_000_000_000) + bytes(100),
            "ends after 2 of 4000000000 triangles",
        ),
        (
            "x.stl",
            bytes(80) + struct.pack("<I", 0),
            "a mesh must have cells, got 0 points and no cells",
        ),
        (
            "x.stl",
            bytes(80) + struct.pack("<I", 1) + np.full(12, np.nan, "<f4").tobytes() + b"\0\0",
            r"triangle 0: numbers must be finite, got nan \(in the data from byte 84\)",
        ),
        (
            "x.ply",
            PLY.replace(b"3 0 1 2 0.5", b"3 0 1 9 0.5"),
            "line 24, face 0: point indices must be 0 to 3, got 9",
        ),
        (
            "x.ply",
            PLY.replace(b"element face 2", b"element face 999999999"),
            "ends after 3 of 999999999 face rows",
        ),
        (
            "x.ply",
            PLY.replace(b"format ascii 1.0", b"format binary 1.0"),
            (
                r"line 2: must be a format, element, property or "
                r"comment in its place, got 'format binary 1\.0'"
            ),
        ),
        (
            "x.ply",
            PLY.replace(b"3 0 1 2 0.5", b"7 0 1 2 0.5"),
            "line 24, face 0: must have the numbers of its properties, got 5 numbers",
        ),
        (
            "x.ply",
            hostile.BY_HAND["strips.ply"][:-4],
            "ends after 5 of 6 entries of vertex_indices",
        ),
        (
            "x.node",
            b"2 3 0 0\n0 0 0 0\n1 1 1 1\n",
            r"one of x\.ele, x\.face, x\.edge must have cells, got 2 points only",
        ),
        ("x.ele", b"1 4 0\n0 0 1 2 3\n", r"x\.node: no such file"),
        (
            "x.obj",
            b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
            r"line 1: must be an OBJ keyword, got ",
        ),
        ("x.obj", b"ply\nformat ascii 1.0\n", r"the file starts like a \.ply file"),
        ("x.ply", b"$MeshFormat\n2.2 0 8\n", r"the file starts like a \.msh file"),
        ("x.obj", b"", "the file is empty"),
        ("x.msh", b"\n \n", "the file is empty"),
        ("x.txt", b"v 0 0 0\n", r"the extension must be one of .*, got '\.txt'"),
    ],
)
def test_invalid_files_raise_and_name_the_place(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(taut.errors.MeshError, match=message) as caught:
        taut.mesh.read(path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("extension", FORMATS)
def test_missing_files_and_folders_raise(extension, tmp_path):
    path = tmp_path / f"x{extension}"
    with pytest.raises(taut.errors.MeshError, match="no such file"):
        taut.mesh.read(path)
    path.mkdir()
    with pytest.raises(taut.errors.MeshError, match="must be a mesh file, got a directory"):
        taut.mesh.read(path)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(taut.errors.MeshError, match="must be a mesh file, got a pipe"):
        taut.mesh.read(path)
    path.unlink()
    for target, message in (
        ("nothing", "no such file .a link to nothing"),
        (path.name, "a link to"),
        ("/dev/zero", "must be a mesh file, got a device"),
        (".", "must be a mesh file, got a directory"),
    ):
        path.symlink_to(target)
        with pytest.raises(taut.errors.MeshError, match=message) as caught:
            taut.mesh.read(path)
        assert path.name in str(caught.value)
        path.unlink()
    with pytest.raises(taut.errors.MeshError, match="path must not contain a null character"):
        taut.mesh.read(f"a\0{extension}")


def test_symbolic_links_are_followed(tmp_path):
    taut.mesh.write(taut.mesh.sphere(1), tmp_path / "x.obj")
    (tmp_path / "y.obj").symlink_to("x.obj")
    assert taut.mesh.read(tmp_path / "y.obj").n == 12


@pytest.mark.skipif(
    os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="the superuser may read anything"
)
def test_unreadable_file_raises(tmp_path):
    path = tmp_path / "x.obj"
    path.write_text("v 0 0 0")
    path.chmod(0)
    with pytest.raises(taut.errors.MeshError, match="cannot be read: Permission denied"):
        taut.mesh.read(path)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_valid_and_truncated_samples_are_not(name, tmp_path):
    for file, content in SAMPLES[name].items():
        (tmp_path / file).write_bytes(content)
    path = tmp_path / next(iter(SAMPLES[name]))
    assert taut.mesh.read(path).cells
    path.write_bytes(SAMPLES[name][path.name][: len(SAMPLES[name][path.name]) // 3])
    with pytest.raises(taut.errors.MeshError) as caught:
        taut.mesh.read(path)
    assert str(tmp_path) in str(caught.value)


def test_huge_counts_use_bounded_memory(tmp_path):
    """Every number of every sample in turn is made huge.

    Memory stays bounded by the file size.
    """
    for name, files in SAMPLES.items():
        for file, content in files.items():
            (tmp_path / file).write_bytes(content)
        path = tmp_path / next(iter(files))
        content = files[path.name]
        places = [m.span() for m in re.finditer(rb"(?<![\w.-])\d+(?![\w.])", content[:2000])]
        tracemalloc.start()
        for low, high in places[:60]:
            path.write_bytes(content[:low] + b"2000000000" + content[high:])
            try:
                taut.mesh.read(path)
            except taut.errors.MeshError:
                continue
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20e6, f"{name} took {peak / 1e6:.0f} MB"


@pytest.mark.parametrize("seed", range(8))
def test_corrupted_files_give_a_mesh_or_a_mesh_error(seed, tmp_path):
    rng = np.random.default_rng(1000 + seed)
    refused = 0
    for files in SAMPLES.values():
        for _ in range(3):
            _, fine = hostile.attack(tmp_path, files, rng)
            refused += not fine
    assert refused > len(SAMPLES)


def test_campaign_fails_if_valid_files_are_rejected(tmp_path):
    """Otherwise a reader that rejects everything would pass."""
    assert [
        found for files in SAMPLES.values() if (found := hostile.check_sample(tmp_path, files))
    ] == []
    message = hostile.check_sample(tmp_path, {"cut.ply": PLY[:40]})
    assert "a valid file is rejected" in message
    assert hostile.Attacks(good=[message]).failures == [message]


@pytest.mark.parametrize("name", HEAVY)
def test_expensive_files_give_a_mesh_or_a_mesh_error(name, tmp_path):
    path, answer = tmp_path / name, ""
    path.write_bytes(HEAVY[name])
    try:
        assert taut.mesh.read(path).cells
    except taut.errors.MeshError as error:
        answer = str(error)
    assert not answer or str(path) in answer
