"""L-BFGS: a descent that factors one matrix for all its iterations.

The inverse Hessian is built from the last few steps s and the changes g of the gradient along them
by the two-loop recursion (Nocedal 1980), starting from A₀⁻¹. A₀ is a constant positive definite
matrix that was factored beforehand, such as M/h² plus a stiffness (Liu, Bouaziz, Kavan 2017). An
iteration costs one solve with A₀ and an evaluation or two; there are more of them than Newton's
method needs, since the convergence is superlinear at best. Line search, tolerance and outcomes are
those of Newton's method.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from taut.arrays import EPS, Float
from taut.linalg.blocks import dot, row_norms
from taut.linalg.linear import LinearSolver
from taut.optimise._line_search import Stagnation, line_search
from taut.optimise.descent import Descent, Objective, Point
from taut.optimise.tolerance import Tolerance
from taut.watch import report_iteration

MAX_ITERATIONS = 10_000  # a minimisation that needs more is reported as not converged
_MEMORY = 8  # steps that are remembered
_MIN_CURVATURE = 1e-8  # least s·g/(|s||g|) of a step to remember
_SOLVE_ACCURACY = 1e-2  # of the solves with A₀, relative to the largest entry
_MAX_IDLE_ITERATIONS = 4  # iterations without progress after which the rounding floor is tested
_ADVICE = "; try minimiser='newton'"


class _Pair(NamedTuple):
    """A remembered step."""

    step: Float  # s [m], (n, 3)
    gradient_change: Float  # g [N], (n, 3)
    scale: float  # 1/(s·g) [1/J]


def minimise_lbfgs(
    objective: Objective, start: Point, solver: LinearSolver, tolerance: Tolerance
) -> Descent:
    """Minimise from a point until every residual meets its tolerance or rounding floor.

    solver : already factored with A₀ [N/m], constraints applied
    """
    descent = Descent.start(start, tolerance)
    memory: deque[_Pair] = deque(maxlen=_MEMORY)
    stagnation = Stagnation(_MAX_IDLE_ITERATIONS, tolerance)
    restarted = False
    while True:
        report_iteration(descent)
        if descent.meets(tolerance):
            descent.outcome = "converged"
            return descent
        if descent.has_diverged():
            return descent
        if descent.iterations == MAX_ITERATIONS:
            descent.reason = f"{MAX_ITERATIONS} iterations of L-BFGS were not enough{_ADVICE}"
            return descent
        descent.iterations += 1
        direction = _direction(memory, solver, descent)
        step = None
        if direction is not None:
            step = line_search(objective, direction, descent)
        if step is None and memory:
            memory.clear()  # the remembered steps may mislead: try A₀ alone
            continue
        if step is None:
            reason = f"no step along the direction of L-BFGS lowers the objective{_ADVICE}"
            return descent.end_without_progress(objective, reason)
        _remember(
            memory, step.point.y - descent.point.y, step.point.gradient - descent.point.gradient
        )
        if not stagnation.ends(step, objective, descent):
            continue
        if descent.outcome != "not converged":
            return descent
        if restarted:
            descent.reason += _ADVICE
            return descent
        # The first stall may be the fault of the memory too: begin again from A₀, once.
        restarted, stagnation = True, Stagnation(_MAX_IDLE_ITERATIONS, tolerance)
        memory.clear()
        descent.reason, descent.rounding_floors = "", np.zeros(0)


def _remember(memory: deque[_Pair], s: Float, g: Float) -> None:
    """Keep a step along which the objective curves upwards.

    Any other would make the inverse Hessian indefinite.
    """
    curvature = dot(s, g)
    if (
        curvature > _MIN_CURVATURE * np.sqrt(dot(s, s) * dot(g, g))
        and curvature > EPS * EPS  # 1/(s·g) must not overflow
    ):
        memory.append(_Pair(s, g, 1.0 / curvature))


def _direction(memory: deque[_Pair], solver: LinearSolver, descent: Descent) -> Float | None:
    """Return -B∇Φ, B the inverse Hessian from A₀ and the memory; None if it does not lead down."""
    q = descent.point.gradient
    parts = []
    for pair in reversed(memory):
        part = pair.scale * dot(pair.step, q)
        parts.append(part)
        q = q - part * pair.gradient_change
    with descent.timed("solving"):
        solution = solver.solve(q, np.full(len(q), _SOLVE_ACCURACY * float(row_norms(q).max())))
    descent.linear_iterations += solution.iterations
    r = solution.x
    for pair, part in zip(memory, reversed(parts), strict=True):
        r = r + (part - pair.scale * dot(pair.gradient_change, r)) * pair.step
    if not solution.definite or not np.isfinite(r).all():
        return None
    if not dot(r, descent.point.gradient) > 0.0:
        return None
    return -r
