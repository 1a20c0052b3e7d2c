"""Isosurface stuffing: angle bounds, enclosed volume, and a closed boundary surface."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from taut.errors import MeshError
from taut.mesh.filling.bcc import EDGES, POWERS, stencils
from taut.mesh.filling.stuffing import (
    ALPHA_LONG,
    ALPHA_SHORT,
    MAX_LATTICE_POINTS,
    TOLERANCE,
    crossings,
    stuff,
)
from taut.mesh.shapes.solids import ball, bunny
from tests.mesh.quality import (
    LARGEST_DIHEDRAL,
    SMALLEST_DIHEDRAL,
    dihedrals,
    euler_characteristic,
    order,
    within_the_proven_angles,
)


def _sphere(x):
    return np.linalg.norm(x, axis=1) - 1


def _torus(x):
    return np.hypot(np.hypot(x[:, 0], x[:, 2]) - 0.7, x[:, 1]) - 0.25


# --- all stencils
# --------------------------------------------------------------------------------------------------

CORNERS = np.array([[-1, 0, 0], [1, 0, 0], [0, 1, 1], [0, -1, 1]])  # in half spacings
LONG = [tuple(2 * s * np.eye(3, dtype=int)[i]) for i in range(3) for s in (1, -1)]
ALPHAS = [ALPHA_LONG] * 2 + [ALPHA_SHORT] * 4  # of the EDGES
SPOKES = LONG + list(product((1, -1), repeat=3))  # to the fourteen neighbours of a lattice point


def _can_move(signs, moves):
    """Whether the moves {point: neighbour} are possible.

    Each is along an edge whose ends were on different sides.
    """
    name = [tuple(c) for c in CORNERS.tolist()]
    if any(moves.get(b) == name[a] for a, to in moves.items() for b in moves if name[b] == to):
        return False  # the cut point of their edge is too close to one of the two only
    for sides in product((-1, 1), repeat=len(moves)):
        side = {name[i]: s for i, s in enumerate(signs) if s} | {
            name[i]: s for i, s in zip(moves, sides, strict=True)
        }
        if all(side.setdefault(to, -side[name[i]]) == -side[name[i]] for i, to in moves.items()):
            return True
    return False


def test_all_stencils_satisfy_the_angle_bounds():
    """All signs and all snaps of the points on the surface.

    Each with cut points at the ends of their ranges.
    """
    smallest, largest = 180.0, 0.0
    for signs in product((-1, 0, 1), repeat=4):
        if -1 not in signs:
            continue
        both_parities = stencils()[:, (np.array(signs) + 1) @ POWERS].reshape(-1, 4)
        pieces = np.unique(both_parities[both_parities[:, 0] >= 0], axis=0)
        on = [i for i in range(4) if signs[i] == 0]
        moves = [
            spokes
            for spokes in product(SPOKES, repeat=len(on))
            if _can_move(
                signs,
                {i: tuple((CORNERS[i] + s).tolist()) for i, s in zip(on, spokes, strict=True)},
            )
        ]
        reach = np.array(
            [[[ALPHA_LONG if s in LONG else ALPHA_SHORT] for s in spokes] for spokes in moves]
        )
        shift = (
            np.array(moves, dtype=float).reshape(len(moves), len(on), 3)
            * reach.reshape(len(moves), len(on), 1)
            / 2
        )
        far = np.array(list(product((0.0, 1.0), repeat=len(on)))).reshape(
            2 ** len(on), 1, len(on), 1
        )
        places = np.tile(CORNERS / 2, (len(moves) * len(far), 1, 1))
        places[:, on] += (far * shift).reshape(len(places), len(on), 3)
        ranges = [
            (a, 1 - a) if signs[i] * signs[j] < 0 else (0.5,)
            for a, (i, j) in zip(ALPHAS, EDGES, strict=True)
        ]
        fractions = np.array(list(product(*ranges)))
        places, part = (
            np.repeat(places, len(fractions), axis=0),
            np.tile(fractions, (len(places), 1))[:, :, None],
        )
        cuts = places[:, EDGES[:, 0]] * (1 - part) + places[:, EDGES[:, 1]] * part
        corners = np.concatenate([places, cuts], axis=1)[:, pieces].reshape(-1, 4, 3)
        assert (np.linalg.det(corners[:, 1:] - corners[:, :1]) > 0).all()
        angles = dihedrals(corners)
        smallest, largest = min(smallest, angles.min()), max(largest, angles.max())
    assert smallest >= SMALLEST_DIHEDRAL
    assert largest <= LARGEST_DIHEDRAL


# --- shapes
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spacing", [0.3, 0.17])
@pytest.mark.parametrize(("inside", "euler"), [(_sphere, 2), (_torus, 0)])
def test_boundary_is_a_closed_surface_of_expected_topology(inside, euler, spacing):
    mesh = stuff(inside, [-1, -1, -1], [1, 1, 1], spacing)
    assert within_the_proven_angles(mesh)
    assert euler_characteristic(mesh) == euler
    assert np.abs(inside(mesh.points[mesh.boundary])).max() < 2 * TOLERANCE * spacing
    assert mesh.components.max() == 0


def test_the_volume_of_a_ball_converges_at_second_order():
    errors = np.array(
        [ball(spacing=h).volumes.sum() / (4 / 3 * np.pi) - 1 for h in (1 / 4, 1 / 8, 1 / 16)]
    )
    assert order(errors) == pytest.approx(2.0, abs=0.2)
    assert (errors < 0).all()  # chords of a convex surface


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1.0, 30.0), st.floats(0.2, 0.5))
def test_random_blobs_satisfy_the_angle_bounds(seed, roughness, spacing):
    """From smooth shapes to ones rougher than the lattice."""
    random = np.random.default_rng(seed)
    waves, phases, level = (
        random.normal(size=(8, 3)) * roughness,
        random.uniform(0, 6, 8),
        random.normal(),
    )
    try:
        mesh = stuff(
            lambda x: np.sin(x @ waves.T + phases).sum(axis=1) + level,
            [-1, -0.9, -1.1],
            [1, 1, 1],
            spacing,
        )
    except MeshError:
        assume(False)
    assert within_the_proven_angles(mesh)
    assert len(np.unique(mesh.cells["tet"])) == mesh.n
    skin = mesh.boundary_faces["triangle"]
    loops = np.concatenate([skin[:, [0, 1]], skin[:, [1, 2]], skin[:, [2, 0]]])
    there, back = np.sort(loops @ [mesh.n, 1]), np.sort(loops @ [1, mesh.n])
    assert (there == back).all()  # closed, even where parts touch


def test_shape_is_clipped_at_the_box():
    mesh = stuff(lambda x: x[:, 0], [-1, -1, -1], [1, 1, 1], 0.25)
    assert mesh.volumes.sum() == pytest.approx(
        4.0, rel=1e-9
    )  # half of it, exactly: the planes are planes of the lattice
    assert within_the_proven_angles(mesh)


def test_results_are_bit_identical_when_repeated_or_scaled():
    one, again = ball(spacing=0.3), ball(spacing=0.3)
    assert (one.points == again.points).all()
    assert (one.cells["tet"] == again.cells["tet"]).all()
    assert (ball(2.0, spacing=0.6).points == 2 * one.points).all()


def test_only_the_sign_of_the_function_matters():
    """To the tolerance of the crossings."""
    exact, sign = (
        ball(spacing=0.4),
        stuff(lambda x: np.sign(_sphere(x)), [-1, -1, -1], [1, 1, 1], 0.4),
    )
    assert (sign.cells["tet"] == exact.cells["tet"]).all()
    assert np.abs(sign.points - exact.points).max() < 2 * TOLERANCE * 0.4


# --- the bunny
# --------------------------------------------------------------------------------------------------


def test_bunny_is_connected_and_well_shaped():
    mesh = bunny()
    assert within_the_proven_angles(mesh)
    assert euler_characteristic(mesh) == 2
    assert mesh.components.max() == 0
    assert 2000 < len(mesh.cells["tet"]) < 10000


def test_bunny_rests_on_the_ground_and_has_ears():
    mesh = bunny(0.2)
    assert mesh.points[:, 1].min() == 0.0
    assert mesh.points[:, 1].max() == pytest.approx(0.2, rel=0.02)
    feet, ears = (mesh.points[mesh.groups[name]["point"]] for name in ("feet", "ears"))
    assert (feet[:, 1] == 0).all()
    centre = (mesh.volumes @ mesh.points[mesh.cells["tet"]].mean(axis=1)) / mesh.volumes.sum()
    assert (feet.min(axis=0)[[0, 2]] < centre[[0, 2]]).all()  # statically stable
    assert (feet.max(axis=0)[[0, 2]] > centre[[0, 2]]).all()
    assert ears[:, 1].min() > 0.55 * 0.2
    assert (ears[:, 2] > 0.01).any()
    assert (ears[:, 2] < -0.01).any()
    assert not (np.abs(ears[:, 2]) < 0.002).any()  # two of them


def test_finer_bunny_has_the_same_shape():
    volumes = [bunny(spacing=0.18 / n).volumes.sum() for n in (13, 26, 52)]
    assert volumes[0] < volumes[1] < volumes[2]
    assert order(np.diff(volumes)) > 1.5
    assert bunny().volumes.sum() == pytest.approx(volumes[2], rel=0.03)


def test_reject_bunny_spacing_too_coarse_for_the_ears():
    assert len(bunny(spacing=0.18 / 12).groups["ears"]["point"]) > 20
    with pytest.raises(MeshError, match=r"spacing must be at most 0\.015 m"):
        bunny(spacing=0.02)


# --- crossings
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "most_calls"),
    [
        (lambda t: t - 0.3, 8),
        (lambda t: t**3 - 0.3**3, 10),
        (lambda t: np.sign(t - 0.3), 25),
        (lambda t: np.exp(40 * (t - 0.3)) - 1, 25),
    ],
    ids=["linear", "cubic", "sign", "steep"],
)
def test_crossings_are_found_to_the_tolerance(function, most_calls):
    calls = []

    def counted(x):
        calls.append(len(x))
        return function(x[:, 0])

    ends = np.array([[0.0, 0, 0], [1, 0, 0]])
    ascending = crossings(counted, ends[:1], ends[1:], function(np.zeros(1)), function(np.ones(1)))
    back = crossings(
        lambda x: -function(x[:, 0]),
        ends[1:],
        ends[:1],
        -function(np.ones(1)),
        -function(np.zeros(1)),
    )
    assert abs(ascending[0] - 0.3) <= TOLERANCE * 1.01
    assert abs(back[0] - 0.7) <= TOLERANCE * 1.01
    assert len(calls) <= most_calls


# --- rejected input
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spacing", [0.0, -0.1, np.nan, np.inf, "fine"])
def test_reject_bad_spacing(spacing):
    with pytest.raises(MeshError, match="spacing must be a positive length"):
        stuff(_sphere, [-1, -1, -1], [1, 1, 1], spacing)


def test_reject_bad_box():
    with pytest.raises(MeshError, match="low must be below high"):
        stuff(_sphere, [-1, 1, -1], [1, 1, 1], 0.1)
    with pytest.raises(MeshError, match="low must be a point"):
        stuff(_sphere, [-1, -1], [1, 1, 1], 0.1)


@pytest.mark.parametrize(
    "inside", [lambda x: np.ones(len(x)), lambda x: np.linalg.norm(x - 0.26, axis=1) - 0.01]
)
def test_empty_shape_raises(inside):
    with pytest.raises(MeshError, match=r"nothing is inside at a spacing of 0\.5 m"):
        stuff(inside, [-1, -1, -1], [1, 1, 1], 0.5)


@pytest.mark.parametrize("spacing", [0.009, 1e-9, 1e-200])
def test_reject_too_fine_spacing_and_suggest_another(spacing):
    with pytest.raises(MeshError, match=r"a spacing of [0-9.e-]+ m is enough") as caught:
        stuff(_sphere, [-1, -1, -1], [1, 1, 1], spacing)
    enough = float(str(caught.value).split()[-4])
    assert 2 * (2 / enough) ** 3 < MAX_LATTICE_POINTS < 2 * (2 / (0.9 * enough)) ** 3


def test_function_errors_name_the_point():
    with pytest.raises(
        MeshError, match=r"the function must be finite, got nan at \[0.0, 0.0, 0.0\]"
    ):
        stuff(
            lambda x: np.where((x == 0).all(axis=1), np.nan, _sphere(x)),
            [-1, -1, -1],
            [1, 1, 1],
            0.5,
        )
    with pytest.raises(MeshError, match=r"got \(3,\)"):
        stuff(lambda x: np.zeros(3), [-1, -1, -1], [1, 1, 1], 0.5)


def test_reject_bad_sizes():
    with pytest.raises(MeshError, match="radius must be a positive length"):
        ball(-1.0)
    with pytest.raises(MeshError, match="height must be a positive length"):
        bunny(np.nan)
