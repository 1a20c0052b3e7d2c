"""A run as a function of parameters, and its adjoint, in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.inverse.gradient import gradient_of_run, record_simulation
from taut.inverse.targets import change_system, check_targets, read_value
from taut.run.simulate import simulate
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

NO_SECOND_DERIVATIVES = (
    "trajectories have no second derivatives; taut.inverse.hessian_product has them times a "
    "vector, by differences of gradients"
)

_MEMORY = 2.0**30  # bytes that the steps of a run may take


class Trajectories:
    """The positions of a run as a function of parameters.

    system, integrator, h, until : as in `taut.simulate`
    by : names of the parameters, such as "spring.k", "mass" or "velocity"
    """

    def __init__(
        self, system: System, integrator: Integrator, h: float, until: float, by: Sequence[str]
    ) -> None:
        self.system, self.integrator, self.h, self.until = system, integrator, h, until
        self.names = check_targets(system, by)
        for name in self.names:
            if name in ("h", "paths"):
                raise ModelError(f"a trajectory is no function of '{name}' here")
        self.shapes = [read_value(system, name).shape for name in self.names]
        self.steps = simulate(system, integrator, h, until).plan[0].steps

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the positions: (steps + 1, n, 3)."""
        return self.steps + 1, self.system.n, 3

    def run(self, values: Sequence[Float]) -> Float:
        """Return the positions of all states [m], (steps + 1, n, 3)."""
        simulation = simulate(self._change(values), self.integrator, self.h, self.until)
        first = simulation.plan[1]
        return np.array([first.q, *(state.q for state, _ in simulation)])

    def pull(self, values: Sequence[Float], bar: Float) -> list[Float]:
        """Return the gradients by the parameters, for that by the positions."""
        simulation = simulate(self._change(values), self.integrator, self.h, self.until)
        tape = record_simulation(simulation, _MEMORY)
        left = iter(range(self.steps, -1, -1))  # the loss is called for the last state first

        def loss(_: State) -> tuple[float, Float]:
            return 0.0, bar[next(left)]

        found = gradient_of_run(tape, loss, self.names, certify=False, times=False)
        return [np.asarray(found[name], dtype=np.float64) for name in self.names]

    def _change(self, values: Sequence[Float]) -> System:
        if len(values) != len(self.names):
            raise ModelError(f"the trajectory has {len(self.names)} arguments, got {len(values)}")
        for name, value, shape in zip(self.names, values, self.shapes, strict=True):
            if np.shape(value) != shape:
                raise ModelError(f"'{name}' must have the shape {shape}, got {np.shape(value)}")
        arrays = (np.array(value, dtype=np.float64) for value in values)
        return change_system(self.system, dict(zip(self.names, arrays, strict=True)))
