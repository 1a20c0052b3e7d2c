"""Points that are pinned or released by a click: constraints added to those of a system, or taken away.

A pinned particle is led along a path that stands still, b(t) = x, where x is the place at which it was pinned: a real constraint,
which does not give way; the constraints of the system that name it wait, and act again when it is pinned no more. A released one
leaves them for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.constraints.constraint import Constraint
from taut.constraints.held import scripted
from taut.system.system import System

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def held_otherwise(system: System, pinned: Mapping[int, Float], released: Int) -> dict[str, Any]:
    """The `fixed` and `constraints` of a system, as `System.with_` takes them, with some particles pinned and some released.

    pinned : particle → where [m], (3,); released : particles, (k,)

    >>> import taut
    >>> chain = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0])
    >>> other = chain.with_(**held_otherwise(chain, {1: np.array([1.0, 0.0, 0.0])}, np.array([0])))
    >>> other.hold.held.tolist()
    [False, True]
    """
    gone = np.union1d(released, np.fromiter(pinned, dtype=np.int64, count=len(pinned)))
    constraints = [without(c, gone, system.pose) for c in system.constraints]
    if pinned:
        places = np.array(list(pinned.values()))
        constraints.append(scripted(list(pinned), lambda t: places))
    return {"fixed": np.setdiff1d(system.fixed, gone), "constraints": [c for c in constraints if c is not None]}


def without(constraint: Constraint, gone: Int, pose: Float) -> Constraint | None:
    """A constraint that leaves some particles alone; None if nothing is left of it. pose : where particles start [m], (n, 3)."""
    particles = constraint.indices(len(pose))
    stays = ~np.isin(particles, gone)
    if stays.all():
        return constraint
    if not stays.any():
        return None
    placed = constraint.placed(pose)
    path = placed.path
    if path is None:
        return replace(placed, particles=particles[stays])

    def some(t: float) -> Float:
        points = np.asarray(path(t), dtype=np.float64)
        return points[stays] if points.ndim == 2 else points

    return replace(placed, particles=particles[stays], path=some, carry=None)
