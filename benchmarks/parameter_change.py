"""Cost of changing a parameter between steps: `python -m benchmarks.parameter_change`.

Prints microseconds, the best of several runs: `with_` on the law and the system, a step, and a step
with a change before it.
"""

from __future__ import annotations

import itertools
from typing import Any

import taut
from taut import laws
from taut.bench.timing import time_best

H = {"SymplecticEuler": 1e-5, "ImplicitEuler": 1e-2}
RUNS = 200


def measure(n: int, integrator: Any) -> tuple[float, float, float]:
    """Return the times of a change, of a step, and of both together [s], for a net of n × n."""
    mesh = taut.mesh.sheet(n, n)
    spring, gravity = laws.spring(mesh.edges, k=1e3), laws.gravity()
    system = taut.System(mesh.points, mass=0.01, fixed=[0, n], energies=[spring, gravity])
    h = H[type(integrator).__name__]
    state, _ = integrator.step(system, system.initial_state(), h)
    values = itertools.cycle([1000.0, 1001.0])
    current = system

    def change() -> None:
        nonlocal current
        current = current.with_(energies=[spring.with_(k=next(values)), gravity])

    def change_and_step() -> None:
        change()
        integrator.step(current, state, h)

    return (
        time_best(change, RUNS),
        time_best(lambda: integrator.step(system, state, h), RUNS),
        time_best(change_and_step, RUNS),
    )


if __name__ == "__main__":
    print("springs  integrator        change [µs]  step [µs]  both [µs]")
    for n in (4, 32):
        for integrator in (taut.SymplecticEuler(), taut.ImplicitEuler()):
            times = [1e6 * seconds for seconds in measure(n, integrator)]
            name = type(integrator).__name__
            springs = 2 * n * (n + 1)
            print(f"{springs:7d}  {name:16} {times[0]:12.0f} {times[1]:10.0f} {times[2]:10.0f}")
