"""When a step may end at the rounding floor: random scenes with extreme stiffness, and at rest."""

import numpy as np
import pytest

import taut
from benchmarks.reliability.random_scenes import scene


@pytest.mark.parametrize("number", [676, 1108])
def test_floor_above_all_forces_raises(number):
    """All particles of a rod coincide: its hinges have a stiffness of 1e30 N/m, and rounding could
    cause 1e19 N.
    """
    made = scene(number)
    start = made.system.initial_state()
    assert np.ptp(start.q, axis=0).max() == 0.0
    with pytest.raises(
        taut.NotConverged, match="stiffness is so large that rounding hides forces and mass"
    ) as caught:
        taut.ImplicitEuler().step(made.system, start, made.h)
    report = caught.value.report
    assert report.residual > max(report.tolerance, report.floor)


@pytest.mark.parametrize("number", [753, 993])
def test_rod_at_rest_ends_at_the_rounding_floor(number):
    """Only rounding of 1e-29 N acts, below the rounding floor."""
    made = scene(number)
    start = made.system.initial_state()
    state, report = taut.ImplicitEuler().step(made.system, start, made.h)
    assert report.outcome == "rounding floor"
    assert report.residual < 1e-20
    assert np.abs(state.q - start.q).max() < 1e-15 * np.abs(start.q).max()
