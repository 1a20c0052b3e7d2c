"""The table of records in a Markdown page, between two marks; the rest of the page stays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.reliability.record import Record
from benchmarks.reliability.table import as_markdown
from taut.atomic_write import atomic_write
from taut.errors import ModelError

BEGIN, END = "<!-- the record: begin -->", "<!-- the record: end -->"


class Page:
    """A page for the table: an existing file with both marks, or a new file.

    Campaigns that are not run keep their rows.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "page.md"
    >>> for trials in (10, 20):
    ...     Page(path).write([Record("soak", trials, "steps")])
    >>> path.read_text().count("soak"), "20 steps" in path.read_text()
    (1, True)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else f"{BEGIN}\n{END}\n"
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"{path}: the page cannot be read: {error}") from error
        self.before, begin, rest = text.partition(BEGIN)
        between, end, self.after = rest.partition(END)
        self.kept = between.splitlines()
        if not (begin and end):
            raise ModelError(
                f"{path}: the page must have the lines '{BEGIN}' and '{END}'; the table is written "
                "between them"
            )
        if not os.access(path.parent, os.W_OK):
            raise ModelError(f"{path}: the folder of the page must be writable")

    def write(self, records: Sequence[Record]) -> None:
        """Write the page with the new rows between the marks, atomically."""
        text = f"{self.before}{BEGIN}\n{as_markdown(records, self.kept)}\n{END}{self.after}"
        try:
            atomic_write(self.path, text, overwrite=True, durable=False)
        except OSError as error:
            raise ModelError(f"{self.path}: the page cannot be written: {error}") from error
