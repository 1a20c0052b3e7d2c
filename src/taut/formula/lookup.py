"""Spare numba from looking up the same thing for every line.

For each operator in a function numba goes through all that it may mean, for arrays, strings, dates and so on, until one fits the
types. Generated loops have thousands of operators, nearly all on two numbers: that search is a third of the time it takes to
compile them. Its result depends on the types alone, so it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_FOUND: dict[Any, Any] = {}  # (function, context, types of its arguments) → signature


@contextmanager
def remembered() -> Iterator[None]:
    """While it lasts, what functions of numbers mean is looked up once for each combination of types."""
    from numba.core import types

    numbers = (types.Number, types.Boolean)
    function: Any = types.functions.BaseFunction
    search = getattr(function, "get_call_type", None)
    if search is None:  # another numba: it takes longer
        yield
        return

    def look(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(kind, numbers) for kind in args):
            return search(self, context, args, kws)
        key = (self, context, tuple(args))
        if key not in _FOUND:
            _FOUND[key] = search(self, context, args, kws)
        return _FOUND[key]

    function.get_call_type = look
    try:
        yield
    finally:
        function.get_call_type = search
