"""Gradients through steps, for every law, parameter and integrator, against differences.

A law without a specimen, or an integrator that no tableau describes, makes these tests fail.
"""

import inspect

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.law import Law
from taut.inverse.targets import list_targets
from taut.step.integrator import Integrator
from tests.inverse.differences import TIGHT, Weigh, directional, draw_direction
from tests.laws.specimens import DISSIPATIONS, ENERGIES, LOADS, state
from tests.laws.test_integrators import EXPLICIT, OBEYS
from tests.laws.test_totals import TOTALS

WORST = 1e-7  # relative error of each gradient along a random direction
STEPS, H = 3, 0.01
# Relative changes from which differences are taken: smaller ones if a larger one meets a kink,
# where an eigenvalue of a projected stiffness changes its sign, or a step that throws particles far
SIZES = (1e-3, 1e-4, 1e-5, 1e-6)
ELEMENTS = 3
BALL = taut.mesh.sphere(1)
# Gradients refuse laws whose rest values flow (tests/step/test_plasticity.py).
STAYING = [name for name, specimen in ENERGIES.items() if not specimen.law.flow]
EVERY = [*STAYING, *DISSIPATIONS, *LOADS, *TOTALS]
by_integrator = pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
by_law = pytest.mark.parametrize("name", EVERY)


def test_every_law_and_integrator_is_tested():
    catalogue = {n for n in laws.__all__ if isinstance(getattr(laws, n), Law)}
    flowing = {name for name in ENERGIES if name not in STAYING}
    assert catalogue == {*EVERY, *flowing}
    integrators = {
        thing
        for thing in (getattr(taut, name) for name in taut.__all__)
        if inspect.isclass(thing) and issubclass(thing, Integrator)
    }
    assert integrators <= {*OBEYS, taut.Adaptive}


def total_system(name, rng):
    law = getattr(laws, name)(BALL.triangles, **TOTALS[name][0])
    springs = laws.spring(BALL.edges, k=300.0, l0=0.9)
    pose = 1.1 * BALL.points + 0.05 * rng.normal(size=BALL.points.shape)
    return taut.System(
        BALL.points,
        mass=rng.uniform(0.2, 0.4, len(BALL.points)),
        energies=[law, springs],
        damping=[laws.rayleigh(alpha=0.1, beta=2e-3)],
        pose=pose,
        velocity=rng.normal(size=pose.shape),
    )


def specimen_system(name):
    """A few elements that move, held by weak pins, with Rayleigh damping in stiffness and mass."""
    rng = np.random.default_rng(len(name))
    if name in TOTALS:
        return total_system(name, rng)
    specimen = {**ENERGIES, **DISSIPATIONS, **LOADS}[name]
    placed = specimen.placed(rng)
    pose = state(rng, placed)
    count = ELEMENTS * specimen.particles
    given = {}
    for parameter, value in placed.bound.parameters.items():
        shape = placed.parameters.shapes[parameter]
        shared = np.ndim(value) == len(shape)
        given[parameter] = value if shared else np.array(value)[:ELEMENTS]
    elements = placed.elements[:ELEMENTS]
    if name == "gravity":
        given.pop("mass", None)
    bound = specimen.law(elements, **given)
    energies = [laws.pin(k=20.0, target=pose[:count] + 0.1)]
    kinds = {"energy": "energies", "dissipation": "damping", "load": "loads"}
    parts = {"energies": energies, "damping": [], "loads": []}
    if name == "pin":
        parts["energies"] = []
    parts[kinds[specimen.law.kind]].append(bound)
    parts["damping"].append(laws.rayleigh(alpha=0.1, beta=2e-3))
    return taut.System(
        placed.rest[:count],
        mass=rng.uniform(0.5, 2.0, count),
        pose=pose[:count],
        velocity=rng.normal(size=(count, 3)),
        **parts,
    )


def make(integrator):
    return integrator() if integrator in EXPLICIT else integrator(tolerance=TIGHT)


def differentiable(system, name):
    """The parameters of a law, those of Rayleigh damping, and what belongs to the system."""
    names = [t for t in list_targets(system) if t != "paths"]
    if name in ("gas", "enclosed_volume"):
        names.remove("points")  # the rest volume is a total
    return names


@by_integrator
@by_law
def test_gradient_equals_differences(name, integrator):
    system, rng = specimen_system(name), np.random.default_rng(5)
    method, loss = make(integrator), Weigh(system.n)
    names = differentiable(system, name)
    run = taut.simulate(system, method, H, STEPS * H)
    found = taut.gradient(run, loss, by=names, certify=False)
    of_law = [target for target in names if target.startswith(f"{name}.")]
    rest = [target for target in names if target not in of_law]
    for group in [*([target] for target in of_law), rest]:
        directions = {target: draw_direction(system, target, rng) for target in group}
        if "h" in group:
            directions["h"] = rng.normal(size=STEPS)
        along = 0.0
        for target, direction in directions.items():
            factor = H if target == "h" else 1.0
            along += factor * float(np.sum(np.asarray(found[target]) * direction))
        # What rounding of the loss lets a difference tell
        rounding = 1e-11 * abs(found.value)
        for size in SIZES:
            expected = directional(system, method, H, STEPS, loss, directions, size)
            if abs(along - expected) <= WORST * abs(expected) + rounding:
                break
        else:
            pytest.fail(f"{group}: {along}, by differences {expected}")
