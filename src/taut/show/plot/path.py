"""Equilibrium paths: the parameter over a displacement, with their critical points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taut.arrays import Float, Mask
from taut.errors import ModelError
from taut.extras import import_extra
from taut.statics.path import EquilibriumPath

_MARKERS = {"limit": "o", "bifurcation": "s", "hilltop": "D"}
_NAMES = {"limit": "limit point", "bifurcation": "bifurcation", "hilltop": "hilltop point"}


def path(
    *paths: EquilibriumPath, particle: int | None = None, direction: Sequence[float] | None = None
) -> Any:
    """Plot the load factor, or time, of equilibrium paths over a displacement, as a Figure.

    paths : one, or several of the same system, such as a path and its branches
    particle : whose displacement is shown (default: the one that moves furthest)
    direction : of the displacement (default: the one in which it moves furthest)

    Stable parts are drawn as lines, unstable ones dashed; critical points are marked.

    >>> import taut
    >>> from taut import laws
    >>> bars = taut.System(
    ...     [[-1, 0], [1, 0], [0, 0.2]],
    ...     mass=1.0,
    ...     fixed=[0, 1],
    ...     energies=[laws.spring([[0, 2], [1, 2]], k=1000.0), laws.force([2], f=(0, -1))],
    ... )
    >>> path(taut.path(bars, until=6.0)).axes[0].get_xlabel()
    'displacement of particle 2 along (0, -1, 0) [m]'
    """
    if not paths or not all(isinstance(p, EquilibriumPath) for p in paths):
        raise ModelError("path needs one or more results of taut.path")
    start = paths[0].states[0].q
    if any(p.states[0].q.shape != start.shape for p in paths):
        raise ModelError("the paths must be of systems with the same number of particles")
    chosen, unit = _choose(paths, start, particle, direction)
    figure = import_extra("plot", "matplotlib.figure", "plots").Figure(
        figsize=(5.6, 4.0), layout="constrained"
    )
    axes = figure.add_subplot()
    shown: set[str] = set()
    for k, one in enumerate(paths):
        x = (one.positions[:, chosen] - start[chosen]) @ unit
        _draw_line(axes, x, one.parameter, one.stable, f"C{k}")
        for point in one.critical:
            label = None if point.kind in shown else _NAMES[point.kind]
            shown.add(point.kind)
            at = (np.asarray(point.state.q[chosen]) - start[chosen]) @ unit
            marker = _MARKERS[point.kind]
            axes.plot(at, point.parameter, marker, color="k", markersize=4, label=label)
    along = ", ".join(f"{round(float(c), 2) + 0.0:g}" for c in unit)
    axes.set_xlabel(f"displacement of particle {chosen} along ({along}) [m]")
    axes.set_ylabel("load factor" if paths[0].along == "load" else "time [s]")
    axes.grid(visible=True, color="0.9")
    if shown:
        axes.legend()
    return figure


def _choose(
    paths: Sequence[EquilibriumPath], start: Float, particle: int | None, direction: Any
) -> tuple[int, Float]:
    """Return the particle and the unit vector whose displacement is shown."""
    moved = np.concatenate([p.positions for p in paths]) - start
    chosen = particle
    if chosen is None:
        chosen = int(np.linalg.norm(moved, axis=2).max(axis=0).argmax())
    if isinstance(chosen, bool) or chosen not in range(len(start)):
        raise ModelError(f"path: there is no particle {particle!r}; there are {len(start)}")
    if direction is None:
        furthest = moved[np.linalg.norm(moved[:, chosen], axis=1).argmax(), chosen]
        unit = np.zeros(3)
        axis = int(np.abs(furthest).argmax())
        unit[axis] = np.sign(furthest[axis]) or 1.0
        return int(chosen), unit
    unit = np.asarray(direction, dtype=np.float64)
    if unit.shape == (2,):
        unit = np.append(unit, 0.0)
    if unit.shape != (3,) or not np.isfinite(unit).all() or not unit.any():
        raise ModelError(f"path: direction must be a vector (x, y, z), got {direction!r}")
    return int(chosen), unit / np.linalg.norm(unit)


def _draw_line(axes: Any, x: Float, y: Float, stable: Mask, colour: str) -> None:
    """Draw a line in pieces, each stable or not; neighbouring pieces share a point."""
    begin = 0
    for k in range(1, len(x) + 1):
        if k == len(x) or stable[k] != stable[begin]:
            piece = slice(begin, min(k + 1, len(x)))
            style = "-" if stable[begin] else "--"
            axes.plot(x[piece], y[piece], style, color=colour, linewidth=1.4)
            begin = k
