"""Tables for people and for other programs: aligned text, and CSV files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from secrets import token_hex

from taut.errors import ModelError


def write_csv(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table; an older file stays until the new one is complete. What is not a number is left empty, yes and no are 1 and 0.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> write_csv(file, ["name", "force_N", "slack"], [["a", 1.5, True], ["b", float("nan"), False]])
    >>> file.read_text().splitlines()
    ['name,force_N,slack', 'a,1.5,1', 'b,,0']
    """
    try:
        file = Path(path)
    except TypeError as error:
        raise ModelError(f"a table is written to a path, not to {path!r}") from error
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    _replace(file, text.getvalue())


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return "" if isinstance(value, float) and math.isnan(value) else value


def _replace(path: Path, text: str) -> None:
    """Write beside the file, then rename over it."""
    if not path.parent.is_dir():
        raise ModelError(f"{path} cannot be written: there is no folder {path.parent}")
    part = path.with_name(f".taut-{token_hex(8)}.part")
    try:
        with open(part, "x", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def aligned(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as text, the first column to the left and the others to the right.

    >>> print(aligned(["law", "J"], [["spring", 0.25], ["drag", -10.0]]))
    law        J
    spring  0.25
    drag     -10
    """
    table = [list(header), *([_shown(value) for value in row] for row in rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = ("  ".join(c.rjust(w) if k else c.ljust(w) for k, (c, w) in enumerate(zip(r, widths, strict=True))) for r in table)
    return "\n".join(line.rstrip() for line in lines)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
