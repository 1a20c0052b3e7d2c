"""What the viewers want of a live simulation: one immutable record, replaced as a whole, so that orders cannot pile up."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taut.show.view.knobs import Knobs

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Wish:
    """The state of all orders.

    knobs : where the sliders stand; playing : to go on by itself
    steps, resets : single steps and fresh starts asked for so far
    speed : seconds of simulated time in a second
    pulls : who pulls → (particle, where to [m]); clicks : particle → how often it was clicked, to be pinned or released

    >>> wish = Wish(Knobs(9.81, 0.0, 0.01))
    >>> wish.playing, wish.speed
    (False, 1.0)
    """

    knobs: Knobs
    playing: bool = False
    steps: int = 0
    resets: int = 0
    speed: float = 1.0
    pulls: Mapping[Hashable, tuple[int, Float]] = field(default_factory=dict)
    clicks: Mapping[int, int] = field(default_factory=dict)
