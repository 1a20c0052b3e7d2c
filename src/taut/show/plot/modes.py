"""Mode shapes side by side: q + s φ over q in grey.

The factor s makes the largest displacement a tenth of the size of the body.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.extras import import_extra
from taut.mesh.sketch import project
from taut.statics.modes import Modes
from taut.statics.modes import modes as vibrations
from taut.system.members import joined_pairs
from taut.system.state import State
from taut.system.system import System

_MAX_COLUMNS = 3
_LARGEST_DISPLACEMENT = 0.1  # relative to the size of the body


def modes(
    what: System | Modes, *, system: System | None = None, state: State | None = None, n: int = 6
) -> Any:
    """Plot the shapes of natural vibrations with their frequencies [Hz] as a matplotlib Figure.

    what : a System, whose `n` lowest modes about `state` (default: the initial one) are computed;
        or Modes
    system : the system of the Modes

    >>> import taut
    >>> springs = taut.laws.spring([[i, i + 1] for i in range(4)], k=1.0, l0=0.5)
    >>> points = [[i, 0, 0] for i in range(5)]
    >>> rope = taut.System(points, mass=1.0, fixed=[0, 4], energies=[springs])
    >>> [axes.get_title() for axes in modes(rope, n=2).axes]
    ['1: 0.0861 Hz', '2: 0.0861 Hz']
    """
    drawing = import_extra("plot", "matplotlib.figure", "plots").Figure
    lines = import_extra("plot", "matplotlib.collections", "plots").LineCollection
    if isinstance(what, System):
        whole, found = what, vibrations(what, state, n=n)
    elif isinstance(what, Modes) and system is not None:
        whole, found = system, what
    else:
        raise ModelError(
            "modes needs a System, or Modes with the system they belong to: modes(found, system=…)"
        )
    q = (whole.initial_state() if state is None else state).q
    if not len(found.shapes) or found.shapes.shape[1:] != q.shape:
        raise ModelError(
            f"modes must be of the {len(q)} particles of the state, got {len(found.shapes)} modes "
            f"of {found.shapes.shape[1]} particles"
        )
    pairs = joined_pairs(whole)
    across = min(_MAX_COLUMNS, len(found.shapes))
    down = -(-len(found.shapes) // across)
    figure = drawing(figsize=(3.2 * across, 2.8 * down), layout="constrained")
    for k, (shape, f) in enumerate(zip(found.shapes, found.frequencies, strict=True)):
        axes = figure.add_subplot(down, across, k + 1)
        # projected together: `project` chooses its view by what it is given
        rest, moved = np.split(project(np.concatenate([q, _displace(q, shape)])), 2)
        axes.add_collection(lines(rest[pairs], colors="0.8", linewidths=0.8))
        axes.add_collection(lines(moved[pairs], colors="tab:blue", linewidths=1.2))
        if not len(pairs):
            axes.plot(*moved.T, "o", color="tab:blue", markersize=3)
        axes.set_title(f"{k + 1}: {_describe_frequency(f)}", fontsize="medium")
        axes.set_aspect("equal")
        axes.autoscale_view()
        axes.set_axis_off()
    return figure


def _displace(q: Float, shape: Float) -> Float:
    """Return positions [m], (n, 3), displaced along a mode as far as it is drawn."""
    largest = float(np.linalg.norm(shape, axis=1).max())
    size = float(np.linalg.norm(np.ptp(q, axis=0))) or 1.0
    factor = _LARGEST_DISPLACEMENT * size / largest if largest > 0 else 0.0
    return q + shape * factor


def _describe_frequency(f: float) -> str:
    if f > 0:
        return f"{f:.3g} Hz"
    return "free" if f == 0 else "grows"
