"""Medit and TetGen: numbered groups; data that cannot be stored is named."""

import numpy as np
import pytest

import taut
from taut.mesh import Mesh
from taut.mesh.files import medit

POINTS = np.random.default_rng(2).normal(size=(6, 3))


def left_out(mesh, path, log):
    log.clear()
    taut.mesh.write(mesh, path)
    return {
        name
        for message in log.messages
        if "cannot hold: " in message
        for name in message.split("cannot hold: ")[1].split(", ")
    }


def test_many_attributes_keep_their_order(tmp_path, log):
    maps = {f"attribute{i}": np.full(6, float(i)) for i in range(12)}
    mesh = Mesh(
        POINTS,
        {"tet": [[0, 1, 2, 3]]},
        point_data=maps | {"attribute20": np.ones(6), "attribute12": np.ones((6, 2))},
    )
    lost = left_out(mesh, tmp_path / "x.node", log)
    assert lost == {"point_data.attribute20", "point_data.attribute12"}
    back = taut.mesh.read(tmp_path / "x.node")
    assert {name: m[0] for name, m in back.point_data.items()} == {
        f"attribute{i}": i for i in range(12)
    }


def test_invalid_labels_are_named(tmp_path, log):
    cells = {"tet": [[0, 1, 2, 3]], "triangle": [[0, 1, 2]]}
    wrong = {
        "marker0": [0],
        "marker007": [1],
        "marker²": [2],
        "marker3abc": [3],
        "marker99999999999999999999": [4],
    }
    odd = {"marker8": {"tet": [0]}, "region3": {"point": [1]}, "region4": {"triangle": [0]}}
    mesh = Mesh(POINTS, cells, groups=wrong | odd | {"marker5": [5], "region2": {"tet": [0]}})
    assert left_out(mesh, tmp_path / "x.node", log) == {f"groups.{name}" for name in wrong | odd}
    kept = {
        name: {k: v.tolist() for k, v in by_kind.items()}
        for name, by_kind in taut.mesh.read(tmp_path / "x.node").groups.items()
    }
    assert kept == {"marker5": {"point": [5]}, "region2": {"tet": [0]}}
    groups = {
        "ref-1": {"tet": [0]},
        "ref²": [0],
        "ref007": [1],
        "Corners": {"triangle": [0]},
        "RequiredTetrahedra": {"tet": [0]},
    }
    assert left_out(Mesh(POINTS, cells, groups=groups), tmp_path / "x.mesh", log) == {
        "groups.ref²",
        "groups.ref007",
        "groups.Corners",
    }
    assert set(taut.mesh.read(tmp_path / "x.mesh").groups) == {"ref-1", "RequiredTetrahedra"}


def test_reject_two_labels_of_one_cell(tmp_path):
    mesh = Mesh(
        POINTS, {"tet": [[0, 1, 2, 3]]}, groups={"ref1": {"tet": [0]}, "ref2": {"tet": [0]}}
    )
    with pytest.raises(
        taut.errors.MeshError, match=r"x\.mesh, tet 0: must be in at most one group 'ref…', got two"
    ):
        taut.mesh.write(mesh, tmp_path / "x.mesh")


def test_non_region_attributes_become_cell_data(tmp_path):
    (tmp_path / "x.node").write_text("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
    (tmp_path / "x.ele").write_text("1 4 2\n1 1 2 3 4 0.5 7\n# made by hand\n")
    mesh = taut.mesh.read(tmp_path / "x.ele")
    assert {name: by_kind["tet"].tolist() for name, by_kind in mesh.cell_data.items()} == {
        "attribute0": [0.5],
        "attribute1": [7.0],
    }


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nVertices 1\n0 0 0 0\nCorners 1\n1\nCorners 1\n1\n",
            "line 6: Corners must occur once, got it again",
        ),
        (
            "x.mesh",
            b"MeshVersionFormatted 1\nVertices 1\n0 0 0 0\nEnd\nTriangles 1\n",
            "line 5: the file must end after End, got 'Triangles'",
        ),
        (
            "x.node",
            b"1 3 0 0\n1 0 0 0\n2 1 0 0\n",
            "line 3: the file must end after its 1 points, got more rows",
        ),
        ("x.node", b"1 3 0 1\n1 0 0 0 1.5\n", "markers must be integers"),
    ],
)
def test_invalid_files_raise(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(taut.errors.MeshError, match=message):
        taut.mesh.read(tmp_path / name)


def test_many_labels_are_read(tmp_path):
    n = 20_000
    rows = "\n".join(f"{i} 0 0 {i + 1}" for i in range(n))
    cells = "\n".join(f"1 2 3 {i + 1}" for i in range(n))
    data = f"MeshVersionFormatted 1\nVertices {n}\n{rows}\nTriangles {n}\n{cells}\nEnd\n".encode()
    assert len(medit.read(tmp_path / "x.mesh", data).groups) == n
