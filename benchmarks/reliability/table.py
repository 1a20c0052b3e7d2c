"""Format records as a table, for a terminal and for a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.reliability.campaigns import SIZES
from benchmarks.reliability.record import Record

HEAD = ("campaign", "trials", "failures", "95% bound", "seconds", "")


def format_cells(record: Record) -> tuple[str, ...]:
    """Return the cells of the row of one campaign.

    >>> format_cells(Record("kill", 300, "kills", seconds=61.2))
    ('kill', '300 kills', '0', '0.01', '61', 'pass')
    """
    if record.skipped:
        return (record.name, "-", "-", "-", "-", "skipped")
    trials = f"{record.trials:,} {record.unit}"
    return (
        record.name,
        trials,
        str(len(record.failures)),
        f"{record.bound:.2g}",
        f"{record.seconds:.0f}",
        record.verdict,
    )


def format_counts(record: Record) -> str:
    """Return the counts and the note of a campaign as text.

    >>> format_counts(Record("kill", 300, "kills", counts={"ended": 61}, note="a run takes 0.3 s"))
    '61 ended; a run takes 0.3 s'
    """
    counted = ", ".join(f"{count:,} {what}" for what, count in record.counts.items())
    return "; ".join(filter(None, [record.skipped, counted, record.note]))


def as_text(records: Sequence[Record]) -> str:
    """Return the table for a terminal, with counts and failures below each row.

    >>> print(as_text([Record("soak", 10, "steps", note="memory grew by 0.0 MB")]))
    campaign     trials              failures  95% bound  seconds
    soak         10 steps            0         0.3        0        pass
                 memory grew by 0.0 MB
    """
    lines = [_align(HEAD)]
    for record in records:
        below = [format_counts(record), *(f"FAILED: {failure}" for failure in record.failures)]
        lines += [_align(format_cells(record)), *(f"{'':13}{text}" for text in below if text)]
    return "\n".join(lines)


def as_markdown(records: Sequence[Record], kept: Sequence[str] = ()) -> str:
    """Return the table for a page, and a list of all failures.

    kept : lines of an older table; those of campaigns that have no new record stay

    >>> kept = ["| `kill` | 200 kills |", "- `soak`: step 3"]
    >>> print(as_markdown([Record("soak", 10, "steps")], kept))
    | campaign | trials | failures | 95% bound | seconds |  | counted |
    | --- | --- | --- | --- | --- | --- | --- |
    | `kill` | 200 kills |
    | `soak` | 10 steps | 0 | 0.3 | 0 | pass |  |
    """
    made = {record.name for record in records}
    lines = [
        line for line in kept if line.startswith(("| `", "- `")) and line.split("`")[1] not in made
    ]
    lines += [
        _row([f"`{record.name}`", *format_cells(record)[1:], format_counts(record)])
        for record in records
    ]
    lines += [f"- `{record.name}`: {failure}" for record in records for failure in record.failures]
    order = list(SIZES)
    lines.sort(key=lambda line: (line.startswith("-"), order.index(line.split("`")[1])))
    failures = [line for line in lines if line.startswith("-")]
    rows = [line for line in lines if not line.startswith("-")]
    return "\n".join(
        [_row([*HEAD, "counted"]), _row(["---"] * 7), *rows, *([""] if failures else []), *failures]
    )


def _row(entries: Sequence[str]) -> str:
    return f"| {' | '.join(entries)} |"


def _align(row: Sequence[str]) -> str:
    widths = (13, 20, 10, 11, 9, 0)
    return "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
