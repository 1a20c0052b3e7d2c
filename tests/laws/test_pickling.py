"""Every law and integrator can be pickled and copied, and then gives the same bits."""

import copy
import io
import pickle

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.placed_law import place
from tests.laws.specimens import DISSIPATIONS, ENERGIES, LOADS
from tests.laws.test_integrators import OBEYS, body
from tests.laws.test_totals import BALL, TOTALS

SPECIMENS = {**ENERGIES, **DISSIPATIONS, **LOADS}
ROUTES = [lambda o: pickle.loads(pickle.dumps(o)), copy.deepcopy, copy.copy]


class Unpickler(pickle.Unpickler):
    """Remembers the packages of whatever a pickle names."""

    def __init__(self, pickled):
        super().__init__(io.BytesIO(pickled))
        self.packages = set()

    def find_class(self, module, name):
        self.packages.add(module.partition(".")[0])
        return super().find_class(module, name)


@pytest.mark.parametrize("name", sorted({*laws.__all__} - {"rayleigh"}))
def test_laws(name):
    law = getattr(laws, name)
    assert all(route(law) is law for route in ROUTES)
    if name in SPECIMENS:
        placed = SPECIMENS[name].placed(np.random.default_rng(3))
    else:
        placed = place(law(BALL.triangles, **TOTALS[name][0]), BALL.points, np.ones(BALL.n))
    for route in ROUTES:
        bound = route(placed.bound)
        again = place(bound, placed.rest, placed.mass)
        assert type(bound) is type(placed.bound)
        assert bound.law is law
        assert not any(a.flags.writeable for a in bound.parameters.values() if np.ndim(a))
        # the digest decides on the machine code, the packed parameters on what it computes
        assert again.digest == placed.digest
        assert again.elements.tobytes() == placed.elements.tobytes()
        assert again.parameters.pack(0.0).tobytes() == placed.parameters.pack(0.0).tobytes()


@pytest.mark.parametrize(
    "integrator",
    [*(kind() for kind in OBEYS), taut.Adaptive(taut.BDF2(), error=1e-3)],
    ids=lambda i: type(i).__name__,
)
def test_integrators_systems_and_states(integrator):
    """A run continued from a pickle has the bits of one that was not interrupted."""
    damping = [laws.rayleigh(alpha=0.1, beta=1e-3), laws.drag(alpha=0.2)]
    wind = laws.wind([[0, 1, 2]], velocity=(1.0, 2.0, 3.0))
    held = taut.constraints.fixed([6], until=0.015)
    system = body(np.random.default_rng(1), damping=damping, loads=[wind], constraints=[held])
    state, _ = integrator.step(system, system.initial_state(), 0.01)
    expected = state
    for _ in range(2):
        expected, _ = integrator.step(system, expected, 0.01)
    for route in ROUTES:
        other, others, now = route((integrator, system, state))
        if route is copy.copy:
            other, others, now = route(integrator), route(system), route(state)
        for _ in range(2):
            now, report = other.step(others, now, 0.01)
        assert now.q.tobytes() + now.v.tobytes() == expected.q.tobytes() + expected.v.tobytes()
        # By their text: where the velocity error is not bounded it is nan, which equals nothing.
        assert repr(pickle.loads(pickle.dumps(report))) == repr(report)


def test_a_pickle_holds_nothing_compiled():
    system = body(np.random.default_rng(1), damping=[laws.rayleigh(beta=1e-3)])
    integrator = taut.ImplicitEuler(solver="cg")
    before = len(pickle.dumps((system, integrator)))
    integrator.step(system, system.initial_state(), 0.01)
    pickled = pickle.dumps((system, integrator))
    assert len(pickled) == before
    unpickler = Unpickler(pickled)
    unpickler.load()
    assert unpickler.packages <= {"taut", "numpy", "builtins", "copyreg"}
