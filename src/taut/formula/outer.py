"""The outer function of an energy of a total: V = Φ(S), with S = Σ m over all elements of the law.

∂V/∂x = Φ'(S) Σ ∂m/∂x        ∂²V/∂x² = Φ'(S) Σ ∂²m/∂x² + Φ''(S) g gᵀ,  g = Σ ∂m/∂x
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import LawError, SingularState
from taut.formula.differentiate import gradient
from taut.formula.expression import Expr, symbols
from taut.formula.interpret import evaluate
from taut.formula.trace import totalled

Float = NDArray[np.float64]


class Outer:
    """Φ of a traced energy, with its derivatives."""

    def __init__(self, root: Expr) -> None:
        totals = totalled(root)
        if len(totals) > 1:
            raise LawError("total(…) may stand in an energy once")
        graph, (inner,) = root.graph, totals
        s = graph.symbol("total")
        value = graph.substitute(root, {inner: s})
        if symbols(value, "x"):
            raise LawError("positions stand outside of total(…): an energy of a total is one for all elements together")
        slope = gradient(value, [s])[0]
        self._roots = [value, slope, gradient(slope, [s])[0], *_addends(value)]
        self.columns = sorted({p.value[3] for p in symbols(value, "p")})

    @staticmethod
    def of(root: Expr) -> Outer | None:
        """The outer function of an energy, None where there is no total."""
        return Outer(root) if totalled(root) else None

    def refuse_uneven(self, law: str, parameters: Float) -> None:
        """Refuse packed parameters (m, width) that are not the same for all elements."""
        uneven = np.flatnonzero((parameters[:, self.columns] != parameters[:1, self.columns]).any(axis=1))
        if len(uneven):
            raise LawError(
                f"law '{law}': an energy of a total has the same parameters for all elements, but element {uneven[0]} has others"
            )

    def at(self, law: str, total: float, parameters: Float) -> tuple[float, float, float, float]:
        """Φ, Φ' and Φ'' at a total, for the packed parameters (m, width) of the law's elements, and Σ|terms| of Φ."""
        self.refuse_uneven(law, parameters)
        found = evaluate(self._roots, np.zeros((1, 1, 3)), parameters=parameters[:1], total=total)[0]
        value, slope, bend = found[:3].tolist()
        return value, slope, bend, float(np.abs(found[3:]).sum())


def _addends(root: Expr) -> list[Expr]:
    """The terms of a sum, or the expression itself where it is none."""
    return [leaf for arg in root.args for leaf in _addends(arg)] if root.op in ("add", "sub", "neg") else [root]


@dataclass(frozen=True)
class Total:
    """Φ at one state: its value, slope and bend, and the magnitude to which rounding in it is relative [J]."""

    value: float
    slope: float
    bend: float
    magnitude: float

    @staticmethod
    def of(law: str, outer: Outer, shares: Float, parameters: Float) -> Total:
        """From the shares m of all elements."""
        if not len(shares):
            return Total(0.0, 0.0, 0.0, 0.0)
        total = float(shares.sum())
        value, slope, bend, terms = outer.at(law, total, parameters)
        if not (math.isfinite(value) and math.isfinite(slope) and math.isfinite(bend)):
            raise SingularState(f"law '{law}' has no finite energy, force or stiffness at the total {total:g} of its elements")
        return Total(value, slope, bend, terms + abs(slope) * float(np.abs(shares).sum()))

    def apply(self, shares: Float, vectors: Float) -> None:
        """Make energies and gradients of shares and their gradients, in place: the whole energy stands in the first element."""
        vectors *= self.slope
        shares[:] = 0.0
        shares[:1] = self.value
