"""Cached overload lookups return what numba's own lookup returns."""

import math
import operator
import subprocess
import sys

import pytest
from numba.core import types
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import AbstractTemplate

from taut.jit._numba_patches import cache_overload_lookups

KINDS = (types.float64, types.float32, types.int64, types.int32, types.boolean, types.literal(2))
BINARY = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.lt,
    operator.eq,
    operator.pow,
)


@pytest.mark.parametrize(
    "function", [*BINARY, math.sqrt, math.atan2, operator.neg], ids=lambda f: f.__name__
)
def test_cached_lookups_match_numba(function):
    cpu_target.target_context.refresh()
    context = cpu_target.typing_context
    context.refresh()
    kind = context.resolve_value_type(function)
    count = 1 if function in (math.sqrt, operator.neg) else 2
    search = BaseFunction.get_call_type
    for first in KINDS:
        for second in KINDS if count == 2 else (None,):
            arguments = (first,) if second is None else (first, second)
            plain = search(kind, context, arguments, {})
            with cache_overload_lookups():
                for _ in range(2):
                    assert kind.get_call_type(context, arguments, {}) == plain
    assert BaseFunction.get_call_type is search, "the patch must be removed afterwards"


OTHERS = """
from taut.jit.compile import kernels
kernels("taut.linalg._block_kernels")
import sys
assert "scipy.linalg" not in sys.modules
import numba, numpy as np
@numba.njit
def product(a, b):
    return np.dot(a, b), np.linalg.inv(a)
a = np.array([[2.0, 1.0], [0.0, 4.0]])
found = product(a, a)
assert np.array_equal(found[0], a @ a) and np.allclose(found[1] @ a, np.eye(2))
from numba.np import arraymath, linalg
assert arraymath._HAVE_BLAS and arraymath.ensure_blas is linalg.ensure_blas
assert "scipy.linalg" in sys.modules
"""


def test_linear_algebra_of_user_functions_still_works():
    """Kernels start without scipy.linalg; user functions that need it still get it."""
    run = subprocess.run(
        [sys.executable, "-c", OTHERS], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_lookups_are_cached_for_numeric_types(monkeypatch):
    made = []
    monkeypatch.setattr(
        BaseFunction,
        "get_call_type",
        lambda self, context, args, kws: made.append(args) or "a signature",
    )
    with cache_overload_lookups():
        kind = types.Function(type("Unknown", (AbstractTemplate,), {"key": "unknown"}))
        for _ in range(3):
            assert kind.get_call_type("a context", (types.float64,), {}) == "a signature"
        for _ in range(2):
            kind.get_call_type("a context", (types.unicode_type,), {})
    assert made == [(types.float64,), (types.unicode_type,), (types.unicode_type,)], (
        "only lookups of numeric types are cached"
    )
