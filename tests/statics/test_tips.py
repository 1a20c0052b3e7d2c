"""Equilibria at a conical tip of the energy, which the stiffness does not reveal, are left."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line


@pytest.mark.parametrize("k", [1e3, 1e8])
@pytest.mark.parametrize("law", ["rod_bending", "rod_hinge"])
def test_a_curved_rod_pressed_straight_springs_back(law, k):
    a = np.linspace(0, np.pi, 11)
    rest = np.column_stack([np.cos(a), np.sin(a), 0 * a])
    rod = taut.mesh.Mesh(rest, {"line": np.column_stack([np.arange(10), np.arange(1, 11)])})
    bending = getattr(laws, law)(rod.rod_hinges, **{"EI" if law == "rod_bending" else "k": 1.0})
    straight = np.outer(np.linspace(0, rod.lengths.sum(), 11), [1.0, 0, 0])
    system = taut.System(
        rest, mass=1.0, energies=[laws.spring(rod.edges, k=k), bending], pose=straight, fixed=[0]
    )
    assert system.V(system.initial_state()) > 0.1
    found = taut.equilibrium(system)
    assert found.left_saddles >= 1
    assert sum(found.energies.values()) <= 1e-15
    d = np.diff(found.state.q, axis=0)
    turns = np.arccos(np.einsum("ij,ij->i", d[1:], d[:-1]) / rod.lengths[0] ** 2)
    np.testing.assert_allclose(turns, np.pi / 10, rtol=1e-6)


@pytest.mark.parametrize(
    ("points", "fixed", "bending"),
    [
        (
            [[0, 0, 0], [1, 0, 0]],
            [0],
            lambda: laws.rod_clamp([[0, 1]], EI=1.0, direction=(-1, 0, 0)),
        ),
        ([[0, 0, 0], [1, 0, 0], [0, 0, 0]], [0, 1], lambda: laws.rod_bending([[0, 1, 2]], EI=1.0)),
    ],
    ids=["reversed clamp", "folded rod"],
)
def test_reversed_and_folded_rods_return(points, fixed, bending):
    edges = [[i, i + 1] for i in range(len(points) - 1)]
    rest = np.outer(np.arange(len(points)), [1.0, 0, 0])
    system = taut.System(
        rest, mass=1.0, fixed=fixed, energies=[laws.spring(edges, k=1e4), bending()], pose=points
    )
    assert system.V(system.initial_state()) > 4.9
    found = taut.equilibrium(system)
    assert found.stability.stable
    assert sum(found.energies.values()) <= 1e-15


def test_smooth_equilibrium_is_not_treated_as_a_tip():
    """A rope pulled straight, and one that hangs: no stable equilibrium is left."""
    rope = taut.mesh.rope(10, end=(1.0, 0, 0))
    stretched = taut.System(
        rope.points, mass=0.1, fixed=[0, 10], energies=[laws.cable(rope.edges, k=1e8, l0=0.09)]
    )
    assert taut.equilibrium(stretched).left_saddles == 0
    hung = stretched.with_(energies=[laws.cable(rope.edges, k=1e5, l0=0.12), laws.gravity()])
    assert taut.equilibrium(hung).left_saddles == 0


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_equilibrium_near_a_tip_is_not_left(side):
    """A curved rod that a load presses nearly straight, in the plane: stable, and smooth within its
    distance to the tip.
    """
    angle, near = 0.2, 5e-4
    rest = [[0, 0], [1, 0], [1 + np.cos(angle), -side * np.sin(angle)]]
    pose = [[0, 0], [1, 0], [1 + np.cos(near), -side * np.sin(near)]]
    load = laws.force([2], f=(0, side * (angle - near) / np.cos(near)))
    rod = taut.System(
        rest,
        mass=1.0,
        fixed=[0, 1],
        pose=pose,
        constraints=[on_line([2], (0, 1))],
        energies=[laws.rod_bending([[0, 1, 2]], EI=1.0), load],
    )
    found = taut.equilibrium(rod)
    assert found.left_saddles == 0
    assert found.state.q[2, 1] == pytest.approx(-side * np.sin(near), rel=1e-3)


@pytest.mark.parametrize("part", [0.5, 0.9])
def test_a_soft_but_smooth_equilibrium_is_not_left(part):
    """Attracting plates at a fraction of the pull-in charge: x (g - x)² = q/k."""

    @taut.energy
    def plates(x, q, g):
        return -q / (g - x[0][0])

    g = 0.01
    q = part * 4 / 27 * g**3
    gap = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        fixed=[1],
        constraints=[on_line([0], (1, 0, 0))],
        energies=[laws.pin([0], k=1.0), plates([0], q=q, g=g)],
    )
    found = taut.equilibrium(gap)
    x = found.state.q[0, 0]
    assert found.stability.stable
    assert 0.0 < x < g / 3
    assert x * (g - x) ** 2 == pytest.approx(q, rel=1e-6)
