"""Rows on small systems: a step of a pendulum and of a chain, and many copies of a chain at once.

A step of a small system is what Python does around the arithmetic. Beside each figure stands that
of a few lines of plain NumPy for the same step, timed in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.bench.row import Bench, Row
from taut.jit.compile import kernels
from taut.run.batch import batch
from taut.step.compiled_stage import KERNELS
from taut.step.implicit_euler import ImplicitEuler
from taut.step.integrator import Integrator
from taut.step.symplectic_euler import SymplecticEuler
from taut.system.state import State
from taut.system.system import System

K, MASS, GRAVITY = 1000.0, 0.1, 9.81  # [N/m], [kg], [m/s²]
IMPLICIT_H, EXPLICIT_H = 0.01, 0.001  # [s]
STEPS, ROUNDS = 300, 5  # the best of several rounds: another process may take the core
WARM_UP_STEPS = 20
CHAIN, BATCH_CHAIN = 51, 10  # particles
COPIES, BATCH_STEPS = 1000, 20
# µs of a step, and steps in a second
IMPLICIT_TARGET, CHAIN_TARGET, EXPLICIT_TARGET, BATCH_TARGET = 100.0, 250.0, 15.0, 20_000.0
NEWTON_TOLERANCE = 1e-6  # of the implicit step in NumPy, relative to the weight


def build_chain(n: int) -> System:
    """Build a chain of n particles along x [m], which hangs by its first one."""
    points = np.zeros((n, 3))
    points[:, 0] = np.linspace(0.0, 1.0, n)
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    energies = [laws.spring(edges, k=K), laws.gravity()]
    return System(points, mass=MASS, energies=energies, fixed=[0])


def time_steps(system: System, integrator: Integrator, h: float) -> float:
    """Return the time of a step [µs], the best of several rounds."""
    state = system.initial_state()
    for _ in range(WARM_UP_STEPS):
        state, _ = integrator.step(system, state, h)
    return min(_time_round(system, integrator, state, h) for _ in range(ROUNDS))


def _time_round(system: System, integrator: Integrator, state: State, h: float) -> float:
    started = time.perf_counter()
    for _ in range(STEPS):
        state, _ = integrator.step(system, state, h)
    return 1e6 * (time.perf_counter() - started) / STEPS


def _time_numpy(step: Callable[[Float, Float], tuple[Float, Float]]) -> float:
    """Return the time of a step of a pendulum in plain NumPy [µs], the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        x, v = np.array([1.0, 0.0, 0.0]), np.zeros(3)
        started = time.perf_counter()
        for _ in range(STEPS):
            x, v = step(x, v)
        best = min(best, 1e6 * (time.perf_counter() - started) / STEPS)
    return best


_WEIGHT = np.array([0.0, -MASS * GRAVITY, 0.0])


def _step_symplectic(x: Float, v: Float) -> tuple[Float, Float]:
    length = np.sqrt(x @ x)
    force = _WEIGHT - K * (length - 1.0) / length * x
    v = v + EXPLICIT_H / MASS * force
    return x + EXPLICIT_H * v, v


def _step_implicit(x: Float, v: Float) -> tuple[Float, Float]:
    """Newton's method for the pendulum of one free particle, without a safeguard."""
    ahead, inertia, y = x + IMPLICIT_H * v, MASS / IMPLICIT_H**2, np.array(x)
    while True:
        length = float(np.sqrt(y @ y))
        d = y / length
        residual = inertia * (y - ahead) + K * (length - 1.0) * d - _WEIGHT
        if np.sqrt(residual @ residual) <= NEWTON_TOLERANCE * MASS * GRAVITY:
            return y, (y - x) / IMPLICIT_H
        along = np.outer(d, d)
        across = max(1.0 - 1.0 / length, 0.0)
        hessian = inertia * np.eye(3) + K * (along + across * (np.eye(3) - along))
        y = y - np.linalg.solve(hessian, residual)


def measure_small_steps(bench: Bench) -> list[Row]:
    """Measure steps of small systems against plain NumPy, and many copies at once."""
    kernels(KERNELS)  # compiled before the clock starts
    pendulum, chain = build_chain(2), build_chain(CHAIN)
    implicit = time_steps(pendulum, ImplicitEuler(), IMPLICIT_H)
    explicit = time_steps(pendulum, SymplecticEuler(), EXPLICIT_H)
    of_chain = time_steps(chain, ImplicitEuler(), IMPLICIT_H)
    numpy_implicit, numpy_explicit = _time_numpy(_step_implicit), _time_numpy(_step_symplectic)
    name, unit = "small-steps", "µs a step"
    rate = _measure_batch()
    return [
        Row(
            *(name, "a pendulum, implicit Euler", implicit, unit, IMPLICIT_TARGET),
            note=f"plain NumPy {numpy_implicit:.0f} µs",
        ),
        Row(
            *(name, "a pendulum, symplectic Euler", explicit, unit, EXPLICIT_TARGET),
            note=f"plain NumPy {numpy_explicit:.0f} µs",
        ),
        Row(name, f"a chain of {CHAIN}, implicit Euler", of_chain, unit, CHAIN_TARGET),
        Row(
            *(name, f"taut.batch, {COPIES} chains of {BATCH_CHAIN}, implicit Euler", rate),
            *("steps a second", BATCH_TARGET, "≥"),
        ),
    ]


def _measure_batch() -> float:
    """Return the implicit steps in a second of many copies of a chain."""
    stiffness = np.geomspace(0.5 * K, 2.0 * K, COPIES)
    until = (BATCH_STEPS + 1) * IMPLICIT_H
    run = batch(
        *(build_chain(BATCH_CHAIN), ImplicitEuler(), IMPLICIT_H, until),
        parameters={"spring.k": stiffness},
    )
    next(run)  # prepares tables
    started = time.perf_counter()
    taken = sum(1 for _ in run)
    return COPIES * taken / (time.perf_counter() - started)
