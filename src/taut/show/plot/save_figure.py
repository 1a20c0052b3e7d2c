"""Save a figure to a file, atomically."""

from __future__ import annotations

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
