"""Formats read through meshlane, in a child interpreter."""

import sys

import numpy as np
import pytest

import taut

ABAQUS = """*HEADING
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 0., 1., 0.
4, 0., 0., 1.
5, 1., 1., 1.
*ELEMENT, TYPE=C3D4, ELSET=CORE
1, 1, 2, 3, 4
2, 2, 3, 4, 5
*ELEMENT, TYPE=S3, ELSET=SKIN
3, 1, 3, 2
*NSET, NSET=HELD
1, 5
"""


@pytest.fixture
def inp(tmp_path):
    path = tmp_path / "x.inp"
    path.write_text(ABAQUS)
    return path


def test_abaqus_with_its_sets(inp):
    pytest.importorskip("meshlane", reason="the extra taut[meshlane] is not installed")
    mesh = taut.mesh.read(inp, scale=2.0)
    np.testing.assert_array_equal(mesh.points[4], [2, 2, 2])
    assert {k: c.tolist() for k, c in mesh.cells.items()} == {
        "triangle": [[0, 2, 1]],
        "tet": [[0, 1, 2, 3], [1, 2, 3, 4]],
    }
    assert mesh.select("HELD").tolist() == [0, 4]
    assert mesh.groups["SKIN"]["triangle"].tolist() == [0]
    assert mesh.groups["CORE"]["tet"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("*NODE\n1, 0., x, 0.\n", "reading it with meshlane: the child ended with exit code 1"),
        (ABAQUS.replace("2, 3, 4, 5", "2, 3, 4, 99"), "x.inp"),
        ("garbage\n" * 10, "x.inp"),
        (
            ABAQUS.replace("C3D4", "C3D10").replace(
                "1, 1, 2, 3, 4\n2, 2, 3, 4, 5", "1, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5"
            ),
            "x.inp",
        ),
    ],
)
def test_meshlane_failures_raise_mesh_error(content, message, inp):
    pytest.importorskip("meshlane", reason="the extra taut[meshlane] is not installed")
    inp.write_text(content)
    with pytest.raises(taut.errors.MeshError, match=message):
        taut.mesh.read(inp)


def test_missing_extra_is_named(inp, monkeypatch):
    monkeypatch.setitem(sys.modules, "meshlane", None)
    with pytest.raises(
        taut.errors.MissingExtra,
        match=r"x\.inp: \.inp files need the package meshlane: pip install 'taut\[meshlane\]'",
    ):
        taut.mesh.read(inp)


def test_writing_is_rejected(tmp_path):
    with pytest.raises(taut.errors.MeshError, match="a format that is only read cannot hold"):
        taut.mesh.write(taut.mesh.sphere(1), tmp_path / "x.inp")
