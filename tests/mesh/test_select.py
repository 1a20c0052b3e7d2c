"""Selections: the meaning of each form, rejected input, and only MeshErrors for any text."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taut.errors import MeshError
from taut.mesh import Mesh, read, sheet
from taut.mesh.selection.language import MAX_CHARACTERS, MAX_NESTING
from taut.mesh.selection.select import corners, select
from tests.mesh.meshes import real


def _sheet(cells: int = 10, spacing: float = 0.1) -> Mesh:
    """Quads in xy; coordinates are i * spacing.

    These are not the nearest floats to every decimal.
    """
    i, j = np.meshgrid(np.arange(cells + 1), np.arange(cells + 1), indexing="ij")
    points = np.column_stack([i.ravel() * spacing, j.ravel() * spacing, np.zeros(i.size)])
    n = np.arange(i.size).reshape(i.shape)
    quads = np.stack([n[:-1, :-1], n[1:, :-1], n[1:, 1:], n[:-1, 1:]], axis=-1).reshape(-1, 4)
    return Mesh(
        points,
        {"quad": quads},
        groups={
            "left sleeve": [0, 1],
            "all": [3],
            "x": [4],
            "patch": {"quad": [0], "point": [60]},
            "empty": [],
        },
        point_data={
            "weight": i.ravel() * 0.1,
            "label": j.ravel(),
            "my map": j.ravel(),
            "velocity": points,
            "max": i.ravel(),
        },
    )


SHEET = _sheet()
X, Y, Z = SHEET.points.T
I, J = (np.round(v / 0.1).astype(int) for v in (X, Y))  # noqa: E741
EDGE = (I == 0) | (I == 10) | (J == 0) | (J == 10)

MEANINGS = {
    "all": np.ones(121, bool),
    "none": np.zeros(121, bool),
    "boundary": EDGE,
    "not boundary": ~EDGE,
    "corners": ((I == 0) | (I == 10)) & ((J == 0) | (J == 10)),
    "corners(top)": ((I == 0) | (I == 10)) & (J == 10),
    "corners(top) and corners(left)": (I == 0) & (J == 10),
    "patch": ((I < 2) & (J < 2)) | ((I == 5) & (J == 5)),
    "'patch' and x > 0.05": ((I == 1) & (J < 2)) | ((I == 5) & (J == 5)),
    '"left sleeve"': (I == 0) & (J < 2),
    "'all'": (I == 0) & (J == 3),  # quoted: the group
    "x": (I == 0) & (J == 4),  # where points are meant, x can only be the group
    "y > 0.9*max": J == 10,
    "y >= 0.9*max": J >= 9,
    "0.9*max < y": J == 10,
    "y == max": J == 10,
    "y != max": J < 10,
    "y == max or y == min": (J == 0) | (J == 10),
    "x > mean": I > 5,
    "min < x < max": (I > 0) & (I < 10),
    "0.2 <= x < 0.5": (I >= 2) & (I < 5),
    "x <= 0.3": I <= 3,  # though 3 * 0.1 > 0.3
    "x > 0.3": I > 3,
    "x == 0.7": I == 7,
    "0.1*7 == x": I == 7,
    "x^2 + z^2 < 0.01": I == 0,
    "x**2 + y**2 <= 0.01": (I**2 + J**2) <= 1,
    "hypot(x - 0.5, y - 0.5) <= 0.1": ((I - 5) ** 2 + (J - 5) ** 2) <= 1,
    "hypot(x, y, 1) == 1": (I == 0) & (J == 0),
    "sqrt(x) == 0.5*2*sqrt(0.9)": I == 9,
    "abs(x - 0.5) < 0.15": abs(I - 5) <= 1,
    "max(y) - y < 0.05": J == 10,
    "x + y == max": (I == 10) & (J == 10),
    "x == max(x)/2 and y == min(y)": (I == 5) & (J == 0),
    "weight > 0.5": I > 5,
    "weight == 0.3": I == 3,
    "weight > 0.5*max": I > 5,
    "label == 3": J == 3,
    "'my map' == 3": J == 3,
    "'max' == 3": I == 3,  # quoted: the map
    "x - y > 0.85": I - J >= 9,
    "x - 0.1 - 0.1 == 0": I == 2,
    "x / 2 / 2 == 0.1": I == 4,
    "x == 2^3^2 - 511.9": I == 1,
    "-x^2 == -0.25": I == 5,
    "x == 2^-1": I == 5,
    "x == - -0.5": I == 5,
    "x == +.5e0": I == 5,
    "1/x > 4.9": I <= 2,  # 1/0 is inf
    "x/x == 1": I > 0,  # 0/0 equals nothing
    "not x/x == 1": I == 0,
    "10^400 > x": np.ones(121, bool),
    "z == 0": np.ones(121, bool),
    "not x > 0.5 and y > 0.5": (I <= 5) & (J > 5),
    "not (x > 0.5 and y > 0.5)": ~((I > 5) & (J > 5)),
    "x < 0.05 or x > 0.95 and y < 0.05": (I == 0) | ((I == 10) & (J == 0)),
    "(x < 0.05 or x > 0.95) and y < 0.05": ((I == 0) | (I == 10)) & (J == 0),
    "box(0.1, 0.1, 0, 0.3, 0.2, 0)": (I >= 1) & (I <= 3) & (J >= 1) & (J <= 2),
    "box(0.3, 0.2, 1, 1/10, 0.1, -1)": (I >= 1) & (I <= 3) & (J >= 1) & (J <= 2),
    "nearest(0.52, 0.48, 3)": (I == 5) & (J == 5),
    "nearest(-1e300, 0, 0)": np.arange(121) == 0,
    "points(0, 5, 10:20)": np.isin(np.arange(121), [0, 5, *range(10, 20)]),
    "y ==\n\tmax": J == 10,
}


@pytest.mark.parametrize("text", MEANINGS)
def test_select_expression(text):
    found = select(SHEET, text)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.flatnonzero(MEANINGS[text]))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("shift", [0.0, -1e5])
@pytest.mark.parametrize(
    "text",
    [
        "y == max",
        "y >= 0.5*(min(y) + max(y))",
        "z == 0",
        "x < mean",
        "(x - min(x))^3 <= (max(x) - min(x))^3/8",
    ],
)
def test_comparisons_do_not_depend_on_unit_or_position(scale, shift, text):
    """Rounding noise is absorbed, and as much at any scale."""
    points = SHEET.points + np.array([shift, shift, 0.0])
    noise = np.random.default_rng(0).uniform(-1e-11, 1e-11, points.shape)
    moved = SHEET.with_(points=(points + noise) * scale)
    np.testing.assert_array_equal(select(moved, text), select(SHEET, text))


REFUSED = {
    "": "at column 1: expected a name or a number, got the end",
    "y >": "at column 4: expected a name or a number, got the end",
    "y >> 3": "at column 4: expected a name or a number, got '>'",
    "y = 3": "at column 3: unexpected character '='; use ==",
    "x > 0 & y > 0": "at column 7: unexpected character '&'; use and",
    "x > 0 | y > 0": "use or",
    "!patch": "use not",
    "2x > 1": "at column 2: expected an operator, got 'x'",
    "(x > 0": "at column 7: expected an operator or ')', got the end",
    "x > 0)": "at column 6: expected an operator, got ')'",
    "'patch": "at column 1: the closing quote is missing",
    "patsh": "unknown group 'patsh'; did you mean 'patch'?",
    "boundry": "did you mean 'boundary'?",
    "'boundary'": "unknown group 'boundary'; its groups: left sleeve, all, x, patch, empty",
    "patch or qqqq": "at column 10: unknown group 'qqqq'",
    "weigth > 1": "unknown per-vertex map 'weigth'; did you mean 'weight'?",
    "weight": "'weight' is a number at each point, not a set of points: compare it",
    "2*x": "'2*x' is a number, not a set of points",
    "sqrt(x)": "is a number, not a set of points",
    "3": "is a number, not a set of points",
    "patch > 1": "'patch' is a group of points, not a number",
    "(patch or x > 1) > 1": "is not a number",
    "velocity > 1": "the map 'velocity' has 3 components",
    "mx(y) > 1": "unknown function 'mx'; did you mean 'max'?",
    "nearst(0, 0, 0)": "unknown function 'nearst'; did you mean 'nearest'?",
    "max(x, y) > 1": "max takes 1 argument, got 2",
    "hypot(x) > 1": "hypot takes 2 or 3 arguments, got 1",
    "x < y < max": "at column 9: max needs an argument here, as in max(y)",
    "y - max > 0": "max needs an argument here",
    "max < 3": "max needs an argument here",
    "1 < 2": "is the same for all points",
    "x > 1e999": "'1e999' is too large",
    "corners(tp)": "at column 9: side must be one of left, right, bottom, top, back, front, got "
    "'tp'",
    "corners(front)": "the mesh has no front: it has no extent along z",
    "corners()": "corners takes one side",
    "box(0, 0, 0, 1, 1)": "box takes 6 numbers for a mesh, got 5",
    "box(x, 0, 0, 1, 1, 1)": "at column 5: an argument of box is one number; 'x' differs from "
    "point to point",
    "nearest(0/0, 0, 0)": "is not finite",
    "nearest(0, 0)": "nearest takes 3 numbers for a mesh, got 2",
    "points(-1)": "points takes indices such as 3 and ranges such as 10:20",
    "points(1.0)": "points takes indices",
    "points(121)": "point index must be below 121, got '121'",
    "points(5:122)": "point index must be below 121, got '5:122'",
    "points(7:5)": "the range '7:5' is empty",
    "points(" + "9" * 5000 + ")": "too large",
    "box(0:1, 0, 0, 1, 1, 1)": "a range is allowed only in points",
    "x > 0 ; y": "unexpected character ';'",
    "x > 2": "is empty (x ranges from 0 to 1)",
    "x > 2 and y < -1": "is empty (x ranges from 0 to 1; y ranges from 0 to 1)",
    "y > max": "is empty (y ranges from 0 to 1)",
    "box(2, 2, 2, 3, 3, 3)": "is empty (the mesh reaches from (0, 0, 0) to (1, 1, 0))",
    "empty": "is empty",
    "not all": "is empty",
    "points()": "is empty",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda t: t[:30])
def test_reject_expression(text):
    with pytest.raises(MeshError) as caught:
        select(SHEET, text)
    message = str(caught.value)
    assert message.startswith("selection ")
    assert REFUSED[text] in message
    assert len(message) < 250


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "(" * (MAX_CHARACTERS - 1),
        "not " * 2000 + "all",
        "-" * 9000 + "x > 1",
        "x > " + "2^-" * 3000 + "2",
        "max(" * 2000 + "x" + ")" * 2000 + " > 1",
        "x" * 20_000,
    ],
    ids=range(7),
)
def test_reject_too_long_or_too_deep_expressions(text):
    with pytest.raises(MeshError, match=r"nested at most 30 deep|at most 10000 characters"):
        select(SHEET, text)


def test_long_and_deep_expressions_within_the_limits():
    assert len(select(SHEET, "(" * (MAX_NESTING - 2) + "x > 0.95" + ")" * (MAX_NESTING - 2))) == 11
    assert len(select(SHEET, "x" + "+1" * 4990 + " > 4990.95")) == 11
    assert len(select(SHEET, " or ".join(f"points({i})" for i in range(121)))) == 121


TOKENS = [
    *"xyz()(),:+-*/^<>.'\"= ",
    "**",
    "<=",
    ">=",
    "==",
    "!=",
    " and ",
    " or ",
    " not ",
    "all",
    "none",
    "boundary",
    "corners",
    "box(",
    "nearest(",
    "points(",
    "min",
    "max",
    "mean",
    "abs(",
    "sqrt(",
    "hypot(",
    "0",
    "1",
    "0.5",
    "1e308",
    "1e-320",
    "99999999999999999999",
    "patch",
    "'left sleeve'",
    "weight",
    "velocity",
    "top",
    "é",
    "\x00",
    "²",
    "٣",
    "__import__",
    "x.y",
    "\n",
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=25).map("".join) | st.text(max_size=30))
def test_any_text_is_a_selection_or_a_mesh_error(text):
    for mesh in (SHEET, PLANE, EMPTY):
        try:
            found = select(mesh, text)
        except MeshError:
            continue
        assert found.dtype == np.int64
        assert (np.diff(found) > 0).all()
        assert ((found >= 0) & (found < mesh.n)).all()


PLANE = Mesh(
    [[0, 0], [1, 0], [1, 1], [0, 1]],
    {"quad": [[0, 1, 2, 3]]},
    point_data={"hole": [0.0, np.nan, np.inf, 2.0]},
)
EMPTY = Mesh(np.empty((0, 3)), {})


def test_a_mesh_in_the_plane():
    assert select(PLANE, "nearest(0.9, 0.2)").tolist() == [1]
    assert select(PLANE, "box(0.5, -1, 2, 2)").tolist() == [1, 2]
    assert select(PLANE, "corners(top)").tolist() == [2, 3]
    with pytest.raises(MeshError, match="at column 1: a mesh in the plane has no z"):
        select(PLANE, "z > 0")
    with pytest.raises(MeshError, match="box takes 4 numbers for a mesh in the plane, got 6"):
        select(PLANE, "box(0, 0, 0, 1, 1, 1)")


def test_non_finite_values_are_ignored_in_max_and_mean():
    assert select(PLANE, "hole == max").tolist() == [3]
    assert select(PLANE, "hole > mean").tolist() == [2, 3]
    assert select(PLANE, "hole != 0").tolist() == [2, 3]


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (3, [3]),
        (np.int32(3), [3]),
        ([5, 1, 5], [1, 5]),
        ((2, 0), [0, 2]),
        (range(3), [0, 1, 2]),
        ([], []),
        (np.array([7], np.uint8), [7]),
        (X > 0.95, list(range(110, 121))),
        (np.zeros(121, bool), []),
    ],
)
def test_select_by_indices_and_masks(what, expected):
    found = select(SHEET, what)
    assert found.dtype == np.int64
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (-1, "point index must be from 0 to 120, got -1"),
        ([0, 121], "point index must be from 0 to 120, got 121"),
        (np.uint64(2**63), "point index must be from 0 to 120, got 9223372036854775808"),
        ([0.5], "got an array of float64"),
        (2.0, "got 2.0"),
        (True, "got True"),
        (None, "got None"),
        ({1}, "got {1}"),
        ([2**70], "got an array of object"),
        (["patch"], "a flat sequence of indices, a mask or a string"),
        ([[1]], "got an array of shape (1, 1)"),
        ([[1], [2, 3]], "rows of different lengths"),
        ([True, False], "a mask of points must have shape (121,), got (2,)"),
    ],
    ids=repr,
)
def test_reject_bad_indices_and_masks(what, message):
    with pytest.raises(MeshError) as caught:
        select(SHEET, what)
    assert message in str(caught.value)


def _block() -> Mesh:
    x = np.stack(np.meshgrid([0.0, 1, 2], [0.0, 1], [0.0, 1, 3], indexing="ij"), axis=-1).reshape(
        -1, 3
    )
    return Mesh(x, {"line": [[0, 1]]})


@pytest.mark.parametrize(
    ("side", "axis", "value"),
    [
        ("left", 0, 0),
        ("right", 0, 2),
        ("bottom", 1, 0),
        ("top", 1, 1),
        ("back", 2, 0),
        ("front", 2, 3),
    ],
)
def test_corners_of_a_block(side, axis, value):
    block = _block()
    every = np.flatnonzero(
        (np.isin(block.points, [0.0, 3.0]) | (block.points == [2, 1, 3])).all(axis=1)
    )
    np.testing.assert_array_equal(corners(block), every)
    assert len(every) == 8
    np.testing.assert_array_equal(corners(block, side), every[block.points[every, axis] == value])


def test_corners_of_ropes_and_sheets():
    rope = Mesh(np.linspace([0, 0, 0], [0, 5, 0], 6), {"line": [[0, 1]]})
    assert corners(rope).tolist() == [0, 5]
    assert corners(rope, "bottom").tolist() == [0]
    with pytest.raises(MeshError, match="the mesh has no left: it has no extent along x"):
        corners(rope, "left")
    noisy = SHEET.with_(
        points=SHEET.points + [0, 0, 1] * np.random.default_rng(0).uniform(-1e-12, 1e-12, (121, 1))
    )
    assert corners(noisy).tolist() == [0, 10, 110, 120]
    assert corners(Mesh([[1, 2, 3]], {})).tolist() == [0]
    with pytest.raises(MeshError, match="without points"):
        corners(EMPTY)


def test_corners_of_a_ring_are_the_nearest_points():
    angle = np.arange(8) * np.pi / 4 + np.pi / 8 + 0.01
    ring = Mesh(np.column_stack([np.cos(angle), np.sin(angle), 0 * angle]), {"line": [[0, 1]]})
    low, high = ring.points.min(axis=0), ring.points.max(axis=0)
    boxed = [[x, y, 0] for x in (low[0], high[0]) for y in (low[1], high[1])]
    expected = {int(np.linalg.norm(ring.points - corner, axis=1).argmin()) for corner in boxed}
    assert set(corners(ring).tolist()) == expected


def test_select_on_a_scanned_mesh():
    spot = read(real("spot.obj"))
    top = select(spot, "y > 0.9*max")
    assert 0 < len(top) < spot.n
    assert spot.points[top, 1].min() > 0.9 * spot.points[:, 1].max()
    assert np.delete(spot.points[:, 1], top).max() <= 0.9 * spot.points[:, 1].max() * (1 + 1e-8)


def test_long_sums_use_bounded_memory():
    cloth = sheet(100, 100)
    tracemalloc.start()
    assert len(cloth.select("+".join(["x"] * 2000) + " > 0")) == 100 * 101
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * cloth.n * 8
    with pytest.raises(MeshError, match="at most 4 comparisons, got 3000"):
        cloth.select("<=".join(["x"] * 3001))
