"""Particles that are held in all directions: x(t) = X where they start, or x(t) = p(t) along a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.constraints.constraint import Constraint, kept
from taut.constraints.paths import timed


def fixed(particles: Any, *, until: float | None = None) -> Constraint:
    """Hold particles where they start; `until` [s], they are let go then, in the first step that does not begin before.

    particles : an index, indices (k,), or a mask (n,)

    >>> import taut
    >>> ball = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.gravity()], constraints=[fixed(0, until=0.5)])
    >>> ends = [state.v[0, 1] for state, _ in taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0)]
    >>> np.round(ends, 3).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, -0.981, -1.962, -2.943, -3.924, -4.905]
    """
    return Constraint("fixed", kept(particles), np.zeros((3, 3)), until=until)


def scripted(
    particles: Any, path: Callable[[float], ArrayLike] | tuple[ArrayLike, ArrayLike], *, until: float | None = None
) -> Constraint:
    """Move particles along a path; `until` [s], they fly on from there with the velocity they have.

    particles : an index, indices (k,), or a mask (n,)
    path : a function of time t [s] that gives positions [m], shape (3,) or (k, 3) for k particles, in the order given;
        or samples (times, positions) of shapes (T,) and (T, 3) or (T, k, 3), joined by straight lines and held at the ends.

    >>> import numpy as np
    >>> scripted(0, lambda t: (np.sin(t), 0, 0)).kind
    'scripted'
    """
    return Constraint("scripted", kept(particles), np.zeros((3, 3)), path=timed(path, "scripted: a path", "positions"), until=until)
