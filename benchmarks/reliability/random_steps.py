"""Step random scenes: each step must be solved to its tolerance, or end in a typed error.

Each scene takes four steps. It is solved if every step converged or ended at the rounding floor. A
typed error states how far the step converged, or where it is singular. A defect is any other error
(these scenes are valid, so that rejecting one is a defect too), a warning, or a finding of
`benchmarks.reliability.step_checks`. Errors of the machine, such as a missing package, have nothing
to do with the scene and end the campaign.
"""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.reliability.random_scenes import Scene, scene
from benchmarks.reliability.step_checks import check_ledger, check_step
from taut.errors import CacheError, MissingExtra, NotConverged, SingularState
from taut.step.implicit_euler import ImplicitEuler

STEPS = 4
MIN_SOLVED = 0.995  # fraction of the scenes that must be solved
TYPED_ERRORS = (NotConverged, SingularState)  # in which the steps of a valid scene may end
MACHINE_ERRORS = (CacheError, MissingExtra)  # which have nothing to do with the scene


@dataclass
class Result:
    """The result of a scene.

    scene, words : number and description of the scene
    outcomes, iterations : of each step
    error : class and cause of the typed error that ended it
    defect : description of a defect
    seconds : duration [s]

    >>> Result(0, "cloth", ["converged"] * 4).solved
    True
    >>> Result(0, "cloth", error="NotConverged: …").solved
    False
    """

    scene: int
    words: str
    outcomes: list[str] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    error: str = ""
    defect: str = ""
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        """Whether all steps were solved."""
        return not self.error and not self.defect


def run(scene: Scene, integrator: Any) -> Result:
    """Step a scene and check each step."""
    result = Result(scene.number, scene.words)
    begun = time.perf_counter()
    state = scene.system.initial_state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            for index in range(STEPS):
                new, report = integrator.step(scene.system, state, scene.h)
                result.outcomes.append(report.outcome)
                result.iterations.append(report.iterations)
                result.defect = check_step(scene.system, state, new, report, integrator)
                if not result.defect and index == STEPS - 1:
                    result.defect = check_ledger(scene.system, state, scene.h, integrator)
                if result.defect:
                    break
                state = new
        except TYPED_ERRORS as error:
            result.error = f"{type(error).__name__}: {_find_cause(error)}"
            if isinstance(error, NotConverged):
                result.iterations.append(error.report.iterations)
        except MACHINE_ERRORS:
            raise
        except Exception as error:  # any other error is a defect
            result.defect = f"{type(error).__name__}: {error}"
    result.seconds = time.perf_counter() - begun
    return result


def _find_cause(error: Exception) -> str:
    """Return the last part of a message, with # in place of numbers."""
    return re.sub(r"-?\d[\d.]*(e[+-]?\d+)?", "#", str(error).rsplit(": ", 1)[-1])


def campaign(
    numbers: Iterable[int], seed: int = 0, make: Callable[[], Any] = ImplicitEuler
) -> list[Result]:
    """Run the scenes with these numbers, each with a new integrator.

    >>> [result.solved for result in campaign([7])]
    [True]
    """
    return [run(scene(i, seed), make()) for i in numbers]


def summary(results: list[Result]) -> dict[str, Any]:
    """Return counts of a campaign: scenes and steps by outcome, and iterations per step."""
    iterations = np.array([i for r in results for i in r.iterations] or [0])
    floored = sum(r.solved and "rounding floor" in r.outcomes for r in results)
    solved = sum(r.solved for r in results)
    return {
        "scenes": len(results),
        "converged": solved - floored,
        "rounding floor": floored,
        "errors": dict(Counter(r.error for r in results if r.error).most_common()),
        "defects": {r.scene: r.defect for r in results if r.defect},
        "steps": dict(Counter(o for r in results for o in r.outcomes)),
        "iterations": {
            "mean": round(float(iterations.mean()), 2),
            "95%": int(np.percentile(iterations, 95)),
            "max": int(iterations.max()),
            "steps over 30": int((iterations > 30).sum()),
        },
        "seconds": round(sum(r.seconds for r in results), 1),
    }
