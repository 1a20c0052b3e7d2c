"""Recordings: a run, or what the viewer shows, as one self-contained HTML animation.

The file is viser's own page together with the messages that it would be sent, at the times of the
simulation. It needs neither a server nor a network.
"""

from __future__ import annotations

import html
import os
import threading
from pathlib import Path
from typing import Any

from taut.run.open_run import Run, open_run
from taut.run.run_folder import open_output
from taut.show.output import check_output_path, select_evenly
from taut.show.view._replay import Replay
from taut.show.view._scene_graph import SKY_LIGHT, SceneGraph
from taut.show.view._snapshot import Snapshot
from taut.show.view.server import Server, require_viser
from taut.show.visual_model import model_from_run

_MAX_BYTES = 100_000_000  # of arrays in a recording, which then ends automatically
_MAX_FRAMES = 600  # of a saved run
_OPENING_FRAMES = 3  # the first message, with the triangles, is as large as this many frames
_PARTICLE_BYTES, _SPRING_BYTES, _EMBEDDED_BYTES = 24, 40, 12  # of a frame, for each of them
_LAST_FRAME_SECONDS = 0.5  # that the last frame is shown before the animation repeats


def save_run(
    folder: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    allow_code: bool = False,
    overwrite: bool = False,
) -> int:
    """Save a run as one self-contained HTML animation; return the number of its frames.

    Frames are chosen evenly, with the first and the last: at most 600, and fewer if they would take
    more than 100 MB. All of them share one range of strain colours. ModelError if the file exists,
    unless `overwrite`.

    allow_code : build laws that are Python files in the run folder, which runs their code
    """
    require_viser()
    path = Path(path)
    check_output_path(path, overwrite=overwrite)
    with open_run(folder) as run:
        model = model_from_run(run, allow_code=allow_code)
        replay = Replay(Path(folder), model)
        server = Server(port=0)
        try:
            graph = SceneGraph(server.viser, model, replay.newest)
            page, frames = _record(run, replay, graph)
        finally:
            server.close()
    write_page(path, page, overwrite=overwrite)
    return frames


def _record(run: Run, replay: Replay, graph: SceneGraph) -> tuple[str, int]:
    """Return the page of a run, and the number of its frames."""
    first = replay.newest
    embedded = sum(piece.mesh.n for piece in graph.pieces if piece.embedding is not None)
    frame_bytes = estimate_frame_bytes(len(first.q), len(graph.springs), embedded)
    most = min(_MAX_FRAMES, _MAX_BYTES // frame_bytes - _OPENING_FRAMES)
    chosen = select_evenly(len(run.frames), max(most, 2))
    if graph.visible["springs"]:
        for i in chosen:
            graph.include_strains(replay.make_snapshot(run.frames[i]))
        graph.show(first, complete=True)
    recorder = Recorder(graph.viser, len(graph.springs), first, graph.model.title)
    for i in chosen[1:]:
        now = replay.make_snapshot(run.frames[i])
        has_room = recorder.add(now)
        graph.show(now, complete=True)
        if not has_room:
            break
    return recorder.make_page(), recorder.frames


class Recorder:
    """A recording in progress.

    viser : the server whose messages are recorded; springs : how many are shown; title : of the
        page
    frames : recorded so far
    """

    def __init__(self, viser: Any, springs: int, now: Snapshot, title: str) -> None:
        self._serializer = viser.get_scene_serializer()
        messages = self._serializer._messages
        messages[:] = [entry for entry in messages if not _replaces_light(entry[1])]
        self._springs, self._title, self._t = springs, title, now.t
        self._bytes, self._buffers_counted = 0, 0
        self._lock, self._page = threading.Lock(), ""
        self.frames = 1

    def add(self, now: Snapshot) -> bool:
        """Advance to the time of the snapshot that is shown next; return whether more fit."""
        self._serializer.insert_sleep(max(now.t - self._t, 0.0))
        self._t = now.t
        self.frames += 1
        return self._count_bytes() + estimate_frame_bytes(len(now.q), self._springs) < _MAX_BYTES

    def _count_bytes(self) -> int:
        """Return the bytes of all arrays so far."""
        buffers = self._serializer._binary_buffers
        self._bytes += sum(buffer.nbytes for buffer in buffers[self._buffers_counted :])
        self._buffers_counted = len(buffers)
        return self._bytes

    def make_page(self) -> str:
        """End the recording and return its page."""
        with self._lock:
            if not self._page:
                if self.frames > 1:
                    self._serializer.insert_sleep(_LAST_FRAME_SECONDS)
                page: str = self._serializer.as_html()
                title = f"<title>{html.escape(self._title)}</title>"
                self._page = page.replace("<title>Viser</title>", title, 1)
            return self._page


def estimate_frame_bytes(particles: int, springs: int, embedded: int = 0) -> int:
    """Return an upper estimate of the bytes of a frame; embedded : vertices of embedded meshes.

    >>> estimate_frame_bytes(100, 300)
    14400
    """
    return _PARTICLE_BYTES * particles + _SPRING_BYTES * springs + _EMBEDDED_BYTES * embedded


def _replaces_light(message: dict[str, Any]) -> bool:
    """Whether a message replaces viser's own light.

    A recording leaves these out: when it repeats, viser's light would come back each time.
    """
    return message["type"] == "EnvironmentMapMessage" or message.get("name") == SKY_LIGHT


def write_page(path: str | Path, page: str, *, overwrite: bool = False) -> None:
    """Write a page whole or not at all; ModelError if the file exists, unless `overwrite`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.html"
    >>> write_page(file, "<html></html>")
    >>> write_page(file, "")
    Traceback (most recent call last):
    taut.errors.ModelError: ...a.html exists already; --overwrite replaces it
    """
    path = Path(path)
    check_output_path(path, overwrite=overwrite)  # it may have been created since the work began
    with open_output(path) as stream:
        stream.write(page)
