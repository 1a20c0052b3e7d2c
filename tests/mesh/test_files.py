"""Mesh files: an independent parser, round trips, units and axes."""

import re
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import taut
from benchmarks.reliability import hostile_meshes as hostile
from taut.mesh import UV, Mesh
from taut.mesh.files import FORMATS, load_format
from tests.mesh.meshes import real


def counts_of(path: Path) -> Counter:
    """Count points and cells of each size with a parser that is independent of the library."""
    count = Counter()
    if path.suffix == ".obj":
        for line in path.read_text().splitlines():
            word = line.split()[:1]
            if word in (["v"], ["f"]):
                count["point" if word == ["v"] else len(line.split()) - 1] += 1
    elif path.suffix == ".mesh":
        for word, n in re.findall(
            r"^(Vertices|Triangles|Tetrahedra)\s+(\d+)", path.read_text(), re.MULTILINE
        ):
            count[{"Vertices": "point", "Triangles": 3, "Tetrahedra": "tet"}[word]] = int(n)
    elif path.suffix == ".off":
        numbers = path.read_text().split()[1:]
        n, m = int(numbers[0]), int(numbers[1])
        count["point"], at = n, 3 + 3 * n
        for _ in range(m):
            size = int(numbers[at])
            count[size] += 1
            at += size + 1
        assert at == len(numbers)
    else:  # MSH 2.2, binary, little-endian
        data = path.read_bytes()
        at = data.index(b"$Nodes\n") + 7
        end = data.index(b"\n", at)
        count["point"] = int(data[at:end])
        at = data.index(b"$Elements\n") + 10
        end = data.index(b"\n", at)
        left, at = int(data[at:end]), end + 1
        while left:
            kind, n, tags = struct.unpack_from("<3i", data, at)
            count[{1: 2, 2: 3, 4: "tet", 15: 1}[kind]] += n
            at += 12 + n * 4 * (1 + tags + {1: 2, 2: 3, 4: 4, 15: 1}[kind])
            left -= n
    return count


@pytest.mark.parametrize(
    "name",
    [
        "bunny.mesh",
        "hand.msh",
        "horse_quad.obj",
        "inspired_mesh_quads_Smooth.off",
        "octopus-low.mesh",
        "spot.obj",
        "stanford-bunny.obj",
        "suzanne.obj",
    ],
)
def test_counts_match_an_independent_parser(name):
    path = real(name)
    mesh = taut.mesh.read(path)
    sizes = {"line": 2, "triangle": 3, "quad": 4}
    assert Counter(
        {sizes.get(k, k): len(c) for k, c in mesh.cells.items()} | {"point": mesh.n}
    ) == +counts_of(path)


def test_stanford_bunny():
    mesh = taut.mesh.read(real("stanford-bunny.obj"))
    assert (mesh.n, len(mesh.triangles)) == (35947, 69451)
    used = len(np.unique(mesh.triangles))
    loops = Mesh(mesh.points, {"line": mesh.boundary_edges})
    holes = len(np.unique(loops.components[mesh.boundary_edges]))
    assert used - len(mesh.edges) + len(mesh.triangles) == 2 - holes, (
        "Euler characteristic of a sphere with one hole per boundary loop"
    )
    assert len(mesh.hinges) + len(mesh.boundary_edges) == len(mesh.edges)


def full_mesh(kinds: list[str]) -> Mesh:
    """A mesh of these kinds with all optional data."""
    rng = np.random.default_rng(7)
    sizes = {
        "line": 2,
        "triangle": 3,
        "quad": 4,
        "polygon5": 5,
        "tet": 4,
        "pyramid": 5,
        "wedge": 6,
        "hex": 8,
    }
    cells = {k: np.stack([rng.permutation(12)[: sizes[k]] for _ in range(4)]) for k in kinds}
    faces = {k: c for k, c in cells.items() if k in ("triangle", "quad", "polygon5")}
    return Mesh(
        rng.normal(size=(12, 3)) * 10.0 ** rng.integers(-8, 8, (12, 1)),
        cells,
        groups={
            "front": {k: [0, 2] for k in kinds},
            "held": {"point": [1, 5, 11]},
            "both": {kinds[0]: [2, 3]},
        },
        point_data={"weight": rng.random(12), "color": rng.integers(0, 256, (12, 3)) / 255},
        cell_data={"thickness": {k: rng.random(4) for k in kinds}},
        uv=UV(rng.random((30, 2)), {k: rng.integers(0, 30, c.shape) for k, c in faces.items()})
        if faces
        else None,
    )


ALL = ["line", "triangle", "quad", "polygon5", "tet", "pyramid", "wedge", "hex"]


@pytest.mark.parametrize("extension", [e for e in FORMATS if e != ".ele"])
def test_round_trips(extension, tmp_path):
    module = load_format(Path(f"x{extension}"))
    kinds = [k for k in ALL if k in module.CELLS or (k == "polygon5" and "polygon" in module.CELLS)]
    mesh, path = full_mesh(kinds), tmp_path / f"x{extension}"
    taut.mesh.write(mesh, path)
    back = taut.mesh.read(path)
    assert {p.suffix for p in tmp_path.iterdir()} <= {extension, ".ele", ".face", ".edge"}
    if extension == ".stl":
        corners = mesh.positions[mesh.triangles].astype(np.float32)
        np.testing.assert_array_equal(back.positions[back.triangles].astype(np.float32), corners)
        return
    points = back.positions[: mesh.n]
    if extension == ".glb":  # single precision; a vertex with two texture coordinates is split
        np.testing.assert_array_equal(points, mesh.positions.astype(np.float32))
        origin = np.array([np.flatnonzero((points == p).all(axis=1))[0] for p in back.positions])
    else:
        np.testing.assert_array_equal(points, mesh.positions)
        origin = np.arange(mesh.n)
    assert list(back.cells) == kinds
    for k in kinds:
        np.testing.assert_array_equal(origin[back.cells[k]], mesh.cells[k], err_msg=k)
    keeps = getattr(module, "KEEPS", frozenset())
    if "groups" in keeps:
        for name in ("front", "held", "both"):
            got = {
                k: np.unique(origin[v] if k == "point" else v).tolist()
                for k, v in back.groups[name].items()
            }
            assert got == {k: v.tolist() for k, v in mesh.groups[name].items()}
    for name, digits in (("weight", 0), ("color", 0)):
        if "point_data" in keeps or f"point_data.{name}" in keeps:
            np.testing.assert_allclose(
                back.point_data[name][: mesh.n],
                mesh.point_data[name],
                rtol=1e-6 if extension == ".glb" else digits,
            )
    if "cell_data" in keeps:
        for k in kinds:
            np.testing.assert_array_equal(
                back.cell_data["thickness"][k], mesh.cell_data["thickness"][k]
            )
    if "uv" in keeps:
        for k, corners in mesh.uv.corners.items():
            got = back.uv.coordinates[back.uv.corners[k]]
            np.testing.assert_allclose(
                got, mesh.uv.coordinates[corners], rtol=1e-6 if extension == ".glb" else 0
            )


def test_data_a_format_cannot_hold_is_named(tmp_path, log):
    mesh = full_mesh(["triangle"])
    taut.mesh.write(mesh, tmp_path / "x.stl")
    for word in ("groups.front", "point_data.weight", "cell_data.thickness", "uv"):
        assert word in log.text
    with pytest.raises(
        taut.errors.MeshError, match=r"STL cannot hold the 4 tet cells; these can: .*\.vtu"
    ):
        taut.mesh.write(full_mesh(["tet"]), tmp_path / "y.stl")
    assert not (tmp_path / "y.stl").exists()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.obj"
    path.write_text("old")
    with pytest.raises(taut.errors.MeshError, match="OBJ cannot hold"):
        taut.mesh.write(full_mesh(["tet"]), path)
    assert path.read_text() == "old"
    with pytest.raises(taut.errors.MeshError, match="cannot be written"):
        taut.mesh.write(taut.mesh.sphere(1), tmp_path / "nowhere" / "x.obj")
    with pytest.raises(
        taut.errors.MeshError,
        match=r"the extension must be one of .*, got '\.obi'.*did you mean '\.obj'",
    ):
        taut.mesh.write(taut.mesh.sphere(1), tmp_path / "x.obi")


def test_reject_stale_companions_of_a_node_file(tmp_path):
    taut.mesh.write(taut.mesh.block(1, 1, 1, cells="tet"), tmp_path / "x.node")
    with pytest.raises(taut.errors.MeshError, match=r"x\.ele: this file of another mesh"):
        taut.mesh.write(taut.mesh.sphere(1), tmp_path / "x.node")


def test_units_and_axes(tmp_path):
    path = tmp_path / "box.obj"
    taut.mesh.write(
        taut.mesh.block(1, 1, 1, size=(1000.0, 2000.0, 3000.0)).with_(
            cells={"quad": [[0, 1, 3, 2]]}
        ),
        path,
    )
    for up, size in (("y", [1, 2, 3]), ("z", [1, 3, 2]), ("x", [2, 1, 3])):
        mesh = taut.mesh.read(path, scale=0.001, up=up)
        np.testing.assert_allclose(np.ptp(mesh.points, axis=0), size, rtol=1e-14)
    z_up = taut.mesh.read(path, up="z")
    plain = taut.mesh.read(path)
    rotation = np.linalg.lstsq(plain.points, z_up.points, rcond=None)[0]
    np.testing.assert_allclose(np.linalg.det(rotation), 1.0, rtol=1e-12)  # rotated, not mirrored
    np.testing.assert_allclose([0, 0, 1] @ rotation, [0, 1, 0], atol=1e-12)
    for wrong, message in (
        ({"up": "w"}, "up must be 'x', 'y' or 'z', got"),
        ({"scale": 0}, "scale must be a positive"),
        ({"scale": np.nan}, "scale must be a positive"),
    ):
        with pytest.raises(taut.errors.MeshError, match=message):
            taut.mesh.read(path, **wrong)


def test_obj_syntax_variants(tmp_path):
    path = tmp_path / "x.obj"
    path.write_bytes(hostile.BY_HAND["negative.obj"])
    mesh = taut.mesh.read(path)
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.cells["line"].tolist() == [[0, 1], [1, 2], [0, 1]]
    assert {k: v["triangle"].tolist() for k, v in mesh.groups.items()} == {
        "thing": [0, 1],
        "a": [0],
        "b": [0],
        "material:red": [0, 1],
    }
    assert mesh.groups["thing"]["point"].tolist() == [0, 3]
    assert mesh.uv.corners["triangle"].tolist() == [[0, 1, 2], [-1, -1, -1]]
    assert mesh.point_data["color"].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]


def test_ply_text_and_strips(tmp_path):
    for name in ("text.ply", "strips.ply"):
        (tmp_path / name).write_bytes(hostile.BY_HAND[name])
    mesh = taut.mesh.read(tmp_path / "text.ply")
    assert {k: c.tolist() for k, c in mesh.cells.items()} == {
        "line": [[0, 2]],
        "triangle": [[0, 1, 2]],
        "quad": [[0, 1, 2, 3]],
    }
    assert {k: v.tolist() for k, v in mesh.cell_data["quality"].items()} == {
        "triangle": [0.5],
        "quad": [0.25],
    }
    assert mesh.uv.coordinates[mesh.uv.corners["quad"][0]].tolist() == [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 1],
    ]
    assert taut.mesh.read(tmp_path / "strips.ply").cells["triangle"].tolist() == [
        [0, 1, 2],
        [2, 1, 3],
    ]


def test_stl_text_groups_by_solid(tmp_path):
    (tmp_path / "x.stl").write_bytes(hostile.BY_HAND["text.stl"])
    mesh = taut.mesh.read(tmp_path / "x.stl")
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [1, 3, 2]]
    assert mesh.groups["a b"]["triangle"].tolist() == [0, 1]


def test_medit_references_and_sets(tmp_path):
    (tmp_path / "x.mesh").write_bytes(hostile.BY_HAND["plane.mesh"])
    mesh = taut.mesh.read(tmp_path / "x.mesh")
    assert mesh.flat
    assert {k: {w: i.tolist() for w, i in v.items()} for k, v in mesh.groups.items()} == {
        "Corners": {"point": [0, 2]},
        "Ridges": {"line": [0]},
        "ref1": {"point": [0, 1], "triangle": [0]},
        "ref2": {"point": [2], "triangle": [1]},
        "ref7": {"line": [0]},
    }


def test_triangle_of_shewchuk_in_the_plane(tmp_path):
    mesh = Mesh(
        [[0, 0], [1, 0], [0, 1], [1, 1]],
        {"triangle": [[0, 1, 2], [1, 3, 2]]},
        groups={"region2": {"triangle": [1]}, "marker1": [0]},
    )
    taut.mesh.write(mesh, tmp_path / "x.ele")
    back = taut.mesh.read(tmp_path / "x.ele")
    assert back.flat
    assert back.cells["triangle"].tolist() == mesh.cells["triangle"].tolist()
    assert back.groups["region2"]["triangle"].tolist() == [1]
    assert back.groups["marker1"]["point"].tolist() == [0]
