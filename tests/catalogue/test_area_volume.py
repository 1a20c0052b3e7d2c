"""Area and volume preservation.

Rest values, the moduli these laws add, and their effect on a spring lattice.
"""

import itertools

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.placed_law import place
from taut.constraints import on_line, on_plane

HEX = np.array(
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
    dtype=float,
)


def measure_rest_value(law, points, elements, parameter):
    """The rest value that a law measures for each element."""
    return place(law(elements, k=1.0), points, np.ones(len(points))).parameters.constant[parameter]


def count_cells_per_edge(cells, edges):
    """How many cells each edge belongs to.

    A lattice cut out of a larger one shares its springs with the remainder.
    """
    found = {tuple(edge): 0 for edge in np.sort(edges, axis=1).tolist()}
    for cell in cells.tolist():
        for edge in itertools.combinations(sorted(cell), 2):
            if edge in found:
                found[edge] += 1
    return np.array([found[tuple(edge)] for edge in np.sort(edges, axis=1).tolist()])


def cubes(n, kappa):
    """A cubic lattice of edges and face diagonals, all of stiffness 1 N/m and a = 1/n, cut out of a
    larger one, and its mesh.

    A spring belongs to as many cells as meet in it: edges to four, diagonals to two.
    """
    mesh = taut.mesh.block(n, n, n)
    edges, diagonals = (
        laws.spring(e, k=count_cells_per_edge(mesh.cells["hex"], e) / share)
        for e, share in ((mesh.edges, 4), (mesh.diagonals, 2))
    )
    return mesh, [edges, diagonals, laws.volume(mesh.cells["hex"], k=kappa * n)]


# rest values


def test_polygon_area_matches_shoelace_formula():
    """A planar non-convex pentagon, tilted in space.

    The area does not depend on where the fan of triangles begins.
    """
    flat = np.array([[0, 0], [2, 0], [2, 2], [1, 0.5], [0, 2]], dtype=float)
    x, y = flat.T
    shoelace = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    points = np.column_stack([flat, np.zeros(5)]) @ turn.T + np.array([1.0, -2.0, 0.3])
    for roll in range(5):
        assert measure_rest_value(
            laws.area, points, [np.roll(np.arange(5), roll)], "area0"
        ) == pytest.approx(shoelace, rel=1e-14)


def test_warped_quad_has_its_vector_area():
    """The vector area ½ |d₁ × d₂| of the diagonals is the largest projected area."""
    quad = np.array([[0, 0, 0], [1, 0.1, 0.5], [1.2, 1, -0.3], [-0.1, 0.9, 0.4]])
    vector = 0.5 * np.cross(quad[2] - quad[0], quad[3] - quad[1])
    found = measure_rest_value(laws.area, quad, [[0, 1, 2, 3]], "area0")[0]
    assert found == pytest.approx(np.linalg.norm(vector), rel=1e-14)
    for normal in np.random.default_rng(1).normal(size=(20, 3)):
        n = normal / np.linalg.norm(normal)
        assert abs(vector @ n) <= found


def test_hexahedron_volume_matches_trilinear_map():
    """∫ det J over the unit cube.

    It is of degree two in each coordinate, so that two Gauss points a side are exact.
    """
    rng = np.random.default_rng(2)
    nodes = 0.5 + np.array([-1, 1]) / np.sqrt(12)
    for _ in range(10):
        x = HEX + 0.2 * rng.normal(size=HEX.shape)
        total = 0.0
        for r in itertools.product(nodes, repeat=3):
            weights = np.where(HEX == 1, r, 1 - np.array(r))  # per corner and coordinate
            slopes = np.where(HEX == 1, 1.0, -1.0)
            others = [[1, 2], [0, 2], [0, 1]]
            jacobian = np.array(
                [(slopes[:, d] * weights[:, others[d]].prod(axis=1)) @ x for d in range(3)]
            )
            total += np.linalg.det(jacobian) / 8
        assert measure_rest_value(laws.volume, x, [range(8)], "volume0") == pytest.approx(
            total, rel=1e-13
        )


def test_volume_gradient_is_a_third_of_adjacent_areas():
    """Σ ∂v_e/∂x_i over the tetrahedra of a body.

    It is ⅓ Σ of the vector areas of the boundary triangles at i, and zero inside.

    With v₀ half of v the law pulls with k ∂v/∂x.
    """
    mesh = taut.mesh.ball(1.0, spacing=0.4)
    x = mesh.points * [1.0, 1.3, 0.7] + 0.02 * np.sin(5 * mesh.points[:, ::-1])
    tets, skin = mesh.cells["tet"], taut.mesh.surface(mesh.with_(points=x))
    half = measure_rest_value(laws.volume, x, tets, "volume0") / 2
    system = taut.System(x, mass=1.0, energies=[laws.volume(tets, k=3.0, volume0=half)])
    triangles = mesh.boundary_faces["triangle"]
    a, b, c = x[triangles].transpose(1, 0, 2)
    expected = np.zeros_like(x)
    for corner in triangles.T:
        np.add.at(expected, corner, np.cross(b - a, c - a) / 6)
    np.testing.assert_allclose(
        -system.f(system.initial_state()) / 3.0, expected, rtol=0, atol=1e-13
    )
    assert np.abs(expected).max() > 0.01
    assert 2 * half.sum() == pytest.approx(skin.enclosed_volume, rel=1e-13)


def test_hexahedral_volume_gradient_vanishes_inside():
    """Faces are bilinear, so neighbours share them exactly: what one gains the other loses."""
    mesh = taut.mesh.block(3, 3, 3)
    x = mesh.points + 0.05 * np.random.default_rng(3).normal(size=mesh.points.shape)
    hexes = mesh.cells["hex"]
    half = measure_rest_value(laws.volume, x, hexes, "volume0") / 2
    system = taut.System(x, mass=1.0, energies=[laws.volume(hexes, k=1.0, volume0=half)])
    force = system.f(system.initial_state())
    inside = np.setdiff1d(np.arange(mesh.n), mesh.boundary)
    assert len(inside) == 8
    assert np.abs(force[inside]).max() < 1e-15
    assert np.abs(force[mesh.boundary]).max() > 0.01


# added moduli


@pytest.mark.parametrize("cells", ["tet", "hex"])
def test_pressure_of_a_dilated_body_is_k_times_dilatation(cells):
    """x → sx changes every volume by J = s³.

    The total energy is V = ½ k (J - 1)², and the pressure on every face is k(J - 1).
    """
    mesh = taut.mesh.block(3, 2, 2, (1.5, 1.0, 1.0), cells=cells)
    s, k = 1.1, 700.0
    system = taut.System(
        mesh.points, mass=1.0, energies=[laws.volume(mesh.cells[cells], k=k)], pose=s * mesh.points
    )
    state = system.initial_state()
    assert system.V(state) == pytest.approx(0.5 * k * (s**3 - 1) ** 2 * 1.5, rel=1e-13)
    top = mesh.select("y == max")
    assert system.f(state)[top].sum(axis=0) == pytest.approx(
        [0, -k * (s**3 - 1) * s**2 * 1.5, 0], rel=1e-12, abs=1e-10
    )


def test_volume_law_adds_bulk_but_no_shear_modulus():
    """uᵀKu of a dilation is 9 K vol, of a simple shear G vol.

    The lattice has K = 5/3 and G = 1 [k/a], exactly.
    """
    n, kappa = 3, 0.7
    mesh, energies = cubes(n, kappa)
    system = taut.System(mesh.points, mass=1.0, energies=energies)
    stiffness = system.K(system.initial_state())
    swell = mesh.points.ravel()
    shear = np.column_stack(
        [mesh.points[:, 1], 0 * mesh.points[:, 1], 0 * mesh.points[:, 1]]
    ).ravel()
    assert swell @ stiffness @ swell / 9 == pytest.approx(n * (5 / 3 + kappa), rel=1e-13)
    assert shear @ stiffness @ shear == pytest.approx(n * 1.0, rel=1e-13)


def test_area_law_adds_area_modulus():
    """uᵀKu of a dilation in the plane is 4 K₂ A, of a simple shear G A.

    The lattice has K₂ = √3/2 and G = √3/4 [k].
    """
    k, added = 40.0, 25.0
    mesh = taut.mesh.sheet(5, 4, pattern="equilateral")
    triangles = mesh.cells["triangle"]
    springs = laws.spring(mesh.edges, k=k * count_cells_per_edge(triangles, mesh.edges) / 2)
    system = taut.System(mesh.points, mass=1.0, energies=[springs, laws.area(triangles, k=added)])
    stiffness, area = system.K(system.initial_state()), mesh.areas.sum()
    x, y, z = mesh.points.T
    swell, shear = np.column_stack([x, y, z]).ravel(), np.column_stack([y, 0 * y, z]).ravel()
    assert not z.any()
    assert swell @ stiffness @ swell == pytest.approx(
        4 * (np.sqrt(3) / 2 * k + added) * area, rel=1e-12
    )
    assert shear @ stiffness @ shear == pytest.approx(np.sqrt(3) / 4 * k * area, rel=1e-12)


# Poisson ratios that springs alone cannot reach


@pytest.mark.parametrize("kappa", [0.0, 0.5, 2.0, 100.0])
def test_volume_law_raises_poisson_ratio_to_one_half(kappa):
    """A block stretched by 1e-6 between two frictionless plates.

    ν = (1 + κ)/(4 + 2κ), κ = k a/k_spring.

    From K = 5/3 + κ and G = 1: ν = (3K - 2G)/(6K + 2G). The error is of the size of the strain.
    """
    n, strain = 3, 1e-6
    mesh, energies = cubes(n, kappa)
    plates = [
        on_plane(mesh.select(f"{axis} == min"), normal)
        for axis, normal in zip("xyz", np.eye(3), strict=True)
    ]
    plates.append(on_plane(mesh.select("y == max"), (0, 1, 0), through=(0, 1 + strain, 0)))
    rest = taut.equilibrium(
        taut.System(mesh.points, mass=1.0, energies=energies, constraints=plates)
    )
    right = mesh.select("x == max")
    sideways = rest.state.q[right, 0] - 1.0
    assert sideways / -strain == pytest.approx((1 + kappa) / (4 + 2 * kappa), rel=1e-5)
    # the plate carries E = 9KG/(3K + G) times the strain
    bulk = 5 / 3 + kappa
    young = n * 9 * bulk / (3 * bulk + 1)
    assert rest.reactions[mesh.select("y == max"), 1].sum() / strain == pytest.approx(
        young, rel=1e-5
    )


def test_area_law_raises_poisson_ratio_beyond_one_third():
    """The same for a triangular lattice in the plane, cut square.

    ν = (K₂ - G)/(K₂ + G), here (√3/2 + κ - √3/4)/(…).
    """
    kappa, strain = 3.0, 1e-6
    mesh = taut.mesh.sheet(6, 6, pattern="equilateral")
    triangles = mesh.cells["triangle"]
    springs = laws.spring(mesh.edges, k=count_cells_per_edge(triangles, mesh.edges) / 2)
    bulk, shear = np.sqrt(3) / 2 + kappa, np.sqrt(3) / 4
    nu = (bulk - shear) / (bulk + shear)
    assert nu > 0.7
    x = mesh.points[:, :2] - mesh.points[:, :2].mean(axis=0)
    stretched = x * [1 - nu * strain, 1 + strain]
    system = taut.System(
        x, mass=1.0, energies=[springs, laws.area(triangles, k=kappa)], pose=stretched
    )
    force = system.f(system.initial_state())
    inside = np.setdiff1d(np.arange(mesh.n), mesh.boundary)
    stress = -np.einsum("ni,nj->ij", force[:, :2], x) / mesh.areas.sum()
    young = 4 * bulk * shear / (bulk + shear)
    np.testing.assert_allclose(stress / strain, np.diag([0.0, young]), atol=1e-5 * young)
    assert np.abs(force[inside]).max() < 1e-5 * strain


def test_inverted_tetrahedron_is_restored_but_mirrored_triangle_is_not():
    """A volume has a sign: the apex returns from below its base.

    An area has none: the mirror image is at rest.
    """
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0], [0.2, -0.7, 0.3]])
    flipped = points * [1, -1, 1]
    tet = taut.System(
        points,
        mass=1.0,
        fixed=[0, 1, 2],
        energies=[laws.volume([[0, 1, 2, 3]], k=50.0)],
        pose=flipped,
        constraints=[on_line([3], (0, 1, 0))],
    )
    state = tet.initial_state()
    v0 = 0.7 / 6
    assert tet.f(state)[3] == pytest.approx([0, 50.0 * (-2 * v0) / v0 / 6, 0], rel=1e-13)
    assert taut.equilibrium(tet).state.q[3] == pytest.approx([0.2, -0.7, 0.3], rel=1e-12)
    triangle = taut.System(
        points, mass=1.0, fixed=[0, 1], energies=[laws.area([[0, 1, 3]], k=50.0)], pose=flipped
    )
    assert triangle.V(triangle.initial_state()) == 0.0


# rejected input

LINE = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("energy", "message"),
    [
        (
            laws.area([[0, 1, 3], [0, 1, 2]], k=1.0),
            r"'area': element 1 \(particles \[0, 1, 2\]\) has no area",
        ),
        (
            laws.area([[0, 1, 3], [0, 3, 4]], k=[1.0, -1.0]),
            r"'area': parameter 'k' of element 1 .* got -1",
        ),
        (laws.area([[0, 1, 3]], k=1.0, area0=0.0), "'area0' must be greater than 0, got 0"),
        (
            laws.volume([[0, 1, 3, 4], [0, 3, 1, 4]], k=1.0),
            r"'volume': element 1 \(particles \[0, 3, 1, 4\]\) is flat or inverted",
        ),
        (
            laws.volume([[0, 1, 2, 4]], k=1.0),
            r"element 0 \(particles \[0, 1, 2, 4\]\) is flat or inverted",
        ),
        (laws.volume([[0, 1, 3, 4]], k=-2.0), "'volume': parameter 'k' must be at least 0, got -2"),
        (
            laws.volume([[0, 1, 3, 4]], k=1.0, volume0=[-1.0]),
            "'volume0' of element 0 .* must be greater than 0, got -1",
        ),
    ],
)
def test_reject_bad_elements(energy, message):
    with pytest.raises(taut.errors.LawError, match=message):
        taut.System(LINE, mass=1.0, energies=[energy])


def test_reject_inverted_hexahedron():
    with pytest.raises(taut.errors.LawError, match=r"element 0 .* is flat or inverted"):
        taut.System(HEX * [1, 1, -1], mass=1.0, energies=[laws.volume([range(8)], k=1.0)])
