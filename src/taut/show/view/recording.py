"""A recording as one HTML file, which shows itself without a server and without a network.

viser's own page, with the messages that it was sent, at the times of the simulation; the vertices in it are those that were shown.
"""

from __future__ import annotations

import html
import threading
from pathlib import Path
from typing import Any

from taut.run.folder import whole
from taut.show.free import check_free
from taut.show.view.looks import SKY
from taut.show.view.snapshot import Snapshot

MOST_BYTES = 100_000_000  # of positions and colours in a recording; then it ends by itself
CHARGE = 40  # bytes that a spring takes in a frame, beside 24 of a particle and 12 of a vertex that rides on particles
REST = 0.5  # seconds that the last moment stays
TITLE = "<title>Viser</title>"


class Recorder:
    """A recording that goes on.

    viser : the server; springs : how many are shown; title : of the page
    """

    def __init__(self, viser: Any, springs: int, now: Snapshot, title: str) -> None:
        self._serializer = viser.get_scene_serializer()
        kept = [entry for entry in self._serializer._messages if not _is_light_of_ours(entry[1])]
        self._serializer._messages[:] = kept
        self._springs, self._bytes, self._counted, self._t, self._title = springs, 0, 0, now.t, title
        self._lock, self._page = threading.Lock(), ""
        self.frames = 1

    def look(self, now: Snapshot) -> bool:
        """The time goes on to that of a snapshot, which is shown next; False if the recording is full."""
        self._serializer.insert_sleep(max(now.t - self._t, 0.0))
        self._t = now.t
        self.frames += 1
        return self._held_bytes() + charge(len(now.q), self._springs) < MOST_BYTES

    def _held_bytes(self) -> int:
        """Bytes of the arrays that it holds."""
        buffers = self._serializer._binary_buffers
        self._bytes += sum(buffer.nbytes for buffer in buffers[self._counted :])
        self._counted = len(buffers)
        return self._bytes

    def page(self) -> str:
        """The page; the recording ends with it."""
        with self._lock:
            if not self._page:
                if self.frames > 1:
                    self._serializer.insert_sleep(REST)
                page: str = self._serializer.as_html()
                self._page = page.replace(TITLE, f"<title>{html.escape(self._title)}</title>", 1)
            return self._page


def charge(particles: int, springs: int, riding: int = 0) -> int:
    """The most bytes that a frame takes, by estimate. riding : vertices that ride on particles

    >>> charge(100, 300)
    14400
    """
    return 24 * particles + CHARGE * springs + 12 * riding


def _is_light_of_ours(message: dict[str, Any]) -> bool:
    """Whether a message replaces viser's own light, which a page that plays round and round would bring back each time."""
    return message["type"] == "EnvironmentMapMessage" or message.get("name") == SKY


def write_page(path: str | Path, page: str, *, overwrite: bool = False) -> None:
    """Write a page, whole or not at all; ModelError if there is a file already, unless it is to be replaced.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.html"
    >>> write_page(file, "<html></html>")
    >>> write_page(file, "")
    Traceback (most recent call last):
    taut.errors.ModelError: ...a.html is there already; --overwrite replaces it
    """
    path = Path(path)
    check_free(path, overwrite=overwrite)  # it may have come since the work began
    with whole(path) as stream:
        stream.write(page)
