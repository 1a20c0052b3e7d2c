"""Laws with their elements and parameters, as a System takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import LawError

if TYPE_CHECKING:
    from taut.formula.law import Law


class Bound:
    """A law with its elements and parameters, not yet placed in a system."""

    def __init__(
        self, law: Law, elements: NDArray[np.int64] | None, parameters: dict[str, Any], name: str, breaking_strain: Any
    ) -> None:
        self.law, self.elements, self.parameters, self.name, self.breaking_strain = law, elements, parameters, name, breaking_strain

    def __repr__(self) -> str:
        count = "every particle" if self.elements is None else f"{len(self.elements)} elements"
        return f"<{type(self).__name__.lower()} {self.name}: {count}>"

    def with_(self, **parameters: Any) -> Any:
        """The same law on the same elements with some parameters changed."""
        kept = {"name": self.name, "breaking_strain": self.breaking_strain, **self.parameters}
        changed = self.law(None, **{**kept, **parameters})
        changed.elements = self.elements
        return changed


class Energy(Bound):
    """An energy law bound to elements: an entry of `System(energies=[…])`."""


class Damping(Bound):
    """A dissipation law bound to elements: an entry of `System(damping=[…])`."""


class Load(Bound):
    """A load bound to elements: an entry of `System(loads=[…])`."""


def indices(law: str, elements: ArrayLike | None) -> NDArray[np.int64] | None:
    """The elements of a law as an array (m, s) of particle indices, checked and read-only; None stays None."""
    if elements is None:
        return None
    array = np.asarray(elements)
    if array.size == 0:
        if array.ndim != 2 or array.shape[1] == 0:
            raise LawError(f"law '{law}': an empty array of elements has the shape (0, s), not {array.shape}")
        array = array.astype(np.int64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise LawError(f"law '{law}': elements have shape (m, s), not {array.shape}")
    if array.dtype == bool or not np.issubdtype(array.dtype, np.integer):
        raise LawError(f"law '{law}': elements are particle indices, not {array.dtype}")
    array = np.array(array, dtype=np.int64, order="C")  # our own copy
    if array.shape[1] > 1:
        ordered = np.sort(array, axis=1)
        twice = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(twice):
            raise LawError(f"law '{law}': element {twice[0]} names a particle twice: {array[twice[0]].tolist()}")
    array.setflags(write=False)
    return array
