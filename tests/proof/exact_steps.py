"""Steps of implicit Euler in arithmetic of fifty digits, from the formulas of the laws."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

from taut.formula.expression import Expr, copy_into, reachable
from taut.formula.graph import Graph
from taut.formula.structure import derive
from taut.system.workspace import workspace_for

DIGITS = 50

_OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pow": mpmath.power,
    "sqrt": mpmath.sqrt,
    "exp": mpmath.exp,
    "log": mpmath.log,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "tanh": mpmath.tanh,
    "atan2": mpmath.atan2,
    "norm": lambda *a: mpmath.sqrt(sum(x * x for x in a)),
    "inv0": lambda a: 1 / a if a else mpf(0),
    "ratio": lambda a, n, limit, positive: a / n if positive else limit,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "where": lambda c, a, b: a if c else b,
}


def evaluate(roots: list[Expr], read_symbol: Any) -> list[Any]:
    """Return the values of expressions, with as many digits as mpmath is set to."""
    value: dict[Expr, Any] = {}
    for node in reachable(roots):
        if node.op == "symbol":
            value[node] = read_symbol(node.value)
        elif node.op == "const":
            value[node] = mpf(node.value)
        elif node.op == "flag":
            value[node] = False
        else:
            value[node] = _OPERATIONS[node.op](*(value[a] for a in node.args))
    return [value[root] for root in roots]


def solve_step(system: Any, state: Any, new: Any, h: float) -> list[list[Any]]:
    """Return the exact positions of an implicit Euler step, (n, 3), by Newton's method."""
    mp.dps = DIGITS
    workspace = workspace_for(system)
    loaded = workspace.with_held_loads(system.load_forces(state))
    terms = loaded.assembly("increments", state).terms
    free = np.einsum("nii->ni", system._projector.free_directions).ravel() > 0.5
    unknown = np.flatnonzero(free).tolist()
    q = [mpf(float(x)) for x in new.q.ravel()]
    before = [mpf(float(x)) for x in state.q.ravel()]
    v = [mpf(float(x)) for x in state.v.ravel()]
    step = mpf(h)
    mass = [mpf(float(m)) for m in np.repeat(system.mass, 3)]
    laws = []
    for term in terms:
        root = copy_into(Graph(), term.compiled.root)
        laws.append((term, root.graph, derive(root, term.compiled.particles)))
    for _ in range(12):
        rows = zip(mass, q, before, v, strict=True)
        residual = [m * (a - b - step * c) / step**2 for m, a, b, c in rows]
        matrix = mpmath.zeros(len(q))
        for i, m in enumerate(mass):
            matrix[i, i] = m / step**2
        for term, _, d in laws:
            _add(term, d, q, before, step, state.t + h, residual, matrix)
        size = max(abs(residual[i]) for i in unknown)
        if size < mpf(10) ** (10 - DIGITS):
            break
        small = mpmath.matrix([[matrix[i, j] for j in unknown] for i in unknown])
        change = mpmath.lu_solve(small, mpmath.matrix([residual[i] for i in unknown]))
        for k, i in enumerate(unknown):
            q[i] -= change[k]
    else:
        raise AssertionError("the step of fifty digits has not converged")
    return [q[3 * i : 3 * i + 3] for i in range(system.n)]


def _add(
    term: Any, d: Any, q: Any, before: Any, h: Any, t: float, residual: Any, matrix: Any
) -> None:
    """Add the forces and stiffnesses of one law."""
    parameters = term.parameters(t)
    roots = [e for vector in d.gradient for e in vector]
    roots += [e for block in d.hessian for row in block for e in row]
    s = term.elements.shape[1]
    pair = None if d.pair is None else [mpf(c) for c in d.pair]
    places = [(p, r) for p in range(s) for r in range(p, s)]
    for element, row in zip(term.elements.tolist(), parameters, strict=True):

        def read(name: tuple[Any, ...], element: Any = element, row: Any = row) -> Any:
            kind = name[0]
            if kind in ("x", "y"):
                return (q if kind == "x" else before)[3 * element[name[1]] + name[2]]
            if kind in ("w", "wy"):
                at = q if kind == "w" else before
                return sum(c * at[3 * p + name[2]] for c, p in zip(pair, element, strict=True))
            return h if kind == "h" else mpf(float(row[name[3]]))

        found = evaluate(roots, read)
        vectors, entries = found[: 3 * len(d.gradient)], found[3 * len(d.gradient) :]
        for p, particle in enumerate(element):
            for k in range(3):
                part = vectors[3 * p + k] if pair is None else pair[p] * vectors[k]
                residual[3 * particle + k] += part
        for b, (p, r) in enumerate(places):
            for i in range(3):
                for j in range(3):
                    if not entries:
                        continue
                    if pair is None:
                        value = entries[9 * b + 3 * i + j]
                    else:
                        value = pair[p] * pair[r] * entries[3 * i + j]
                    at = 3 * element[p] + i, 3 * element[r] + j
                    matrix[at] += value
                    if p != r:
                        matrix[at[1], at[0]] += value


def find_distances(system: Any, state: Any, new: Any, h: float) -> Any:
    """Return how far each particle is from its exact position [m], (n,)."""
    exact = solve_step(system, state, new, h)
    given = [[mpf(float(x)) for x in row] for row in new.q]
    each = [
        mpmath.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
        for x, y in zip(exact, given, strict=True)
    ]
    return np.array([float(d) for d in each])
