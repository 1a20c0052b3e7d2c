"""Rows that compare a matrix-vector product and assembly with the memory bandwidth (roofline).

The least possible time is bytes/bandwidth. The bandwidth is measured by a triad (24 bytes per
entry); the bytes are those that any implementation must move:

    product    the blocks on and right of the diagonal with their columns, 76 bytes each,
               and two vectors of 24 n bytes
    assembly   particles, parameters and the matrix as it is stored, once each,
               and two vectors of 24 n bytes

If all of this fits into a cache, a product may take less time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from taut.bench.net import cloth
from taut.bench.row import Bench, Row
from taut.bench.timing import available_thread_counts, threads, time_best
from taut.jit.compile import kernels
from taut.linalg.blocks import BlockMatrix
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

TRIAD_ENTRIES = 20_000_000  # of each array: 160 MB, more than caches hold
SIZE_FACTORS = (1, 4)  # of n
TARGET = 1.5  # times the least possible time


def measure_roofline(bench: Bench) -> list[Row]:
    """Measure the bandwidth, and products and assembly against it, on one thread and on two."""
    show_step, speed = bench.start_task("roofline", 1 + len(SIZE_FACTORS)), {}
    for count in available_thread_counts():
        with threads(count):
            speed[count] = measure_bandwidth()
    show_step(1, "")
    note = ", ".join(f"{s / 1e9:.0f} GB/s on {count}" for count, s in speed.items())
    rows = [
        Row(
            "bandwidth",
            "memory bandwidth (triad), on one thread or two",
            max(speed.values()) / 1e9,
            "GB/s",
            note=note,
        )
    ]
    for i, n in enumerate(bench.n * factor for factor in SIZE_FACTORS):
        system = cloth(n).system()
        rows += _measure_size(n, system, system.initial_state(), speed)
        show_step(2 + i, "")
    return rows


def _measure_size(n: int, system: System, state: State, speed: dict[int, float]) -> list[Row]:
    """Return the rows of one size.

    speed : number of threads → bandwidth [B/s]
    """
    matrix, x = workspace_for(system).stiffness(state, project=False), np.array(state.q)
    works: dict[str, tuple[str, int, Callable[[], object]]] = {
        "pass": ("product with", count_product_bytes(matrix), lambda: matrix.multiply(x)),
        "assembly": (
            "assembly of",
            count_assembly_bytes(system, matrix),
            lambda: workspace_for(system).stiffness(state, project=False),
        ),
    }
    rows = []
    for name, (words, moved, work) in works.items():
        taken = {}
        for count in speed:
            with threads(count):
                taken[count] = time_best(work)
        over = {count: taken[count] / (moved / speed[count]) for count in speed}
        each = ", ".join(f"{1e3 * taken[c]:.2f} ms on {c} ({over[c]:.1f} ×)" for c in speed)
        rows.append(
            Row(
                f"{name}-{n}",
                f"{words} the matrix, n = {n}, over the least time that memory allows",
                over[max(speed)],
                "×",
                TARGET,
                note=f"{moved / 1e6:.1f} MB; {each}",
                details={"n": n, "bytes": moved, "ms": {str(c): 1e3 * s for c, s in taken.items()}},
            )
        )
    return rows


def measure_bandwidth(entries: int = TRIAD_ENTRIES) -> float:
    """Measure the bandwidth of the triad [B/s], on the current number of threads."""
    a, b, c = np.zeros(entries), np.ones(entries), np.ones(entries)
    triad = kernels("taut.bench.triad_kernels").triad
    return 24 * entries / time_best(lambda: triad(a, b, c, 0.5))


def count_product_bytes(matrix: BlockMatrix) -> int:
    """Return the bytes that one matrix-vector product must move.

    >>> from taut.bench.net import cloth
    >>> system = cloth(4).system()
    >>> count_product_bytes(workspace_for(system).stiffness(system.initial_state(), project=False))
    6392
    """
    return 76 * len(matrix.pattern.upper) + 48 * matrix.pattern.n


def count_assembly_bytes(system: System, matrix: BlockMatrix) -> int:
    """Return the bytes that one assembly of gradient and Hessian must move."""
    read = sum(
        placed.elements.nbytes + placed.parameters.pack(0.0).nbytes
        for placed in system._placed_energies.values()
    )
    return read + matrix.data.nbytes + 48 * system.n
