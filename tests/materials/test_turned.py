"""Springs do not depend on the orientation of a body, nor on the numbering of faces or points."""

import numpy as np
import pytest

import taut
from taut.errors import ModelError
from taut.materials import springs
from tests.materials.bodies import irregular_block, irregular_sheet

TURN = np.array([[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [0.64, -0.48, 0.6]])
COS, SIN = np.cos(np.radians(30)), np.sin(np.radians(30))
BY_30_DEGREES = np.array([[COS, SIN, 0.0], [-SIN, COS, 0.0], [0.0, 0.0, 1.0]])
BUMPY = taut.mesh.torus(30, 14, pattern="alternating")  # all rings differ


def _rotate(mesh, turn):
    return mesh.with_(points=mesh.positions @ turn)


@pytest.mark.parametrize("turn", [BY_30_DEGREES, TURN], ids=["by 30 degrees", "in space"])
@pytest.mark.parametrize(
    "mesh",
    [
        taut.mesh.sheet(6, 6, pattern="alternating"),
        irregular_sheet(12, 12, 1.0, seed=1),
        taut.mesh.disc(6),
    ],
    ids=["alternating", "irregular", "disc"],
)
def test_flat_sheets_do_not_depend_on_orientation(mesh, turn):
    first, second = (springs(m, young=1.0, thickness=1.0) for m in (mesh, _rotate(mesh, turn)))
    assert second.k == pytest.approx(first.k, rel=1e-9)
    assert second.reached.anisotropy == pytest.approx(first.reached.anisotropy, abs=1e-9)
    assert second.bending == pytest.approx(first.bending, rel=1e-6)  # tolerance of the relaxation


def test_solids_do_not_depend_on_orientation():
    mesh = irregular_block(4, seed=2)
    first, second = (springs(m, young=1.0) for m in (mesh, _rotate(mesh, TURN)))
    assert second.k == pytest.approx(first.k, rel=1e-9)
    assert second.reached.anisotropy == pytest.approx(first.reached.anisotropy, abs=1e-9)


def test_curved_sheets_do_not_depend_on_orientation():
    first, second = (springs(m, young=1.0, thickness=1.0) for m in (BUMPY, _rotate(BUMPY, TURN)))
    assert second.k == pytest.approx(first.k, rel=1e-9)
    for name in (
        "young",
        "poisson",
        "softest",
        "stiffest",
    ):  # the search for extremes begins in directions of the patch's axes
        assert getattr(second.reached, name) == pytest.approx(
            getattr(first.reached, name), rel=1e-5
        )
    assert second.bending == pytest.approx(first.bending, rel=1e-6)


def test_springs_do_not_depend_on_numbering():
    t = BUMPY.cells["triangle"]
    order = np.random.default_rng(0).permutation(BUMPY.n)
    number = np.argsort(order)
    shuffled = taut.mesh.Mesh(
        BUMPY.points[order], {"triangle": number[t][np.random.default_rng(1).permutation(len(t))]}
    )
    first, second = (springs(m, membrane=1.0) for m in (BUMPY, shuffled))
    by_pair = {
        tuple(sorted(order[pair])): k
        for pair, k in zip(second.pairs.tolist(), second.k, strict=True)
    }
    assert [by_pair[tuple(pair)] for pair in first.pairs.tolist()] == pytest.approx(
        first.k.tolist(), rel=1e-9
    )
    assert second.reached.stiffest == pytest.approx(first.reached.stiffest, rel=1e-9)


@pytest.mark.parametrize("pattern", ["alternating", "one-diagonal", "irregular"])
def test_nearly_flat_sheet_is_close_to_flat(pattern):
    """Noise of 1e-5 of the size changes almost nothing; a wave of 1/200 changes stiffnesses by less
    than 5%.
    """
    mesh = (
        irregular_sheet(16, 16, 1.0, seed=1)
        if pattern == "irregular"
        else taut.mesh.sheet(16, 16, pattern=pattern)
    )
    flat = springs(mesh, young=1.0, thickness=1e-2)
    x = mesh.positions
    noise = 1e-5 * np.random.default_rng(0).normal(size=mesh.n)
    for height, most in ((noise, 1e-4), (np.sin(6 * x[:, 0]) / 200, 0.05)):
        bent = springs(
            mesh.with_(points=x + height[:, None] * [0, 0, 1]), young=1.0, thickness=1e-2
        )
        assert bent.k == pytest.approx(flat.k, rel=most)
        assert bent.bending == pytest.approx(flat.bending, rel=1e-3)


def test_curved_sheet_has_no_modulus_along_a_direction():
    ball = springs(taut.mesh.sphere(4), membrane=1.0)
    with pytest.raises(ModelError, match="a curved sheet has no modulus"):
        ball.reached.along([1, 0, 0])
    assert ball.reached.axes is None
