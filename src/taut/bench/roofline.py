"""How far a pass of the matrix and its assembly are from what memory allows.

The time that memory allows is bytes/bandwidth, the bandwidth measured by a triad (24 bytes an
entry). The bytes are those that must move, whatever the program does:

    pass       the blocks on and right of the diagonal with their columns, 76 bytes each,
               and two vectors of 24 n bytes
    assembly   particles, parameters and the matrix as it is stored, once each,
               and two vectors of 24 n bytes

Where all of it fits into a cache a pass may take less than that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from taut.bench.net import cloth
from taut.bench.row import Bench, Row
from taut.bench.timing import available_thread_counts, best, threads
from taut.jit.compile import kernels
from taut.linalg.blocks import BlockMatrix
from taut.system.state import State
from taut.system.system import System

ENTRIES = 20_000_000  # of each array of the triad: 160 MB, more than caches hold
TIMES = (1, 4)  # of n
NEAR = 1.5  # times the time that memory allows


def roofline(bench: Bench) -> list[Row]:
    """Bandwidth, and the two against it, on one thread and on two."""
    tell, speed = bench.part("roofline", 1 + len(TIMES)), {}
    for count in available_thread_counts():
        with threads(count):
            speed[count] = bandwidth()
    tell(1, "")
    said = ", ".join(f"{s / 1e9:.0f} GB/s on {count}" for count, s in speed.items())
    rows = [
        Row(
            "bandwidth",
            "memory bandwidth (triad), on one thread or two",
            max(speed.values()) / 1e9,
            "GB/s",
            said=said,
        )
    ]
    for i, n in enumerate(bench.n * times for times in TIMES):
        system = cloth(n).system()
        rows += _rows(n, system, system.initial_state(), speed)
        tell(2 + i, "")
    return rows


def _rows(n: int, system: System, state: State, speed: dict[int, float]) -> list[Row]:
    """The two for one size, given the bandwidth [B/s] by number of threads."""
    matrix, x = system.stiffness(state, project=False), np.array(state.q)
    works: dict[str, tuple[str, int, Callable[[], object]]] = {
        "pass": ("a pass", bytes_of_pass(matrix), lambda: matrix.multiply(x)),
        "assembly": (
            "assembly",
            bytes_of_assembly(system, matrix),
            lambda: system.stiffness(state, project=False),
        ),
    }
    rows = []
    for name, (words, moved, work) in works.items():
        taken = {}
        for count in speed:
            with threads(count):
                taken[count] = best(work)
        over = {count: taken[count] / (moved / speed[count]) for count in speed}
        each = ", ".join(f"{1e3 * taken[c]:.2f} ms on {c} ({over[c]:.1f} ×)" for c in speed)
        rows.append(
            Row(
                f"{name}-{n}",
                f"{words} of the matrix, n = {n}, over what memory allows",
                over[max(speed)],
                "×",
                NEAR,
                said=f"{moved / 1e6:.1f} MB; {each}",
                details={"n": n, "bytes": moved, "ms": {str(c): 1e3 * s for c, s in taken.items()}},
            )
        )
    return rows


def bandwidth(entries: int = ENTRIES) -> float:
    """Bytes a second of the triad, on as many threads as numba is set to."""
    a, b, c = np.zeros(entries), np.ones(entries), np.ones(entries)
    triad = kernels("taut.bench.triad_kernels").triad
    return 24 * entries / best(lambda: triad(a, b, c, 0.5))


def bytes_of_pass(matrix: BlockMatrix) -> int:
    """What one product must move.

    >>> from taut.bench.net import cloth
    >>> system = cloth(4).system()
    >>> bytes_of_pass(system.stiffness(system.initial_state(), project=False))
    6392
    """
    return 76 * len(matrix.pattern.upper) + 48 * matrix.pattern.n


def bytes_of_assembly(system: System, matrix: BlockMatrix) -> int:
    """What one assembly of gradient and Hessian must move."""
    read = sum(
        placed.elements.nbytes + placed.parameters.pack(0.0).nbytes
        for placed in system.placed_energies.values()
    )
    return read + matrix.data.nbytes + 48 * system.n
