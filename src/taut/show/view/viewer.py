"""All of a viewer: the source, the server, the picture and the panel."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from taut.extras import extra
from taut.run.opening import open_run
from taut.scene import Scene
from taut.show.subject import Subject, of_run, of_scene, of_system
from taut.show.view.broadcaster import Broadcaster
from taut.show.view.live import Live
from taut.show.view.mouse import Mouse
from taut.show.view.panel import Panel
from taut.show.view.recording import Recorder, write_page
from taut.show.view.replay import Replay
from taut.show.view.server import Server
from taut.show.view.stage import Stage
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

MOST_FRAMES = 600  # in a page that is saved


class Viewer:
    """A viewer that is open. Made by `view_scene`, `view_run` and `view_system`.

    url : the address to open in a browser; source : the `Live` or `Replay` that is looked at
    """

    def __init__(self, source: Live | Replay, subject: Subject, *, host: str = "127.0.0.1", port: int | None = None) -> None:
        self.source, self.subject = source, subject
        self.server = Server(host, port, title="taut")
        try:
            self._furnish()
        except BaseException:
            self.server.close()
            raise
        source.start()
        self.broadcaster.start()

    def _furnish(self) -> None:
        viser, source = self.server.viser, self.source
        self.stage = Stage(viser, self.subject, source.newest)
        self.panel = Panel(viser, self.server.wire, source, self.stage, lambda client: self.broadcaster.save(client))
        self.broadcaster = Broadcaster(viser, source, self.stage, self.panel)
        if isinstance(source, Live):
            self.mouse = Mouse(self.stage, source, lambda: self.panel.clicks)

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        return self.server.url

    def close(self) -> None:
        """End the simulation, let the browsers go and free the port."""
        self.broadcaster.close()
        self.source.close()
        self.server.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def view_scene(scene: Scene, **options: Any) -> Viewer:
    """A live simulation of a scene in the browser. options : host, port

    >>> from taut.scene import load
    >>> with view_scene(load("spring"), port=0) as viewer:
    ...     viewer.source.step()
    ...     viewer.source.wait(lambda now: now.step == 1).step
    1
    """
    _needed()
    built = scene.build()
    subject = of_scene(scene, built)
    return Viewer(
        Live(built.system, built.integrator, built.h, state=built.state, triangles=_triangles(subject)), subject, **options
    )


def view_system(
    system: System, integrator: Integrator, h: float, *, state: State | None = None, title: str = "", **options: Any
) -> Viewer:
    """A live simulation of a system that was made in Python. h : step [s]; options : host, port"""
    return Viewer(Live(system, integrator, h, state=state), of_system(system, title), **options)


def view_run(folder: str | os.PathLike[str], *, allow_code: bool = False, **options: Any) -> Viewer:
    """The replay of a run in the browser. allow_code : build its laws even if they are Python files; options : host, port"""
    _needed()
    with open_run(folder) as run:
        subject = of_run(run, allow_code=allow_code)
    return Viewer(Replay(Path(folder), subject.held), subject, **options)


def save_run(
    folder: str | os.PathLike[str], path: str | os.PathLike[str], *, allow_code: bool = False, overwrite: bool = False
) -> int:
    """Write a run as one HTML file that plays by itself; gives the number of frames in it, at most 600, evenly chosen."""
    _needed()
    with open_run(folder) as run:
        subject = of_run(run, allow_code=allow_code)
        count = len(run.frames)
        every = max(1, -(-count // MOST_FRAMES))
        replay = Replay(Path(folder), subject.held)
        server = Server(port=0)
        try:
            stage = Stage(server.viser, subject, replay.newest)
            recorder = Recorder(server.viser, len(stage.springs), replay.newest, subject.title)
            for frame in run.frames[every::every]:
                now = replace(replay.newest, step=frame.step, t=frame.t, q=frame.q)
                recorder.look(now)
                stage.show(now, whole=True)
            page = recorder.page()
        finally:
            server.close()
    write_page(Path(path), page, overwrite=overwrite)
    return recorder.frames


def _needed() -> None:
    """Refuse early, before a scene is built."""
    extra("view", "viser", "viewers")


def _triangles(subject: Subject) -> Any:
    """The surfaces of all bodies that are drawn as they are simulated, (m, 3) of particles."""
    own = [piece.triangles + piece.start for piece in subject.pieces if piece.embedding is None and len(piece.triangles)]
    return np.concatenate([np.empty((0, 3), np.int64), *own])
