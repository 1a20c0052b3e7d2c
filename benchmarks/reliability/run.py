"""The campaigns one after the other, each in a process of its own.

A crash is a failure, and not the end of the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.reliability import faults
from benchmarks.reliability.campaigns import CAMPAIGNS, size_of
from benchmarks.reliability.child import python_command
from benchmarks.reliability.record import Record
from taut.errors import ModelError, TautError, did_you_mean

FORKS = ("kill", "faults")


def chosen(words: Sequence[str]) -> list[str]:
    """The names of the campaigns that contain one of these words; all if there are none.

    >>> chosen(["e", "soak"])
    ['meshes', 'heavy', 'scenes', 'determinism', 'soak']
    """
    for word in words:
        if not any(word in name for name in CAMPAIGNS):
            hint = did_you_mean(word, CAMPAIGNS)
            raise ModelError(
                f"no campaign of the reliability record is called '{word}'{hint}; there are "
                f"{', '.join(CAMPAIGNS)}"
            )
    return [name for name in CAMPAIGNS if not words or any(word in name for word in words)]


def run(words: Sequence[str] = (), *, quick: bool = False) -> Iterator[Record]:
    """Do the campaigns of these words; quick : a hundredth of each."""
    for name in chosen(words):
        begun = time.perf_counter()
        record = _alone(name, quick=quick)
        yield replace(record, seconds=round(time.perf_counter() - begun, 1))


def _alone(name: str, *, quick: bool) -> Record:
    """A campaign in a process of its own."""
    if name in FORKS and not hasattr(os, "fork"):
        return Record(name, 0, "", skipped="processes cannot be forked here")
    if name == "faults" and faults.unable():
        return Record(name, 0, "", skipped=faults.unable())
    size = size_of(name, quick=quick)
    command = python_command(
        f"from benchmarks.reliability.run import _tell; _tell({name!r}, {size})"
    )
    if name == "faults":
        done = faults.under_the_library(command, stdout=subprocess.PIPE)
    else:
        two = {"NUMBA_NUM_THREADS": "2"}  # whatever the machine has: results must not depend on it
        done = subprocess.run(
            command, env={**os.environ, **two}, stdout=subprocess.PIPE, text=True, check=False
        )
    if done.returncode:
        return Record(name, 1, "processes", [f"its process ended with {done.returncode}"])
    return Record.of_json(json.loads(done.stdout.splitlines()[-1]))


def _tell(name: str, size: int) -> None:
    """What the process does: the last line of its output is the record.

    An error of taut is its one failure, in full.
    """
    try:
        record = CAMPAIGNS[name](size)
    except TautError as error:
        record = Record(name, 1, "processes", [f"it ended with {type(error).__name__}: {error}"])
    print(json.dumps(record.as_json()))


def as_json(records: Sequence[Record]) -> dict[str, Any]:
    """For `json.dumps`."""
    from taut import __version__

    return {"taut": __version__, "campaigns": [record.as_json() for record in records]}
