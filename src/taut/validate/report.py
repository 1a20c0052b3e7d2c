"""Run validation cases and report the results: a table, JSON, or a page with plots.

The page is FOLDER/validation.md with a table of all cases, their formulas and sources; its plots
are FOLDER/validation/GROUP.svg, one panel for each case. Both are the same on every run.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.atomic_write import atomic_write
from taut.errors import ModelError
from taut.extras import import_extra
from taut.progress import Progress
from taut.validate.cases import Case, Curve, Result

_MAX_ROUNDING_ERROR = 1e-9  # smaller errors depend on the machine, and would change the page
_HEAD = """# Validation

Written by `taut validate --plot docs --overwrite`. Run `taut validate` to check the physics on
your machine: each number below is computed twice, by taut and by an independent formula, and the
command exits with code 1 if any of them differ by more than the tolerance.

**{summary}.**

Errors are relative to the expected number, or to a scale of the problem where the expected number
passes through zero; where zero is expected, the error has a unit. Of several numbers, the largest
error counts. "Rounding" means less than 1e-9. In the plots, dots are results of taut and lines are
theory. Each tolerance follows from the discretisation or the rounding of its case; the reason is
given below each table.
"""
_FONT = "DejaVu Sans"  # comes with matplotlib: text has the same size everywhere
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "validate",
    "font.size": 7,
    "font.family": _FONT,
    "axes.linewidth": 0.6,
}
_COLUMNS = 3  # panels in a row
_PANEL_WIDTH, _PANEL_HEIGHT = 2.5, 1.75  # inches
_MAX_DOTS, _MAX_LINE_POINTS = 20, 70  # keep each SVG below 60 kB


def check_cases(cases: Sequence[Case], progress: Progress | None = None) -> list[Result]:
    """Check the cases one after another and report progress."""
    results = []
    if progress is not None:
        progress.start("cases", len(cases))
    for number, case in enumerate(cases):
        if progress is not None:
            progress.update(number, case.name)
        results.append(case.check())
    if progress is not None:
        progress.finish()
    return results


def summarise(results: Sequence[Result]) -> str:
    """Count passes and misses in one line.

    >>> summarise([])
    '0 analytic cases: 0 pass, 0 miss'
    """
    missed = sum(result.verdict == "miss" for result in results)
    noun = "case" if len(results) == 1 else "cases"
    return f"{len(results)} analytic {noun}: {len(results) - missed} pass, {missed} miss"


def format_table(results: Sequence[Result]) -> str:
    """Format a table for the terminal, details of the misses, and the summary."""
    rows = [("case", "expected", "got", "error", "tolerance", "")]
    for result in results:
        case, worst = result.case, result.worst
        unit, error_unit = _units(case)
        expected = f"{case.expected[worst]:.7g}{unit}"
        got = f"{result.got[worst]:.7g}{unit}"
        error = f"{result.error:.1e}{error_unit}"
        tolerance = f"{case.tolerance:.1e}{error_unit}"
        rows.append((case.name, expected, got, error, tolerance, result.verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for result in results:
        if result.verdict == "miss":
            case = result.case
            lines += ["", f"missed: {case.name}", f"  {case.description}"]
            lines += [f"  {case.formula} ({case.source})"]
            lines += [f"  tolerance {case.tolerance:.1e}: {case.reason}"]
            if result.message:
                lines.append(f"  {result.message}")
    return "\n".join([*lines, "", summarise(results)])


def _units(case: Case) -> tuple[str, str]:
    """Return the suffixes of the numbers and of the error: a space and the unit, or nothing."""
    if not case.unit:
        return "", ""
    unit = f" {case.unit}"
    if case.is_relative:
        return unit, ""
    return unit, unit


def to_json(results: Sequence[Result]) -> dict[str, Any]:
    """Convert to a dictionary for `json.dumps`: version, counts and cases."""
    from taut import __version__

    missed = sum(result.verdict == "miss" for result in results)
    return {
        "taut": __version__,
        "passed": len(results) - missed,
        "missed": missed,
        "cases": [result.to_json() for result in results],
    }


class Page:
    """The page of a run, in a folder.

    Missing matplotlib, a folder that cannot be created and existing files (without `overwrite`)
    raise here, before the cases run, since the run takes about a minute.
    """

    def __init__(self, folder: Path, cases: Sequence[Case], *, overwrite: bool = False) -> None:
        _require_matplotlib()
        self.text = folder / "validation.md"
        self.plots = {case.group: folder / "validation" / f"{case.group}.svg" for case in cases}
        existing = [path for path in (self.text, *self.plots.values()) if path.exists()]
        if existing and not overwrite:
            raise ModelError(f"{existing[0]} exists already; --overwrite replaces it")
        try:
            (folder / "validation").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(
                f"the folder {folder / 'validation'} cannot be created: {error.strerror}"
            ) from error

    def write(self, results: Sequence[Result]) -> list[Path]:
        """Write the plots and the text; return the paths."""
        for group, members in groupby(results, key=lambda result: result.case.group):
            _replace(self.plots[group], draw(list(members)))
        _replace(self.text, format_markdown(results).encode())
        return [self.text, *self.plots.values()]


def format_markdown(results: Sequence[Result]) -> str:
    """Format the page; it contains no dates, durations or rounding errors."""
    lines = [_HEAD.format(summary=summarise(results))]
    for group, members in groupby(results, key=lambda result: result.case.group):
        in_group = list(members)
        lines += [f"## {group.capitalize()}", ""]
        lines += [f"![{group}: taut and theory](validation/{group}.svg)", ""]
        lines += ["| case | expected | got | error | tolerance | |", "|---|---|---|---|---|---|"]
        lines += [_format_row(result) for result in in_group]
        lines.append("")
        lines += [_format_notes(result.case) for result in in_group]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _format_row(result: Result) -> str:
    case = result.case
    unit, error_unit = _units(case)
    error = f"{result.error:.1e}{error_unit}"
    if result.error < _MAX_ROUNDING_ERROR:
        error = "rounding"
    expected, got = format_numbers(case.expected) + unit, format_numbers(result.got) + unit
    tolerance = f"{case.tolerance:.1e}{error_unit}"
    return _join_cells([f"`{case.name}`", expected, got, error, tolerance, result.verdict])


def _join_cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def format_numbers(values: Float) -> str:
    """Format up to three numbers one by one, more by their range."""
    rounded = [f"{0.0 if abs(value) < _MAX_ROUNDING_ERROR else value:.6g}" for value in values]
    if len(set(rounded)) == 1:
        return rounded[0]
    if len(rounded) <= 3:
        return ", ".join(rounded)
    low, high = rounded[int(np.argmin(values))], rounded[int(np.argmax(values))]
    return f"{len(values)} numbers, {low} to {high}"


def _format_notes(case: Case) -> str:
    note = f"- `{case.name}`: {case.description} `{case.formula}`; {case.source}."
    return f"{note} Tolerance: {case.reason}."


def _replace(path: Path, data: bytes) -> None:
    """Write the whole file, or leave the old one."""
    try:
        atomic_write(path, data, overwrite=True, durable=False)
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror}") from error


def _require_matplotlib() -> Any:
    return import_extra("plot", "matplotlib", "plots")


def draw(results: Sequence[Result]) -> bytes:
    """Draw an SVG with a panel for each case."""
    mpl = _require_matplotlib()
    from matplotlib.figure import Figure

    rows, columns = ceil(len(results) / _COLUMNS), min(_COLUMNS, len(results))
    with mpl.rc_context(_STYLE):
        size = (_PANEL_WIDTH * columns, _PANEL_HEIGHT * rows)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, result in zip(panels, results, strict=False):
            _draw_panel(axes, result)
        for axes in panels[len(results) :]:
            axes.set_axis_off()
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return _compact_svg(file.getvalue().decode()).encode()


def _compact_svg(svg: str) -> str:
    """Halve the size: two decimals, a generic font, no identifiers, no rotations by zero."""
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", svg.replace(f"'{_FONT}'", "sans-serif"))
    svg = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", svg)
    return re.sub(r"\n\s+", "\n", svg)


def _draw_panel(axes: Any, result: Result) -> None:
    title_colour, dot_colour = "black", "tab:blue"
    if result.verdict == "miss":
        title_colour, dot_colour = "tab:red", "tab:red"
    axes.set_title(result.case.name, fontsize=7, color=title_colour)
    axes.tick_params(length=2, width=0.5, pad=1.5)
    axes.locator_params(nbins=4)
    curve = result.curve
    if curve is None:
        axes.text(0.5, 0.5, "no result", ha="center", va="center", transform=axes.transAxes)
        return
    theory_x = curve.x if curve.theory_x is None else curve.theory_x
    axes.plot(*_decimate(theory_x, curve.theory, _MAX_LINE_POINTS), color="0.55", lw=1.0)
    axes.plot(*_decimate(curve.x, curve.got, _MAX_DOTS), "o", color=dot_colour, ms=2.2, mew=0)
    axes.set_xlabel(curve.x_label, labelpad=1)
    axes.set_ylabel(curve.y_label, labelpad=1)
    if curve.equal_axes:
        axes.set_aspect("equal", "datalim")
    else:
        _widen_constant(axes, curve)


def _decimate(x: Any, y: Any, most: int) -> tuple[Any, Any]:
    """Keep at most `most` points, evenly spaced, including the first and the last."""
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    keep = np.unique(np.linspace(0, len(x) - 1, min(most, len(x))).round().astype(int))
    return x[keep], y[keep]


def _widen_constant(axes: Any, curve: Curve) -> None:
    """Widen the axis of a nearly constant curve, so that its rounding does not fill the panel."""
    values = np.concatenate([np.ravel(curve.got), np.ravel(curve.theory)])
    centre, size = values.mean(), np.abs(values).max()
    if np.ptp(values) < 0.05 * size:
        axes.set_ylim(centre - 0.1 * size, centre + 0.1 * size)
