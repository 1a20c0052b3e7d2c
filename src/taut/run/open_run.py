"""Read a run folder. Nothing in it is executed, and rows with a wrong checksum are rejected."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Mask
from taut.errors import RunError
from taut.mesh.sketch import card, sketch, spark
from taut.run._database import Database
from taut.run._tables import REPORT_COLUMNS
from taut.run.encoding import masks_from_bytes, vectors_from_bytes
from taut.run.ledger_entry import LedgerEntry, entry_columns
from taut.run.metadata import Metadata
from taut.run.run_folder import absolute_folder
from taut.system.state import State

Columns = dict[str, NDArray[Any]]
_DTYPES = {"TEXT": np.str_, "INTEGER": np.int64, "REAL": np.float64}
# steps: a notebook leaves the energy of a longer run out, because reading it would take too long
_MAX_STEPS_IN_NOTEBOOK = 20_000


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame of a run, exactly as it was computed.

    step : number of its step, from 0
    t : time [s]
    q, v : positions [m] and velocities [m/s], (n, 3), read-only
    active : law → mask of its elements, (m,), False where one is torn or switched off; laws all of
        whose elements are active may be left out, as in a `taut.State`
    """

    step: int
    t: float
    q: Float
    v: Float
    active: Mapping[str, Mask] = field(default_factory=dict)


class Frames(Sequence[Frame]):
    """The frames of a run as a sequence: `frames[-1]`, `frames[::10]`, `for frame in frames`.

    A frame is read when it is accessed, and not kept. One that is damaged or missing raises
    RunError and leaves the others readable. The sequence grows while the run is being written; a
    slice has the frames that existed when it was taken.
    """

    def __init__(
        self, database: Database, metadata: Metadata, selection: range | None = None
    ) -> None:
        self._database, self._metadata, self._selection = database, metadata, selection

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes, each of which opens the run."""
        return _open_frames, (self._database.folder, self._selection)

    def _numbers(self) -> range:
        if self._selection is not None:
            return self._selection
        step, _ = self._database.read_progress()
        return range(self._metadata.count_frames(step))

    def __len__(self) -> int:
        return len(self._numbers())

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Frames: ...
    def __getitem__(self, index: int | slice) -> Frame | Frames:
        selected = self._numbers()[index]
        if isinstance(selected, range):
            return Frames(self._database, self._metadata, selected)
        return self._read(selected)

    def __iter__(self) -> Iterator[Frame]:
        return map(self._read, self._numbers())

    def __repr__(self) -> str:
        return f"<frames of {self._metadata.n} particles, one every {self._metadata.every} steps>"

    def _read(self, number: int) -> Frame:
        step, n = self._metadata.step_of_frame(number), self._metadata.n
        with self._database.report_errors(f"read frame {number} (step {step})"):
            t, q, v, active, _ = self._database.read_frame(step)
            if not isinstance(t, float):
                raise RunError("its time is missing")
            return Frame(
                step,
                t,
                vectors_from_bytes(q, n),
                vectors_from_bytes(v, n),
                masks_from_bytes(active),
            )


class Run:
    """A run folder, opened by `taut.open_run` to be read, even while the run is being written.

    folder : its path
    frames : a sequence of frames with `step`, `t` [s], `q` [m] and `v` [m/s], (n, 3), and the masks
        of `active` elements; each is read when it is accessed
    scene : the text of its scene
    inputs : name → SHA-256 of the files that the scene names
    versions : of taut, Python and the libraries
    integrator : name and options
    n : number of particles
    h : step [s]
    steps : number of steps of the whole run
    every : steps from frame to frame
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._database = Database(folder, "ro")
        try:
            self._metadata = self._database.read_metadata()
            self._database.read_progress()
        except RunError:
            self._database.close()
            raise
        metadata = self._metadata
        self.frames = Frames(self._database, metadata)
        self.scene = metadata.scene
        self.integrator = metadata.integrator
        self.n = metadata.n
        self.h = metadata.h
        self.steps = metadata.steps
        self.every = metadata.every
        self.versions = MappingProxyType(metadata.versions)
        self.inputs = MappingProxyType(metadata.inputs)

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes, each of which opens the folder."""
        return open_run, (self.folder,)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<run of {self.n} particles in {self.steps} steps: {self.folder}>"

    def _repr_html_(self) -> str:
        """Show progress, the last frame and T + V over time in a notebook."""
        facts: list[tuple[str, object]] = [
            ("folder", self.folder),
            ("particles", f"{self.n:,}"),
            ("integrator", self.integrator),
        ]
        pictures: list[str] = []
        try:
            facts.append(("step", f"{self.step:,} of {self.steps:,}, h = {self.h:g} s"))
            facts.append(("status", self.status))
            frame = self.frames[-1]
            facts.append(("frames", f"{len(self.frames):,}"))
            facts.append(("at", f"t = {frame.t:g} s"))
            pictures.append(sketch(frame.q))
            if 0 < self.step <= _MAX_STEPS_IN_NOTEBOOK:
                energy = [entry.kinetic + sum(entry.stored.values()) for entry in self.entries()]
                facts.append(("T + V", f"{min(energy):.4g} to {max(energy):.4g} J"))
                pictures.append(spark(energy))
        except (RunError, IndexError) as error:  # a notebook shows a closed or damaged run, too
            facts.append(("cannot be read", error))
        return card("Run", facts, pictures)

    def close(self) -> None:
        """Close the file; frames cannot be read any more."""
        self._database.close()

    @property
    def step(self) -> int:
        """The last step on the disk."""
        return self._database.read_progress()[0]

    @property
    def status(self) -> str:
        """The status: running (or killed), interrupted, not converged or finished."""
        return self._database.read_progress()[1]

    @property
    def finished(self) -> bool:
        """Whether all steps are taken and the results are written."""
        return self.status == "finished"

    @property
    def reports(self) -> Columns:
        """`step` and the fields of `taut.Report`: name → array with one value per step."""
        rows = list(self._database.read_reports(self.step))
        columns: Columns = {"step": np.array([step for step, _ in rows], dtype=np.int64)}
        for name, kind in REPORT_COLUMNS.items():
            values = [getattr(report, name) for _, report in rows]
            columns[name] = np.array(values, dtype=_DTYPES[kind])
        return columns

    @property
    def ledger(self) -> Columns:
        """The energy ledger [J]: name → array with one value per step.

        `step`, `t` and `h` [s], `opening`, `kinetic`, `scripted`, `numerical`, `residual`, `gap`,
        `scale`, `between`; and by law, such as `stored spring`, `work wind`, `dissipated drag` and
        `torn spring` (see `taut.Ledger`).
        """
        rows = list(self._database.read_entries(self.step))
        entries = [entry for _, entry in rows]
        steps = np.array([step for step, _ in rows], dtype=np.int64)
        return {"step": steps, **entry_columns(entries)}

    def entries(self) -> Iterator[LedgerEntry]:
        """Yield the entries of the energy ledger, one per step, reading them in pieces."""
        return (entry for _, entry in self._database.read_entries(self.step))

    def checkpoint(self) -> tuple[int, State]:
        """Return the step and the State of the last undamaged checkpoint."""
        return self._database.read_last_checkpoint(self.n)

    def state(self) -> State:
        """Return the State of the last undamaged checkpoint: a simulation can start from it."""
        return self.checkpoint()[1]


def open_run(folder: str | os.PathLike[str]) -> Run:
    """Open a run folder to read it, finished or not, even while it is being written.

    folder : path given to `taut run` or `taut.run.record.record`

    RunError if it is no run, or a damaged one.

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
    return Run(absolute_folder(folder))


def _open_frames(folder: Path, selection: range | None) -> Frames:
    frames = open_run(folder).frames
    return Frames(frames._database, frames._metadata, selection)
