"""What generated kernels import: safe primitives, arrays on the stack, and the type of a batch.

The kernel cache is keyed on the text of this file (`toolchain_digest`), so that an edit is noticed.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# Lengths [m] below this count as zero, as in taut.formula.graph. A literal, because this file is
# compiled and imports nothing of the package; a test compares the two.
TINY = 1e-80
_NUMBERS = types.CPointer(types.float64)
_INDICES = types.CPointer(types.int64)
BATCH = types.int64(
    types.int64,  # first element
    types.int64,  # count of elements
    _NUMBERS,  # x, differentiated by
    _NUMBERS,  # y, frozen
    types.float64,  # h
    _INDICES,  # elements
    _NUMBERS,  # P, packed parameters
    types.int64,  # mode
    _NUMBERS,  # three outputs
    _NUMBERS,
    _NUMBERS,
)
"""Type of a batch; it returns the first element whose results are not finite, or -1."""


@intrinsic(prefer_literal=True)
def stack(context: Any, count: Any) -> Any:
    """Return a pointer to `count` numbers, a literal, on the stack of the calling function."""
    size = count.literal_value

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.alloca_once(builder, ir.DoubleType(), size=size)

    return types.CPointer(types.float64)(count), emit


@njit(error_model="numpy")
def root(s):
    """√s of a squared length s, with a length below TINY counted as zero."""
    return sqrt(s) if s > TINY * TINY else 0.0


@njit(error_model="numpy")
def stretch_sum(a, b, j):
    """The largest root s of (s² - a)² = 4b + 8js, as `solve_stretch_sum` of taut.formula.graph."""
    s = sqrt(3.0 * a)
    for _ in range(60):
        slope = 4.0 * (s * (s * s - a) - 2.0 * j)
        if not slope > 0.0:
            break
        change = ((s * s - a) ** 2 - 4.0 * b - 8.0 * j * s) / slope
        s -= change
        if not change > 1e-16 * s:
            break
    return s


@njit(error_model="numpy")
def inv0(a):
    """1/a, and 0 where |a| ≤ TINY²."""
    return 1.0 / a if abs(a) > TINY * TINY else 0.0
