"""Springs on irregular meshes have the modulus asked for, and report what they do not reach."""

import numpy as np
import pytest

import taut
from taut.materials import moduli, springs
from tests.materials.bodies import (
    irregular_block,
    irregular_sheet,
    lumped_measure,
    small_displacements,
)
from tests.mesh.meshes import real

SHEETS = {
    "rectangles": lambda: taut.mesh.sheet(6, 8, size=(1.5, 1.2)),
    "alternating": lambda: taut.mesh.sheet(12, 12, pattern="alternating"),
    "irregular": lambda: irregular_sheet(16, 16, 1.0, seed=1),
    "disc": lambda: taut.mesh.disc(8),
}
SOLIDS = {
    "ball": taut.mesh.ball,
    "tets": lambda: irregular_block(6, seed=2),
    "bricks": lambda: taut.mesh.block(4, 4, 4, size=(1.0, 1.1, 0.9)),
}


@pytest.mark.parametrize("name", SHEETS)
def test_sheets_reach_the_modulus(name):
    mesh = SHEETS[name]()
    made = springs(mesh, young=3e6, thickness=2e-3)
    again = moduli(
        mesh, made.pairs, made.k, thickness=2e-3
    )  # measured again from pairs and k alone
    assert again.young == pytest.approx(3e6, rel=1e-4)
    # 7% and 0.06 are what the coarsest of these (a disc of eight rings) leaves; fine regular ones
    # are exact
    assert again.anisotropy < 0.07
    assert again.poisson == pytest.approx(1 / 3, abs=0.06)
    assert (made.k > 0).all()


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_reach_the_modulus(name):
    mesh = SOLIDS[name]()
    made = springs(mesh, young=1e5)
    again = moduli(mesh, made.pairs, made.k)
    assert again.young == pytest.approx(1e5, rel=1e-4)
    assert again.anisotropy < 0.07
    assert again.poisson == pytest.approx(1 / 4, abs=0.05)
    assert (made.k > 0).all()


def test_modulus_matches_an_independent_tension_test():
    """An irregular strip pulled at both ends with 1 N/m: its modulus is 1/strain, away from the
    ends.
    """
    mesh = irregular_sheet(48, 12, (4.0, 1.0), seed=3)
    made = springs(mesh, membrane=50.0)
    x = mesh.points[:, :2]
    ends = [np.isclose(x[:, 0], at) for at in (0.0, 4.0)]
    load = np.zeros(mesh.n)
    for end, sign in zip(ends, (-1, 1), strict=True):
        y = np.sort(x[end, 1])
        share = np.gradient(y)
        share[[0, -1]] /= 2  # nodal forces of the stress 1 N/m along the end
        load[np.flatnonzero(end)[np.argsort(x[end, 1])]] = sign * share
    corner, other = (int(np.flatnonzero(end & np.isclose(x[:, 1], 0.0))[0]) for end in ends)
    held = [
        2 * corner,
        2 * corner + 1,
        2 * other + 1,
    ]  # three coordinates fix the rigid motion and carry no load
    moved = small_displacements(
        x, made.pairs, made.k, np.column_stack([load, np.zeros(mesh.n)]), held
    )
    middle = np.abs(x[:, 0] - 2) < 1.1
    strain = np.polyfit(x[middle, 0], moved[middle, 0], 1)[0]
    assert 1 / strain == pytest.approx(
        50.0, rel=0.03
    )  # the modulus varies by a few per cent with the direction and from place to place


@pytest.mark.parametrize(
    "mesh", [taut.mesh.sphere(8), taut.mesh.torus(36, 14), taut.mesh.cylinder(40, 8)], ids=repr
)
def test_curved_sheets_reach_the_modulus(mesh):
    made = springs(mesh, membrane=10.0, areal_density=0.1)
    assert made.reached.young == pytest.approx(10.0)
    assert made.reached.poisson == pytest.approx(1 / 3, abs=0.06)
    assert made.mass.sum() == pytest.approx(0.1 * mesh.areas.sum())
    flat = springs(taut.mesh.sheet(6, 6), membrane=10.0)
    # nearly square cells of any size have nearly the springs of the flat sheet, for k does not
    # depend on the size
    if "quad" in mesh.cells and mesh.boundary.size:
        assert np.median(made.k) == pytest.approx(np.median(flat.k), rel=0.2)


def test_curved_sheet_from_file():
    mesh = taut.mesh.read(real("spot.obj"))
    made = springs(mesh, young=1e6, thickness=1e-3, density=1000.0)
    assert made.reached.young == pytest.approx(1e6)
    assert len(made.k) == len(mesh.edges)
    assert made.bending > 0
    assert any(
        "depending on the direction" in limit for limit in made.limits
    )  # its triangles are quads with parallel diagonals


def test_tetrahedra_from_file():
    mesh = taut.mesh.read(real("octopus-low.mesh"))
    made = springs(mesh, young=1e5, density=1000.0)
    assert made.reached.young == pytest.approx(1e5)
    assert made.mass.sum() == pytest.approx(1000.0 * mesh.volumes.sum())
    assert any(
        "ν" in limit for limit in made.limits
    )  # arms one tetrahedron thick: far from isotropic, which is reported


@pytest.mark.parametrize("plane", ["xy", "xz", "yz"])
def test_warp_and_weft_on_a_grid_are_exact(plane):
    mesh = taut.mesh.sheet(6, 5, size=(0.6, 0.5), plane=plane)
    warp, weft = {
        "xy": ((1, 0, 0), (0, 1, 0)),
        "xz": ((1, 0, 0), (0, 0, 1)),
        "yz": ((0, 1, 0), (0, 0, 1)),
    }[plane]
    made = springs(mesh, membrane=(1000.0, 150.0), shear=20.0, warp=warp)
    assert made.reached.along(warp) == pytest.approx(1000.0, rel=1e-5)
    assert made.reached.along(weft) == pytest.approx(150.0, rel=1e-5)
    # squares: C₁₁ = k₁ + k₂ and C₁₂ = C₆₆ = k₂ = the shear modulus; E₁ = C₁₁ - C₁₂²/C₂₂ gives the
    # inner edges
    c22 = (1000 + np.sqrt(1000**2 + 4 * 20**2 * 1000 / 150)) / (2 * 1000 / 150)
    along = np.abs((mesh.points[made.pairs[:, 1]] - mesh.points[made.pairs[:, 0]]) / 0.1)
    # the fit stops when its error does not fall any more, with k right to 1e-4 and the diagonals,
    # 2% of it all, to 1e-3
    assert made.k[along @ np.abs(warp) < 0.5].max() == pytest.approx(c22 - 20, rel=1e-4)
    assert made.k[along @ np.abs(weft) < 0.5].max() == pytest.approx(
        c22 * 1000 / 150 - 20, rel=1e-4
    )
    assert made.k[(along.sum(axis=1) > 1.5)] == pytest.approx(20.0, rel=1e-3)


def test_warp_and_weft_oblique_and_on_a_tube():
    askew = springs(taut.mesh.sheet(6, 6), membrane=(300.0, 100.0), warp=(1, 1, 0))
    assert askew.reached.along([1, 1, 0]) == pytest.approx(300.0, rel=1e-4)
    assert askew.reached.along([-1, 1, 0]) == pytest.approx(100.0, rel=1e-4)
    tube = springs(taut.mesh.cylinder(60, 10), membrane=(200.0, 100.0), warp=(0, 1, 0))
    assert tube.reached.warp == pytest.approx(
        200.0, rel=0.03
    )  # its patches are measured in a plane


@pytest.mark.parametrize("sheet", ["equilateral", "alternating", "irregular"])
def test_warp_and_weft_have_priority_over_shear(sheet):
    """Denim on triangles: both moduli are reached, and the missed shear modulus is reported."""
    mesh = (
        irregular_sheet(12, 12, 1.0, seed=1)
        if sheet == "irregular"
        else taut.mesh.sheet(12, 12, pattern=sheet)
    )
    made = springs(mesh, membrane=(1013.0, 205.3), shear=13.3, warp=(1, 0, 0))
    again = moduli(mesh, made.pairs, made.k)
    assert again.along([1, 0, 0]) == pytest.approx(1013.0, rel=1e-5)
    assert again.along([0, 1, 0]) == pytest.approx(205.3, rel=1e-5)
    missed = abs(made.reached.shear / 13.3 - 1) > 0.03
    assert any("in shear" in limit for limit in made.limits) == missed
    if (
        sheet == "equilateral"
    ):  # three directions, E₁ and E₂ given: C₁₂ = C₂₂/3 for any stiffness along the warp
        c22 = 205.3 / (1 - 205.3 / (9 * 1013.0))
        assert made.reached.shear == pytest.approx(c22 / 3, rel=1e-3)


@pytest.mark.parametrize(("length", "uneven"), [(1.5, 0.01), (2.0, 0.4)])
def test_elongated_hexahedra_reach_the_modulus(length, uneven):
    """Long hexahedra are fitted with space diagonals; Van Gelder's formula ranges from 0.80 to 2.95
    of its mean at 2 : 1.
    """
    mesh = taut.mesh.block(4, 4, 4, size=(4 * length, 4.0, 4.0))
    made, guess = springs(mesh, young=1.0), springs(mesh, young=1.0, fit=False)
    assert made.reached.anisotropy < uneven
    assert made.reached.anisotropy < 0.5 * guess.reached.anisotropy
    through = len(made.pairs) - len(mesh.edges) - len(mesh.diagonals)
    assert through == len(mesh.body_diagonals) > 0
    cubes = springs(taut.mesh.block(2, 2, 2), young=1.0)
    assert len(cubes.pairs) == 54 + 72  # edges and face diagonals are enough


def test_a_slender_strip():
    strip = springs(irregular_sheet(200, 2, (200.0, 2.0), seed=0), membrane=1.0)
    assert strip.reached.young == pytest.approx(1.0)


def test_free_and_held_boundary_moduli():
    """Cubes have one modulus, tetrahedra two: under stress and under boundary strain; this is
    reported.
    """
    cubes = springs(taut.mesh.block(3, 3, 3), young=2.0)
    assert cubes.reached.held == pytest.approx(2.0, rel=1e-6)
    assert cubes.limits == ()
    mesh = irregular_block(4, seed=2)
    made = springs(mesh, young=2.0)
    x, inside = mesh.points, np.setdiff1d(np.arange(mesh.n), mesh.boundary)
    # by hand: all of the boundary moved by the strain diag(1, -1, 0), energy of the springs, over 4
    # G = 2 (C₁₁ - C₁₂)
    moved = x * [1, -1, 0]
    along = x[made.pairs[:, 1]] - x[made.pairs[:, 0]]
    unit = along / np.linalg.norm(along, axis=1, keepdims=True)
    force = np.zeros_like(x)
    pull = (made.k * ((moved[made.pairs[:, 1]] - moved[made.pairs[:, 0]]) * unit).sum(axis=1))[
        :, None
    ] * unit
    np.add.at(force, made.pairs[:, 0], pull)
    np.add.at(force, made.pairs[:, 1], -pull)
    fixed = (mesh.boundary[:, None] * 3 + np.arange(3)).ravel()
    moved = moved + small_displacements(x, made.pairs, made.k, force, fixed)
    assert len(inside) > 0
    stretch = ((moved[made.pairs[:, 1]] - moved[made.pairs[:, 0]]) * unit).sum(axis=1)
    shear = (made.k * stretch**2).sum() / 4
    assert made.reached.held / 2.0 > 1.05
    assert shear == pytest.approx(
        made.reached.held / 2.5, rel=0.1
    )  # G = E/2(1+ν), this strain being one of many
    assert any(f"{made.reached.held / 2.0:.3g} times as stiff" in limit for limit in made.limits)
    assert "with the boundary held" in str(made)


def test_springs_are_immutable_and_compared_by_identity():
    """Arrays are read-only, equality is identity, and the repr is short."""
    made = springs(taut.mesh.sheet(2, 2), membrane=1.0, areal_density=1.0)
    for array in (made.pairs, made.k, made.mass):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert made != springs(taut.mesh.sheet(2, 2), membrane=1.0, areal_density=1.0)
    assert len({made, made}) == 1
    assert repr(made) == "Springs(20 springs, 1 kg)"


def test_masses_match_the_mesh():
    sheet, block = irregular_sheet(6, 6, 1.0, seed=0), taut.mesh.ball()
    assert (
        springs(sheet, membrane=1.0, areal_density=0.3).mass.tobytes()
        == taut.areal_mass(sheet, 0.3).tobytes()
    )
    assert (
        springs(block, young=1.0, density=900.0, fit=False).mass.tobytes()
        == taut.volume_mass(block, 900.0).tobytes()
    )


def test_mixed_cells_and_masses():
    """Triangles and quads, tets and hexes: every spring once, every mass its part."""
    sheet = taut.mesh.Mesh(
        [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]],
        {"quad": [[0, 1, 4, 3]], "triangle": [[1, 2, 4], [2, 5, 4]]},
    )
    made = springs(sheet, young=1e6, thickness=1e-3, density=1000.0)
    assert made.mass == pytest.approx(lumped_measure(sheet))
    assert len(made.pairs) == len(sheet.edges) + len(sheet.diagonals)
    assert made.reached.young == pytest.approx(1e6)


def test_unreachable_moduli_are_reported():
    made = springs(taut.mesh.sheet(4, 4), membrane=1e3, poisson=0.45)
    assert made.limits == (
        "ν = 0.45: isotropic springs that strain evenly have ν = 1/3 in a sheet",
    )
    assert "0.45" in str(made)
    assert "0.333" in str(made)
    one_way = springs(taut.mesh.sheet(8, 8, pattern="one-diagonal"), membrane=1.0)
    assert any("0.5 to 2 of its mean" in limit for limit in one_way.limits)


def test_van_gelder_formula_without_fit():
    """Σ E t A/l² on one right triangle, and Σ E V/l² on one tetrahedron.

    The irregular body is softer than requested.
    """
    one = taut.mesh.Mesh([[0, 0], [1, 0], [0, 2]], {"triangle": [[0, 1, 2]]})
    made = springs(one, membrane=10.0, fit=False)
    assert dict(zip(map(tuple, made.pairs.tolist()), made.k, strict=True)) == pytest.approx(
        {(0, 1): 10.0, (0, 2): 2.5, (1, 2): 2.0}
    )
    tet = taut.mesh.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], {"tet": [[0, 1, 2, 3]]})
    assert np.sort(springs(tet, young=12.0, fit=False).k) == pytest.approx([1, 1, 1, 2, 2, 2])
    irregular = irregular_sheet(16, 16, 1.0, seed=1)
    assert springs(irregular, membrane=1.0, fit=False).reached.young < 0.92


def test_repeated_calls_are_bit_identical():
    mesh = irregular_sheet(8, 8, 1.0, seed=5)
    first, second = (springs(mesh, membrane=1.0) for _ in range(2))
    assert first.k.tobytes() == second.k.tobytes()


def test_springs_scale_with_units():
    """A body ten times as large has springs and a modulus ten times as large.

    The fit is independent of both.
    """
    small = irregular_block(3, seed=1)
    k = springs(small, young=1.0).k
    assert springs(small.with_(points=10 * small.points), young=1e9).k == pytest.approx(
        1e10 * k, rel=1e-6
    )


def test_distant_disconnected_mesh_with_an_unused_point():
    sheet = taut.mesh.sheet(4, 4)
    points = np.concatenate([sheet.points, sheet.points + np.array([3, 0, 0]), [[9, 9, 0]]]) + 1e5
    quads = sheet.cells["quad"]
    made = springs(
        taut.mesh.Mesh(points, {"quad": np.concatenate([quads, quads + sheet.n])}),
        membrane=8.0,
        areal_density=1.0,
    )
    assert made.k[: len(made.k) // 2] == pytest.approx(
        springs(sheet, membrane=8.0).k, rel=1e-6
    )  # lengths are exact to 1e5 ε/0.25
    assert made.mass[-1] == 0
    assert made.reached.young == pytest.approx(8.0)
