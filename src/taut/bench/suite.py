"""All rows of the benchmark by name; select, measure and report them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from taut.bench.checkout import import_benchmarks, is_checkout
from taut.bench.contact import measure_contact, measure_draping
from taut.bench.converged import (
    measure_implicit_soft,
    measure_implicit_soft_large,
    measure_implicit_stiff,
    measure_implicit_stiff_large,
)
from taut.bench.growth import (
    measure_iterations,
    measure_scaling,
    measure_threads,
    measure_wrinkling,
)
from taut.bench.newton_rows import measure_failures, measure_newton_iterations
from taut.bench.passes import measure_passes
from taut.bench.processes import measure_memory, measure_start
from taut.bench.roofline import measure_roofline
from taut.bench.row import Bench, Row, format_rows
from taut.bench.small_steps import measure_small_steps
from taut.bench.solid import measure_solid
from taut.bench.step_rows import (
    measure_linear,
    measure_linear_large,
    measure_symplectic,
    measure_trajectory,
)
from taut.errors import ModelError, TautError, did_you_mean


def measure_peers(bench: Bench) -> list[Row]:
    """Measure other packages on the same cloth, if they are installed.

    Their drivers are not installed with taut: elsewhere than in a source checkout there is one row
    without a figure and without a verdict.
    """
    if not is_checkout():
        note = "not measured: needs a source checkout installed with pip install -e ."
        return [Row("peers", "other packages on the same cloth", None, "× baseline", note=note)]
    rows: list[Row] = import_benchmarks("peers").measure_peers(bench)
    return rows


ROWS: dict[str, Callable[[Bench], list[Row]]] = {
    "linear": measure_linear,
    "linear-large": measure_linear_large,
    "implicit-soft": measure_implicit_soft,
    "implicit-stiff": measure_implicit_stiff,
    "implicit-soft-large": measure_implicit_soft_large,
    "implicit-stiff-large": measure_implicit_stiff_large,
    "symplectic": measure_symplectic,
    "trajectory": measure_trajectory,
    "scaling": measure_scaling,
    "wrinkling": measure_wrinkling,
    "passes": measure_passes,
    "threads": measure_threads,
    "memory": measure_memory,
    "solid": measure_solid,
    "iterations": measure_iterations,
    "newton-iterations": measure_newton_iterations,
    "failures": measure_failures,
    "contact": measure_contact,
    "draping": measure_draping,
    "small-steps": measure_small_steps,
    "start": measure_start,
    "roofline": measure_roofline,
    "peers": measure_peers,
}

ON_REQUEST = (
    *("implicit-soft-large", "implicit-stiff-large"),
    *("wrinkling", "failures", "draping"),
)
"""Rows that take an hour or so: they are measured only if they are named in full."""

ROW_PREFIXES = {
    "wrinkling": ("scaling-wrinkled", "passes-large"),
    "iterations": ("iterations-",),
    "newton-iterations": ("newton-soft", "newton-stiff"),
    "contact": ("contact-",),
    "draping": ("scaling-contact",),
    "start": ("start-",),
    "roofline": ("bandwidth", "pass-", "assembly-"),
}
"""For functions that return several rows: how the names of these rows begin."""


def select_rows(words: Sequence[str]) -> list[str]:
    """Return the names in `ROWS` that contain one of the words, or whose rows begin with one.

    Those `ON_REQUEST` are returned only for their full names. Without words, all others.

    >>> select_rows(["implicit", "memory", "pass-100"])
    ['implicit-soft', 'implicit-stiff', 'memory', 'roofline']
    >>> select_rows(["implicit-soft-large", "passes-large"])
    ['implicit-soft-large', 'wrinkling']
    """

    def matches(word: str, name: str) -> bool:
        if name in ON_REQUEST:
            return word == name or word in ROW_PREFIXES.get(name, ())
        return word in name or word.startswith(ROW_PREFIXES.get(name, ()))

    for word in words:
        if not any(matches(word, name) for name in ROWS):
            raise ModelError(
                f"no row of the benchmark is called '{word}'{did_you_mean(word, ROWS)}; the rows "
                f"are {', '.join(ROWS)}"
            )
    if not words:
        return [name for name in ROWS if name not in ON_REQUEST]
    return [name for name in ROWS if any(matches(word, name) for word in words)]


def run(bench: Bench, words: Sequence[str] = ()) -> Iterator[Row]:
    """Measure the rows that `select_rows` returns, one after another.

    An error makes its row a miss, and the others are still measured.
    """
    for name in select_rows(words):
        try:
            yield from ROWS[name](bench)
        except (TautError, OSError, MemoryError) as error:
            bench.progress.finish()
            yield Row(name, "ended in an error", None, "", accurate=False, note=str(error))


def as_json(bench: Bench, rows: Sequence[Row]) -> dict[str, Any]:
    """Return machine, baseline and rows as a dictionary for `json.dumps`."""
    return {**_describe_machine(bench), "rows": [row.as_json() for row in rows]}


def as_text(bench: Bench, rows: Sequence[Row]) -> str:
    """Return machine, baseline and rows as text."""
    where = _describe_machine(bench)
    head = [
        f"taut {where['taut']}, numba {where['numba']} on {where['threads']} threads "
        f"({where['layer']}), {where['machine']}"
    ]
    baseline = where["yardstick"]
    if baseline:
        times = ", ".join(
            f"{1e3 * min(s):.0f} to {1e3 * max(s):.0f} ms at n = {n}"
            for n, s in baseline["seconds"].items()
        )
        head.append(f"baseline: {baseline['name']}, {times}")
    counts = [sum(row.verdict == verdict for row in rows) for verdict in ("pass", "miss")]
    return "\n".join([*head, "", format_rows(rows), "", f"{counts[0]} pass, {counts[1]} miss"])


def _describe_machine(bench: Bench) -> dict[str, Any]:
    """Return versions, machine, options and baseline; the keys are those of the JSON output."""
    import numba

    from taut import __version__
    from taut.threads import prepare_threads

    built = bench.__dict__.get("baseline")  # a cached property: built only if a row needed it
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
