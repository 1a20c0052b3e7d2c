"""A run of some cases, and what came of it, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taut.progress import Progress
from taut.validate.case import Case, Result


def run(several: Sequence[Case], progress: Progress | None = None) -> list[Result]:
    """Check the cases, one after the other, and tell how far it is."""
    results = []
    if progress is not None:
        progress.begin("cases", len(several))
    for number, case in enumerate(several):
        if progress is not None:
            progress.at(number, case.name)
        results.append(case.check())
    if progress is not None:
        progress.done()
    return results


def summary(results: Sequence[Result]) -> str:
    """How many pass, in a line.

    >>> summary([])
    '0 analytic cases: 0 pass, 0 miss'
    """
    missed = sum(result.verdict == "miss" for result in results)
    cases = "case" if len(results) == 1 else "cases"
    return f"{len(results)} analytic {cases}: {len(results) - missed} pass, {missed} miss"


def cells(result: Result) -> tuple[str, str, str, str, str]:
    """Expected, got, error, tolerance and verdict in words; of several numbers the one that is furthest off."""
    case, worst = result.case, result.worst
    unit = f" {case.unit}" if case.unit else ""
    of = "" if case.relative else unit
    return (
        f"{case.expected[worst]:.7g}{unit}", f"{result.got[worst]:.7g}{unit}", f"{result.error:.1e}{of}",
        f"{case.tolerance:.1e}{of}", result.verdict,
    )  # fmt: skip


def as_text(results: Sequence[Result]) -> str:
    """A table, what missed in full, and the summary."""
    head = ("case", "expected", "got", "error", "tolerance", "")
    rows = [head, *((result.case.name, *cells(result)) for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for result in results:
        if result.verdict == "miss":
            case = result.case
            lines += ["", f"missed: {case.name}", f"  {case.what}", f"  {case.formula} ({case.source})"]
            lines += [f"  tolerance {case.tolerance:.1e}: {case.why}", *([f"  {result.said}"] if result.said else [])]
    return "\n".join([*lines, "", summary(results)])


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    """Version, counts and cases, for `json.dumps`."""
    from taut import __version__

    missed = sum(result.verdict == "miss" for result in results)
    return {
        "taut": __version__, "passed": len(results) - missed, "missed": missed, "cases": [result.as_json() for result in results],
    }  # fmt: skip
