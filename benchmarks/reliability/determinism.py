"""Results must be bit-identical on one and two threads, when repeated, and in other processes.

A case is a system and an integrator: the built-in scenes, random scenes, and a cloth large enough
for its loops to be shared among threads, with each of the linear solvers. The SHA-256 of its last
state (time, positions, velocities, active elements, history) is computed five times: in this
process on one thread, on two and on two again, and in new processes on one thread and on two.
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
from benchmarks.reliability.random_steps import TYPED_ERRORS
from taut import scene as scenes
from taut.bench.net import cloth
from taut.bench.timing import threads as on_threads
from taut.run.encoding import hash_state
from taut.step.implicit_euler import ImplicitEuler
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

STEPS = 4
CLOTH_N = 60  # particles per side of the cloth
RANDOM_SCENES = 100
SOLVERS: dict[str, Literal["cg", "direct"]] = {"cg": "cg", "direct": "direct"}
WAYS = (("here", 1), ("here", 2), ("here again", 2), ("another process", 1), ("another process", 2))


def list_cases() -> list[str]:
    """Return the names of all cases, the fast ones first.

    >>> list_cases()[:3], len(list_cases()) > RANDOM_SCENES
    (['random 0', 'cloth cg', 'cloth direct'], True)
    """
    randoms = [f"random {number}" for number in range(RANDOM_SCENES)]
    return [
        randoms[0],
        *(f"cloth {solver}" for solver in SOLVERS),
        *(f"scene {name}" for name in scenes.names()),
        *randoms[1:],
    ]


def fingerprint(case: str) -> str:
    """Return the SHA-256 of the last state of a case, or of the error that ends it.

    >>> fingerprint("random 7") == fingerprint("random 7")
    True
    """
    kind, _, name = case.partition(" ")
    if kind == "scene":
        built = scenes.load(name).build()
        return _step_and_hash(built.system, built.integrator, built.state, built.h)
    if kind == "cloth":
        system = cloth(CLOTH_N).system()
        return _step_and_hash(
            system, ImplicitEuler(solver=SOLVERS[name]), system.initial_state(), 0.01
        )
    made = random_scene(int(name))
    return _step_and_hash(made.system, ImplicitEuler(), made.system.initial_state(), made.h)


def _step_and_hash(system: System, integrator: Integrator, state: State, h: float) -> str:
    try:
        for _ in range(STEPS):
            state, _ = integrator.step(system, state, h)
    except TYPED_ERRORS as error:  # the message must agree to the last digit; others are raised
        return sha256(str(error).encode()).hexdigest()
    return hash_state(state)


def compute_fingerprints(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the five fingerprints of each case, in the order of `WAYS`; needs two threads."""
    found: dict[str, list[str]] = {}
    with _OtherProcess(1) as one, _OtherProcess(2) as two:
        for name in names:
            here = []
            for where, threads in WAYS:
                if where.startswith("here"):
                    with on_threads(threads):
                        here.append(fingerprint(name))
            found[name] = [*here, one.fingerprint(name), two.fingerprint(name)]
    return found


def describe_differences(found: dict[str, list[str]]) -> list[str]:
    """Return a message for each fingerprint that differs from the first.

    >>> describe_differences({"cloth cg": ["a", "a", "b", "a", "a"]})
    ['cloth cg: not bit-identical here again, 2 threads']
    """
    return [
        f"{name}: not bit-identical {where}, {threads} thread{'s' if threads > 1 else ''}"
        for name, prints in found.items()
        for (where, threads), one in zip(WAYS, prints, strict=True)
        if one != prints[0]
    ]


class _OtherProcess:
    """A new process, with a given number of threads, that computes fingerprints on request."""

    def __init__(self, threads: int) -> None:
        code = "from benchmarks.reliability.determinism import _serve; _serve()"
        environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            python_command(code),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def fingerprint(self, name: str) -> str:
        """Return the fingerprint of a case, or a message if the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(name), file=self.process.stdin, flush=True)
            return self.process.stdout.readline().strip() or "the process has ended"
        except BrokenPipeError:
            return "the process has ended"

    def __enter__(self) -> _OtherProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def _serve() -> None:
    """Read names of cases from standard input, and print their fingerprints."""
    for line in sys.stdin:
        print(fingerprint(json.loads(line)), flush=True)
