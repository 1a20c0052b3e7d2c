"""Alignment of edges with a direction, and sheets with different warp and weft stiffness."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.mesh.directions import along

WARP, WEFT, SHEAR = 1000.0, 200.0, 50.0


def test_cosine_squared_of_known_angles():
    angle = np.linspace(0.0, np.pi, 25)
    spokes = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(25)])
    points = np.concatenate([[[0.0, 0.0, 0.0]], np.linspace(1e-3, 1e3, 25)[:, None] * spokes])
    edges = np.column_stack([np.zeros(25, int), 1 + np.arange(25)])
    for sense in (1.0, -7.0):  # neither the length nor the sense of the direction matters
        assert along(points, edges, direction=(sense, 0, 0)) == pytest.approx(
            np.cos(angle) ** 2, abs=1e-14
        )
    assert np.array_equal(
        along(points, edges[:, ::-1], direction=(1, 0, 0)),
        along(points, edges, direction=(1, 0, 0)),
    )
    assert along(points[:, :2], edges, direction=(0, 1)) == pytest.approx(
        np.sin(angle) ** 2, abs=1e-14
    )
    assert along(points, edges, direction=spokes) == pytest.approx(np.ones(25), abs=1e-14), (
        "one direction per edge"
    )


def test_orthogonal_directions_sum_to_one():
    mesh = taut.mesh.disc(4)
    warp, weft = (along(mesh, mesh.edges, direction=d) for d in ((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0)))
    assert warp + weft == pytest.approx(np.ones(len(mesh.edges)), abs=1e-14)
    tiny = along(mesh.points * 1e-200, mesh.edges, direction=(0.6e200, 0.8e200, 0.0))
    assert tiny == pytest.approx(warp, abs=1e-14), "squares must not under- or overflow"


def springs(mesh, pairs, k_warp, k_weft):
    """Springs by direction; boundary springs belong to one cell only and have half the
    stiffness.
    """
    on_rim = np.isin(
        np.sort(pairs, axis=1) @ [mesh.n, 1], np.sort(mesh.boundary_edges, axis=1) @ [mesh.n, 1]
    )
    cosine = along(mesh, pairs, direction=(1, 0, 0))
    return laws.spring(pairs, k=(k_weft + (k_warp - k_weft) * cosine) * np.where(on_rim, 0.5, 1.0))


@pytest.mark.parametrize(("axis", "expected"), [(0, WARP), (1, WEFT)])
def test_grid_has_warp_and_weft_stiffness(axis, expected):
    """A square weave with shear springs; its sides move only along their directions.

    C11 = k_warp + k₂, C22 = k_weft + k₂ [N/m].
    """
    mesh = taut.mesh.sheet(6, 6, size=0.6)
    strain = 1e-3
    pose = mesh.points.copy()
    pose[:, axis] *= 1 + strain
    plain = [springs(mesh, mesh.edges, WARP, WEFT)]
    shear = [laws.spring(mesh.diagonals, k=SHEAR)]
    for energies, modulus, error in (
        (plain, expected, 1e-11),
        (plain + shear, expected + SHEAR, 2 * strain),
    ):
        rest = taut.equilibrium(
            taut.System(
                mesh.points[:, :2],
                mass=1.0,
                energies=energies,
                fixed=mesh.boundary,
                pose=pose[:, :2],
            )
        )
        side = np.flatnonzero(mesh.points[:, axis] == mesh.points[:, axis].max())
        pull = rest.reactions[side, axis].sum()
        assert pull == pytest.approx(
            modulus * strain * 0.6, rel=error
        )  # diagonals turn as they stretch: of second order


def test_reject_bad_edges_and_directions():
    points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    with pytest.raises(taut.errors.MeshError, match=r"edge 1: .*points 1 and 2 coincide"):
        along(points, [[0, 1], [1, 2]], direction=(1, 0, 0))
    with pytest.raises(taut.errors.MeshError, match="edge 0: point index must be"):
        along(points, [[0, 3]], direction=(1, 0, 0))
    with pytest.raises(taut.errors.MeshError, match="direction 0: a zero vector has no direction"):
        along(points, [[0, 1]], direction=(0, 0, 0))
    with pytest.raises(taut.errors.MeshError, match=r"direction must have shape \(3,\)"):
        along(points, [[0, 1]], direction=(1, 0))
    with pytest.raises(taut.errors.MeshError, match="pairs of point indices"):
        along(points, [[0.0, 1.0]], direction=(1, 0, 0))
    with pytest.raises(taut.errors.MeshError, match="points must be positions"):
        along("cloth", [[0, 1]], direction=(1, 0, 0))
    with pytest.raises(taut.errors.MeshError, match="direction must be a vector"):
        along(points, [[0, 1]], direction="warp")
    assert along(points, [], direction=(1, 0, 0)).shape == (0,)
