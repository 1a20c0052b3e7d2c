"""A VTK window without a screen.

On Linux, VTK is asked for EGL, which draws without an X server, on a graphics card or in software.
Without a driver for EGL, VTK falls back to OSMesa if that is installed. With neither, VTK would
crash at its first picture; `open_plotter` raises MissingExtra before that.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taut.errors import MissingExtra
from taut.extras import import_extra

_WINDOW_VARIABLE = "VTK_DEFAULT_OPENGL_WINDOW"
_OSMESA_LIBRARIES = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")


def open_plotter(size: tuple[int, int]) -> Any:
    """Open an off-screen `pyvista.Plotter` without lights; MissingExtra if OpenGL is missing.

    size : width and height [pixels]
    """
    pyvista = import_extra("render", "pyvista", "pictures")
    with _silence_vtk(), _prefer_egl():
        plotter = pyvista.Plotter(off_screen=True, window_size=list(size), lighting="none")
        window = type(plotter.render_window).__name__
    if window == "vtkOSOpenGLRenderWindow" and not any(map(_can_load, _OSMESA_LIBRARIES)):
        plotter.close()
        raise MissingExtra(
            "pictures need OpenGL, and there is neither a driver for EGL nor OSMesa: "
            "install one of them, for example with apt install libegl1 libgl1-mesa-dri"
        )
    plotter.enable_anti_aliasing("ssaa")  # every pixel of an edge: multisampling is often missing
    return plotter


@contextmanager
def _silence_vtk() -> Iterator[None]:
    """Suppress the messages of VTK about the windows that it cannot open."""
    logger = import_extra("render", "vtkmodules.vtkCommonCore", "pictures").vtkLogger
    before = logger.GetCurrentVerbosityCutoff()
    logger.SetStderrVerbosity(logger.VERBOSITY_OFF)
    try:
        yield
    finally:
        logger.SetStderrVerbosity(before)


@contextmanager
def _prefer_egl() -> Iterator[None]:
    """Let VTK try EGL first, unless the user has chosen another window."""
    if sys.platform != "linux" or _WINDOW_VARIABLE in os.environ:
        yield
        return
    os.environ[_WINDOW_VARIABLE] = "vtkEGLRenderWindow"
    try:
        yield
    finally:
        del os.environ[_WINDOW_VARIABLE]


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
