"""Springs to look at: the pairs of particles that a law with a rest length joins, and the colour of their strain l/l₀ - 1.

Blue is shorter, grey as at rest, red longer. The colours reach their ends at a strain of 1, 2 or 5 times a power of ten that no
spring has exceeded so far.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.show.subject import Subject
from taut.system.system import System

Float = NDArray[np.float64]
Int = NDArray[np.int64]
SHORT, REST, LONG = np.array([38.0, 92.0, 210.0]), np.array([168.0, 172.0, 180.0]), np.array([200.0, 30.0, 40.0])
LEAST = 1e-4  # the narrowest range of colours


@dataclass(frozen=True, eq=False)
class Springs:
    """pairs : particles (m, 2); rest : lengths [m], (m,); laws : name → which of them belong to it"""

    pairs: Int
    rest: Float
    laws: Mapping[str, slice]

    def __len__(self) -> int:
        return len(self.pairs)

    def whole(self, active: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Which of them are not torn, (m,), by the masks of a snapshot."""
        mask = np.ones(len(self.pairs), dtype=bool)
        for name, where in self.laws.items():
            if name in active:
                mask[where] = active[name]
        return mask

    def strains(self, q: Float) -> Float:
        """l/l₀ - 1 of each, (m,), at positions q [m], (n, 3)."""
        d = q[self.pairs[:, 1]] - q[self.pairs[:, 0]]
        return np.sqrt(np.einsum("ij,ij->i", d, d)) / self.rest - 1.0


def springs_of(system: System) -> Springs:
    """The springs of a system: elements of two particles with a rest length.

    >>> import taut
    >>> from taut import laws
    >>> rope = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0), laws.gravity()])
    >>> springs_of(rope).strains(np.array([[0.0, 0, 0], [1.5, 0, 0]])).tolist()
    [0.5]
    """
    pairs: list[Int] = [np.empty((0, 2), np.int64)]
    rest: list[Float] = [np.empty(0)]
    laws: dict[str, slice] = {}
    start = 0
    for name, placed in system.placed.items():
        if placed.particles != 2 or "l0" not in placed.constant:
            continue
        lengths = np.broadcast_to(placed.constant["l0"], len(placed.elements))
        if not (lengths > 0.0).all():
            continue
        pairs.append(placed.elements)
        rest.append(np.array(lengths))
        laws[name] = slice(start, start + len(lengths))
        start += len(lengths)
    return Springs(np.concatenate(pairs), np.concatenate(rest), laws)


def lines_of(subject: Subject) -> Springs:
    """The same of a subject whose system is not known: the lines of its meshes, with their lengths there."""
    pairs: list[Int] = [np.empty((0, 2), np.int64)]
    rest: list[Float] = [np.empty(0)]
    for piece in subject.pieces:
        if piece.embedding is None and len(piece.lines):
            d = piece.mesh.positions[piece.lines[:, 1]] - piece.mesh.positions[piece.lines[:, 0]]
            lengths = np.sqrt(np.einsum("ij,ij->i", d, d))
            keep = lengths > 0.0
            pairs.append(piece.lines[keep] + piece.start)
            rest.append(lengths[keep])
    return Springs(np.concatenate(pairs), np.concatenate(rest), {})


class Scale:
    """The range of the colours, which grows as it must.

    >>> scale = Scale()
    >>> scale.reach(np.array([-0.013, 0.002]))
    0.02
    """

    def __init__(self) -> None:
        self.limit = LEAST

    def reach(self, strains: Float) -> float:
        """Take in strains (m,); the strain at which the colours end."""
        most = float(np.abs(strains).max(initial=0.0))
        if math.isfinite(most) and most > self.limit:
            power = 10.0 ** math.floor(math.log10(most))
            self.limit = next(power * digit for digit in (1.0, 2.0, 5.0, 10.0) if power * digit >= most)
        return self.limit

    def colours(self, strains: Float) -> NDArray[np.uint8]:
        """Red, green and blue from 0 to 255 for each strain, (m, 3)."""
        s = np.clip(np.nan_to_num(strains / self.reach(strains)), -1.0, 1.0)[:, None]
        mixed = np.where(s < 0.0, REST + (SHORT - REST) * -s, REST + (LONG - REST) * s)
        return mixed.astype(np.uint8)
