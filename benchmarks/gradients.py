"""Gradients and fits, measured: `python -m benchmarks.gradients time`, `… coverage` or `… memory`.

time : of a gradient by every stiffness, rest length, mass, position and velocity of the bench
    cloth over 50 steps, with and without its error bound, relative to the steps themselves
coverage : how often 95% intervals of a fit hold the true parameters, in 400 trials with noise
memory [STEPS] [PARTICLES] : the largest memory of the process during a gradient over 10⁴ explicit
    steps of 10⁴ particles, whose states alone would take 4.8 GB
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

import taut
from taut import laws
from taut.bench.net import cloth
from taut.inverse import Motion
from taut.inverse.gradient import MEMORY, gradient_of_run, record_simulation
from taut.inverse.targets import change_system

STEPS, H = 50, 0.01
BY = ["spring.k", "spring.l0", "mass", "pose", "velocity"]
TRIALS, SIGMA = 400, 1e-5
NORMAL_95 = 1.959964


def measure_time(n: int = 100) -> None:
    """Print the time of a gradient over that of its steps; the second run counts."""
    system, integrator = cloth(n).system(), taut.ImplicitEuler()

    def loss(state):
        if state.t > (STEPS - 0.5) * H:
            return 0.5 * float(np.sum(state.q**2)), np.array(state.q)
        return None

    for _ in range(2):
        started = time.perf_counter()
        run = taut.simulate(system, integrator, H, STEPS * H)
        tape = record_simulation(run, MEMORY)
        forward = time.perf_counter() - started
        plain = gradient_of_run(tape, loss, BY, certify=False, times=False).seconds
        bounded = gradient_of_run(tape, loss, BY, certify=True, times=False).seconds
    print(f"cloth n = {n}, {STEPS} steps: {forward:.1f} s; gradient {plain / forward:.2f} of it, "
          f"with error bound {bounded / forward:.2f}")  # fmt: skip


def measure_coverage() -> None:
    """Print how often the 95% intervals of three parameters hold."""
    net = taut.mesh.net(4, 4)
    true = {"spring.k": 120.0, "spring_damping.c": 0.05, "drag.alpha": 0.5}
    system = taut.System(
        np.array(net.points)[:, [0, 2, 1]],
        mass=0.01,
        fixed=net.corners()[:2],
        energies=[laws.spring(net.edges, k=true["spring.k"]), laws.gravity()],
        damping=[laws.spring_damping(net.edges, c=true["spring_damping.c"]), laws.drag(alpha=0.5)],
    )
    method = taut.ImplicitEuler(tolerance=taut.Tolerance(relative=1e-10))
    states = [state for state, _ in taut.simulate(system, method, 0.02, 0.2)]
    times, exact = np.array([s.t for s in states]), np.array([s.q for s in states])
    rng, held = np.random.default_rng(0), np.zeros(len(true))
    start = change_system(system, {name: 1.2 * value for name, value in true.items()})
    for _ in range(TRIALS):
        seen = exact + SIGMA * rng.normal(size=exact.shape)
        found = taut.fit(Motion(start, method, 0.02, times, seen), list(true))
        held += np.abs(found.values - list(true.values())) <= NORMAL_95 * found.errors
    for name, share in zip(true, held / TRIALS, strict=True):
        print(f"{name}: 95% intervals hold in {100 * share:.1f}% of {TRIALS} trials")


def peak_memory() -> float:
    """Return the largest memory of this process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def measure_memory(steps: int = 10_000, particles: int = 10_000) -> None:
    """Print the largest memory of a gradient over many steps, and what it is made of."""
    n = round(particles**0.5)
    system, h = cloth(n).system(), 2e-5  # explicit steps are stable below 1e-4 s
    started = time.perf_counter()
    run = taut.simulate(system, taut.SymplecticEuler(), h, steps * h)

    def loss(state):
        if state.t > (steps - 0.5) * h:
            return 0.5 * float(np.sum(state.q**2)), np.array(state.q)
        return None

    # Compiles what is needed: the memory of the compiler is not that of a gradient.
    first = taut.simulate(system, taut.SymplecticEuler(), h, 2 * h)
    taut.gradient(first, lambda s: (0.0, np.array(s.q)), BY, certify=False)
    before = peak_memory()
    tape = record_simulation(run, MEMORY)
    forward = time.perf_counter() - started
    gradient_of_run(tape, loss, BY, certify=False, times=False)
    states = 48e-6 * n * n * steps  # six doubles a particle [MB]
    print(f"{steps} steps of {n * n} particles, whose states take {states:.0f} MB: "
          f"{peak_memory():.0f} MB at most, {before:.0f} MB of them before the first step; "
          f"{forward:.0f} s forward, {time.perf_counter() - started:.0f} s in all")  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:] == ["coverage"]:
        measure_coverage()
    elif sys.argv[1:2] == ["memory"]:
        measure_memory(*map(int, sys.argv[2:]))
    elif sys.argv[1:] == ["time"]:
        measure_time()
    else:
        raise SystemExit(__doc__)
