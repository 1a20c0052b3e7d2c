"""Bad input is rejected before anything is computed, and the bad element is named."""

import numpy as np
import pytest

import taut
from taut.errors import MeshError, ModelError
from taut.materials import bending, material, moduli, springs

SHEET = taut.mesh.sheet(2, 2)
BLOCK = taut.mesh.block(1, 1, 1)
ROPE = taut.mesh.rope(2)
TETS = taut.mesh.block(1, 1, 1, cells="tet")
PUSHED_IN = BLOCK.points.copy()
PUSHED_IN[PUSHED_IN.sum(axis=1).argmax()] = 0.1
FOLDED = taut.mesh.sheet(4, 4, pattern="alternating")
FOLDED = FOLDED.with_(
    points=np.where(
        np.isclose(FOLDED.points, [0.5, 0.5, 0]).all(axis=1)[:, None], [0.9, 0.5, 0], FOLDED.points
    )
)


@pytest.mark.parametrize(
    ("points", "cells", "element"),
    [
        ([[0, 0], [1, 0], [0, 1], [2, 0]], {"triangle": [[0, 1, 2], [0, 1, 3]]}, "triangle 1"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], {"tet": [[0, 2, 1, 3]]}, "tet 0"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], {"tet": [[0, 1, 2, 3]]}, "tet 0"),
        (BLOCK.points, {"hex": BLOCK.cells["hex"][:, [0, 3, 2, 1, 4, 7, 6, 5]]}, "hex 0"),
        ([[0, 0], [1, 0], [0, 1]], {"quad": [[0, 1, 2, 2]]}, "quad 0"),
        ([[0, 0], [1, 0], [1, 0], [0, 1]], {"quad": [[0, 1, 2, 3]]}, "quad 0"),
        ([[0, 0], [1, 0], [0.2, 0.2], [0, 1]], {"quad": [[0, 1, 2, 3]]}, "quad 0"),
        (PUSHED_IN, {"hex": BLOCK.cells["hex"]}, "hex 0"),
        (FOLDED.points, dict(FOLDED.cells), "triangle 13"),
        ([[0, 0, 0], [1, 0, 0], [1, 0, 0]], {"line": [[0, 1], [1, 2]]}, "line 1"),
    ],
    ids=[
        "flat triangle",
        "inverted tet",
        "flat tet",
        "inverted hex",
        "a corner twice",
        "corners that meet",
        "a concave quad",
        "a pushed-in corner",
        "a triangle folded over",
        "line without length",
    ],
)
def test_bad_cell_is_named(points, cells, element):
    with pytest.raises(MeshError, match=element) as caught:
        springs(
            taut.mesh.Mesh(points, cells),
            young=1.0,
            **({"thickness": 1.0} if {"triangle", "quad"} & set(cells) else {}),
        )
    assert caught.value.element == element


@pytest.mark.parametrize(
    ("mesh", "keywords", "message"),
    [
        (SHEET, {"young": -1.0, "thickness": 1.0}, "young must be a positive number"),
        (SHEET, {"young": float("nan"), "thickness": 1.0}, "young must be a positive number"),
        (SHEET, {"young": "1e6", "thickness": 1.0}, "young must be a positive number"),
        (SHEET, {"young": (1.0, 2.0, 3.0), "thickness": 1.0}, "one number"),
        (SHEET, {"young": 1.0}, "needs its thickness"),
        (SHEET, {}, "needs one modulus"),
        (SHEET, {"young": 1.0, "membrane": 1.0, "thickness": 1.0}, "needs one modulus"),
        (SHEET, {"young": 1.0, "thickness": 0.0}, "thickness must be a positive number"),
        (SHEET, {"membrane": 1.0, "density": 1000.0}, "needs its thickness"),
        (
            SHEET,
            {"membrane": 1.0, "density": 1000.0, "thickness": 1.0, "areal_density": 1.0},
            "exclude each other",
        ),
        (
            SHEET,
            {"membrane": 1.0, "areal_density": -0.1},
            "areal_density must be a positive number",
        ),
        (SHEET, {"membrane": 1.0, "poisson": 1.0}, "between -1 and 1 in a sheet"),
        (SHEET, {"membrane": (1.0, 2.0)}, "need the direction of the warp"),
        (SHEET, {"membrane": (1.0, 2.0), "warp": (0, 0, 0)}, "warp must be a vector"),
        (
            SHEET,
            {"membrane": 1.0, "shear": 0.0, "warp": (1, 0, 0)},
            "shear must be a positive number",
        ),
        (SHEET, {"membrane": 1.0, "area": 1.0}, "area does not apply to a sheet"),
        (SHEET, {"young": 10**400, "thickness": 1.0}, "young must be a positive number"),
        (SHEET, {"young": 1e300, "thickness": 1e10}, "young × thickness must be a positive number"),
        (
            SHEET,
            {"young": 1e-300, "thickness": 1e-10},
            "young × thickness must be a positive number",
        ),
        (SHEET, {"young": np.ones(1), "thickness": 1.0}, "one number"),
        (SHEET, {"young": 1.0, "thickness": np.ones(2)}, "thickness must be a positive number"),
        (SHEET.points, {"young": 1.0}, "mesh must be a taut.mesh.Mesh, got ndarray"),
        (BLOCK, {"young": 1.0, "poisson": 0.5}, "between -1 and 0.5 in a solid"),
        (BLOCK, {"young": 1.0, "poisson": -1.0}, "between -1 and 0.5 in a solid"),
        (BLOCK, {"young": 1.0, "density": 0.0}, "density must be a positive number"),
        (BLOCK, {"young": 1.0, "thickness": 1.0}, "thickness does not apply to solids"),
        (BLOCK, {}, "young must be a positive number"),
        (ROPE, {"young": 1.0}, "area of their cross-section"),
        (ROPE, {"young": 1.0, "area": -1.0}, "area must be a positive number"),
        (taut.mesh.Mesh([[0, 0, 0]], {}), {"young": 1.0}, "no cells"),
    ],
)
def test_reject_bad_springs_arguments(mesh, keywords, message):
    with pytest.raises(ModelError, match=message):
        springs(mesh, **keywords)


def test_reject_warp_perpendicular_to_a_face():
    with pytest.raises(MeshError, match="the warp is perpendicular to this face"):
        springs(taut.mesh.sheet(2, 2), membrane=(1.0, 2.0), warp=(0, 0, 1))
    with pytest.raises(MeshError, match="quad"):
        springs(taut.mesh.surface(taut.mesh.block(2, 2, 2)), membrane=(1.0, 2.0), warp=(0, 1, 0))


def test_reject_moduli_of_mechanisms_curved_sheets_and_lines():
    with pytest.raises(ModelError, match="do not hold the body together"):
        moduli(SHEET, SHEET.edges, 1.0)  # squares without diagonals shear freely
    with pytest.raises(ModelError, match="not flat"):
        moduli(taut.mesh.sphere(2), taut.mesh.sphere(2).edges, 1.0)
    with pytest.raises(ModelError, match="lines"):
        moduli(ROPE, ROPE.edges, 1.0)


@pytest.mark.parametrize(
    ("mesh", "pairs", "k", "thickness", "message"),
    [
        (TETS, TETS.edges, -1.0, None, "k of spring 0 must be finite and 0 or more .*got -1.0"),
        (TETS, TETS.edges, float("nan"), None, "k of spring 0 must be .*got nan"),
        (TETS, TETS.edges, 0.0, None, "at least one stiffness must be positive"),
        (TETS, TETS.edges, [1.0, 2.0], None, "shape"),
        (TETS, TETS.edges, "stiff", None, "k must be a number"),
        (TETS, [[0, 1.5]], 1.0, None, "whole numbers"),
        (TETS, [0, 1], 1.0, None, "whole numbers"),
        (TETS, np.zeros((0, 2), int), 1.0, None, "at least 1"),
        (TETS, [[0, 1], [0, 99]], 1.0, None, "pair 1 must join"),
        (TETS, [[0, 1], [2, 2]], 1.0, None, "pair 1 joins .* coincide"),
        (TETS, TETS.edges, 1.0, 0.1, "thickness does not apply to solids"),
        (SHEET, SHEET.edges, 1.0, 0.0, "thickness must be a positive number"),
        ("sheet", SHEET.edges, 1.0, None, "mesh must be"),
    ],
)
def test_reject_bad_moduli_arguments(mesh, pairs, k, thickness, message):
    with pytest.raises(ModelError, match=message):
        moduli(mesh, pairs, k, thickness=thickness)


def test_reject_bad_material_and_bending_arguments():
    for name in (3, ["cotton"]):
        with pytest.raises(ModelError, match="no material"):
            material(name)
    with pytest.raises(ModelError, match="mesh must be"):
        bending(SHEET.points, 1.0)
    with pytest.raises(ModelError, match="did you mean 'cotton'"):
        material("coton")
    with pytest.raises(ModelError, match="nothing to bend"):
        bending(ROPE, 1.0)
    with pytest.raises(ModelError, match="rigidity"):
        bending(SHEET, 0.0)
