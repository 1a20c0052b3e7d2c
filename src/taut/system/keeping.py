"""What a system keeps from step to step, each thread its own: assemblies, the union of patterns, a matrix to write into, and
itself with fewer constraints or with its loads held."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taut.constraints.constraint import Constraint
from taut.system.assembly import Assembly
from taut.system.blocks import BlockMatrix, Pattern, Union
from taut.system.terms import Term

if TYPE_CHECKING:
    from taut.system.system import System

Masks = Mapping[str, NDArray[np.bool_]]


class Keeping(threading.local):
    """Buffers of one thread. All can be worked out again: nothing here belongs to a State."""

    def __init__(self, patterns: dict[str, Assembly]) -> None:
        self._patterns = patterns  # of all threads: the last assembly of each kind, for its pattern
        self._assemblies: dict[str, tuple[Any, Any, Assembly]] = {}
        self._union: Union | None = None
        self._buffer: BlockMatrix | None = None
        self.without: dict[tuple[Constraint, ...], System] = {}  # the system with these constraints alone
        self.held: System | None = None  # the system with its loads as given forces

    def known(self, parts: str, active: Any) -> Assembly | None:
        """The assembly of these parts, if the elements that are active are the same object as before."""
        found = self._assemblies.get(parts)
        return found[2] if found is not None and found[0] is active else None

    def assembly(self, parts: str, n: int, active: Any, masks: Masks, terms: Callable[[], list[Term]]) -> Assembly:
        """The assembly of these parts on n particles: the one there is if the masks are the same, or one of new terms."""
        key = tuple(sorted((name, mask.tobytes()) for name, mask in masks.items()))
        found = self._assemblies.get(parts)
        if found is not None and found[1] == key:
            made = found[2]
        else:
            made = Assembly(n, terms())
            if parts in self._patterns:
                made.adopt(self._patterns[parts])
            self._patterns[parts] = made  # for its pattern, which others may take over; the buffers stay this thread's
        self._assemblies[parts] = (active, key, made)
        return made

    def union(self, patterns: Sequence[Pattern]) -> Union:
        """The union of sparsity patterns; kept, since it is the same at every step."""
        if self._union is None or not self._union.fits(patterns):
            self._union = Union(patterns)
        return self._union

    def buffer(self, pattern: Pattern) -> BlockMatrix:
        """A matrix on a pattern to write into; kept, so that the next call overwrites it."""
        if self._buffer is None or self._buffer.pattern is not pattern:
            self._buffer = BlockMatrix(pattern, np.empty((len(pattern.indices), 3, 3)))
        return self._buffer
