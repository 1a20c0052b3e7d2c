"""A recording as one HTML file, which shows itself without a server and without a network.

viser's own page, with the messages that it was sent, at the times of the simulation; the vertices in it are those that were shown.
"""

from __future__ import annotations

import html
import os
import secrets
import threading
from pathlib import Path
from typing import Any

from taut.errors import RunError
from taut.show.view.looks import SKY
from taut.show.view.snapshot import Snapshot

MOST_BYTES = 100_000_000  # of positions and colours in a recording; then it ends by itself
CHARGE = 40  # bytes that a spring takes in a frame, beside 24 of a particle
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
        self._springs, self._bytes, self._t, self._title = springs, 0, now.t, title
        self._lock, self._page = threading.Lock(), ""
        self.frames = 1

    def look(self, now: Snapshot) -> bool:
        """The time goes on to that of a snapshot, which is shown next; False if the recording is full."""
        self._serializer.insert_sleep(max(now.t - self._t, 0.0))
        self._t = now.t
        self._bytes += 24 * len(now.q) + CHARGE * self._springs
        self.frames += 1
        return self._bytes < MOST_BYTES

    def page(self) -> str:
        """The page; the recording ends with it."""
        with self._lock:
            if not self._page:
                if self.frames > 1:
                    self._serializer.insert_sleep(REST)
                page: str = self._serializer.as_html()
                self._page = page.replace(TITLE, f"<title>{html.escape(self._title)}</title>", 1)
            return self._page


def _is_light_of_ours(message: dict[str, Any]) -> bool:
    """Whether a message replaces viser's own light, which a page that plays round and round would bring back each time."""
    return message["type"] == "EnvironmentMapMessage" or message.get("name") == SKY


def write_page(path: str | Path, page: str, *, overwrite: bool = False) -> None:
    """Write a page, whole or not at all; RunError if there is a file already, unless it is to be replaced.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.html"
    >>> write_page(file, "<html></html>")
    >>> write_page(file, "")
    Traceback (most recent call last):
    taut.errors.RunError: ...a.html exists already; --overwrite replaces it
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(beside, "x", encoding="utf-8") as stream:
            stream.write(page)
        try:
            if overwrite:
                os.replace(beside, path)
            else:
                os.link(beside, path)  # unlike a rename, it replaces nothing
        finally:
            beside.unlink(missing_ok=True)
    except FileExistsError as error:
        raise RunError(f"{path} exists already; --overwrite replaces it") from error
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror}") from error
