"""The compiled functions that generated kernels call: the safe primitives.

The kernel cache is keyed on the text of this file, so an edit here is noticed.
"""

from __future__ import annotations

from math import sqrt

from numba import njit

TINY = 1e-80  # the same as taut.formula.graph.TINY; a literal here, since this file is compiled (a test compares them)


@njit(error_model="numpy")
def root(s):
    """√s, with a length below TINY counted as zero."""
    return sqrt(s) if s > TINY * TINY else 0.0


@njit(error_model="numpy")
def inv0(a):
    """1/a, and 0 where a counts as zero."""
    return 1.0 / a if abs(a) > TINY * TINY else 0.0
