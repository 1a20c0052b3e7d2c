"""What generated kernels use: the safe primitives, room on the stack, and the type of a batch.

The kernel cache is keyed on the text of this file, so an edit here is noticed.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

TINY = 1e-80  # the same as taut.formula.graph.TINY; a literal here, since this file is compiled (a test compares them)
NUMBERS, INDICES = types.CPointer(types.float64), types.CPointer(types.int64)
BATCH = types.int64(
    types.int64, types.int64, NUMBERS, NUMBERS, types.float64, INDICES, NUMBERS, types.int64, NUMBERS, NUMBERS, NUMBERS
)
"""first, count, x, y, h, elements, P, project and three outputs → the first element whose results are not finite, or -1."""


@intrinsic(prefer_literal=True)
def stack(context: Any, count: Any) -> Any:
    """A pointer to so many numbers on the stack of the calling function; count is a literal."""
    size = count.literal_value

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.alloca_once(builder, ir.DoubleType(), size=size)

    return types.CPointer(types.float64)(count), emit


@njit(error_model="numpy")
def root(s):
    """√s, with a length below TINY counted as zero."""
    return sqrt(s) if s > TINY * TINY else 0.0


@njit(error_model="numpy")
def inv0(a):
    """1/a, and 0 where a counts as zero."""
    return 1.0 / a if abs(a) > TINY * TINY else 0.0
