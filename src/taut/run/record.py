"""Run a system into a folder, and go on after an interruption, bit for bit.

Frames, reports, ledger and checkpoints are written as the steps are taken (`taut.run.store`), so that memory does not grow with
the run; what is made of all of them at the end is read back (`taut.run.results`).

A checkpoint is the whole State, and which steps there are was decided at the beginning. So a run that was stopped, or killed, ends
in the same bits as one that was not: frames after the last good checkpoint are computed again, and must come out as they are.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256

from taut.errors import ModelError, NotConverged, RunError, TautError
from taut.run.fingerprint import described, fingerprint
from taut.run.folder import SCENE, absolute, check_names, check_unchanged, cleared, locked, made, put
from taut.run.header import Header, versions
from taut.run.ledger import entry_of
from taut.run.progress import Reached, Recorded
from taut.run.results import write_results
from taut.run.simulate import planned
from taut.run.store import Row, Store
from taut.run.summary import Summary
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

MOST_ROWS = 1000  # of the steps since the last frame, before they are written with a checkpoint of their own
Tell = Callable[[Reached], object]
Stop = Callable[[], bool]
log = logging.getLogger("taut")


def record(
    folder: str | os.PathLike[str], system: System, integrator: Integrator, *, h: float, until: float, every: int = 1,
    checkpoint_every: int | None = None, state: State | None = None, scene: str = "", inputs: Mapping[str, bytes] | None = None,
    tell: Tell | None = None, stop: Stop | None = None, overwrite: bool = False,
) -> Recorded:  # fmt: skip
    """Run a system, and keep everything in a folder.

    h : step [s]; until : end time [s]. If the span is not a whole number of steps, the last one is shorter
    every : steps from frame to frame; checkpoint_every : from checkpoint to checkpoint (default: with each frame)
    state : where to begin (default: the system's initial state)
    scene : text for scene.toml; inputs : files beside it, name → bytes
    tell : is called with a `Reached` (see `taut.run.progress`) after each step
    stop : is asked after each step; if it says True, a checkpoint is written and the run ends as "interrupted"
    overwrite : replace a run that is there

    RunError if something cannot be written: what was on the disk before stays. NotConverged and its like are raised on, with a
    checkpoint of the state before the step on the disk.

    >>> import tempfile, taut
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> done = record(folder, ball, taut.ImplicitEuler(), h=0.1, until=1.0)
    >>> done.outcome, done.steps, round(float(done.state.v[0, 1]), 9)
    ('finished', 10, -9.81)
    """
    where, files = absolute(folder), dict(inputs or {})
    plan, start = planned("record", system, integrator, h, until, state)
    for name, value in (("every", every), ("checkpoint_every", 1 if checkpoint_every is None else checkpoint_every)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ModelError(f"{name} is {value!r}; it must be a positive whole number of steps")
    system.check(start)
    check_names(where, files)
    digests = {name: sha256(data).hexdigest() for name, data in files.items()}
    header = Header(
        versions(), datetime.now(UTC).isoformat(timespec="seconds"), scene, digests, system.n, start.t, float(until), plan.h,
        plan.last, plan.steps, every, checkpoint_every or every, described(integrator), _parts(system, start.t, float(until)),
    )  # fmt: skip
    made(where)
    with locked(where):
        beside = {**files, SCENE: scene.encode()} if scene else files
        cleared(where, beside, overwrite=overwrite)
        put(where, beside)
        return _run(Store.begun(where, header, start), system, integrator, start, 0, tell, stop)


def resume(
    folder: str | os.PathLike[str], system: System, integrator: Integrator, *, scene: str | None = None, tell: Tell | None = None,
    stop: Stop | None = None,
) -> Recorded:  # fmt: skip
    """Go on with a run from its last good checkpoint; the end has the same bits as without the interruption.

    system, integrator : those of the run; others are refused
    scene : the text the system was made from, if there is one: it must be that of the run
    tell, stop : as in `record`

    RunError if the run is finished, is being written by another process, or does not fit.

    >>> import tempfile, taut
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> record(folder, ball, taut.ImplicitEuler(), h=0.1, until=1.0, stop=lambda: True).step
    1
    >>> resume(folder, ball, taut.ImplicitEuler()).outcome
    'finished'
    """
    where = absolute(folder)
    planned("resume", system, integrator, 1.0, 1.0, system.initial_state() if isinstance(system, System) else None)
    if not where.is_dir():
        raise RunError(f"{where}: there is no such folder")
    with locked(where):
        store = Store(where)
        try:
            _check_same(store, system, integrator, scene)
            step, state = store.database.last_checkpoint(store.header.n)
        except TautError:
            store.close()
            raise
        return _run(store, system, integrator, state, step, tell, stop)


def _parts(system: System, begin: float, end: float) -> dict[str, str]:
    return fingerprint(system, (begin, 0.5 * (begin + max(begin, end))))


def _check_same(store: Store, system: System, integrator: Integrator, scene: str | None) -> None:
    """Refuse to go on with anything but what the run was begun with."""
    header = store.header
    if store.status == "finished":
        raise RunError(f"{store.folder}: the run is finished; there is nothing to resume")
    if scene is not None and scene != header.scene:
        raise RunError(f"{store.folder}: the scene is another one than the run was begun with; a changed scene is a new run")
    check_unchanged(store.folder, header.inputs)
    if header.scene:
        check_unchanged(store.folder, {SCENE: sha256(header.scene.encode()).hexdigest()})
    if system.n != header.n:
        raise RunError(f"{store.folder}: the system has {system.n} particles, the run {header.n}")
    if described(integrator) != header.integrator:
        raise RunError(f"{store.folder}: the integrator is {described(integrator)}, that of the run {header.integrator}")
    now = versions()
    changed = [f"{name} {was} → {now.get(name)}" for name, was in header.versions.items() if now.get(name) != was]
    found = _parts(system, header.t0, header.until)
    for part in dict.fromkeys([*header.system, *found]):
        if found.get(part) != header.system.get(part):
            has = "differs from that" if part in found and part in header.system else "is there in only one of the system and that"
            since = f" (since then: {', '.join(changed)})" if changed else ""
            raise RunError(f"{store.folder}: the system is not that of the run: '{part}' {has} of the run{since}")
    if changed:
        log.warning("%s: since the run began: %s; the bits may come out otherwise", store.folder, ", ".join(changed))


def _run(
    store: Store, system: System, integrator: Integrator, state: State, step: int, tell: Tell | None, stop: Stop | None
) -> Recorded:
    """Take the steps that are left."""
    try:
        header, plan, summary, rows = store.header, store.header.plan, Summary(), list[Row]()
        begun, first, kept = time.perf_counter(), step, step
        paced = begun
        while step < plan.steps:
            try:
                done = integrator.advance(system, state, plan.length(step))
                entry = entry_of(system, done)
            except TautError as error:
                status = "not converged" if isinstance(error, NotConverged) else "interrupted"
                store.save(step, state, rows, checkpoint=step != kept, status=status)
                raise
            integrator.warn(done.report)
            summary.add(done.report)
            state, step = done.state, step + 1
            rows.append((step, done.report, entry))
            stopped = stop is not None and stop() and step < plan.steps
            checkpoint = header.is_checkpoint(step) or stopped or len(rows) >= MOST_ROWS
            if header.is_frame(step) or checkpoint:
                store.save(step, state, rows, checkpoint=checkpoint, status="interrupted" if stopped else "running")
                rows, kept = [], step if checkpoint else kept
            if tell is not None:
                now = time.perf_counter()
                paced = now if step == first + 1 else paced  # the first step may have compiled: it says nothing of the others
                taken, since = now - begun, step - first - 1
                left = (now - paced) / since * (plan.steps - step) if since else math.nan
                tell(Reached(step, plan.steps, state.t, done.report, store.durable, header.is_frame(step), taken, left))
            if stopped:
                return Recorded(store.folder, "interrupted", step, plan.steps, state, summary)
        notes = write_results(store, state)
        store.finish()
        return Recorded(store.folder, "finished", step, plan.steps, state, summary, notes)
    finally:
        store.close()
