"""Commands for a live simulation: one immutable record, replaced as a whole.

Viewers replace the record, the simulation reads it between two steps. Commands are states ("gravity
is 3") or counters ("4 resets so far"), never a queue: a slow simulation cannot pile them up.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from taut.arrays import Float
from taut.errors import ModelError, did_you_mean
from taut.show.view._sliders import SliderValues

_MAX_DRAGS = 64  # at the same time; further ones are ignored


@dataclass(frozen=True)
class Commands:
    """All commands so far. Each method returns the record with one more command.

    sliders : positions of the sliders; playing : whether to advance without further commands
    steps, resets : number of single steps and of resets so far
    speed : simulated seconds per second
    drags : client → (particle, target [m]); clicks : particle → number of clicks so far, each of
        which pins or releases it

    >>> commands = Commands(SliderValues(9.81, 0.0, 0.01)).add_step()
    >>> commands.playing, commands.speed, commands.steps
    (False, 1.0, 1)
    """

    sliders: SliderValues
    playing: bool = False
    steps: int = 0
    resets: int = 0
    speed: float = 1.0
    drags: Mapping[Hashable, tuple[int, Float]] = field(default_factory=dict)
    clicks: Mapping[int, int] = field(default_factory=dict)

    def add_step(self) -> Commands:
        """Add a single step, and pause."""
        return replace(self, playing=False, steps=self.steps + 1)

    def add_reset(self) -> Commands:
        """Add a reset, and pause; end all drags and forget all clicks, keep the sliders."""
        return replace(self, playing=False, resets=self.resets + 1, drags={}, clicks={})

    def set_sliders(self, values: Mapping[str, float]) -> Commands:
        """Set sliders by their names; ModelError for unknown names and impossible values."""
        known = vars(self.sliders)
        for name, value in values.items():
            if name not in known:
                raise ModelError(f"unknown slider '{name}'{did_you_mean(name, known)}")
            if not (math.isfinite(value) and value >= 0.0):
                raise ModelError(f"slider '{name}' must be finite and not negative, got {value!r}")
            if name == "h" and value == 0.0:
                raise ModelError(f"slider 'h' must be positive, got {value!r}")
        return replace(self, sliders=replace(self.sliders, **values))

    def set_drag(self, client: Hashable, particle: int, target: Float) -> Commands:
        """Begin the drag of a client, or move its target."""
        if client not in self.drags and len(self.drags) >= _MAX_DRAGS:
            return self
        return replace(self, drags={**self.drags, client: (particle, target)})

    def end_drag(self, client: Hashable) -> Commands:
        """End the drag of a client, if there is one."""
        drags = {other: drag for other, drag in self.drags.items() if other != client}
        return replace(self, drags=drags)

    def add_click(self, particle: int) -> Commands:
        """Add a click on a particle."""
        return replace(self, clicks={**self.clicks, particle: self.clicks.get(particle, 0) + 1})
