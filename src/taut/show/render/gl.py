"""A canvas of VTK without a screen.

On Linux VTK is asked for EGL, which draws without an X server, on a graphics card or in software. Where there is no driver for it,
VTK takes OSMesa, if that is installed. Without either it would crash at its first picture, so it is not let that far.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taut.errors import MissingExtra
from taut.extras import extra

WINDOW = "VTK_DEFAULT_OPENGL_WINDOW"
OSMESA = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")


def canvas(size: tuple[int, int]) -> Any:
    """An off-screen `pyvista.Plotter` of a width and height [pixels], without lights; MissingExtra where OpenGL is missing."""
    pyvista = extra("render", "pyvista", "pictures")
    with _quietly(), _without_screen():
        made = pyvista.Plotter(off_screen=True, window_size=list(size), lighting="none")
        kind = type(made.render_window).__name__
    if kind == "vtkOSOpenGLRenderWindow" and not any(map(_loads, OSMESA)):
        made.close()
        raise MissingExtra(
            "pictures need OpenGL, and there is neither a driver for EGL nor OSMesa: install one of them, "
            "such as with apt install libegl1 libgl1-mesa-dri"
        )
    return made


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what VTK says of the windows that it tries in vain."""
    logger = extra("render", "vtkmodules.vtkCommonCore", "pictures").vtkLogger
    before = logger.GetCurrentVerbosityCutoff()
    logger.SetStderrVerbosity(logger.VERBOSITY_OFF)
    try:
        yield
    finally:
        logger.SetStderrVerbosity(before)


@contextmanager
def _without_screen() -> Iterator[None]:
    """VTK is asked for EGL first, unless the user asks for another window."""
    if sys.platform != "linux" or WINDOW in os.environ:
        yield
        return
    os.environ[WINDOW] = "vtkEGLRenderWindow"
    try:
        yield
    finally:
        del os.environ[WINDOW]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
