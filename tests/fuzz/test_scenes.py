"""Random scenes: each is built or rejected; a scene that is written and read again is unchanged."""

import logging
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import taut
from benchmarks.reliability.scene_samples import write_files
from taut import scene
from taut.scene.toml import format_toml

MOST = 500  # particles
NAN, INFINITE = float("nan"), float("inf")


def mostly(good, bad):
    """Draw a good value, sometimes a bad one; rare enough that some scenes have only good ones."""
    return st.sampled_from(good * (40 // len(good)) + bad[:1]) | st.sampled_from(
        good * (40 // len(good)) + bad
    )


def some(required, optional):
    """A table with the required keys, some optional ones, and sometimes an unknown one."""
    plain = st.fixed_dictionaries(required, optional=optional)
    strange = st.sampled_from(["colour", "Mesh", "", "x" * 50])
    return st.tuples(plain, strange, mostly([False], [True])).map(
        lambda made: {**made[0], **({made[1]: 1} if made[2] else {})}
    )


SIZE = mostly([1, 2, 3], [0, -1, 10**6, 2.5, "2", True])
SECONDS = mostly([0.01, 0.1], [0.0, -1.0, 1e-12, 1e300, NAN, INFINITE, "x"])
LENGTH = mostly([1.0, 0.5], [0.0, -1.0, 1e-12, 1e12, 1e300, NAN, INFINITE, "x", True])
NUMBER = mostly(
    [1, 10.0, "10", "100*(1 + x)", "2 + sin(t)*y"],
    [0, -1.0, 1e-30, 1e18, 1e21, NAN, "t", "2 +", "log(0)", [1.0], [], {}],
)
PLACE = mostly(
    ["all", "y == max", "x < 0.5*max(x)", "points(0, 1)", [0]],
    ["corners(top)", "none", "edge", "points(0:900)", "", [-1], 3, "x +"],
)
VECTOR = mostly(
    [[0, 1, 0], [1.0, "t", 0.5], ["0.1*x", 0, 0]],
    [[0, 0, 0], [1, 2], [1, 2, 3, 4], [], 1.0, "x", [[1], 2, 3], [NAN, 0, 0]],
)
NAMES = mostly(["a", "b", "c"], ["", "a b", "../a", "\x1b[31m", "default", "all", 3])
FILES = mostly(["tile.obj"], ["k.csv", "none.obj", "../tile.obj", "/etc/passwd", "a\0b", "."])
MESH = st.one_of(
    some(
        {"shape": st.just("sheet"), "nx": SIZE, "ny": SIZE},
        {"size": LENGTH, "triangulate": st.booleans()},
    ),
    some({"shape": st.just("rope"), "n": SIZE}, {"length": LENGTH}),
    some({"shape": mostly(["sphere"], ["ropes", "torus"]), "n": SIZE}, {"radius": LENGTH}),
    some(
        {"shape": st.just("block"), "nx": SIZE, "ny": SIZE, "nz": SIZE},
        {"cells": mostly(["tet", "hex"], ["quad"])},
    ),
    some({"file": FILES}, {"scale": LENGTH, "up": mostly(["y", "z"], ["w"])}),
)
LAW = st.one_of(
    some(
        {
            "law": mostly(["spring", "cable"], ["sprung"]),
            "on": mostly(["edges"], ["hinges", "points", "faces"]),
            "k": NUMBER,
        },
        {"name": NAMES},
    ),
    some({"law": mostly(["gravity"], ["own.py:law", "gravitas"])}, {"g": VECTOR}),
    some({"law": st.just("force"), "f": VECTOR}, {"where": PLACE, "on": st.just("points")}),
    some(
        {
            "law": st.just("pin"),
            "on": st.just("points"),
            "where": PLACE,
            "k": NUMBER,
            "target": VECTOR,
        },
        {},
    ),
    some({"law": st.just("drag"), "alpha": NUMBER}, {"breaking_strain": NUMBER}),
)
HOLD = st.one_of(
    some({"where": PLACE}, {"until": SECONDS}),
    some({"where": PLACE, "on_plane": VECTOR}, {"through": VECTOR}),
    some({"where": PLACE, "rotate": some({"axis": VECTOR, "rate": NUMBER}, {})}, {}),
)
BODY = some(
    {"name": NAMES, "mesh": MESH, "mass": NUMBER},
    {
        "total_mass": NUMBER,
        "law": st.lists(LAW, max_size=2),
        "hold": st.lists(HOLD, max_size=1),
        "density": NUMBER,
    },
)
BODY = st.one_of(
    BODY,
    BODY.map(
        lambda body: {
            key: value for key, value in body.items() if key not in ("density", "total_mass")
        }
    ),
)
STITCH = some(
    {"bodies": st.lists(NAMES, min_size=2, max_size=2), "k": NUMBER},
    {"where": st.lists(PLACE, min_size=2, max_size=2)},
)
SCENE = some(
    {
        "time": some({"h": SECONDS, "duration": LENGTH}, {"every": SIZE}),
        "body": st.lists(BODY, min_size=1, max_size=2),
    },
    {
        "title": NAMES,
        "law": st.lists(LAW, max_size=1),
        "integrator": some({"method": mostly(["ImplicitEuler", "BDF2", "RK4"], ["Euler"])}, {}),
        "stitch": st.lists(STITCH, max_size=1),
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("scenes")
    write_files(made)
    return made


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(tables=SCENE)
def test_random_scenes_are_built_or_rejected(folder, tables):
    logging.getLogger("taut").setLevel(logging.ERROR)
    text = format_toml(tables)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            made = scene.read_text(text, folder=folder, most=MOST)
            built = made.build()
        except (taut.errors.SceneError, taut.errors.MeshError):
            return
    assert built.system.n <= MOST
    for name, content in made.inputs().items():  # a written scene includes its files
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    again = scene.read_text(made.resolved(), folder=folder, most=MOST)
    assert again.resolved() == made.resolved()
    assert again.build().system.pose.tobytes() == built.system.pose.tobytes()
