"""The time of a run from trial steps: what the steps at its start take on this machine.

Steps at the start say what this system, this machine and this integrator take, whatever the laws
and the solver are. What they do not say is how steps change along the way, when contacts close and
cloth wrinkles.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from taut.errors import TautError
from taut.run.simulate import TimeSteps, simulate
from taut.scene._scene_file import Built

_PATIENCE = 10.0  # budgets after which even the first steps are enough
_WARM_UP = 2  # steps that analyse patterns, allocate buffers and load machine code


@dataclass(frozen=True)
class Trial:
    """Steps taken at the start of a run, to time it.

    steps : how many, without those that prepare buffers
    seconds : of the whole run, if the others take as long as the later half of these [s]
    fault : the error that ended the trial, in words; empty if there was none
    """

    steps: int
    seconds: float
    fault: str = ""


def try_steps(
    built: Built, budget: float, *, clock: Callable[[], float] = time.perf_counter
) -> Trial:
    """Take steps of a run for about `budget` seconds, and extrapolate its time.

    A step is never cut short, and three are taken at least, unless they take ten times the budget;
    with a budget of 0 none is.

    >>> from taut.scene import load
    >>> trial = try_steps(load("spring").build(), 0.05)
    >>> trial.steps > 0, trial.seconds > 0.0, trial.fault
    (True, True, '')
    """
    if budget <= 0.0:
        return Trial(0, 0.0)
    total = TimeSteps.between(built.state.t, built.h, built.until).steps
    run = simulate(built.system, built.integrator, built.h, built.until, state=built.state)
    taken: list[float] = []
    fault = ""
    begun = last = clock()
    try:
        for _ in run:
            now = clock()
            taken.append(now - last)
            last = now
            enough = budget if len(taken) > _WARM_UP else _PATIENCE * budget
            if now - begun > enough:
                break
    except TautError as error:
        fault = f"step {len(taken) + 1} fails: {str(error).splitlines()[0]}"
    timed = taken[_WARM_UP:] or taken
    if not timed:
        return Trial(0, 0.0, fault)
    # Steps become slower or faster as the body begins to move: the later half counts.
    later = float(np.mean(timed[len(timed) // 2 :]))
    return Trial(len(timed), sum(taken) + (total - len(taken)) * later, fault)
