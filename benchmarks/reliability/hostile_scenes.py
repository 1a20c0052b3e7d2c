"""Corrupted scenes: each must give a built scene, a SceneError or a MeshError, in little time.

Valid scenes are cut, doubled, shuffled and overwritten as text, or their values are replaced,
dropped and renamed as tables; each is read and built, with at most 3000 particles.
"""

from __future__ import annotations

import copy
import logging
import tempfile
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reliability.scene_samples import samples, write_files
from benchmarks.reliability.watch import limit_time
from taut import scene
from taut.errors import MeshError, SceneError
from taut.scene.toml import format_toml

MAX_SECONDS = 2.0  # CPU time to read and build a scene
PARTICLES = 3000
Rng = np.random.Generator
VALUES: list[Any] = [
    0,
    -1,
    1,
    2**31,
    2**63,
    10**30,
    10**400,
    0.0,
    -0.0,
    1e-300,
    1e300,
    1e19,
    -1e19,
    float("nan"),
    float("inf"),
    True,
    False,
    "",
    " ",
    "x",
    "1e999",
    "all",
    "none",
    "y > 0.9*max",
    "((((((((((",
    "x" * 2000,
    "1/0",
    "x^x^x^x^999",
    "sin(",
    "t",
    "../../etc/passwd",
    "/etc/passwd",
    "k.csv",
    "tile.obj",
    "path.csv",
    "a\0b",
    "\x1b[2J",
    [],
    [[]],
    [0],
    [0, 0, 0],
    [1e19, 1e19, 1e19],
    [[0, 1]],
    [[0, 0]],
    [["a"]],
    list(range(5000)),
    {},
    {"a": 1},
    {"file": "k.csv"},
    {"times": [0, 1], "values": [0, 1]},
    {"times": [0], "values": [[1, 2]]},
    {"shape": "sphere", "n": 5},
    {"shape": "sheet", "nx": 10**9, "ny": 10**9},
    "spring",
    "gravity",
    "wind",
    "gas",
    "edges",
    "hinges",
    "triangles",
    "rod_hinges",
    "points",
    "springs",
    "ImplicitEuler",
    "RK4",
    "cotton",
    "box",
]


@dataclass
class Attempts:
    """The results of a campaign.

    files : number of scenes
    counts : number of scenes by outcome
    failures : a message for each failure, with the file that causes it
    slowest : CPU time of the slowest scene [s]
    """

    files: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0


def corrupt_one(good: list[str], rng: Rng) -> str:
    """Return one of the scenes with a few changes, of its text or of its tables."""
    text = good[int(rng.integers(len(good)))]
    if rng.random() < 0.8:
        tables = tomllib.loads(text)
        for _ in range(int(rng.integers(1, 3))):
            _corrupt_tables(tables, rng)
        return format_toml(tables)
    for _ in range(int(rng.integers(1, 4))):
        text = _corrupt_text(text, rng)
    return text


def _list_entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every table or list with each of its keys, at any depth."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _list_entries(value[key])


def _corrupt_tables(tables: Any, rng: Rng) -> None:
    """Replace, drop, scale or rename one value, in place."""
    entries = list(_list_entries(tables))
    if not entries:
        return
    table, key = entries[int(rng.integers(len(entries)))]
    what = rng.random()
    if what < 0.3:
        table[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
    elif what < 0.4:
        del table[key]
    elif what < 0.85 and isinstance(table[key], (int, float)) and not isinstance(table[key], bool):
        table[key] = (
            float(min(table[key], 1e300))
            * float(10.0 ** rng.integers(-9, 10))
            * (-1 if rng.random() < 0.2 else 1)
        )
    elif what < 0.9 and isinstance(table, dict):
        table[str(key) + "x"] = table.pop(key)
    else:  # another value of the same scene
        other, name = entries[int(rng.integers(len(entries)))]
        table[key] = copy.deepcopy(other[name])


def _corrupt_text(text: str, rng: Rng) -> str:
    """Truncate, drop, repeat, swap or overwrite a part of the text."""
    lines = text.splitlines()
    i, j = (int(rng.integers(max(len(lines), 1))) for _ in range(2))
    what = int(rng.integers(6))
    if what == 0:
        return text[: int(rng.integers(len(text) + 1))]
    if what == 1:
        return "\n".join(lines[:i] + lines[i + 1 :])
    if what == 2:
        return "\n".join([*lines[:i], *lines[min(i, j) : max(i, j)], *lines[i:]])
    if what == 3 and lines:
        lines[i], lines[j] = lines[j], lines[i]
        return "\n".join(lines)
    if what == 4:
        at = int(rng.integers(len(text) + 1))
        return (
            text[:at]
            + "".join(rng.choice(list('[]{}"=,.\n0a#-\\\0é'), int(rng.integers(1, 6))))
            + text[at + 1 :]
        )
    start = int(rng.integers(len(text) + 1))
    return text[:start] + text[start : start + 40] * int(rng.integers(2, 200)) + text[start:]


def attempt(text: str, folder: Path) -> str:
    """Read and build a scene; return the outcome."""
    try:
        made = scene.read_text(text, folder=folder, most=PARTICLES)
    except SceneError:
        return "refused when read"
    try:
        made.build()
        made.inputs()
        scene.read_text(made.resolved(), folder=folder, most=PARTICLES)
    except (SceneError, MeshError):
        return "refused when built"
    return "built"


def campaign(numbers: Iterable[int], seed: int = 0) -> Attempts:
    """Corrupt, read and build one scene for each of the numbers, which may show progress.

    Changes the warnings, the log and the alarm signal of this process.
    """
    logging.getLogger("taut").setLevel(logging.ERROR)
    warnings.simplefilter("error")
    rng, good, found = np.random.default_rng(seed), samples(), Attempts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        found.failures += [
            f"a valid scene is rejected: {text[:60]!r}"
            for text in good
            if attempt(text, folder) != "built"
        ]
        for number in numbers:
            text = corrupt_one(good, rng)
            begun = time.process_time()
            try:
                with limit_time():
                    outcome = attempt(text, folder)
            except Exception as error:  # any other error is a failure
                outcome = f"FAILED with {type(error).__name__}: {str(error)[:80]}"
            took = time.process_time() - begun
            found.files, found.slowest = found.files + 1, max(found.slowest, took)
            found.counts[outcome] += 1
            if outcome.startswith("FAILED") or took > MAX_SECONDS:
                kept = Path(tempfile.gettempdir()) / f"taut-scene-{seed}-{number}.toml"
                kept.write_text(text)
                found.failures.append(f"{outcome} after {took:.2f} s: {kept}")
    return found
