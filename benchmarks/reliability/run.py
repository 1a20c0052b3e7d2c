"""Run campaigns one after another, each in its own process: a crash is a failure of one of them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.reliability import faults
from benchmarks.reliability.campaigns import CAMPAIGNS, campaign_size
from benchmarks.reliability.child import python_command
from benchmarks.reliability.record import Record
from taut.errors import ModelError, TautError, did_you_mean

NEED_FORK = ("kill", "faults")


def select_campaigns(words: Sequence[str]) -> list[str]:
    """Return the names of the campaigns that contain one of the words; all for no words.

    >>> select_campaigns(["e", "soak"])
    ['meshes', 'heavy', 'scenes', 'determinism', 'soak']
    """
    for word in words:
        if not any(word in name for name in CAMPAIGNS):
            hint = did_you_mean(word, CAMPAIGNS)
            raise ModelError(
                f"no campaign of the reliability record is called '{word}'{hint}; the campaigns "
                f"are {', '.join(CAMPAIGNS)}"
            )
    return [name for name in CAMPAIGNS if not words or any(word in name for word in words)]


def run(words: Sequence[str] = (), *, quick: bool = False) -> Iterator[Record]:
    """Run the campaigns of these words; quick : a hundredth of the trials of each."""
    for name in select_campaigns(words):
        begun = time.perf_counter()
        record = _run_in_process(name, quick=quick)
        yield replace(record, seconds=round(time.perf_counter() - begun, 1))


def _run_in_process(name: str, *, quick: bool) -> Record:
    """Run a campaign in its own process."""
    if name in NEED_FORK and not hasattr(os, "fork"):
        return Record(name, 0, "", skipped="processes cannot be forked here")
    if name == "faults" and faults.find_obstacle():
        return Record(name, 0, "", skipped=faults.find_obstacle())
    size = campaign_size(name, quick=quick)
    command = python_command(
        f"from benchmarks.reliability.run import _print_record; _print_record({name!r}, {size})"
    )
    if name == "faults":
        done = faults.run_with_library(command, stdout=subprocess.PIPE)
    else:
        two = {"NUMBA_NUM_THREADS": "2"}  # on any machine: the record must not depend on it
        done = subprocess.run(
            command, env={**os.environ, **two}, stdout=subprocess.PIPE, text=True, check=False
        )
    if done.returncode:
        return Record(name, 1, "processes", [f"its process ended with {done.returncode}"])
    return Record.of_json(json.loads(done.stdout.splitlines()[-1]))


def _print_record(name: str, size: int) -> None:
    """Run a campaign, and print its record as the last line of the output of this process.

    An error of taut ends the campaign, and becomes its only failure.
    """
    try:
        record = CAMPAIGNS[name](size)
    except TautError as error:
        record = Record(name, 1, "processes", [f"it ended with {type(error).__name__}: {error}"])
    print(json.dumps(record.as_json()))


def as_json(records: Sequence[Record]) -> dict[str, Any]:
    """Return the version and all records as a dictionary for `json.dumps`."""
    from taut import __version__

    return {"taut": __version__, "campaigns": [record.as_json() for record in records]}
