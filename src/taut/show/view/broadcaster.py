"""From the newest snapshot to the browsers, in a thread of its own.

It looks RATE times a second at most, and less often the more viewers there are, so that they cannot take the machine away from the
simulation: LOAD pictures a second for all viewers together. Pictures that were not sent are not kept: the next one is the newest.
For a browser that does not read, one picture waits, and newer ones take the place of what has not been sent.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from taut.show.view.curves import Curves
from taut.show.view.live import Live
from taut.show.view.panel import Panel
from taut.show.view.recording import Recorder
from taut.show.view.replay import Replay
from taut.show.view.snapshot import Snapshot
from taut.show.view.stage import Stage

RATE, LOAD, IDLE = 30.0, 240.0, 5.0  # pictures a second: to each viewer at most, to all of them together, and to nobody
WORDS, PLOTS = 5.0, 2.0  # of the panel, a second


class Broadcaster:
    """Shows the newest snapshot of a source on a stage and a panel, again and again.

    sent : how many pictures there were
    """

    def __init__(self, viser: Any, source: Live | Replay, stage: Stage, panel: Panel) -> None:
        self.viser, self.source, self.stage, self.panel = viser, source, stage, panel
        self.sent = 0
        self.curves = Curves()
        self._recorder: Recorder | None = None
        self._full = False
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="taut broadcaster", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def rate(self) -> float:
        """Pictures a second, for as many viewers as there are now."""
        viewers = len(self.viser.get_clients())
        return min(RATE, LOAD / viewers) if viewers else IDLE

    def _run(self) -> None:
        words = plots = 0.0
        shown: Snapshot | None = None
        worded: tuple[Snapshot, int] | None = None
        while not self._ended.wait(1.0 / self.rate):
            begun = time.perf_counter()
            now, viewers = self.source.newest, len(self.viser.get_clients())
            if now is not shown:
                still = not now.playing  # when it stands, what is sent less often is brought up to date
                with self._lock:
                    self._record(now)
                    self.stage.show(now, whole=still, rate=self.rate)
                shown = now
                self.curves.look(now)
                self.sent += 1
            if begun - words > 1.0 / WORDS and (now, viewers) != worded:
                words, worded = begun, (now, viewers)
                self.panel.show(now, viewers)
            if begun - plots > 1.0 / PLOTS:
                plots = begun
                self.panel.plots.show(self.source.curves if isinstance(self.source, Replay) else self.curves.table())

    def _record(self, now: Snapshot) -> None:
        recorder = self._recorder
        if recorder is not None and not self._full and not recorder.look(now):
            self._full = True
            threading.Thread(target=recorder.page, name="taut recording", daemon=True).start()
            self.panel.record.label = "Save recording (it is full)"

    def save(self, client: Any) -> None:
        """Begin a recording, or end it and send it to the client that asked."""
        with self._lock:
            recorder, self._recorder, self._full = self._recorder, None, False
            if recorder is None:
                self._recorder = Recorder(self.viser, len(self.stage.springs), self.stage.shown, self.stage.subject.title)
        self.panel.record.label = "Save recording" if recorder is None else "Start recording"
        if recorder is not None:
            sending = (client, recorder, self.stage.subject.title)
            threading.Thread(target=_send, args=sending, name="taut recording", daemon=True).start()


def _send(client: Any, recorder: Recorder, title: str) -> None:
    name = "".join(c if c.isalnum() else "-" for c in title).strip("-").lower() or "recording"
    client.send_file_download(f"{name}.html", recorder.page().encode(), save_immediately=True)
