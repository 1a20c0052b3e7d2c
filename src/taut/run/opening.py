"""Read a run folder back. Nothing in it is executed, and what does not fit its checksum is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import RunError
from taut.mesh.sketch import card, sketch, spark
from taut.run.database import Database
from taut.run.entry import Entry
from taut.run.folder import absolute
from taut.run.frames import Frames
from taut.run.ledger import columns
from taut.run.schema import LEDGER, REPORT
from taut.system.state import State

Columns = dict[str, NDArray[Any]]
_DTYPES = {"TEXT": np.str_, "INTEGER": np.int64, "REAL": np.float64}
SHOWN = 20_000  # steps: the energy of a longer run takes too long to read just to be looked at


class Run:
    """A run folder, opened to be read; it may still be being written. Made by `taut.open_run`.

    folder : where it is
    frames : a sequence of frames with `step`, `t` [s], `q` [m] and `v` [m/s], (n, 3); read when asked for
    scene : the text of its scene; inputs : name → SHA-256 of the files beside it
    versions : of taut, Python and the libraries; integrator : with its options
    n : particles; h : step [s]; steps : of the whole run; every : steps from frame to frame
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._database = Database(folder, "ro")
        try:
            self._header = self._database.header()
            self._database.progress()
        except RunError:
            self._database.close()
            raise
        head = self._header
        self.frames = Frames(self._database, head)
        self.scene, self.integrator, self.n, self.h, self.steps, self.every = (
            head.scene, head.integrator, head.n, head.h, head.steps, head.every
        )  # fmt: skip
        self.versions, self.inputs = MappingProxyType(head.versions), MappingProxyType(head.inputs)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<run of {self.n} particles in {self.steps} steps: {self.folder}>"

    def _repr_html_(self) -> str:
        """The run in a notebook: how far it is, its last frame, and T + V over time (of runs that are not too long to be read)."""
        facts: list[tuple[str, object]] = [("folder", self.folder), ("particles", f"{self.n:,}"), ("integrator", self.integrator)]
        pictures: list[str] = []
        try:
            facts += [("step", f"{self.step:,} of {self.steps:,}, h = {self.h:g} s"), ("status", self.status)]
            facts += [("frames", f"{len(self.frames):,}"), ("at", f"t = {self.frames[-1].t:g} s")]
            pictures.append(sketch(self.frames[-1].q))
            if 0 < self.step <= SHOWN:
                energy = [entry.kinetic + sum(entry.stored.values()) for entry in self.entries()]
                facts.append(("T + V", f"{min(energy):.4g} to {max(energy):.4g} J"))
                pictures.append(spark(energy))
        except (RunError, IndexError) as error:  # a run that was closed or damaged is told, not hidden behind a traceback
            facts.append(("cannot be read", error))
        return card("Run", facts, pictures)

    def close(self) -> None:
        """Let go of the file; frames cannot be read any more."""
        self._database.close()

    @property
    def step(self) -> int:
        """The last step on the disk."""
        return self._database.progress()[0]

    @property
    def status(self) -> str:
        """"running" (or killed), "interrupted", "not converged" or "finished"."""  # fmt: skip
        return self._database.progress()[1]

    @property
    def finished(self) -> bool:
        """Whether all steps are done and the files at the end are written."""
        return self.status == "finished"

    @property
    def reports(self) -> Columns:
        """The fields of `taut.Report`, and `step`: name → array, one value a step."""
        found = list(self._database.reports(self.step))
        columns: Columns = {"step": np.array([step for step, _ in found], dtype=np.int64)}
        return columns | {n: np.array([getattr(r, n) for _, r in found], dtype=_DTYPES[kind]) for n, kind in REPORT.items()}

    @property
    def ledger(self) -> Columns:
        """The energy book [J]: name → array, one value a step.

        `step`, `t` and `h` [s], `opening`, `kinetic`, `scripted`, `numerical`, `residual`, `gap`, `scale`, `between`; and by law,
        such as `stored spring`, `work wind`, `dissipated drag` and `torn spring` (see `taut.Ledger`).
        """
        found = list(self._database.entries(self.step))
        steps, entries = [step for step, _ in found], [entry for _, entry in found]
        book: Columns = {"step": np.array(steps, dtype=np.int64)}
        book |= {name: np.array([getattr(e, name) for e in entries], dtype=np.float64) for name in LEDGER}
        return book | {
            f"{group} {name}": np.array([getattr(e, group).get(name, 0.0) for e in entries], dtype=np.float64)
            for group, name in columns(entries)
        }

    def entries(self) -> Iterator[Entry]:
        """The same line by line, one for each step, read as they are asked for (see `taut.Ledger`)."""
        return (entry for _, entry in self._database.entries(self.step))

    def checkpoint(self) -> tuple[int, State]:
        """The last good checkpoint: its step, and the State after it."""
        return self._database.last_checkpoint(self.n)

    def state(self) -> State:
        """The State in the last good checkpoint: a simulation can begin from it."""
        return self.checkpoint()[1]


def open_run(folder: str | os.PathLike[str]) -> Run:
    """Open a run folder to read it, finished or not, and also while it is being written.

    folder : where `taut run` or `taut.run.record.record` has put it; RunError if that is no run, or a damaged one

    >>> import tempfile, taut
    >>> from taut.run.record import record
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> _ = record(folder, ball, taut.ImplicitEuler(), h=0.1, until=1.0, every=5)
    >>> run = open_run(folder)
    >>> len(run.frames), run.frames[-1].step, round(float(run.frames[-1].v[0, 1]), 9)
    (3, 10, -9.81)
    >>> run.ledger["kinetic"].shape, run.reports["outcome"][0], run.finished
    ((10,), np.str_('converged'), True)
    """
    return Run(absolute(folder))
