"""The key `on`: words for elements name arrays of the mesh."""

import numpy as np
import pytest

import taut
from taut import scene
from taut.errors import SceneError

HEAD = "[time]\nh = 0.01\nduration = 1.0\n"
SHEET = '[[body]]\nname = "a"\nmesh = { shape = "sheet", nx = 2, ny = 3, size = [2.0, 3.0] }\n'
BLOCK = (
    '[[body]]\nname = "a"\n'
    'mesh = { shape = "block", nx = 2, ny = 2, nz = 2, size = 0.5, cells = "tet" }\n'
)


def build_law(text, name):
    return scene.read_text(HEAD + text).build().system._placed_energies[name]


@pytest.mark.parametrize("word", ["edges", "diagonals", "skips"])
def test_element_words_are_mesh_attributes(word):
    found = build_law(
        f'{SHEET}mass = 0.1\n[[body.law]]\nlaw = "spring"\non = "{word}"\nk = 1.0\n', "spring"
    )
    assert np.array_equal(found.elements, getattr(taut.mesh.sheet(2, 3, size=(2.0, 3.0)), word))


def test_cell_kinds_are_element_words():
    found = build_law(
        f'{BLOCK}mass = 0.1\n[[body.law]]\nlaw = "volume"\non = "tet"\nk = 1.0\n', "volume"
    )
    mesh = taut.mesh.block(2, 2, 2, size=0.5, cells="tet")
    assert np.array_equal(found.elements, mesh.cells["tet"])


def test_boundary_triangles_enclose_the_solid_and_face_outwards():
    """A pressure p on all of them does p times the volume: V = -p v."""
    text = (
        f'{BLOCK}mass = 0.1\n[[body.law]]\nlaw = "pressure"\non = "boundary_triangles"\np = 3.0\n'
    )
    built = scene.read_text(HEAD + text).build()
    assert built.system.V_by_law(built.state)["pressure"] == pytest.approx(-3.0 * 0.5**3, rel=1e-14)


def test_springs_match_the_material():
    material = "material = { membrane = 100.0, areal_density = 0.2 }"
    law = '[[body.law]]\nlaw = "cable"\non = "springs"\nk = 1.0'
    text = f"{SHEET}{material}\n{law}\n"
    system = scene.read_text(HEAD + text).build().system
    assert np.array_equal(
        system._placed_energies["cable"].elements, system._placed_energies["spring"].elements
    )


@pytest.mark.parametrize(
    ("body", "on", "expected"),
    [
        (SHEET, '"springs"', "those of the material; this body has none"),
        (SHEET, '"boundary_triangles"', "those of solids; the mesh has none"),
        (SHEET, '"tet"', "the mesh has no cells of the kind 'tet'"),
        (SHEET, '"egdes"', "unknown elements 'egdes'; did you mean 'edges'"),
        (SHEET, '"body_diagonals"', "the mesh has no body_diagonals"),
        (SHEET, "[[0, 12]]", "from 0 to 11, got 12 in an element"),
        (SHEET, "[[0, 1], [1, 2, 3]]", "must have the same number of points"),
        (SHEET, '"edges"\nwhere = "x > 5"', "is empty"),
        (SHEET, '"edges"\nwhere = [0]', "no element has all of its points in the selection"),
    ],
)
def test_missing_elements_are_reported(body, on, expected):
    with pytest.raises(SceneError, match=expected):
        scene.read_text(
            HEAD + f'{body}mass = 0.1\n[[body.law]]\nlaw = "spring"\non = {on}\nk = 1.0\n'
        ).build()


def test_rotation_angles_are_interpolated_linearly():
    """Held points rotate about their mean; the angle is linear between the given times."""
    turn = "rotate = { axis = [0, 0, 2], angles = [[0, 0], [1, 1.5707963267948966], [2, 0]] }"
    made = scene.read_text(
        f'{HEAD}{SHEET}mass = 0.1\n[[body.hold]]\nwhere = "y == min"\n{turn}\n'
    ).build()
    half = np.sqrt(0.5)
    for t, along in (
        (0.0, (1.0, 0.0)),
        (0.5, (half, half)),
        (1.0, (0.0, 1.0)),
        (1.5, (half, half)),
        (2.0, (1.0, 0.0)),
    ):
        expected = np.array([1.0, 0.0, 0.0]) + np.outer(
            [-1.0, 0.0, 1.0], [*along, 0.0]
        )  # 2 m wide, about (1, 0, 0)
        np.testing.assert_allclose(
            made.system._projector.anchors(t)[[0, 1, 2]], expected, atol=1e-15
        )
