"""Check the path of an output file before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

from taut.errors import ModelError


def check_output_path(path: Path, *, overwrite: bool) -> None:
    """Raise ModelError if the output exists, unless overwrite is set, or has no folder to go to.

    >>> import tempfile
    >>> check_output_path(Path(tempfile.mkdtemp()) / "new.png", overwrite=False)
    """
    if path.is_dir():
        raise ModelError(f"{path} is a folder")
    if not path.parent.is_dir():
        raise ModelError(f"{path} cannot be written: there is no folder {path.parent}")
    if os.path.lexists(path) and not overwrite:
        raise ModelError(f"{path} exists already; --overwrite replaces it")
