"""Bodies of a contact by name, and pairs of them: what is exempt, and which friction it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from taut.arrays import Int, Mask, describe
from taut.errors import ModelError, did_you_mean


@dataclass(frozen=True, eq=False)
class Group:
    """One side of a pair: some particles and planes, or everything.

    particles : indices, (k,); planes : indices, (l,)
    """

    particles: Int
    planes: Int
    is_everything: bool = False

    @staticmethod
    def everything() -> Group:
        """Return the group of all particles and planes."""
        none = np.empty(0, dtype=np.int64)
        return Group(none, none, is_everything=True)

    def mask(self, n: int) -> Mask:
        """Return which of n particles are in the group, (n,)."""
        mask = np.full(n, self.is_everything)
        mask[self.particles] = True
        return mask

    def has_plane(self, plane: int) -> bool:
        """Whether a plane is in the group."""
        return self.is_everything or plane in self.planes

    def shift(self, particles: int, planes: Int) -> Group:
        """Return the group with particles renumbered by an offset, and planes by a table."""
        return replace(
            self, particles=self.particles + particles, planes=planes[self.planes].astype(np.int64)
        )


@dataclass(frozen=True, eq=False)
class PairFriction:
    """The friction of a pair of groups: its coefficient [1] replaces that of all others."""

    one: Group
    other: Group
    coefficient: float


class GroupReader:
    """Reads groups from arguments: indices of particles, or names of bodies and planes.

    bodies : particles by name; planes : names of the planes, in order
    """

    def __init__(self, bodies: Mapping[str, Int], planes: Sequence[str]) -> None:
        self._bodies, self._planes = bodies, list(planes)
        twice = sorted(set(bodies).intersection(planes))
        if twice:
            raise ModelError(f"bodies and planes must have different names, got '{twice[0]}' twice")

    def read(self, given: Any, what: str) -> Group:
        """Return the group that was given; `what` begins the error."""
        none = np.empty(0, dtype=np.int64)
        if isinstance(given, str):
            if given in self._bodies:
                return Group(self._bodies[given], none)
            if given in self._planes:
                return Group(none, np.array([self._planes.index(given)]))
            known = [*self._bodies, *self._planes]
            raise ModelError(f"{what}: unknown body '{given}'{did_you_mean(given, known)}")
        particles = to_particles(given)
        if particles is None:
            raise ModelError(
                f"{what} must be pairs of groups of particles, or of names of bodies, "
                f"got {describe(given)}"
            )
        return Group(particles, none)

    def read_pair(self, given: Any, what: str, count: int) -> list[Any]:
        """Return two groups, and what follows them: `count` entries in all."""
        if not isinstance(given, (tuple, list)) or len(given) != count:
            raise ModelError(
                f"{what} must be pairs of groups of particles, or of names of bodies, "
                f"got {describe(given)}"
            )
        return [self.read(given[0], what), self.read(given[1], what), *given[2:]]


def to_particles(given: Any) -> Int | None:
    """Return indices of particles, (k,), or None if these are none."""
    try:
        array = np.atleast_1d(np.array(given))
    except (TypeError, ValueError):
        return None
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        return None
    return array.astype(np.int64)


class BodyNames:
    """Names particles after the bodies they belong to, in messages.

    bodies : pairs of a name and its particles, (k,)
    """

    def __init__(self, bodies: Sequence[tuple[str, Int]]) -> None:
        self._bodies = [(name, np.sort(particles)) for name, particles in bodies]

    def describe(self, kind: str, particles: Sequence[int]) -> str:
        """Return such as "edge (3, 4) of 'rope'", with the numbers that its points have there.

        Particles without a named body have their numbers in the System.
        """
        own = sorted({int(p) for p in particles})
        ending = ""
        for name, group in self._bodies:
            at = np.searchsorted(group, own)
            if (at < len(group)).all() and (group[np.minimum(at, len(group) - 1)] == own).all():
                own, ending = at.tolist(), f" of '{name}'"
                break
        numbers = str(own[0]) if len(own) == 1 else f"({', '.join(map(str, own))})"
        return f"{kind} {numbers}{ending}"
