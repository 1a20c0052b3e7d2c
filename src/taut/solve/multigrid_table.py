"""The arrays that the loops of a multigrid work on, and the table of their addresses that these are handed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.solve.hierarchy import Hierarchy
from taut.system.blocks import Pattern

Array = NDArray[Any]


class Table:
    """All `arrays` by their names, which `multigrid_rows` explains; `addresses` has those of the ones entered so far.

    h : the levels for the pattern; programme : of a cycle over them, (steps, 4)
    """

    def __init__(self, h: Hierarchy, pattern: Pattern, programme: NDArray[np.int64]) -> None:
        from taut.solve.multigrid_rows import ARRAYS, CHUNK, PIECE, PRODUCTS

        total, n = int(h.rows[-1]), pattern.n
        halves = [len(ap.start) - 1 for ap, _ in h.products]
        size = 3 * int(h.rows[-1] - h.rows[-2])
        chunks = -(-n // CHUNK) + -(-int(max(*halves, *np.diff(h.blocks), 0)) // PIECE)  # at most
        up, down = h.interpolation, h.restriction
        b, x, r = (np.zeros((total + 1, 3), dtype=np.float32) for _ in range(3))
        arrays: dict[str, Array] = {
            "fine_indptr": pattern.indptr, "fine_indices": pattern.indices, "indptr": h.indptr, "indices": h.indices,
            "data": np.zeros((int(h.blocks[-1]) + 1, 3, 3), dtype=np.float32),  # one is spare
            "inverse": np.zeros((total, 3, 3), dtype=np.float32),
            "p_indptr": up.indptr, "p_indices": up.indices, "p_weights": up.weights.astype(np.float32),
            "r_indptr": down.indptr, "r_indices": down.indices, "r_weights": down.weights.astype(np.float32),
            "b": b, "x": x, "r": r, "p": np.zeros((n + 1, 3)), "q": np.zeros((n, 3)),
            "rows": h.rows, "blocks": h.blocks, "half_blocks": np.array(halves, dtype=np.int64), "diagonal": h.diagonal,
            "coarse_data": np.zeros((int(h.blocks[-1] - h.blocks[1]), 3, 3)), "sums": np.zeros((chunks, 2)),
            "programme": programme, "omega": np.zeros((h.levels, 2), dtype=np.float32),
            "factor": np.zeros((size + 1, size)),  # and a row for what its solution needs
        }  # fmt: skip
        kinds = dict(ARRAYS)
        for level, (ap, pap) in enumerate(h.products):
            lists = ap.start, ap.source, ap.weight, np.zeros((halves[level], 3, 3)), pap.start, pap.source, pap.weight
            names = [f"{name} {level}" for name in PRODUCTS]
            kinds |= zip(names, PRODUCTS.values(), strict=True)
            arrays |= zip(names, lists, strict=True)
        self._entries = {name: (k, kind) for k, (name, kind) in enumerate(kinds.items())}
        self.arrays: dict[str, Array] = {}
        self.addresses = np.zeros(len(kinds), dtype=np.int64)
        self.enter(arrays)

    def enter(self, arrays: Mapping[str, Array]) -> None:
        """Keep arrays, and put down their addresses."""
        for name, array in arrays.items():
            at, kind = self._entries[name]
            assert array.dtype == kind
            assert array.flags.c_contiguous
            self.addresses[at] = array.ctypes.data
        self.arrays |= arrays
