"""Which elements are torn at a frame.

A frame has positions and velocities; which elements are torn in the end stands in the last checkpoint. An element that is torn
there counts as torn from the first frame on in which its strain l/l₀ - 1 is beyond its breaking strain, or else from the checkpoint
on. In frames after the checkpoint, of a run that is being written or was killed, the strain alone decides: no element that is whole
ends a step beyond its breaking strain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from taut.errors import RunError, SceneError
from taut.formula.placed import Placed
from taut.run.opening import Run
from taut.show.subject import Subject

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Mask = NDArray[np.bool_]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Torn:
    """The step from which each element is torn, (m,), by law; laws none of whose elements tear are left out.

    >>> Torn({"spring": np.array([NEVER, 40])}, {"spring": np.array([[0, 1], [1, 2]])}).active(50)
    {'spring': array([ True, False])}
    """

    since: dict[str, Int]
    elements: dict[str, Int]

    def active(self, step: int) -> dict[str, Mask]:
        """The masks of the elements that hold at a step, for a State."""
        return {name: since > step for name, since in self.since.items()}

    def pairs(self, step: int) -> Int:
        """The pairs of particles, the lesser first, between which something is torn at a step, (k, 2)."""
        found = [self.elements[name][since <= step] for name, since in self.since.items()]
        return np.sort(np.concatenate([np.empty((0, 2), np.int64), *found]), axis=1)


class Tearing:
    """What tears in a run that may still be being written; each look reads the frames that have come since, and none twice.

    subject : of the run; of one whose laws are not known, nothing is seen to tear

    >>> import tempfile, taut
    >>> from taut.run.opening import open_run
    >>> from taut.run.record import record
    >>> from taut.show.subject import of_system
    >>> bar = taut.laws.spring([[0, 1]], k=1.0, breaking_strain=0.5)
    >>> pair = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[bar])
    >>> begin = pair.initial_state().with_(v=[[0, 0, 0], [9, 0, 0]])
    >>> folder = tempfile.mkdtemp()
    >>> _ = record(folder, pair, taut.ImplicitEuler(), h=0.01, until=0.2, every=5, state=begin)
    >>> with open_run(folder) as run:
    ...     torn = Tearing(of_system(pair)).look(run)
    ...     [len(torn.pairs(frame.step)) for frame in run.frames]
    [0, 0, 1, 1, 1]
    """

    def __init__(self, subject: Subject) -> None:
        self._subject, self._read = subject, 0  # frames of which it is known what is torn in them
        self._since: dict[str, Int] = {}

    def look(self, run: Run) -> Torn:
        """What is torn in the frames that there are now."""
        count = len(run.frames)
        ended, step = _checkpoint(run)
        known = count if step >= run.steps else min(1 + step // run.every, count)  # frames up to the checkpoint
        if not ended:
            self._read = max(self._read, known)  # nothing is torn in them
        if ended or self._read < count:
            self._go_on(run, ended, step, known, count)
        return Torn({name: steps.copy() for name, steps in self._since.items()}, {n: self._laws[n].elements for n in self._since})

    @cached_property
    def _laws(self) -> dict[str, Placed]:
        """Laws between two particles; of damping there is none: it goes with its spring."""
        try:
            placed = self._subject.system.placed
        except (RunError, SceneError):
            return {}
        return {name: law for name, law in placed.items() if law.particles == 2}

    def _go_on(self, run: Run, ended: dict[str, Mask], step: int, known: int, count: int) -> None:
        breakable = {name: law for name, law in self._laws.items() if law.breaking_strain is not None}
        for i in range(self._read, count) if breakable else ():
            try:
                frame = run.frames[i]
            except RunError:  # one that is damaged; the others tell
                continue
            for name, law in breakable.items():
                beyond = _beyond(law, frame.q, frame.t)
                if i < known:
                    beyond &= ended.get(name, False)
                if beyond.any():
                    steps = self._since.setdefault(name, np.full(len(beyond), NEVER))
                    steps[beyond & (steps == NEVER)] = frame.step
        self._read = count
        for name, torn in ended.items():
            if name in self._laws:
                steps = self._since.setdefault(name, np.full(len(torn), NEVER))
                steps[torn & (steps == NEVER)] = step


def spared(sides: Int, torn: Int, n: int) -> Mask:
    """Which shapes have no torn side, (k,): sides (k, s, 2) of points 0 to n - 1 each, torn pairs (m, 2), some of other points.

    >>> spared(np.array([[[0, 1], [1, 2], [2, 0]], [[1, 3], [3, 2], [2, 1]]]), np.array([[1, 0], [-4, 9]]), 4)
    array([False,  True])
    """
    key = np.array([n, 1])
    own = np.sort(torn[((torn >= 0) & (torn < n)).all(axis=1)], axis=1) @ key
    return np.asarray(~np.isin(np.sort(sides, axis=2) @ key, own).any(axis=1))


def torn_in(run: Run, subject: Subject) -> Torn:
    """What tears in a run; nothing is read but the last checkpoint where nothing does and it is the end."""
    return Tearing(subject).look(run)


def _checkpoint(run: Run) -> tuple[dict[str, Mask], int]:
    """What is torn in the last checkpoint, law → mask (m,), and its step."""
    try:
        step, state = run.checkpoint()
    except RunError:  # none is undamaged
        return {}, -run.every
    return {name: ~mask for name, mask in state.active.items() if not mask.all()}, step


def _beyond(placed: Placed, q: Float, t: float) -> Mask:
    """Which elements of a law that can tear are stretched beyond their breaking strain, (m,)."""
    assert placed.breaking_strain is not None
    length = np.linalg.norm(q[placed.elements[:, 1]] - q[placed.elements[:, 0]], axis=1)
    rest = placed.packed(t)[:, placed.columns("l0")]
    return np.asarray(length / rest - 1 > placed.breaking_strain)
