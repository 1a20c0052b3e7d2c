"""Values of the theory page: moduli by the formula and by the fit on some meshes, E = 1."""

import numpy as np
import pytest

import taut
from taut.materials import springs
from taut.materials._cells import collect_cells
from taut.materials._lattice import build_lattice
from taut.materials._patches import build_patches, measure_patches
from taut.materials.moduli import describe_patches
from tests.materials.bodies import irregular_sheet, triangulated


def _random_points():
    rng = np.random.default_rng(0)
    side = np.linspace(0, 1, 32)
    inner, zero = side[1:-1], np.zeros(30)
    rim = [np.column_stack([side, np.full(32, y)]) for y in (0.0, 1.0)] + [
        np.column_stack([zero + x, inner]) for x in (0.0, 1.0)
    ]
    return triangulated(np.concatenate([rng.random((1000, 2)) * 0.96 + 0.02, *rim]))


@pytest.mark.parametrize(
    ("mesh", "formula", "fitted"),
    [
        (
            lambda: taut.mesh.sheet(16, 16, pattern="alternating"),
            (0.90, 0.81, 1.32, 0.38),
            (0.999, 1.001, 0.32, 1.04),
        ),
        (_random_points, (0.77, 0.96, 1.04, 0.39), (0.996, 1.003, 0.39, 1.03)),
        (taut.mesh.ball, (0.92, 0.89, 1.09, 0.25), (0.997, 1.004, 0.25, 1.09)),
        (
            lambda: taut.mesh.bunny(spacing=0.015),
            (0.91, 0.89, 1.09, 0.25),
            (0.965, 1.028, 0.25, 1.09),
        ),
        (
            lambda: taut.mesh.block(4, 4, 4, size=(6.0, 4, 4)),
            (0.92, 0.83, 1.92, 0.25),
            (0.998, 1.004, 0.25, 1.00),
        ),
        (
            lambda: taut.mesh.block(4, 4, 4, size=(8.0, 4, 4)),
            (0.80, 0.80, 2.95, 0.27),
            (0.931, 1.268, 0.25, 1.00),
        ),
    ],
    ids=["alternating", "random points", "ball", "bunny", "bricks 3 : 2", "bricks 2 : 1"],
)
def test_moduli_of_formula_and_fit(mesh, formula, fitted):
    """Young's modulus, its relative range over directions, Poisson's ratio.

    The last value of the fit is with the boundary held.
    """
    mesh = mesh()
    asked = {"young": 1.0} if mesh.blocks(3) else {"membrane": 1.0}
    guess, found = (springs(mesh, **asked, fit=fit).reached for fit in (False, True))
    assert [
        guess.young,
        guess.softest / guess.young,
        guess.stiffest / guess.young,
        guess.poisson,
    ] == pytest.approx(formula, abs=6e-3)
    assert [found.softest, found.stiffest] == pytest.approx(fitted[:2], abs=6e-4)
    assert [found.poisson, found.held] == pytest.approx(fitted[2:], abs=6e-3)


@pytest.mark.parametrize("fit", [True, False])
def test_patches_agree_with_a_stretch_test(fit):
    """On a flat sheet both are possible: patches are up to 3% stiffer because their rim is held."""
    mesh = irregular_sheet(24, 24, 1.0, seed=0)
    made = springs(mesh, membrane=1.0, fit=fit)
    cells = collect_cells(mesh)
    local = measure_patches(build_patches(mesh, cells), cells, build_lattice(mesh, cells), made.k)
    found = describe_patches(local.compliance, local.weight, False)
    assert 1.0 < found.young / made.reached.young < 1.03
    assert found.poisson == pytest.approx(made.reached.poisson, abs=0.01)
