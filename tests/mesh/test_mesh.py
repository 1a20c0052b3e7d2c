"""Construction of a Mesh and rejected input."""

import numpy as np
import pytest

import taut
from taut.mesh import UV, Mesh

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("points", "cells", "message"),
    [
        ([[0, 0, np.nan]], {}, "point 0: position must be finite"),
        ([[0, 0, 0], [0, np.inf, 0]], {}, "point 1: position"),
        ([0, 0, 0], {}, r"points must have shape .* got \(3,\)"),
        ([["a", "b", "c"]], {}, "points must be numbers"),
        (SQUARE, {"triangle": [[0, 1, 4]]}, r"triangle 0: point index must be from 0 to 3, got 4"),
        (SQUARE, {"quad": [[0, 1, 2, 3], [0, 1, 2, -1]]}, "quad 1: point index .* got -1"),
        (
            SQUARE,
            {"triangles": [[0, 1, 2]]},
            "kind of cell .* got 'triangles'.*did you mean 'triangle'",
        ),
        (SQUARE, {"polygon4": [[0, 1, 2, 3]]}, "kind of cell .* got 'polygon4'"),
        (SQUARE, {"triangle": [[0, 1]]}, r"triangle cells must have shape \(m, 3\), got \(1, 2\)"),
        (SQUARE, {"triangle": [[0, 1, 2], [0, 1]]}, "rows of equal length"),
        (
            SQUARE,
            {"triangle": [[0.0, 1.0, 2.0]]},
            "triangle cells must be integer indices, got float64",
        ),
        (SQUARE, [[0, 1, 2]], "cells must be a dictionary by kind"),
        ([["1", "2", "3"]], {}, "points must be numbers"),
        ([[1j, 0, 0]], {}, "points must be numbers"),
        ([[0, 0, 0], [1, 1]], {}, "points must have rows of equal length"),
        (SQUARE, {"polygon99999999999999": [[0, 1, 2]]}, "kind of cell must be one of"),
        (SQUARE, {"line": np.array([[0, 2**64 - 1]], np.uint64)}, "too large for an index"),
    ],
)
def test_reject_bad_points_and_cells(points, cells, message):
    with pytest.raises(taut.errors.MeshError, match=message):
        Mesh(points, cells)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"groups": {"a": {"triangle": [1]}}}, "group 'a': triangle index must be below 1, got 1"),
        ({"groups": {"a": [4]}}, "group 'a': point index must be below 4, got 4"),
        ({"groups": {"a": [-1]}}, "group 'a': point index .* got -1"),
        (
            {"point_data": {"w": [1.0]}},
            r"data 'w' must have a row for each of the 4 points, got \(1,\)",
        ),
        ({"point_data": {"w": ["a", "b", "c", "d"]}}, "data 'w' must be numbers"),
        ({"cell_data": {"t": {"quad": [1.0]}}}, "each of the 0 quad cells"),
        ({"uv": UV([[0, 0]], {"triangle": [[0, 0, 1]]})}, "triangle 0: texture index must be"),
        (
            {"cell_data": {"t": {"triangel": []}}},
            "unknown kind of cell 'triangel'; did you mean 'triangle'",
        ),
        ({"cell_data": {"t": [1.0]}}, "cell_data 't' must be a dictionary by name"),
        ({"groups": ["a"]}, "groups must be a dictionary by name"),
        ({"point_data": {"w": [[1.0], [1.0, 2.0]]}}, "data 'w' must have rows of equal length"),
        ({"uv": UV([[0, 0, 0]], {"triangle": [[0, 0, 0]]})}, r"of shape \(k, 2\), got \(1, 3\)"),
        ({"uv": UV([[0, np.nan]], {"triangle": [[0, 0, 0]]})}, "uv coordinates must be finite"),
        ({"uv": ([[0, 0]], {})}, "uv must be a taut.mesh.UV, got tuple"),
        ({"uv": UV([[0, 0]], {"quad": [[0, 0, 0, 0]]})}, "uv corners of quad"),
    ],
)
def test_reject_bad_groups_and_data(extra, message):
    with pytest.raises(taut.errors.MeshError, match=message):
        Mesh(SQUARE, {"triangle": [[0, 1, 2]]}, **extra)


def test_errors_have_path_line_and_element():
    error = taut.errors.MeshError("it is wrong", path="a.obj", line=3, element="face 2")
    assert str(error) == "a.obj, line 3, face 2: it is wrong"
    assert (error.path, error.line, error.element) == ("a.obj", 3, "face 2")


def test_arrays_are_copied_and_read_only():
    points = np.array(SQUARE, float)
    mesh = Mesh(points, {"quad": [[0, 1, 2, 3]]}, groups={"a": [0]}, point_data={"w": np.ones(4)})
    points += 1
    assert mesh.points[0].tolist() == [0, 0, 0]
    for array in (
        mesh.points,
        mesh.cells["quad"],
        mesh.edges,
        mesh.triangles,
        mesh.groups["a"]["point"],
        mesh.point_data["w"],
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_kinds_have_a_fixed_order():
    mesh = Mesh(
        np.random.default_rng(0).normal(size=(8, 3)),
        {"hex": [range(8)], "tet": [[0, 1, 2, 3]], "line": [[0, 1]], "triangle": [[0, 1, 2]]},
    )
    assert list(mesh.cells) == ["line", "triangle", "tet", "hex"]
    assert repr(mesh) == "Mesh(8 points, 1 line, 1 triangle, 1 tet, 1 hex)"


def test_with_replaces_only_the_given_fields():
    mesh = Mesh(SQUARE, {"quad": [[0, 1, 2, 3]]}, groups={"a": [0]})
    moved = mesh.with_(points=np.array(SQUARE) + 1.0)
    assert moved.groups["a"]["point"].tolist() == [0]
    assert moved.points[0].tolist() == [1, 1, 1]
    with pytest.raises(taut.errors.MeshError, match="got 'point'"):
        mesh.with_(point=SQUARE)


def test_a_plane_mesh_makes_a_plane_system():
    mesh = Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]})
    assert mesh.flat
    assert mesh.positions.shape == (3, 3)
    assert taut.System(mesh.points, mass=taut.areal_mass(mesh, 1.0)).flat


def test_measure_of_a_missing_kind_raises():
    with pytest.raises(taut.errors.MeshError, match="no tet cells; its kinds are quad"):
        Mesh(SQUARE, {"quad": [[0, 1, 2, 3]]}).measure("tet")
