"""Whether a file may be written where a user wants it."""

from __future__ import annotations

import os
from pathlib import Path

from taut.errors import ModelError


def check_free(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that is there, unless it shall be replaced, and a place where none can be: ModelError.

    >>> import tempfile
    >>> check_free(Path(tempfile.mkdtemp()) / "new.png", overwrite=False)
    """
    if path.is_dir():
        raise ModelError(f"{path} is a folder")
    if not path.parent.is_dir():
        raise ModelError(f"{path} cannot be written: there is no folder {path.parent}")
    if os.path.lexists(path) and not overwrite:
        raise ModelError(f"{path} is there already; --overwrite replaces it")
