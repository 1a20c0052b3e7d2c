"""A run as one HTML file that plays by itself."""

from __future__ import annotations

import os
from pathlib import Path

from taut.run.opening import Run, open_run
from taut.show.evenly import evenly
from taut.show.free import check_free
from taut.show.subject import of_run
from taut.show.view.recording import MOST_BYTES, Recorder, charge, write_page
from taut.show.view.replay import Replay
from taut.show.view.server import Server
from taut.show.view.stage import Stage
from taut.show.view.viewer import refuse_without_viser

MOST_FRAMES = 600
OPENING = 3  # frames that take as many bytes as the beginning of a page, with its triangles


def save_run(
    folder: str | os.PathLike[str], path: str | os.PathLike[str], *, allow_code: bool = False, overwrite: bool = False
) -> int:
    """Write a run as one HTML file that plays by itself; gives the number of frames in it.

    They are evenly chosen, the first and the last among them: at most 600, and fewer where these would take more than 100 MB. The
    colours of strain have one range, that of all of them. ModelError if the file is there already, unless `overwrite`.
    """
    refuse_without_viser()
    path = Path(path)
    check_free(path, overwrite=overwrite)
    with open_run(folder) as run:
        subject = of_run(run, allow_code=allow_code)
        replay = Replay(Path(folder), subject)
        server = Server(port=0)
        try:
            stage = Stage(server.viser, subject, replay.newest)
            page, frames = _recorded(run, replay, stage)
        finally:
            server.close()
    write_page(path, page, overwrite=overwrite)
    return frames


def _recorded(run: Run, replay: Replay, stage: Stage) -> tuple[str, int]:
    """The page of a run, and the number of frames in it."""
    first = replay.newest
    riding = sum(piece.mesh.n for piece in stage.faces if piece.embedding is not None)
    each = charge(len(first.q), len(stage.springs), riding)
    chosen = evenly(len(run.frames), max(min(MOST_FRAMES, MOST_BYTES // each - OPENING), 2))
    if stage.visible["springs"]:
        for i in chosen:
            stage.reach(replay.at(run.frames[i]))
        stage.show(first, whole=True)
    recorder = Recorder(stage.viser, len(stage.springs), first, stage.subject.title)
    for i in chosen[1:]:
        now = replay.at(run.frames[i])
        fits = recorder.look(now)
        stage.show(now, whole=True)
        if not fits:
            break
    return recorder.page(), recorder.frames
