"""The equilibrium matrix against the counts of Maxwell and Calladine, and known structures."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line, on_plane
from taut.validate._trusses import build_prism


def counts(points, bars, **held):
    """(self-stress states, mechanisms, rigid motions)."""
    found = taut.determinacy(
        taut.System(points, mass=1.0, energies=[laws.spring(bars, k=1.0)], **held)
    )
    f, b = found.matrix.shape
    s, m, r = len(found.self_stress), len(found.mechanisms), len(found.rigid)
    assert s - (m + r) == b - f == found.maxwell
    for stress in found.self_stress:
        assert np.abs(found.matrix @ stress).max() <= 1e-12
    for shape in [*found.mechanisms, *found.rigid]:
        elongations = found.matrix.T @ (found.basis.T @ shape.ravel())
        assert np.abs(elongations).max() <= 1e-12
    return s, m, r


SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]
SIDES = [[0, 1], [1, 2], [2, 3], [3, 0]]
OCTAHEDRON = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
OCTAHEDRON_BARS = [[i, j] for i in range(6) for j in range(i) if i // 2 != j // 2]


def test_known_structures():
    assert counts(SQUARE, SIDES) == (0, 1, 3)
    assert counts(SQUARE, [*SIDES, [0, 2]]) == (0, 0, 3)
    assert counts(SQUARE, [*SIDES, [0, 2], [1, 3]]) == (1, 0, 3)
    assert counts(SQUARE, SIDES[1:], fixed=[0, 1]) == (0, 1, 0)
    assert counts(OCTAHEDRON, OCTAHEDRON_BARS) == (0, 0, 6)
    assert counts(*build_prism(3)) == (1, 1, 6)


def test_two_collinear_bars_between_supports():
    """Pellegrino and Calladine (1986): one self-stress and one mechanism, which it stiffens in the
    plane; in space two.
    """
    points, bars = [[0, 0], [1, 0], [2, 0]], [[0, 1], [1, 2]]
    assert counts(points, bars, fixed=[0, 2]) == (1, 1, 0)
    system = taut.System(
        [[0, 0, 0], [1, 0, 0], [3, 0, 0]],
        mass=1.0,
        fixed=[0, 2],
        energies=[laws.cable(bars, k=1.0)],
    )
    found = taut.determinacy(system)
    assert (len(found.self_stress), len(found.mechanisms)) == (1, 2)
    assert found.stiffening == pytest.approx(np.full(2, np.sqrt(0.5)))  # tension, not compression


def test_a_square_on_supports_cannot_be_stiffened():
    """Four bars in a parallelogram have a mechanism and no self-stress."""
    system = taut.System(SQUARE, mass=1.0, fixed=[0, 1], energies=[laws.spring(SIDES[1:], k=1.0)])
    found = taut.determinacy(system)
    assert (len(found.self_stress), len(found.mechanisms), found.stiffening) == (0, 1, None)


def test_prestress_that_cannot_stiffen_all_mechanisms():
    """A strut and a tie in line, beside a loose particle on a bar: it stiffens one of two."""
    points = [[0, 0], [1, 0], [2, 0], [1, 1]]
    bars = [[0, 1], [1, 2], [0, 3]]
    system = taut.System(points, mass=1.0, fixed=[0, 2], energies=[laws.spring(bars, k=1.0)])
    found = taut.determinacy(system)
    assert (len(found.self_stress), len(found.mechanisms), found.stiffening) == (1, 2, None)
    assert "prestress cannot stiffen all mechanisms" in str(found)


def test_two_states_of_self_stress_stiffen_together():
    """Two cables cross in a loose knot each: neither prestress alone stiffens both knots."""
    points = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    bars = [[0, 1], [1, 2], [3, 4], [4, 5]]
    system = taut.System(points, mass=1.0, fixed=[0, 2, 3, 5], energies=[laws.spring(bars, k=1.0)])
    found = taut.determinacy(system)
    assert (len(found.self_stress), len(found.mechanisms)) == (2, 2)
    assert (found.stiffening > 0.1).all()


def test_member_forces_of_a_determinate_truss():
    """A N = p: a load on the tip of two bars at 45°."""
    system = taut.System(
        [[0, 1], [0, -1], [1, 0]], mass=1.0, fixed=[0, 1],
        energies=[laws.spring([[0, 2], [1, 2]], k=1.0)],
    )  # fmt: skip
    found = taut.determinacy(system)
    load = np.zeros((3, 3))
    load[2] = (0, -3.0, 0)
    forces = np.linalg.solve(found.matrix.toarray(), found.basis.T @ load.ravel())
    assert forces == pytest.approx(np.array([1, -1]) * 3 / np.sqrt(2))


def test_constraints_leave_rigid_motions():
    """On a plane a body has three rigid motions, on a line of pins one."""
    floor = [on_plane(range(6), (0, 1, 0))]
    flat = OCTAHEDRON * [1, 0, 1] + np.arange(6)[:, None] * [0.1, 0, 0.07]
    assert counts(flat, OCTAHEDRON_BARS, constraints=floor)[2] == 3
    assert counts(OCTAHEDRON, OCTAHEDRON_BARS, fixed=[0, 1]) == (1, 0, 1)
    rail = [on_line(range(2), (1, 0, 0))]
    assert counts([[0, 0, 0], [1, 0, 0]], [[0, 1]], constraints=rail) == (0, 0, 1)


def test_members_are_bars_only():
    """The clamped end of a rod is a law on two particles, but no member; torn ones do not count."""
    rod = taut.mesh.rope(3)
    system = taut.System(
        rod.points,
        mass=1.0,
        fixed=[0],
        energies=[laws.spring(rod.edges, k=1.0), laws.rod_clamp([[0, 1]], EI=1.0)],
    )
    assert taut.determinacy(system).matrix.shape == (9, 3)
    torn = system.initial_state().with_(active={"spring": np.array([True, False, True])})
    assert taut.determinacy(system, torn).matrix.shape == (9, 2)


def test_no_members():
    found = taut.determinacy(taut.System([[0, 0, 0]], mass=1.0))
    assert (found.rank, len(found.rigid), len(found.mechanisms)) == (0, 3, 0)


def test_reject_members_without_length():
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0)],
        pose=[[0, 0, 0], [0, 0, 0]],
    )  # fmt: skip
    with pytest.raises(taut.errors.ModelError, match=r"element 0 of 'spring'.* has length 0"):
        taut.determinacy(system)
    with pytest.raises(taut.errors.ModelError, match="system must be a System, got 3"):
        taut.determinacy(3)


def test_stability_tells_rigid_motions_from_mechanisms():
    """A free simplex is stable with its prestress; without it, one mechanism is left."""
    points, members = build_prism(3)
    loose = taut.System(points, mass=1.0, energies=[laws.spring(members, k=1e3)])
    stress = 10 * taut.determinacy(loose).stiffening
    cut = taut.rest_length(points, members, 1e3, stress)
    tight = loose.with_(energies=[laws.spring(members, k=1e3, l0=cut)])
    found = taut.stability(tight)
    assert (found.stable, found.rigid, found.mechanisms) == (True, 6, ())
    assert str(found).startswith("stable; 6 rigid motions; 0 mechanisms")
    assert taut.equilibrium(tight).stability.stable
    neutral = taut.stability(loose)
    assert (neutral.stable, neutral.rigid, neutral.zero) == (False, 6, 7)
    (mechanism,) = neutral.mechanisms
    assert np.abs(mechanism.shape.sum(axis=0)).max() <= 1e-12  # no translation is mixed in
    reversed_ = taut.rest_length(points, members, 1e3, -stress)
    wrong = taut.stability(loose.with_(energies=[laws.spring(members, k=1e3, l0=reversed_)]))
    assert (wrong.stable, wrong.negative, wrong.rigid) == (False, 1, 6)
    shapes = taut.modes(tight, n=8)
    assert shapes.rigid == 6
    assert str(shapes).count("free: rigid motion") == 6
    mixed = taut.modes(loose, n=8)
    assert (mixed.rigid, (mixed.omega == 0).sum()) == (6, 7)


def test_separate_bodies_move_against_each_other_by_mechanisms():
    bars = taut.System(
        [[0, 0, 0], [1, 0, 0], [0, 3, 0], [1, 4, 0]], mass=1.0,
        energies=[laws.spring([[0, 1], [2, 3]], k=1.0)],
    )  # fmt: skip
    found = taut.stability(bars, n=12)
    assert (found.rigid, found.zero, len(found.mechanisms)) == (6, 10, 4)


def test_lines_have_five_rigid_motions_and_resisted_ones_do_not_count():
    bar = taut.System([[0, 0, 0], [1, 2, 3]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0)])
    assert taut.stability(bar).rigid == 5
    pinned = bar.with_(energies=[*bar.energies, laws.pin([0], k=3.0)])
    assert (taut.stability(pinned).rigid, taut.stability(pinned).stable) == (2, True)
    assert taut.stability(taut.System([[0, 0, 0]], mass=1.0)).rigid == 3
