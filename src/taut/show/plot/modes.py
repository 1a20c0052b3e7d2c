"""Mode shapes side by side: q + s φ, in grey q itself; s makes the largest displacement a tenth of the size of the body."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.extras import extra
from taut.mesh.sketch import projected
from taut.step.vibration import Modes
from taut.step.vibration import modes as vibrations
from taut.system.sketch import joined
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
COLUMNS = 3
SHARE = 0.1  # of the size of the body: the largest displacement


def modes(what: System | Modes, *, system: System | None = None, state: State | None = None, n: int = 6) -> Any:
    """The shapes of natural vibrations with their frequencies [Hz], as a matplotlib Figure of small pictures in one projection.

    what : a System, whose `n` lowest modes about `state` (default: the initial one) are drawn; or Modes that were found already
    system : whose Modes these are

    >>> import taut
    >>> rope = taut.System([[i, 0, 0] for i in range(5)], mass=1.0, fixed=[0, 4],
    ...                    energies=[taut.laws.spring([[i, i + 1] for i in range(4)], k=1.0, l0=0.5)])
    >>> [axes.get_title() for axes in modes(rope, n=2).axes]
    ['1: 0.0861 Hz', '2: 0.0861 Hz']
    """
    drawing = extra("plot", "matplotlib.figure", "plots").Figure
    lines = extra("plot", "matplotlib.collections", "plots").LineCollection
    if isinstance(what, System):
        whole, found = what, vibrations(what, state, n=n)
    elif isinstance(what, Modes) and system is not None:
        whole, found = system, what
    else:
        raise ModelError("modes are drawn of a System, or of Modes with the system they belong to: modes(found, system=…)")
    q = (whole.initial_state() if state is None else state).q
    if not len(found.shapes) or found.shapes.shape[1:] != q.shape:
        raise ModelError(f"there are {len(found.shapes)} modes of {found.shapes.shape[1]} particles, and {len(q)} particles")
    pairs = joined(whole)
    across = min(COLUMNS, len(found.shapes))
    down = -(-len(found.shapes) // across)
    figure = drawing(figsize=(3.2 * across, 2.8 * down), layout="constrained")
    for k, (shape, f) in enumerate(zip(found.shapes, found.frequencies, strict=True)):
        axes = figure.add_subplot(down, across, k + 1)
        rest, moved = np.split(projected(np.concatenate([q, _displaced(q, shape)])), 2)  # as one, for one projection of both
        axes.add_collection(lines(rest[pairs], colors="0.8", linewidths=0.8))
        axes.add_collection(lines(moved[pairs], colors="tab:blue", linewidths=1.2))
        if not len(pairs):
            axes.plot(*moved.T, "o", color="tab:blue", markersize=3)
        axes.set_title(f"{k + 1}: {_said(f)}", fontsize="medium")
        axes.set_aspect("equal")
        axes.autoscale_view()
        axes.set_axis_off()
    return figure


def _displaced(q: Float, shape: Float) -> Float:
    """Positions [m], (n, 3), displaced by a mode as far as it is drawn."""
    most = float(np.linalg.norm(shape, axis=1).max())
    size = float(np.linalg.norm(np.ptp(q, axis=0))) or 1.0
    return q + shape * (SHARE * size / most if most > 0 else 0.0)


def _said(f: float) -> str:
    return f"{f:.3g} Hz" if f > 0 else "free" if f == 0 else "grows"
