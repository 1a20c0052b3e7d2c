"""Bad input is refused before anything is computed, and named."""

import pytest

import taut
from taut.errors import MeshError, ModelError
from taut.materials import bending, material, moduli, springs

SHEET = taut.mesh.sheet(2, 2)
BLOCK = taut.mesh.block(1, 1, 1)
ROPE = taut.mesh.rope(2)


@pytest.mark.parametrize(
    ("points", "cells", "element"),
    [
        ([[0, 0], [1, 0], [0, 1], [2, 0]], {"triangle": [[0, 1, 2], [0, 1, 3]]}, "triangle 1"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], {"tet": [[0, 2, 1, 3]]}, "tet 0"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], {"tet": [[0, 1, 2, 3]]}, "tet 0"),
        (BLOCK.points, {"hex": BLOCK.cells["hex"][:, [0, 3, 2, 1, 4, 7, 6, 5]]}, "hex 0"),
        ([[0, 0], [1, 0], [0, 1]], {"quad": [[0, 1, 2, 2]]}, "quad 0"),
        ([[0, 0], [1, 0], [1, 0], [0, 1]], {"quad": [[0, 1, 2, 3]]}, "spring 1-2"),
        ([[0, 0, 0], [1, 0, 0], [1, 0, 0]], {"line": [[0, 1], [1, 2]]}, "line 1"),
    ],
    ids=["flat triangle", "inverted tet", "flat tet", "inverted hex", "a corner twice", "corners that meet", "line without length"],
)
def test_the_bad_cell_is_named(points, cells, element):
    with pytest.raises(MeshError, match=element) as caught:
        springs(taut.mesh.Mesh(points, cells), young=1.0, **({"thickness": 1.0} if {"triangle", "quad"} & set(cells) else {}))
    assert caught.value.element == element


@pytest.mark.parametrize(
    ("mesh", "keywords", "says"),
    [
        (SHEET, {"young": -1.0, "thickness": 1.0}, "young is a positive number"),
        (SHEET, {"young": float("nan"), "thickness": 1.0}, "young is a positive number"),
        (SHEET, {"young": "1e6", "thickness": 1.0}, "young is a positive number"),
        (SHEET, {"young": (1.0, 2.0, 3.0), "thickness": 1.0}, "one number"),
        (SHEET, {"young": 1.0}, "needs its thickness"),
        (SHEET, {}, "has a modulus"),
        (SHEET, {"young": 1.0, "membrane": 1.0, "thickness": 1.0}, "has a modulus"),
        (SHEET, {"young": 1.0, "thickness": 0.0}, "thickness is a positive number"),
        (SHEET, {"membrane": 1.0, "density": 1000.0}, "needs its thickness"),
        (SHEET, {"membrane": 1.0, "density": 1000.0, "thickness": 1.0, "areal_density": 1.0}, "the same thing"),
        (SHEET, {"membrane": 1.0, "areal_density": -0.1}, "areal_density is a positive number"),
        (SHEET, {"membrane": 1.0, "poisson": 1.0}, "between -1 and 1 in a sheet"),
        (SHEET, {"membrane": (1.0, 2.0)}, "give that of the warp"),
        (SHEET, {"membrane": (1.0, 2.0), "warp": (0, 0, 0)}, "warp is a direction"),
        (SHEET, {"membrane": 1.0, "shear": 0.0, "warp": (1, 0, 0)}, "shear is a positive number"),
        (SHEET, {"membrane": 1.0, "area": 1.0}, "area says nothing about a sheet"),
        (BLOCK, {"young": 1.0, "poisson": 0.5}, "between -1 and 0.5 in a solid"),
        (BLOCK, {"young": 1.0, "poisson": -1.0}, "between -1 and 0.5 in a solid"),
        (BLOCK, {"young": 1.0, "density": 0.0}, "density is a positive number"),
        (BLOCK, {"young": 1.0, "thickness": 1.0}, "thickness says nothing about solids"),
        (BLOCK, {}, "young is a positive number"),
        (ROPE, {"young": 1.0}, "area of their cross-section"),
        (ROPE, {"young": 1.0, "area": -1.0}, "area is a positive number"),
        (taut.mesh.Mesh([[0, 0, 0]], {}), {"young": 1.0}, "no cells"),
    ],
)
def test_numbers_that_make_no_sense(mesh, keywords, says):
    with pytest.raises(ModelError, match=says):
        springs(mesh, **keywords)


def test_a_warp_that_stands_on_a_face():
    with pytest.raises(MeshError, match="the warp stands on this face"):
        springs(taut.mesh.sheet(2, 2), membrane=(1.0, 2.0), warp=(0, 0, 1))
    with pytest.raises(MeshError, match="quad"):
        springs(taut.mesh.surface(taut.mesh.block(2, 2, 2)), membrane=(1.0, 2.0), warp=(0, 1, 0))


def test_moduli_of_what_has_none():
    with pytest.raises(ModelError, match="do not hold the body together"):
        moduli(SHEET, SHEET.edges, 1.0)  # squares without diagonals shear freely
    with pytest.raises(ModelError, match="not flat"):
        moduli(taut.mesh.sphere(2), taut.mesh.sphere(2).edges, 1.0)
    with pytest.raises(ModelError, match="lines"):
        moduli(ROPE, ROPE.edges, 1.0)


def test_the_rest():
    with pytest.raises(ModelError, match="did you mean 'cotton'"):
        material("coton")
    with pytest.raises(ModelError, match="nothing to bend"):
        bending(ROPE, 1.0)
    with pytest.raises(ModelError, match="rigidity"):
        bending(SHEET, 0.0)
