"""Tables: for numpy and pandas, as aligned text, and as CSV files, written whole or not at all."""

from __future__ import annotations

import csv
import io
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from taut.atomic_write import atomic_write
from taut.errors import ModelError


class Table(ABC):
    """Something with named columns, whose rows `pandas.DataFrame` reads.

    pandas iterates over what it does not know, and takes dictionaries as rows. `__array__` with a
    structured array would be shorter, but pandas then has a single column of tuples.
    """

    @abstractmethod
    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, all of one length."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows: name of the column → value."""
        columns = {name: column.tolist() for name, column in self.columns().items()}
        for row in zip(*columns.values(), strict=True):
            yield dict(zip(columns, row, strict=True))


def write_csv(
    path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a table as CSV; an older file stays until the new one is complete.

    nan becomes an empty cell, True and False become 1 and 0.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> rows = [["a", 1.5, True], ["b", float("nan"), False]]
    >>> write_csv(file, ["name", "force_N", "slack"], rows)
    >>> file.read_text().splitlines()
    ['name,force_N,slack', 'a,1.5,1', 'b,,0']
    """
    try:
        file = Path(path)
    except TypeError as error:
        raise ModelError(f"the path of a table must be a path, got {path!r}") from error
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_to_cell(value) for value in row] for row in rows)
    _replace(file, text.getvalue())


def _to_cell(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return "" if isinstance(value, float) and math.isnan(value) else value


def _replace(path: Path, text: str) -> None:
    """Write the file whole, or leave the old one."""
    if not path.parent.is_dir():
        raise ModelError(f"{path} cannot be written: there is no folder {path.parent}")
    try:
        atomic_write(path, text, overwrite=True)
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror}") from error


def format_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as text, the first column aligned left, the others right.

    >>> print(format_table(["law", "J"], [["spring", 0.25], ["drag", -10.0]]))
    law        J
    spring  0.25
    drag     -10
    """
    table = [list(header), *([_to_text(value) for value in row] for row in rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = (
        "  ".join(
            c.rjust(w) if k else c.ljust(w) for k, (c, w) in enumerate(zip(r, widths, strict=True))
        )
        for r in table
    )
    return "\n".join(line.rstrip() for line in lines)


def _to_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
