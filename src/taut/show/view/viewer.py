"""The viewer: a source of snapshots, a server, a scene graph and a panel, and what connects them.

The `Broadcaster` takes the newest snapshot `_MAX_RATE` times per second at most, and less often the
more viewers there are, so that they do not slow down the simulation. Snapshots that
were not sent are dropped. For a browser that does not read, one update waits, and newer ones
replace it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from taut.run.open_run import open_run
from taut.scene import Part, Scene
from taut.show.view._panel import Panel
from taut.show.view._picking import Pointer
from taut.show.view._plots import History
from taut.show.view._replay import Replay
from taut.show.view._scene_graph import SceneGraph
from taut.show.view._snapshot import Snapshot
from taut.show.view.live import Live
from taut.show.view.saving import Recorder
from taut.show.view.server import Server, require_viser
from taut.show.visual_model import (
    VisualBody,
    VisualModel,
    model_from_run,
    model_from_scene,
    model_from_system,
)
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

# Updates of the picture per second: to each viewer, to all of them together, and without any.
_MAX_RATE, _MAX_TOTAL_RATE, _IDLE_RATE = 30.0, 240.0, 5.0
_UNWATCHED_SECONDS = 10.0  # after which it pauses; reloading a page takes less
_STATUS_RATE, _PLOT_RATE = 5.0, 2.0  # updates of the panel per second


class Viewer:
    """An open viewer, made by `view_scene`, `view_run` or `view_system`.

    url : the address to open in a browser; source : the `Live` or `Replay` that is shown
    """

    def __init__(
        self,
        source: Live | Replay,
        model: VisualModel,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
    ) -> None:
        self.source, self.model = source, model
        self.server = Server(host, port)
        try:
            self._add_contents()
        except BaseException:
            self.server.close()
            raise
        source.start()
        self.broadcaster.start()

    def _add_contents(self) -> None:
        viser, source = self.server.viser, self.source
        self.graph = SceneGraph(viser, self.model, source.newest)
        self.panel = Panel(
            viser,
            self.server.protocol,
            source,
            self.graph,
            lambda client: self.broadcaster.toggle_recording(client),
        )
        self.broadcaster = Broadcaster(viser, source, self.graph, self.panel)
        if isinstance(source, Live):
            self.pointer = Pointer(self.graph, source, lambda: self.panel.is_pinning)

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        return self.server.url

    def close(self) -> None:
        """End the simulation, disconnect all browsers and free the port."""
        self.broadcaster.close()
        self.source.close()
        self.server.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def view_scene(scene: Scene, **options: Any) -> Viewer:
    """Open a live simulation of a scene; options : host, port.

    >>> from taut.scene import load
    >>> with view_scene(load("spring"), port=0) as viewer:
    ...     viewer.source.step()
    ...     viewer.source.wait(lambda now: now.step == 1).step
    1
    """
    require_viser()  # before a scene is built, which may take long
    built = scene.build()
    model = model_from_scene(scene, built)
    live = Live(
        built.system,
        built.integrator,
        built.h,
        state=built.state,
        triangles=_simulated_surface(built.bodies),
        until=built.until,
    )
    return Viewer(live, model, **options)


def view_system(
    system: System,
    integrator: Integrator,
    h: float,
    *,
    state: State | None = None,
    title: str = "",
    **options: Any,
) -> Viewer:
    """Open a live simulation of a system made in Python; h : step [s]; options : host, port."""
    return Viewer(
        Live(system, integrator, h, state=state), model_from_system(system, title), **options
    )


def view_run(folder: str | os.PathLike[str], *, allow_code: bool = False, **options: Any) -> Viewer:
    """Open the replay of a run.

    allow_code : build laws that are Python files in the run folder, which runs their code
    options : host, port
    """
    require_viser()
    with open_run(folder) as run:
        model = model_from_run(run, allow_code=allow_code)
    return Viewer(Replay(Path(folder), model), model, **options)


def _simulated_surface(bodies: Iterable[Part]) -> Any:
    """Return the triangles of all simulated meshes, (m, 3), whatever is drawn in their place."""
    triangles = [np.empty((0, 3), np.int64)]
    for part in bodies:
        piece = VisualBody(part.name, part.mesh, part.start, part.stop)
        triangles.append(piece.triangles + piece.start)
    return np.concatenate(triangles)


class Broadcaster:
    """A thread that sends the newest snapshot of a source to the scene graph and the panel.

    updates : number of snapshots sent
    """

    def __init__(self, viser: Any, source: Live | Replay, graph: SceneGraph, panel: Panel) -> None:
        self.viser, self.source, self.graph, self.panel = viser, source, graph, panel
        self.updates = 0
        self.history = History()
        self._recorder: Recorder | None = None
        self._is_full = False  # of the recorder
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="taut broadcaster", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def rate(self) -> float:
        """Updates per second for the present number of viewers."""
        viewers = len(self.viser.get_clients())
        if not viewers:
            return _IDLE_RATE
        return min(_MAX_RATE, _MAX_TOTAL_RATE / viewers)

    def _run(self) -> None:
        status_time = plot_time = 0.0
        watched_time: float | None = None  # when somebody was last seen watching
        shown: Snapshot | None = None
        shown_status: tuple[Snapshot, int] | None = None
        while not self._closing.wait(1.0 / self.rate):
            started = time.perf_counter()
            now, viewers = self.source.newest, len(self.viser.get_clients())
            if viewers:
                watched_time = started
            elif watched_time is not None and started - watched_time > _UNWATCHED_SECONDS:
                # A browser that was closed must not leave a simulation running for hours.
                watched_time = None
                self.source.pause()
            if now is not shown:
                self._show(now)
                shown = now
            if started - status_time > 1.0 / _STATUS_RATE and (now, viewers) != shown_status:
                status_time, shown_status = started, (now, viewers)
                self.panel.show(now, viewers)
            if started - plot_time > 1.0 / _PLOT_RATE:
                plot_time = started
                if isinstance(self.source, Replay):
                    self.panel.plots.show(self.source.table)
                else:
                    self.panel.plots.show(self.history.table())

    def _show(self, now: Snapshot) -> None:
        with self._lock:
            self._record(now)
            # A paused picture must be complete: no later snapshot would bring the rest.
            self.graph.show(now, complete=not now.playing, rate=self.rate)
        self.history.add_snapshot(now)
        self.updates += 1

    def _record(self, now: Snapshot) -> None:
        recorder = self._recorder
        if recorder is not None and not self._is_full and not recorder.add(now):
            self._is_full = True
            # Ends the recording, in a separate thread because it takes long.
            threading.Thread(target=recorder.make_page, name="taut recording", daemon=True).start()
            self.panel.record_button.label = "Save recording (full)"

    def toggle_recording(self, client: Any) -> None:
        """Start a recording, or end it and send it to the client."""
        with self._lock:
            recorder, self._recorder, self._is_full = self._recorder, None, False
            if recorder is None:
                graph = self.graph
                self._recorder = Recorder(
                    self.viser, len(graph.springs), graph.snapshot, graph.model.title
                )
        if recorder is None:
            self.panel.record_button.label = "Save recording"
            return
        self.panel.record_button.label = "Start recording"
        arguments = (client, recorder, self.graph.model.title)
        threading.Thread(
            target=_send_recording, args=arguments, name="taut recording", daemon=True
        ).start()


def _send_recording(client: Any, recorder: Recorder, title: str) -> None:
    name = "".join(c if c.isalnum() else "-" for c in title).strip("-").lower() or "recording"
    page = recorder.make_page().encode()
    client.send_file_download(f"{name}.html", page, save_immediately=True)
