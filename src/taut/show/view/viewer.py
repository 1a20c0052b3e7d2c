"""All of a viewer: the source, the server, the picture and the panel."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from taut.extras import extra
from taut.run.opening import open_run
from taut.scene import Scene
from taut.scene.part import Part
from taut.show.subject import Piece, Subject, of_run, of_scene, of_system
from taut.show.view.broadcaster import Broadcaster
from taut.show.view.live import Live
from taut.show.view.mouse import Mouse
from taut.show.view.panel import Panel
from taut.show.view.replay import Replay
from taut.show.view.server import Server
from taut.show.view.stage import Stage
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System


class Viewer:
    """A viewer that is open. Made by `view_scene`, `view_run` and `view_system`.

    url : the address to open in a browser; source : the `Live` or `Replay` that is looked at
    """

    def __init__(self, source: Live | Replay, subject: Subject, *, host: str = "127.0.0.1", port: int | None = None) -> None:
        self.source, self.subject = source, subject
        self.server = Server(host, port)
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
    refuse_without_viser()
    built = scene.build()
    subject = of_scene(scene, built)
    return Viewer(
        Live(built.system, built.integrator, built.h, state=built.state, triangles=_triangles(built.bodies), until=built.until),
        subject,
        **options,
    )


def view_system(
    system: System, integrator: Integrator, h: float, *, state: State | None = None, title: str = "", **options: Any
) -> Viewer:
    """A live simulation of a system that was made in Python. h : step [s]; options : host, port"""
    return Viewer(Live(system, integrator, h, state=state), of_system(system, title), **options)


def view_run(folder: str | os.PathLike[str], *, allow_code: bool = False, **options: Any) -> Viewer:
    """The replay of a run in the browser. allow_code : build its laws even if they are Python files; options : host, port"""
    refuse_without_viser()
    with open_run(folder) as run:
        subject = of_run(run, allow_code=allow_code)
    return Viewer(Replay(Path(folder), subject), subject, **options)


def refuse_without_viser() -> None:
    """Refuse early, before a scene is built: MissingExtra where the extra `view` is not installed."""
    extra("view", "viser", "viewers")


def _triangles(bodies: Iterable[Part]) -> Any:
    """The surfaces of all bodies as they are simulated, whatever is drawn in their place, (m, 3) of particles."""
    pieces = [Piece(part.name, part.mesh, part.start, part.stop) for part in bodies]
    return np.concatenate([np.empty((0, 3), np.int64), *(piece.triangles + piece.start for piece in pieces)])
