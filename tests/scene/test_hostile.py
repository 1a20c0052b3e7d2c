"""Hostile and corrupted scene files: a SceneError or a MeshError, after bounded work."""

from functools import wraps

import numpy as np
import pytest

import taut
from benchmarks.reliability import hostile_scenes as scenes
from taut import scene
from taut.scene import _limits as limits
from taut.scene._mesh import GENERATORS

GOOD = scenes.samples()
PARTS = 6  # the campaign below is divided, so that its parts can run in parallel


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("hostile")
    scenes.write_files(made)
    return made


def test_the_samples_are_good(folder):
    assert [scenes.attempt(text, folder) for text in GOOD] == ["built"] * len(GOOD)


@pytest.mark.parametrize("part", range(PARTS))
def test_corrupted_scenes_are_built_or_rejected(folder, part):
    rng = np.random.default_rng([7, part])
    found = [scenes.attempt(scenes.corrupt_one(GOOD, rng), folder) for _ in range(60)]
    assert set(found) <= {"built", "refused when read", "refused when built"}
    assert len(set(found)) > 1


def error_message(text, **options):
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.read_text(text, **options).build()
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = " + "[" * 100_000, "nested more than 12 deep"),
        ("a = " + "{a = " * 90_000, "nested more than 12 deep"),
        ("a = " + "[" * 50 + "]" * 50, "nested more than 12 deep"),
        (".".join(["a"] * 200_000) + " = 1", "line 1: a key joins more than 16 names by dots"),
        (
            "x = 1\n[" + '."b" . '.join(["a"] * 30) + "]",
            "line 2: a key joins more than 16 names by dots",
        ),
        ("a = " + "9" * 5000, "Exceeds the limit"),
        ("a" * 500_001, "the limit is 500,000"),
        ("a" * 499_999, "Expected '=' after a key"),
        ("a " * 249_999, "line 1: Expected '=' after a key"),
        ('"' * 499_999, "line 1"),
        ("a = 1\n" * 1000, "Cannot overwrite a value"),
        ("[[body]]\n" * 5000, "at most 1000 items"),
        ("t = 2026-13-45", "line 1"),
    ],
)
def test_bombs_are_rejected(text, expected):
    assert expected in error_message(text)


SHEET = """
[time]
h = 0.01
duration = 1.0
[[body]]
name = "a"
mass = 1.0
mesh = {{ {mesh} }}
"""


@pytest.mark.parametrize(
    "mesh",
    [
        'shape = "sheet", nx = 100000, ny = 100000',
        'shape = "sheet", nx = 1000000000, ny = 1000000000',
        'shape = "sphere", n = 5000',
        'shape = "disc", rings = 5000',
        'shape = "block", nx = 1000, ny = 1000, nz = 1000',
        'shape = "lattice", nx = 300, ny = 300, nz = 300',
        'shape = "torus", around = 5000, across = 5000',
        'shape = "rope", n = 5000000',
        'shape = "ball", radius = 1.0, spacing = 1e-4',
        'shape = "bunny", height = 1.0, spacing = 1e-9',
        'shape = "sphere", n = 3, fill = { spacing = 1e-6 }',
    ],
)
def test_meshes_that_are_too_large_are_not_generated(mesh):
    assert any(
        word in error_message(SHEET.format(mesh=mesh))
        for word in ("the limit is 5,000,000", "less than or equal to 5000000", "over the limit")
    )


def test_bodies_are_counted_together():
    one = SHEET.format(mesh='shape = "rope", n = 80')
    two = one + one.partition("[[body]]")[2].join(["[[body]]", ""]).replace('"a"', '"b"')
    assert scene.read_text(two, most=200).build().system.n == 162
    assert "the scene would have 162 points; the limit is 161" in error_message(two, most=161)


def test_many_large_meshes_are_not_generated_one_after_another(monkeypatch):
    """Each is rejected, but only after it was generated: too many bodies, or not in the plane."""
    made, sphere = [], GENERATORS["sphere"]

    @wraps(sphere)
    def small(n, **more):
        made.append(n)
        return sphere(2, **more)

    monkeypatch.setitem(GENERATORS, "sphere", small)
    text = SHEET.format(mesh='shape = "sphere", n = 700')
    many = text + "".join(
        text.partition("[[body]]")[2].join(["[[body]]", ""]).replace('"a"', f'"a{i}"')
        for i in range(50)
    )
    for scene_text in (many, "dimensions = 2\n" + many):
        made.clear()
        message = error_message(scene_text)
        assert "with this mesh the scene would generate" in message
        assert made == [700, 700], "4,900,002 points each"


def test_elements_are_counted_over_all_laws(monkeypatch):
    """Many laws on the same edges: each of them fits, all together would fill the memory."""
    monkeypatch.setattr("taut.scene._law.MAX_ELEMENTS", 1000)
    law = '[[body.law]]\nlaw = "spring"\nname = "s{i}"\non = "edges"\nk = 1.0\n'
    text = SHEET.format(mesh='shape = "rope", n = 300')
    assert (
        scene.read_text(text + "".join(law.format(i=i) for i in range(2))).build().system.n == 301
    )
    message = error_message(text + "".join(law.format(i=i) for i in range(5)))
    assert "may have 1,000 elements in all, got 1,200" in message
    assert "1,500" not in message, "no law may be bound after that"


def test_texts_and_lists_are_bounded():
    law = '[[body.law]]\nlaw = "gravity"\ng = {g}\n'
    text = SHEET.format(mesh='shape = "rope", n = 3')
    assert "at most 1000 characters, got 1001" in error_message(
        text + law.format(g=f'"{"x" * 1001}"')
    )
    assert "must be nested at most 30 deep" in error_message(
        text + law.format(g=f'[0, "{"(" * 200}", 0]')
    )
    many = ",".join(["0"] * (limits.MAX_ENTRIES + 1))
    assert "1 to 100,000 entries" in error_message(text + law.format(g=f"[{many}]"))


def test_nothing_in_an_expression_is_executed(tmp_path):
    text = SHEET.format(mesh='shape = "rope", n = 3')
    for bad in (
        "__import__('os').system('true')",
        "x.__class__",
        "[x for x in y]",
        "lambda: 0",
        "exec(1)",
        "open(1)",
    ):
        assert "selection" in error_message(text + f'[[law]]\nlaw = "drag"\nalpha = "{bad}"\n')
