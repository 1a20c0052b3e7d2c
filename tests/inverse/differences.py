"""Gradients by differences of whole runs, against which exact ones are tested."""

import numpy as np

import taut
from taut.inverse.targets import change_system, read_value

TIGHT = taut.Tolerance(relative=1e-14)
# Weights of f(x + s·e) in the slope of f at x, of sixth order in e
STENCIL = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60), (-1, -3 / 4), (-2, 3 / 20), (-3, -1 / 60))


def slope(function, size):
    """The slope of a function of one number at 0, from six points within 3·size."""
    return sum(w / size * function(s * size) for s, w in STENCIL)


class Weigh:
    """A loss: every state counts, with random linear and quadratic parts."""

    def __init__(self, n, seed=0):
        rng = np.random.default_rng(seed)
        self.a, self.b = rng.normal(size=(2, n, 3))
        self.c, self.d = rng.uniform(0.5, 1.5, size=(2, n, 3))

    def __call__(self, state):
        q, v = np.array(state.q), np.array(state.v)
        factor = np.cos(3.0 * len(q))  # any number: states are weighted alike
        value = np.sum(self.a * q + self.b * v + 0.5 * self.c * q**2 + 0.05 * self.d * v**2)
        return factor * value, factor * (self.a + self.c * q), factor * (self.b + 0.1 * self.d * v)


def run_loss(system, integrator, steps, loss, state=None):
    """The loss over steps of given lengths."""
    state = system.initial_state() if state is None else state
    total = loss(state)[0]
    for h in steps:
        state = integrator.advance(system, state, h).state
        total += loss(state)[0]
    return total


def draw_direction(system, name, rng):
    """A random direction, in which entries of a parameter change in proportion to their size."""
    if name == "h":
        return None
    value = read_value(system, name)
    size = np.abs(value)
    law = name.rpartition(".")[0]
    if law in system._placed_energies and system._placed_energies[law].couples_all_elements:
        return rng.normal() * size  # all elements share the parameter
    if name in ("mass", "pose", "velocity", "points"):
        size = np.full_like(value, size.max() or 1.0)
    return rng.normal(size=value.shape) * np.where(size > 0.0, size, size.max() or 1.0)


def directional(system, integrator, h, count, loss, directions, size=1e-3):
    """The slope of the loss if parameters, by name, change along directions."""

    def at(s):
        changes = {n: read_value(system, n) + s * d for n, d in directions.items() if n != "h"}
        steps = h * (1.0 + s * directions.get("h", np.zeros(count)))
        return run_loss(change_system(system, changes), integrator, steps, loss)

    return slope(at, size)
