"""Stiff bodies on oblique lines and planes stay there."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line, on_plane
from tests.laws.test_integrators import IMPLICIT


@pytest.mark.parametrize("integrator", IMPLICIT, ids=lambda i: i.__name__)
@pytest.mark.parametrize(
    "held", [on_plane([1], (1, 2, 3)), on_line([1], (1, 2, 3))], ids=["plane", "line"]
)
@pytest.mark.parametrize(("k", "h"), [(1e8, 1e-3), (1e9, 1e-2)])
def test_large_forces_do_not_push_a_particle_off_its_constraint(integrator, held, k, h):
    x = np.array([[0, 0, 0], [1, 0.3, 0.2]])
    along = np.array([1.0, 2, 3]) / np.sqrt(14)
    push = np.array([0.3, 0, -0.1]) if held.kind == "on_plane" else 0.3 * along
    system = taut.System(
        x,
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=k), laws.gravity()],
        constraints=[held],
        pose=x + np.stack([np.zeros(3), push]),
    )
    off = np.eye(3) - system._projector.free_directions[1]
    for state, _ in taut.simulate(system, integrator(), h, 20 * h):
        assert np.abs(off @ (state.q[1] - x[1])).max() <= 1e-14
