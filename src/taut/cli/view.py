"""`taut view`: a scene live in the browser, or a run played back."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from taut.cli import options
from taut.cli.mesh_options import OfMesh, with_mesh_options
from taut.errors import plain


@with_mesh_options
def view(
    what: Annotated[str, typer.Argument(metavar="SCENE|DIR", help="A scene or mesh file, simulated live, or the folder of a run.")],
    changes: options.Changes = None,
    host: Annotated[
        str, typer.Option(help="Listen here; others than this machine then need the token in the address.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port, 0 for any (default: the first free one from 8080).")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
    save: Annotated[Path | None, typer.Option(help="Of a run: write it to this HTML file, which plays by itself, and end.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that --save names.")] = False,
    of_mesh: OfMesh = None,
    allow_outside: options.Outside = False,
    allow_code: options.Code = False,
) -> None:
    """Look at a scene live in the browser, or at a run. Drag it, turn its stiffness and the wind; Ctrl-C ends it."""
    from taut.errors import SceneError
    from taut.run.connection import FILE
    from taut.show.view.saving import save_run
    from taut.show.view.viewer import view_run, view_scene

    is_run = (Path(what) / FILE).exists()
    if is_run and (changes or of_mesh):
        raise SceneError([f"{what} is a run: --set and the options of mesh files change scenes, before they are run"])
    if save is not None:
        if not is_run:
            raise SceneError([f"{what} is not the folder of a run: --save writes runs; taut run {what} makes one"])
        frames = save_run(what, save, allow_code=allow_code, overwrite=overwrite)
        print(f"wrote {save}: {frames} frames")
        return
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    if is_run:
        viewer = view_run(what, allow_code=allow_code, host=host, port=port)
    else:
        scene = options.scene_of(what, changes, allow_outside=allow_outside, allow_code=allow_code, of_mesh=of_mesh)
        viewer = view_scene(scene, host=host, port=port)
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    with viewer:
        print(f"{plain(viewer.subject.title)}: {viewer.url}", flush=True)
        print("Ctrl-C ends it", flush=True)
        if not no_browser:
            _open(viewer.url)
        ended.wait()
        for number, handler in before.items():
            signal.signal(number, handler)


def _open(url: str) -> None:
    """Open an address in the user's browser, if there is one."""
    import webbrowser

    try:
        webbrowser.open(url)
    except webbrowser.Error:
        print("no browser was found: open the address in one")
