"""L-BFGS: a descent that factors one matrix for all its iterations.

The inverse Hessian is built from the last few steps s and the changes of the gradient g along them, starting from A₀⁻¹, with A₀ a
constant positive definite matrix that was factored beforehand, such as M/h² plus a stiffness (the two-loop recursion, Nocedal
1980; A₀ as in Liu, Bouaziz, Kavan 2017). An iteration costs one solve with A₀ and an evaluation or two; there are more of them
than Newton's method needs, since the tail is superlinear at best. Line search, tolerance and outcomes are those of Newton's
method.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from taut.solve.line_search import line_search
from taut.solve.linear import LinearSolver
from taut.solve.minimum import Minimum, Objective
from taut.solve.stagnation import Stagnation
from taut.solve.tolerance import EPS, Tolerance
from taut.system.blocks import dot, lengths

Float = NDArray[np.float64]
ITERATIONS = 10_000  # a step that needs more is reported, never returned as solved
HISTORY = 8  # steps that are remembered
CURVED = 1e-8  # least s·g/(|s||g|) of a step worth remembering
ACCURACY = 1e-2  # of the solves with A₀, relative to the largest entry
ELSE = "; minimiser='newton' may do"
PATIENCE = 16  # iterations without visible progress after which the rounding floor is looked at


def minimise_lbfgs(objective: Objective, start: Float, solver: LinearSolver, tolerance: Tolerance) -> Minimum:
    """Go down from `start` (n, 3) [m] until every residual meets its tolerance, or as far as arithmetic allows.

    solver : already factored with A₀ [N/m], constraints applied
    """
    m = Minimum.begun(objective, start, tolerance)
    pairs: deque[tuple[Float, Float, float]] = deque(maxlen=HISTORY)  # s, g, 1/(s·g)
    stagnation = Stagnation(PATIENCE, tolerance)
    again = False  # a stall has already been answered by forgetting the steps
    while True:
        m.targets = tolerance.targets(m.point.gross)
        if m.meets(m.targets):
            m.outcome = "converged"
            return m
        if m.ran_away():
            return m
        if m.iterations == ITERATIONS:
            m.reason = f"{ITERATIONS} iterations of L-BFGS were not enough{ELSE}"
            return m
        m.iterations += 1
        direction = _direction(pairs, solver, m)
        step = None if direction is None else line_search(objective, direction, m)
        if step is None and pairs:  # what is remembered may mislead: begin again from A₀
            pairs.clear()
            continue
        if step is None:
            return m.judge(objective, f"no step along the direction of L-BFGS lowers the objective{ELSE}")
        _remember(pairs, step.point.y - m.point.y, step.point.gradient - m.point.gradient)
        if not stagnation.ends_at(step, objective, m):
            continue
        if m.outcome != "not converged":
            return m
        if again:
            m.reason += ELSE
            return m
        again, stagnation = True, Stagnation(PATIENCE, tolerance)
        pairs.clear()
        m.reason, m.floors = "", np.zeros(0)


def _remember(pairs: deque[tuple[Float, Float, float]], s: Float, g: Float) -> None:
    """Keep a step along which the objective curves upwards; another would make the inverse Hessian indefinite."""
    bend = dot(s, g)
    if bend > CURVED * np.sqrt(dot(s, s) * dot(g, g)) and bend > EPS * EPS:
        pairs.append((s, g, 1.0 / bend))


def _direction(pairs: deque[tuple[Float, Float, float]], solver: LinearSolver, m: Minimum) -> Float | None:
    """-B∇Φ, with B the inverse Hessian from A₀ and the remembered steps; None if it does not lead down."""
    q = m.point.gradient
    parts = []
    for s, g, scale in reversed(pairs):
        part = scale * dot(s, q)
        parts.append(part)
        q = q - part * g
    with m.timed("solving"):
        solution = solver.solve(q, np.full(len(q), ACCURACY * float(lengths(q).max())))
    m.linear_iterations += solution.iterations
    r = solution.x
    for (s, g, scale), part in zip(pairs, reversed(parts), strict=True):
        r = r + (part - scale * dot(g, r)) * s
    if not solution.definite or not np.isfinite(r).all() or not dot(r, m.point.gradient) > 0.0:
        return None
    return -r
