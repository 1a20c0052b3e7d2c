"""Until when what is held in a scene is held: some holds end (`until`), and their marks with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.run.folder import SCENE
from taut.run.opening import Run
from taut.scene import read_text
from taut.scene.joints import chosen
from taut.show.subject import Subject

Float = NDArray[np.float64]
SAME = 1e-9  # seconds: a hold that ends at the time of a frame is over


def held_until(run: Run, subject: Subject) -> Float:
    """The time [s] until which each of `subject.held` is held, (h,); infinite for those that are never let go."""
    ends = np.full(subject.n, np.inf)
    if run.scene:
        scene = read_text(run.scene, folder=run.folder, path=run.folder / SCENE)
        if any(hold.until is not None for body in scene.file.body for hold in body.hold):
            ends[:] = 0.0
            for body, part in zip(scene.file.body, scene.parts(), strict=True):
                for hold in body.hold:
                    some = chosen(part.mesh, hold.where) + part.start
                    ends[some] = np.maximum(ends[some], np.inf if hold.until is None else hold.until)
    return ends[subject.held]
