"""A figure as a file, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taut.errors import ModelError, did_you_mean
from taut.extras import extra
from taut.run.folder import whole

KINDS = (".png", ".svg", ".pdf")


def save(figure: Any, path: Path) -> None:
    """Write a matplotlib Figure as PNG, SVG or PDF; the same figure gives the same bytes."""
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise ModelError(f"{path}: plots are {', '.join(KINDS)}, not '{kind}'{did_you_mean(kind, KINDS)}")
    undated: dict[str, Any] = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    salted = extra("plot", "matplotlib", "plots").rc_context({"svg.hashsalt": "taut"})  # names within the file are not drawn by lot
    with whole(path, binary=True) as stream, salted:
        figure.savefig(stream, format=kind[1:], dpi=150, metadata=undated[kind])
