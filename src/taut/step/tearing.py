"""Elements that break leave at the end of a step."""

from __future__ import annotations

from dataclasses import replace

from taut.step.advance import Advance
from taut.system.breaking import still_active
from taut.system.system import System


def torn(system: System, done: Advance) -> Advance:
    """The step with what its end has broken taken out; itself where nothing has."""
    active, count = still_active(system, done.state)
    if not count:
        return done
    report = replace(done.report, torn=count)
    return replace(done, state=replace(done.state, active=active), report=report, whole=done.state)
