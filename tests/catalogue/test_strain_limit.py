"""Strains below a limit: the formula, the domain, and steps and equilibria that stay inside."""

import numpy as np
import pytest

import taut
from taut import laws, scene
from taut.errors import LawError, SingularState

LINE = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])  # l₀ = 2 m


def stretched(strain, **parameters):
    """The system of one limited edge, and its state at a strain."""
    law = laws.strain_limit([[0, 1]], **{"k": 3.0, "limit": 0.2, **parameters})
    system = taut.System(LINE, mass=1.0, energies=[law])
    return system, system.initial_state().with_(q=LINE * [1 + strain, 1, 1])


def test_energy_and_force_half_way_to_the_limit():
    """p = ½ with d = l₀(s - ε₀) = 0.2 m: V = ¼ k d² ln 2, f = k d (ln 2 + ½)."""
    system, state = stretched(0.15)
    assert system.V(state) == pytest.approx(3.0 * 0.2**2 * np.log(2.0) / 4)
    assert system.f(state)[0, 0] == pytest.approx(3.0 * 0.2 * (np.log(2.0) + 0.5))


def test_no_force_below_the_start_and_two_continuous_derivatives_there():
    for strain in (-0.5, 0.0, 0.099):
        system, state = stretched(strain)
        assert system.V(state) == 0.0
        assert np.abs(system.f(state)).max() == 0.0
        assert np.abs(system.K(state).toarray()).max() == 0.0
    system, state = stretched(0.1 * (1 + 1e-4))  # 1 - p = 10⁻⁴
    assert system.V(state) == pytest.approx(3.0 * 0.2**2 * 1e-12, rel=1e-3)
    assert np.abs(system.K(state).toarray()).max() < 6.1e-4 * 3.0


@pytest.mark.parametrize("strain", [0.2, 0.2 + 1e-9, 5.0])
def test_no_energy_at_the_limit_or_beyond(strain):
    system, state = stretched(strain)
    with pytest.raises(SingularState, match="element 0"):
        system.V(state)
    with pytest.raises(LawError, match=r"element 0 .* is stretched to its strain limit, in"):
        system.with_(pose=state.q)


def test_each_element_has_its_limit_in_the_check_of_the_pose():
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]])
    law = laws.strain_limit([[0, 1], [1, 2]], k=1.0, limit=[0.5, 0.2])
    with pytest.raises(LawError, match=r"element 1 \(particles \[1, 2\]\) is stretched"):
        taut.System(points, mass=1.0, energies=[law], pose=1.3 * points)
    taut.System(points, mass=1.0, energies=[law], pose=1.1 * points)


def test_heavy_chain_never_exceeds_its_limit():
    """Ten links under 10 kg: springs alone would stretch by 98%, the limit is 5%.

    With the limit the uppermost link bears 98 N, of which the spring has k l₀ ε, at most 0.5 N.
    """
    rope = taut.mesh.rope(10, end=(1.0, 0, 0))
    chain = taut.System(
        rope.points,
        mass=1.0,
        fixed=[0],
        energies=[
            laws.spring(rope.edges, k=100.0),
            laws.strain_limit(rope.edges, k=100.0, limit=0.05),
            laws.gravity(),
        ],
    )
    largest = 0.0
    for state, report in taut.simulate(chain, taut.ImplicitEuler(), h=0.02, until=0.8):
        strains = np.linalg.norm(np.diff(state.q, axis=0), axis=1) / 0.1 - 1
        largest = max(largest, strains.max())
        assert report.outcome == "converged"
    assert 0.0499 < largest < 0.05
    hung = taut.equilibrium(chain)
    strains = np.linalg.norm(np.diff(hung.state.q, axis=0), axis=1) / 0.1 - 1
    assert (strains < 0.05).all()
    forces = hung.members.force.reshape(2, 10).sum(axis=0)
    assert forces == pytest.approx(9.81 * np.arange(10, 0, -1), rel=1e-6)


def test_scenes_limit_the_strain_of_materials_and_fabrics():
    text = """
    [time]
    h = 0.01
    duration = 0.1
    [[body]]
    name = "cloth"
    mesh = { shape = "sheet", nx = 2, ny = 2 }
    """
    for table, count in (
        ("material = { young = 1e5, thickness = 1e-3, density = 1000.0, strain_limit = 0.1 }", 20),
        ('fabric = { name = "denim", strain_limit = 0.1 }', 12),
    ):
        system = scene.read_text(text + table).build().system
        placed = system._placed_energies["strain_limit"]
        assert len(placed.elements) == count
        assert placed.parameters.constant["limit"] == 0.1
