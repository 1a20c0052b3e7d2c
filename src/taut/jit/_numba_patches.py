"""Two temporary changes inside of Numba, which make a first step start sooner.

Neither changes what is compiled. Both look for what they replace first: with a Numba that does not
have it they do nothing, and compiling takes longer. Everything that touches Numba's inside is here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

# (function, typing context, types of the arguments) → signature
_SIGNATURES: dict[Any, Any] = {}


@contextmanager
def cache_overload_lookups() -> Iterator[None]:
    """Look up the overload of an operator on numbers once per combination of types.

    For each operator in a function Numba tries all its overloads, for arrays, strings, dates and so
    on, until one accepts the types. Generated loops have thousands of operators, nearly all on two
    numbers: that search takes a third of the time of compiling them. Its result depends on the
    types alone, so it is stored. Lookups on other types than numbers are left to Numba.
    """
    from numba.core import types

    numbers = (types.Number, types.Boolean)
    function: Any = types.functions.BaseFunction
    search = getattr(function, "get_call_type", None)
    if search is None:  # another Numba, which looks up in another way
        yield
        return

    def look_up(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(kind, numbers) for kind in args):
            return search(self, context, args, kws)
        key = (self, context, tuple(args))
        if key not in _SIGNATURES:
            _SIGNATURES[key] = search(self, context, args, kws)
        return _SIGNATURES[key]

    function.get_call_type = look_up
    try:
        yield
    finally:
        function.get_call_type = search


@cache
def import_numba_without_scipy() -> None:
    """Import Numba without scipy.linalg, which it imports only to see whether it is installed.

    That import takes a seventh of the time from the start to a first step. Numba calls
    `ensure_blas` when `numba.np.arraymath` is imported; here it does nothing during that import and
    is put back afterwards, so that functions of users that need linear algebra find it when they
    are compiled. If `arraymath` is imported already, or has no `ensure_blas`, nothing is changed.
    """
    linalg: Any = import_module("numba.np.linalg")
    if "numba.np.arraymath" in sys.modules or not hasattr(linalg, "ensure_blas"):
        return
    ensure_blas = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        arraymath: Any = import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure_blas
    arraymath.ensure_blas = ensure_blas
