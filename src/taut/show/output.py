"""Output files: check their path, select the frames that go in, save figures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from taut.errors import ModelError, did_you_mean
from taut.extras import import_extra
from taut.run.run_folder import open_output

# metadata without dates and versions: the same figure gives the same bytes
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


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


def select_evenly(count: int, limit: int) -> list[int]:
    """Return the numbers of at most `limit` of `count` frames, evenly spaced.

    The i-th of m selected ones is number round(i (n - 1)/(m - 1)), so that the first and the last
    are among them.

    >>> select_evenly(10, 4), select_evenly(3, 600), select_evenly(5, 1)
    ([0, 3, 6, 9], [0, 1, 2], [0])
    """
    selected = min(count, limit)
    return [round(i * (count - 1) / max(selected - 1, 1)) for i in range(selected)]


def save_figure(figure: Any, path: Path) -> None:
    """Write a matplotlib Figure as PNG, SVG or PDF; the same figure gives the same bytes."""
    suffix = path.suffix.lower()
    if suffix not in _METADATA:
        hint = did_you_mean(suffix, _METADATA)
        raise ModelError(
            f"{path}: the suffix of a plot must be one of {', '.join(_METADATA)}, "
            f"got '{suffix}'{hint}"
        )
    # a fixed salt: matplotlib would choose the identifiers in an SVG at random
    fixed_identifiers = import_extra("plot", "matplotlib", "plots").rc_context(
        {"svg.hashsalt": "taut"}
    )
    with open_output(path, binary=True) as stream, fixed_identifiers:
        figure.savefig(stream, format=suffix[1:], dpi=150, metadata=_METADATA[suffix])
