"""Products of derivatives with vectors, for many elements at once and without compiling.

With r(u) some expressions of an element and u what they depend on, a `Program` evaluates

    pull    z·∂r/∂u     for given z: one number for each entry of u
    push    ∂r/∂u·du    for given du: one number for each expression

The first is the gradient of the scalar z·r. The second is the gradient, by z, of (z·∂r/∂u)·du,
which is linear in z: no rules beyond those of `taut.formula.differentiate` are needed.

To compile these loops lost: the third derivatives of a hinge took ten seconds, and an adjoint needs
each product once a step, where a Newton iteration needs many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.formula.differentiate import gradient
from taut.formula.expression import Expr, reachable
from taut.formula.interpret import run

# Elements evaluated at once: the values of all nodes then stay within the second-level cache.
_CHUNK = 2048

Groups = Mapping[str, Sequence[Expr]]  # variables by the name of their array


class Program:
    """Expressions of one element in groups, evaluated over many elements.

    outputs : expressions by the name of the array they are written to
    """

    def __init__(self, outputs: Groups, flags: frozenset[str] = frozenset()) -> None:
        self._outputs = {name: list(roots) for name, roots in outputs.items()}
        self._nodes = reachable([e for roots in self._outputs.values() for e in roots])
        self._flags = flags

    def run(self, inputs: Mapping[str, Any], count: int) -> dict[str, Float]:
        """Return the groups by name, each (count, expressions in it).

        inputs : arrays by the first entry of a symbol's name: "x", "y", "v", "w" of (count, s, 3),
            "p" packed parameters, directions of (count, …); and the number "h"
        """
        results = {name: np.empty((len(r), count)) for name, r in self._outputs.items()}
        for start in range(0, count, _CHUNK):
            part = slice(start, min(start + _CHUNK, count))

            def read(name: tuple[Any, ...], part: slice = part) -> Any:
                values = inputs[name[0]]
                if name[0] == "h":
                    return np.asarray(values)
                if name[0] == "p":
                    return values[part, name[3]]
                return values[(part, *name[1:])]

            found = run(self._nodes, read, part.stop - part.start, self._flags)
            for name, roots in self._outputs.items():
                for k, root in enumerate(roots):
                    results[name][k, part] = found[root]
        return {name: result.T for name, result in results.items()}


def make_pull(
    roots: Sequence[Expr], variables: Groups, flags: frozenset[str] = frozenset()
) -> Program:
    """Return the program of z·∂r/∂u in the groups of u; z is read from "z", (count, len(roots))."""
    z = [roots[0].graph.symbol("z", k) for k in range(len(roots))]
    slopes = iter(gradient(contract(z, roots), [u for group in variables.values() for u in group]))
    return Program(
        {name: [next(slopes) for _ in group] for name, group in variables.items()}, flags
    )


def make_push(
    roots: Sequence[Expr], variables: Groups, flags: frozenset[str] = frozenset()
) -> Program:
    """Return the program of ∂r/∂u·du, under the name "r"; du of a group x is read from "dx"."""
    graph = roots[0].graph
    z = [graph.symbol("z", k) for k in range(len(roots))]
    every = [u for group in variables.values() for u in group]
    moves = [
        graph.symbol(f"d{name}", k) for name, group in variables.items() for k in range(len(group))
    ]
    slopes = gradient(contract(z, roots), every, last=False)
    return Program({"r": gradient(contract(moves, slopes), z)}, flags)


def contract(left: Sequence[Expr], right: Sequence[Expr]) -> Expr:
    """Return Σ left·right."""
    graph = right[0].graph
    total = graph.const(0.0)
    for a, b in zip(left, right, strict=True):
        total = graph.add(total, graph.mul(a, b))
    return total
