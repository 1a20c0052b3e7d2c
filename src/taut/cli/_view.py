"""`taut view`: a scene live in the browser, or a run played back."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from taut.cli import _options as options
from taut.errors import escape_unprintable

if TYPE_CHECKING:
    from taut.show.view.viewer import Viewer


@options.with_mesh_options
def view(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SCENE|DIR",
            help="A scene or mesh file, simulated live, or the folder of a run.",
        ),
    ],
    overrides: options.Overrides = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; other machines then need the token in the address."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port, 0 for any (default: the first free one from 8080)."
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
    save: Annotated[
        Path | None,
        typer.Option(help="For a run: write it to a self-contained HTML animation, and exit."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file that --save names.")
    ] = False,
    mesh_options: options.MeshOptions = None,
    allow_outside: options.AllowOutside = False,
    allow_code: options.AllowCode = False,
) -> None:
    """View a scene live in the browser, or a run.

    Drag it with the mouse, change stiffness and wind; Ctrl-C exits.
    """
    from taut.errors import SceneError
    from taut.run.run_folder import FILE
    from taut.show.view.saving import save_run
    from taut.show.view.viewer import view_run, view_scene

    is_run = (Path(what) / FILE).exists()
    if is_run and (overrides or mesh_options):
        raise SceneError(
            [f"{what} is a run: --set and the options of mesh files apply to scenes only"]
        )
    if save is not None:
        if not is_run:
            raise SceneError(
                [
                    f"--save requires a run, but {what} is not the folder of a run; "
                    f"taut run {what} makes one"
                ]
            )
        frames = save_run(what, save, allow_code=allow_code, overwrite=overwrite)
        print(f"wrote {save}: {frames} frames")
    elif is_run:
        _show(view_run(what, allow_code=allow_code, host=host, port=port), no_browser)
    else:
        scene = options.load_scene(
            what,
            overrides,
            allow_outside=allow_outside,
            allow_code=allow_code,
            mesh_options=mesh_options,
        )
        _show(view_scene(scene, host=host, port=port), no_browser)


def _show(viewer: Viewer, no_browser: bool) -> None:
    """Show a viewer until Ctrl-C."""
    is_ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        is_ended.set()

    handlers = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    with viewer:
        print(f"{escape_unprintable(viewer.model.title)}: {viewer.url}", flush=True)
        print("Ctrl-C exits", flush=True)
        if not no_browser:
            _open_browser(viewer.url)
        is_ended.wait()
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _open_browser(url: str) -> None:
    import webbrowser

    try:
        webbrowser.open(url)
    except webbrowser.Error:
        print("no browser was found: open the address yourself")
