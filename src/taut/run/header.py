"""What a run is: the rows of `meta` in run.sqlite, written once, when the run begins.

format              of the file, 1
versions            of taut, Python, numpy, scipy, numba and SQLite, and the platform: JSON
begun               when, UTC
scene, inputs       the text of the scene; SHA-256 by name of the files that lie beside it: JSON
n                   particles
t0, until, h, last, steps    where it begins and ends, the length of its steps, of the last one, their number [s]
every, checkpoint_every      steps from frame to frame and from checkpoint to checkpoint
integrator          with its options
system              digests by part: JSON (see `taut.run.fingerprint`)
frame i is the one of step min(i · every, steps)
"""

from __future__ import annotations

import json
import math
import platform
import sqlite3
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from taut import __version__
from taut.errors import RunError
from taut.run.plan import MOST, Plan

_KINDS: dict[str, type] = {"int": int, "float": float, "str": str}


@dataclass(frozen=True)
class Header:
    """See above; `versions`, `inputs` and `system` are tables by name.

    >>> header = Header({}, "", "", {}, 5, 0.0, 1.0, 0.3, 0.1, 4, 3, 3, "ImplicitEuler()", {})
    >>> header.frames(4), [header.step_of(i) for i in range(3)]
    (3, [0, 3, 4])
    """

    versions: dict[str, str]
    begun: str
    scene: str
    inputs: dict[str, str]
    n: int
    t0: float
    until: float
    h: float
    last: float
    steps: int
    every: int
    checkpoint_every: int
    integrator: str
    system: dict[str, str]

    @property
    def plan(self) -> Plan:
        """The steps of the run."""
        return Plan(self.steps, self.h, self.last)

    def frames(self, step: int) -> int:
        """How many frames there are when that step is done."""
        return 1 + step // self.every + (step == self.steps and step % self.every > 0)

    def step_of(self, frame: int) -> int:
        """The step of a frame."""
        return min(frame * self.every, self.steps)

    def is_frame(self, step: int) -> bool:
        """Whether there is a frame of this step."""
        return step % self.every == 0 or step == self.steps

    def is_checkpoint(self, step: int) -> bool:
        """Whether there is a checkpoint of this step, interruptions aside."""
        return step % self.checkpoint_every == 0 or step == self.steps

    def rows(self) -> dict[str, Any]:
        """Key → value, as in `meta`."""
        values = asdict(self)
        return {key: json.dumps(value, ensure_ascii=True) if isinstance(value, dict) else value for key, value in values.items()}

    @staticmethod
    def of(rows: dict[str, Any]) -> Header:
        """From the rows of `meta`; RunError where one is missing or makes no sense."""
        found: dict[str, Any] = {}
        for field in fields(Header):
            value, kind = rows.get(field.name), str(field.type)
            found[field.name] = _table(field.name, value) if kind.startswith("dict") else value
            if kind in _KINDS and type(value) is not _KINDS[kind]:
                raise RunError(f"its '{field.name}' is missing or of the wrong kind")
        header = Header(**found)
        if not (0 < header.n < MOST and 0 <= header.steps <= MOST and header.every > 0 and header.checkpoint_every > 0):
            raise RunError("its number of particles, steps or frames makes no sense")
        if not all(map(math.isfinite, (header.t0, header.until))) or not (header.h > 0.0 and header.last > 0.0):
            raise RunError("its times make no sense")
        return header


def _table(key: str, value: Any) -> dict[str, str]:
    try:
        table = json.loads(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RunError(f"its '{key}' is missing or damaged: {error}") from error
    if not isinstance(table, dict) or not all(isinstance(item, str) for item in table.values()):
        raise RunError(f"its '{key}' is not a table of texts")
    return table


def versions() -> dict[str, str]:
    """Of what has a hand in the numbers.

    >>> sorted(versions())
    ['numba', 'numpy', 'platform', 'python', 'scipy', 'sqlite', 'taut']
    """
    found = {"taut": __version__, "python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}
    return found | {package: _version(package) for package in ("numpy", "scipy", "numba")} | {"sqlite": sqlite3.sqlite_version}


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # installed without its metadata
        return "unknown"
