"""Cloth: structural, shear and skip-one springs on grids; edges and hinges on any triangle mesh."""

import numpy as np
import pytest

import taut
from taut import laws
from tests.mesh.meshes import real

G = 9.81


def energy(points, pose, *energies):
    system = taut.System(points, mass=1.0, energies=energies, pose=pose)
    return system.V(system.initial_state())


def test_structural_shear_and_bending_springs_resist_separate_deformations():
    """On a grid of 5 × 4 squares of side l.

    Energies of a stretch, a shear and a roll, derived by counting springs.
    """
    side, k = 0.1, 7.0
    sheet = taut.mesh.sheet(5, 4, size=(5 * side, 4 * side))
    structural, shear, bending = (
        laws.spring(pairs, k=k) for pairs in (sheet.edges, sheet.diagonals, sheet.skips)
    )
    x, y = sheet.points[:, 0], sheet.points[:, 1]
    assert (len(sheet.edges), len(sheet.diagonals), len(sheet.skips)) == (
        5 * 5 + 6 * 4,
        2 * 5 * 4,
        4 * 5 + 6 * 3,
    )

    strain = 0.01
    stretched = sheet.points * [1 + strain, 1, 1]
    per_edge, per_skip = k / 2 * (strain * side) ** 2, k / 2 * (2 * strain * side) ** 2
    assert energy(sheet.points, stretched, structural) == pytest.approx(25 * per_edge, rel=1e-11)
    assert energy(sheet.points, stretched, bending) == pytest.approx(20 * per_skip, rel=1e-11), (
        "stiffness 4k on nearly as many springs"
    )

    turn = 0.02  # the weft turned without stretching: a picture frame
    sheared = np.stack([x + y * np.sin(turn), y * np.cos(turn), 0 * x], axis=1)
    longer, shorter = (np.sqrt(2 + 2 * s * np.sin(turn)) - np.sqrt(2) for s in (1, -1))
    assert energy(sheet.points, sheared, structural, bending) < 1e-25
    assert energy(sheet.points, sheared, shear) == pytest.approx(
        k / 2 * side**2 * 20 * (longer**2 + shorter**2), rel=1e-10
    )

    angle = 0.3  # rolled up over every grid line: no square changes its shape
    along = np.concatenate(
        [
            [[0, 0]],
            np.cumsum(
                [[side * np.cos(i * angle), side * np.sin(i * angle)] for i in range(5)], axis=0
            ),
        ]
    )
    rolled = np.stack(
        [along[np.arange(sheet.n) % 6, 0], y, along[np.arange(sheet.n) % 6, 1]], axis=1
    )
    assert energy(sheet.points, rolled, structural, shear) < 1e-25
    chord = 2 * side * (1 - np.cos(angle / 2))
    assert energy(sheet.points, rolled, bending) == pytest.approx(20 * k / 2 * chord**2, rel=1e-11)


def test_hinges_resist_bending_of_a_flat_sheet_and_skip_springs_do_not():
    sheet = taut.mesh.sheet(6, 6)
    springs = taut.System(sheet.points, mass=1.0, energies=[laws.spring(sheet.skips, k=10.0)])
    hinges = taut.System(
        sheet.points, mass=1.0, energies=[laws.shell_bending(sheet.hinges, c=10.0)]
    )
    across = [
        system.K(system.initial_state()).toarray()[2::3, 2::3] for system in (springs, hinges)
    ]
    assert np.abs(across[0]).max() < 1e-13
    eigenvalues = np.linalg.eigvalsh(across[1])
    assert (eigenvalues > 1e-9 * eigenvalues[-1]).sum() == sheet.n - 3, (
        "all but the three out-of-plane rigid motions"
    )


@pytest.mark.parametrize("pattern", ["quad", "one-diagonal", "alternating", "equilateral"])
def test_corners_carry_the_weight_of_hanging_cloth(pattern):
    sheet = taut.mesh.sheet(8, 8, size=0.8, pattern=pattern)
    bending = (
        laws.spring(sheet.skips, k=2.0)
        if pattern == "quad"
        else laws.bridson_bending(sheet.hinges, k=1e-4)
    )
    shear = [laws.spring(sheet.diagonals, k=20.0)] if len(sheet.diagonals) else []
    cloth = taut.System(
        sheet.points,
        mass=taut.areal_mass(sheet, 0.2),
        fixed=sheet.corners("top"),
        energies=[laws.spring(sheet.edges, k=200.0), *shear, bending, laws.gravity()],
    )
    rest = taut.equilibrium(cloth)
    weight = 0.2 * sheet.areas.sum() * G
    assert rest.stability.stable
    assert rest.reactions.sum(axis=0) == pytest.approx(
        [0, weight, 0], abs=1e-7 * weight
    )  # 81 particles, each to 1e-8 of its forces
    left, right = rest.reactions[sheet.corners("top")]
    assert left[0] < 0 < right[0], "the corners are pulled inwards and resist"
    if pattern != "one-diagonal":  # this pattern has no mirror symmetry
        assert left == pytest.approx(right * [-1, 1, 1], abs=1e-6 * weight)


def test_dropped_cloth_falls_freely_and_balances_energy():
    sheet = taut.mesh.sheet(6, 6, size=0.6, plane="xz")
    cloth = taut.System(
        sheet.points,
        mass=taut.areal_mass(sheet, 0.2),
        fixed=sheet.corners(),
        energies=[
            laws.spring(sheet.edges, k=200.0),
            laws.spring(sheet.diagonals, k=50.0),
            laws.spring(sheet.skips, k=5.0),
            laws.gravity(),
        ],
    )
    ledger = taut.Ledger()
    begin, h, middle = cloth.V(cloth.initial_state()), 1 / 100, sheet.n // 2
    for step, (state, report) in enumerate(
        taut.simulate(cloth, taut.ImplicitEuler(), h=h, until=0.2, ledger=ledger), 1
    ):
        assert report.residual <= max(report.tolerance, report.floor)
        falls = -G * h * h * step * (step + 1) / 2  # free fall of implicit Euler
        if step <= 5:
            assert state.q[middle, 1] == pytest.approx(falls, rel=1e-6), (
                "the corners have no effect yet, and a flat sheet does not resist"
            )
        now = cloth.T(state) + cloth.V(state)
        assert now <= begin + 1e-12, "implicit Euler never gains energy"
        begin = now
    assert abs(ledger.total().gap) < 1e-12 * ledger.total().scale
    assert state.q[middle, [0, 2]] == pytest.approx([0.3, -0.3], abs=1e-9), "by symmetry"
    assert 0.2 * falls > state.q[middle, 1] > 0.6 * falls, "now the corners hold the sheet"


def test_hanging_mesh_from_file_is_in_equilibrium():
    """A cow of 2930 points held by its horns.

    Forces and moments balance, and half of the work of gravity is stored (Clapeyron).
    """
    mesh = taut.mesh.read(real("spot.obj"))
    held = mesh.select("y > 0.97*max")
    cow = taut.System(
        mesh.points,
        mass=taut.areal_mass(mesh, 0.2),
        fixed=held,
        energies=[
            laws.spring(mesh.edges, k=2e6),
            laws.shell_bending(mesh.hinges, c=200.0),
            laws.gravity(),
        ],
    )
    rest = taut.equilibrium(cow)
    weight = np.outer(cow.mass, [0, -G, 0])
    assert rest.reactions.sum(axis=0) == pytest.approx([0, 0.2 * mesh.areas.sum() * G, 0], abs=1e-6)
    moment = np.cross(rest.state.q, rest.reactions + weight).sum(axis=0)
    assert np.abs(moment).max() < 1e-6
    moved = rest.state.q - mesh.points
    work = np.sum(weight * moved)
    assert 1e-5 < np.abs(moved).max() < 0.002
    assert rest.energies["spring"] + rest.energies["shell_bending"] == pytest.approx(
        work / 2, rel=0.002
    )  # displacements are about 0.1% of its size
    assert rest.stability.stable


def test_reject_bad_cloth_parameters():
    sheet = taut.mesh.sheet(2, 2)
    values = np.full(len(sheet.edges), 10.0)
    values[5] = -10.0
    for name in ("k", "l0"):
        with pytest.raises(
            taut.errors.LawError, match=rf"'spring': parameter '{name}' of element 5 .* got -10"
        ):
            taut.System(
                sheet.points,
                mass=1.0,
                energies=[laws.spring(sheet.edges, **{"k": 10.0, name: values})],
            )
