"""The same bits on one thread and on two, the second time as the first, and in another process.

A case is a body and a way to step it: the built-in scenes, random scenes, and a cloth large enough
for its loops to be shared among threads, with each of the linear solvers. The SHA-256 of its last
state (time, positions, velocities, what is torn, history) is taken five times: here on one thread,
on two and on two again, and in a fresh process each on one and on two.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from benchmarks.reliability.child import python_command
from benchmarks.reliability.random_scenes import scene as random_scene
from benchmarks.reliability.random_steps import ANSWERS
from taut import scene as scenes
from taut.bench.net import cloth
from taut.bench.timing import threads as on_threads
from taut.run.encoding import hash_state
from taut.step.implicit_euler import ImplicitEuler
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

STEPS = 4
SIDE = 60  # particles a side of the cloth
RANDOM = 100  # random scenes
SOLVERS: dict[str, Literal["cg", "direct"]] = {"cg": "cg", "direct": "direct"}
WAYS = (("here", 1), ("here", 2), ("here again", 2), ("another process", 1), ("another process", 2))


def cases() -> list[str]:
    """The names of all cases, the quick ones first.

    >>> cases()[:3], len(cases()) > RANDOM
    (['random 0', 'cloth cg', 'cloth direct'], True)
    """
    randoms = [f"random {number}" for number in range(RANDOM)]
    return [
        randoms[0],
        *(f"cloth {solver}" for solver in SOLVERS),
        *(f"scene {name}" for name in scenes.names()),
        *randoms[1:],
    ]


def fingerprint(case: str) -> str:
    """SHA-256 of where a case ends, or of the error in which it does.

    >>> fingerprint("random 7") == fingerprint("random 7")
    True
    """
    kind, _, name = case.partition(" ")
    if kind == "scene":
        built = scenes.load(name).build()
        return _end(built.system, built.integrator, built.state, built.h)
    if kind == "cloth":
        system = cloth(SIDE).system()
        return _end(system, ImplicitEuler(solver=SOLVERS[name]), system.initial_state(), 0.01)
    made = random_scene(int(name))
    return _end(made.system, ImplicitEuler(), made.system.initial_state(), made.h)


def _end(system: System, integrator: Integrator, state: State, h: float) -> str:
    try:
        for _ in range(STEPS):
            state, _ = integrator.step(system, state, h)
    except ANSWERS as error:  # the same error, to the last digit; any other compares nothing
        return sha256(str(error).encode()).hexdigest()
    return hash_state(state)


def compared(names: Iterable[str]) -> dict[str, list[str]]:
    """The five fingerprints of each case, in the order of `WAYS`; needs two threads."""
    found: dict[str, list[str]] = {}
    with _Elsewhere(1) as one, _Elsewhere(2) as two:
        for name in names:
            here = []
            for where, threads in WAYS:
                if where.startswith("here"):
                    with on_threads(threads):
                        here.append(fingerprint(name))
            found[name] = [*here, one.fingerprint(name), two.fingerprint(name)]
    return found


def differences(found: dict[str, list[str]]) -> list[str]:
    """In words, what was not the same as on one thread here.

    >>> differences({"cloth cg": ["a", "a", "b", "a", "a"]})
    ['cloth cg: other bits here again, 2 threads']
    """
    return [
        f"{name}: other bits {where}, {threads} thread{'s' if threads > 1 else ''}"
        for name, prints in found.items()
        for (where, threads), one in zip(WAYS, prints, strict=True)
        if one != prints[0]
    ]


class _Elsewhere:
    """A fresh process with so many threads.

    Which tells the fingerprint of each case it is asked for.
    """

    def __init__(self, threads: int) -> None:
        code = "from benchmarks.reliability.determinism import _answer; _answer()"
        environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            python_command(code),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def fingerprint(self, name: str) -> str:
        """Of that case; what it is if the process has died."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(name), file=self.process.stdin, flush=True)
            return self.process.stdout.readline().strip() or "the process has ended"
        except BrokenPipeError:
            return "the process has ended"

    def __enter__(self) -> _Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def _answer() -> None:
    for line in sys.stdin:
        print(fingerprint(json.loads(line)), flush=True)
