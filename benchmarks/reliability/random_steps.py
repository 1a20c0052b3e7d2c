"""Random scenes stepped: every step must be solved to its tolerance or end in a typed error.

Each scene makes four steps. Solved: every step converged, or ended at the rounding floor. A typed
error is one that says how far the step came, or where it is singular. A defect is an error of
another kind (these scenes are valid: a refusal is a defect too), a warning, or what
`benchmarks.reliability.step_checks` finds. What the machine lacks says nothing of a scene: it ends
the campaign.
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
from benchmarks.reliability.step_checks import contradiction, unbooked
from taut.errors import CacheError, MissingExtra, NotConverged, SingularState
from taut.step.implicit_euler import ImplicitEuler

STEPS = 4
SOLVED = 0.95  # part of the scenes that must be
ANSWERS = (NotConverged, SingularState)  # typed errors in which the steps of a valid scene may end
MACHINE = (CacheError, MissingExtra)  # what has nothing to do with the scene


@dataclass
class Result:
    """What became of a scene.

    The outcome and iterations of each step, and the error or the defect that ended it.

    error : class and cause of a typed error; defect : what must never happen; seconds : it took [s]

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
        """Whether all steps were."""
        return not self.error and not self.defect


def run(scene: Scene, integrator: Any) -> Result:
    """Step a scene, and say what became of it."""
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
                result.defect = contradiction(scene.system, state, new, report, integrator)
                if not result.defect and index == STEPS - 1:
                    result.defect = unbooked(scene.system, state, scene.h, integrator)
                if result.defect:
                    break
                state = new
        except ANSWERS as error:
            result.error = f"{type(error).__name__}: {_cause(error)}"
            if isinstance(error, NotConverged):
                result.iterations.append(error.report.iterations)
        except MACHINE:
            raise
        except Exception as error:  # whatever it is, it must not come up
            result.defect = f"{type(error).__name__}: {error}"
    result.seconds = time.perf_counter() - begun
    return result


def _cause(error: Exception) -> str:
    """The last part of the message, with its numbers taken out."""
    return re.sub(r"-?\d[\d.]*(e[+-]?\d+)?", "#", str(error).rsplit(": ", 1)[-1])


def campaign(
    numbers: Iterable[int], seed: int = 0, make: Callable[[], Any] = ImplicitEuler
) -> list[Result]:
    """Run the scenes of these numbers, each with an integrator of its own.

    >>> [result.solved for result in campaign([7])]
    [True]
    """
    return [run(scene(i, seed), make()) for i in numbers]


def summary(results: list[Result]) -> dict[str, Any]:
    """The counts of a campaign: scenes by how they ended, steps by outcome, iterations per step."""
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
