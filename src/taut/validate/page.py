"""The page of a run: validation.md with a table of all cases, their formulas and sources, and pictures in validation/."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from secrets import token_hex

import numpy as np

from taut.errors import ModelError
from taut.validate.case import Case, Float, Result
from taut.validate.plots import draw, require_matplotlib
from taut.validate.run import summary

ROUNDING = 1e-9  # an error below it depends on the machine, and is not told
HEAD = """# Validation

Made by `taut validate --plot docs --overwrite`. Run `taut validate` to check the physics on your machine: every number here is
computed twice, by taut and by a formula from outside of it, and the command ends with 1 if one of them misses.

**{summary}.**

The error is relative to what is expected, or to the scale of the whole where that passes through zero; where zero is expected it
has a unit. Of several numbers the largest error counts. "Rounding" is less than 1e-9. In the pictures dots are what taut gives,
lines the theory. Each tolerance is what the discretisation or the rounding of the case allows, for the reason given below.
"""


class Page:
    """A page to come in a folder: refused at once if it could not be written, or would replace files without `overwrite`."""

    def __init__(self, folder: Path, several: Sequence[Case], *, overwrite: bool = False) -> None:
        require_matplotlib()
        self.folder = folder
        self.pictures = {group: folder / "validation" / f"{group}.svg" for group in dict.fromkeys(case.group for case in several)}
        self.text = folder / "validation.md"
        there = [path for path in (self.text, *self.pictures.values()) if path.exists()]
        if there and not overwrite:
            raise ModelError(f"{there[0]} exists already; --overwrite replaces it")
        try:
            (folder / "validation").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"{folder / 'validation'} cannot be made: {error.strerror}") from error

    def write(self, results: Sequence[Result]) -> list[Path]:
        """Draw and write everything; the files that were written."""
        groups = {group: list(some) for group, some in groupby(results, key=lambda result: result.case.group)}
        for group, some in groups.items():
            _replace(self.pictures[group], draw(some))
        _replace(self.text, markdown(results).encode())
        return [self.text, *self.pictures.values()]


def markdown(results: Sequence[Result]) -> str:
    """The page as text; nothing in it depends on when or how fast it was made."""
    lines = [HEAD.format(summary=summary(results))]
    for group, some in groupby(results, key=lambda result: result.case.group):
        held = list(some)
        lines += [f"## {group.capitalize()}", "", f"![{group}: taut and theory](validation/{group}.svg)", ""]
        lines += ["| case | expected | got | error | tolerance | |", "|---|---|---|---|---|---|"]
        lines += [_row(result) for result in held]
        lines.append("")
        lines += [_notes(result.case) for result in held]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _row(result: Result) -> str:
    case = result.case
    unit = f" {case.unit}" if case.unit else ""
    of = "" if case.relative else unit
    error = "rounding" if result.error < ROUNDING else f"{result.error:.1e}{of}"
    cells = [f"`{case.name}`", numbers(case.expected) + unit, numbers(result.got) + unit, error, f"{case.tolerance:.1e}{of}"]
    return _cells([*cells, result.verdict])


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def numbers(values: Float) -> str:
    """Up to three numbers one by one, more by their range."""
    rounded = [f"{0.0 if abs(value) < ROUNDING else value:.6g}" for value in values]
    if len(set(rounded)) == 1:
        return rounded[0]
    if len(rounded) <= 3:
        return ", ".join(rounded)
    low, high = (rounded[i] for i in (int(np.argmin(values)), int(np.argmax(values))))
    return f"{len(values)} numbers, {low} to {high}"


def _notes(case: Case) -> str:
    return f"- `{case.name}`: {case.what} `{case.formula}`; {case.source}. Tolerance: {case.why}."


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file, then rename over it: a failure leaves what was there."""
    part = path.with_name(f".taut-{token_hex(8)}.part")
    try:
        with open(part, "xb") as stream:
            stream.write(data)
        os.replace(part, path)
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
