"""All rows of the benchmark by name, and a run of some of them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from taut.bench.checkout import import_benchmarks
from taut.bench.growth import iterations, scaling, threads_row
from taut.bench.processes import memory, start
from taut.bench.roofline import roofline
from taut.bench.row import Bench, Row, table
from taut.bench.solid import solid
from taut.bench.step_rows import (
    implicit_soft,
    implicit_stiff,
    linear,
    linear_large,
    symplectic,
    trajectory,
)
from taut.errors import ModelError, TautError, did_you_mean


def peers(bench: Bench) -> list[Row]:
    """Other packages on the same cloth, where they are installed."""
    rows: list[Row] = import_benchmarks("peers").peers(bench)
    return rows


ROWS: dict[str, Callable[[Bench], list[Row]]] = {
    "linear": linear,
    "linear-large": linear_large,
    "implicit-soft": implicit_soft,
    "implicit-stiff": implicit_stiff,
    "symplectic": symplectic,
    "trajectory": trajectory,
    "scaling": scaling,
    "threads": threads_row,
    "memory": memory,
    "solid": solid,
    "iterations": iterations,
    "start": start,
    "roofline": roofline,
    "peers": peers,
}


PARTS = {
    "iterations": ("iterations-",),
    "start": ("start-",),
    "roofline": ("bandwidth", "pass-", "assembly-"),
}
"""How the rows begin that one name gives, where that is not the name itself."""


def select_rows(words: Sequence[str]) -> list[str]:
    """The names of the rows that contain one of these words, or print a row that is called so.

    All if there are none.

    >>> select_rows(["implicit", "memory", "pass-100"])
    ['implicit-soft', 'implicit-stiff', 'memory', 'roofline']
    """

    def meant(word: str, name: str) -> bool:
        return word in name or word.startswith(PARTS.get(name, ()))

    for word in words:
        if not any(meant(word, name) for name in ROWS):
            raise ModelError(
                f"no row of the benchmark is called '{word}'{did_you_mean(word, ROWS)}; there are "
                f"{', '.join(ROWS)}"
            )
    return [name for name in ROWS if not words or any(meant(word, name) for word in words)]


def run(bench: Bench, words: Sequence[str] = ()) -> Iterator[Row]:
    """Measure the rows of these words, one after the other.

    One that ends in an error says so and misses.
    """
    for name in select_rows(words):
        try:
            yield from ROWS[name](bench)
        except (TautError, OSError, MemoryError) as error:
            bench.progress.finish()
            yield Row(name, "ended in an error", None, "", accurate=False, said=str(error))


def as_json(bench: Bench, rows: Sequence[Row]) -> dict[str, Any]:
    """Machine, yardstick and rows, for `json.dumps`."""
    return {**_where(bench), "rows": [row.as_json() for row in rows]}


def as_text(bench: Bench, rows: Sequence[Row]) -> str:
    """The same for people."""
    where = _where(bench)
    head = [
        f"taut {where['taut']}, numba {where['numba']} on {where['threads']} threads "
        f"({where['layer']}), {where['machine']}"
    ]
    yardstick = where["yardstick"]
    if yardstick:
        times = ", ".join(
            f"{1e3 * min(s):.0f} to {1e3 * max(s):.0f} ms at n = {n}"
            for n, s in yardstick["seconds"].items()
        )
        head.append(f"yardstick: {yardstick['name']}, {times}")
    counts = [sum(row.verdict == verdict for row in rows) for verdict in ("pass", "miss")]
    return "\n".join([*head, "", table(rows), "", f"{counts[0]} pass, {counts[1]} miss"])


def _where(bench: Bench) -> dict[str, Any]:
    import numba

    from taut import __version__
    from taut.threads import prepare_threads

    built = bench.__dict__.get("yardstick")  # measured only if a row needed it
    return {
        "taut": __version__,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "numba": numba.__version__,
        "threads": numba.get_num_threads(),
        "layer": prepare_threads(),
        "n": bench.n,
        "steps": bench.steps,
        "yardstick": None
        if built is None
        else {"name": built.name, "seconds": {str(n): s for n, s in built.seconds.items()}},
    }
