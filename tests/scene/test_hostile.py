"""Scene files that mean harm, or are spoilt: a SceneError or a MeshError, after bounded work, and nothing else."""

from functools import wraps

import numpy as np
import pytest

import taut
from taut import scene
from taut.bench.reliability import hostile_scenes as scenes
from taut.scene import bounds
from taut.scene.catalogue import shape_names

GOOD = scenes.samples()
PARTS = 6  # of the campaign below, so that they can share processors


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("hostile")
    scenes.write_files(made)
    return made


def test_the_samples_are_good(folder):
    assert [scenes.attempt(text, folder) for text in GOOD] == ["built"] * len(GOOD)


@pytest.mark.parametrize("part", range(PARTS))
def test_spoilt_scenes_are_built_or_refused(folder, part):
    rng = np.random.default_rng([7, part])
    found = [scenes.attempt(scenes.spoilt(GOOD, rng), folder) for _ in range(60)]
    assert set(found) <= {"built", "refused when read", "refused when built"}
    assert len(set(found)) > 1


def refused(text, **options):
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.read_text(text, **options).build()
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = " + "[" * 100_000, "nested more than 12 deep"),
        ("a = " + "{a = " * 90_000, "nested more than 12 deep"),
        ("a = " + "[" * 50 + "]" * 50, "nested more than 12 deep"),
        (".".join(["a"] * 200_000) + " = 1", "line 1: more than 16 names joined by dots"),
        ("x = 1\n[" + '."b" . '.join(["a"] * 30) + "]", "line 2: more than 16 names joined by dots"),
        ("a = " + "9" * 5000, "Exceeds the limit"),
        ("a" * 500_001, "the most are 500,000"),
        ("a" * 499_999, "Expected '=' after a key"),
        ("a " * 249_999, "line 1: Expected '=' after a key"),
        ('"' * 499_999, "line 1"),
        ("a = 1\n" * 1000, "Cannot overwrite a value"),
        ("[[body]]\n" * 5000, "at most 1000 items"),
        ("t = 2026-13-45", "line 1"),
    ],
)
def test_bombs_are_refused(text, told):
    assert told in refused(text)


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
def test_no_mesh_is_made_that_is_too_large(mesh):
    assert any(
        word in refused(SHEET.format(mesh=mesh))
        for word in ("at most 5,000,000", "less than or equal to 5000000", "over the limit")
    )


def test_bodies_are_counted_together():
    one = SHEET.format(mesh='shape = "rope", n = 80')
    two = one + one.partition("[[body]]")[2].join(["[[body]]", ""]).replace('"a"', '"b"')
    assert scene.read_text(two, most=200).build().system.n == 162
    assert "it would have 162 points; a scene has at most 161" in refused(two, most=161)


def test_a_thousand_large_meshes_are_not_made_one_after_the_other(monkeypatch):
    """Each of them would be refused: a body too many, or one that leaves the plane; but only after it was made."""
    made, sphere = [], shape_names()["sphere"]

    @wraps(sphere)
    def small(n, **more):
        made.append(n)
        return sphere(2, **more)

    monkeypatch.setitem(shape_names(), "sphere", small)
    text = SHEET.format(mesh='shape = "sphere", n = 700')
    many = text + "".join(text.partition("[[body]]")[2].join(["[[body]]", ""]).replace('"a"', f'"a{i}"') for i in range(50))
    for scene_text in (many, "dimensions = 2\n" + many):
        made.clear()
        told = refused(scene_text)
        assert "with it the meshes of the scene would have" in told
        assert made == [700, 700], "4,900,002 points each"


def test_elements_are_counted_over_all_laws(monkeypatch):
    """Laws on the same edges again and again: each of them fits, all of them would fill the memory."""
    monkeypatch.setattr("taut.scene.gathering.MOST_ELEMENTS", 1000)
    law = '[[body.law]]\nlaw = "spring"\nname = "s{i}"\non = "edges"\nk = 1.0\n'
    text = SHEET.format(mesh='shape = "rope", n = 300')
    assert scene.read_text(text + "".join(law.format(i=i) for i in range(2))).build().system.n == 301
    told = refused(text + "".join(law.format(i=i) for i in range(5)))
    assert "elements; the most are 1,000" in told
    assert "1,500" not in told, "nothing is bound after that"


def test_texts_and_lists_are_bounded():
    law = '[[body.law]]\nlaw = "gravity"\ng = {g}\n'
    text = SHEET.format(mesh='shape = "rope", n = 3')
    assert "1001 characters; the most are 1000" in refused(text + law.format(g=f'"{"x" * 1001}"'))
    assert "nested more than 30 deep" in refused(text + law.format(g=f'[0, "{"(" * 200}", 0]'))
    many = ",".join(["0"] * (bounds.MOST_LISTED + 1))
    assert "1 to 100,000 entries" in refused(text + law.format(g=f"[{many}]"))


def test_nothing_in_an_expression_is_executed(tmp_path):
    text = SHEET.format(mesh='shape = "rope", n = 3')
    for bad in ("__import__('os').system('true')", "x.__class__", "[x for x in y]", "lambda: 0", "exec(1)", "open(1)"):
        assert "selection" in refused(text + f'[[law]]\nlaw = "drag"\nalpha = "{bad}"\n')
