"""The arrays that the compiled stage of a small system works on (`taut.step._stage_kernels`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types

# Without wrappers for Python and for C, functions take half the time to compile.
_OPTIONS: Any = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
compiled = njit(**_OPTIONS | {"no_cpython_wrapper": True})
"""Decorates functions that only compiled functions call."""


# Columns of the table of terms: numbers of elements, and of particles, vectors and blocks of each
ELEMENTS, PARTICLES, VECTORS, BLOCKS = 0, 1, 2, 3
IS_INCREMENT, IS_CONSTANT, IS_PAIR = 4, 5, 6
ADDRESS, SIZE = 7, 9  # of the batches of gradient and Hessian, two columns each
METRIC_FLAG = 11  # which makes Hessians metrics
ELEMENT_AT, PARAMETER_AT, ENERGY_AT, VECTOR_AT, BLOCK_AT, PAIR_AT = 12, 13, 14, 15, 16, 17
WIDTH = 18  # of the parameters
# Of relaxation: elements that a batch may have, the flags of its Hessians, and the incidences
RELAXED_SIZE, RELAXED_FLAG, INCIDENCE_AT = 19, 20, 21
COLUMNS = 22

# Places among the numbers of a stage: γ, γ⁴, the mass that can move, and the tolerance
GAMMA, GAMMA4, FREE_MASS, RELATIVE, FORCE = 0, 1, 2, 3, 4

# The numbers of a point
VALUE, MAGNITUDE, NOISE, ACCELERATION = 0, 1, 2, 3

# Constants of taut.optimise.descent and tolerance
EPS, ROUNDING_UNITS, RELATIVE_NOISE, FORMULA_NOISE = 2.220446049250313e-16, 8.0, 1e-10, 1e-13
FACTORED_PART, MIN_DEFINITE_PART = 0.25, 0.01  # of _accelerations
MAX_ITERATIONS = 100  # of conjugate gradients; beyond, the general method


class StageTables(NamedTuple):
    """What all copies of a system share, flat."""

    terms: Any  # i8, COLUMNS for each term
    elements: Any  # i8, of all terms
    pairs: Any  # f8, coefficients of pair laws
    mass: Any  # f8, (n,)
    inverse_mass: Any  # f8, (n,)
    free: Any  # f8, (3n,): 1 in the directions in which a particle may move, else 0
    constrained: Any  # i8, particles that may not move in every direction
    vector_start: Any  # i4, see `Assembly._vector_lists`
    vector_source: Any  # i4
    vector_code: Any  # i4
    vector_table: Any  # f8
    block_row: Any  # i4, see `Assembly._block_lists`
    block_start: Any  # i4
    block_source: Any  # i4
    block_code: Any  # i4
    block_table: Any  # f8
    slot: Any  # i4
    mirror: Any  # i4
    indptr: Any  # i4, the pattern of the matrix
    indices: Any  # i4
    diagonal: Any  # i8
    affected: Any  # i8, blocks that constraints change
    affected_rows: Any  # i8
    incidence_start: Any  # i8, the elements of each particle (`Incidence`), n + 1 for each term
    incidence_element: Any  # i8
    incidence_place: Any  # i8


_NUMBERS = ("pairs", "mass", "inverse_mass", "free", "vector_table", "block_table")
_LONG = (
    *("terms", "elements", "constrained", "diagonal", "affected", "affected_rows"),
    *("incidence_start", "incidence_element", "incidence_place"),
)
ARRAY_TYPES: dict[str, Any] = dict.fromkeys(StageTables._fields, np.int32)
ARRAY_TYPES |= dict.fromkeys(_NUMBERS, np.float64) | dict.fromkeys(_LONG, np.int64)
"""The type of the numbers of each array."""


def entry_point(signature: Any, *, parallel: bool = False) -> Any:
    """Decorate a function that Python calls: compiled at once for this signature, and cached."""
    return njit(signature, parallel=parallel, cache=True, **_OPTIONS)


def array_types(kind: Any, **numbers: Any) -> Any:
    """The numba type of a NamedTuple whose fields are flat arrays of these numbers."""
    assert tuple(numbers) == kind._fields
    return types.BaseTuple.from_types([types.Array(n, 1, "C") for n in numbers.values()], kind)
