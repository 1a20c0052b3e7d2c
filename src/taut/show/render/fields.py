"""What colours mean: numbers at the points of what is drawn, with a unit and one range for the whole run.

    speed     |v| [m/s]
    strain    of a line of the mesh: l/L - 1, L its length at rest; of a point: the mean of that over the edges that meet there
    stress    of a particle: Σ ½ N L / (d Ω) over the members (laws on two particles, `System.members`) that meet there: their force
              N [N], tension positive, times their length at rest L, by d times the particle's share Ω of the body at rest: by the
              virial theorem the mean of the principal stresses, of faces (d = 2) force by length [N/m], of solids (d = 3) [Pa].
              Of a line of the mesh it is the force N itself [N]
    a law     of a particle: Σ V/s over the elements of the law that meet there, s particles each [J]: all together V of the law;
              an energy of a total (such as of a sealed gas) is shared equally among its elements

On a mesh that rides on another one (`render` in a scene), what particles have is carried over with the weights of the positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, did_you_mean
from taut.mesh.measure import to_corners
from taut.run.frames import Frame
from taut.show.subject import Piece, Subject
from taut.show.torn import Torn
from taut.system.members import Members
from taut.system.state import State

Float = NDArray[np.float64]
Int = NDArray[np.int64]
PLAIN = "plain"
UNITS = {1: "N", 2: "N/m", 3: "Pa"}


@dataclass(frozen=True, eq=False)
class Field:
    """A quantity to colour by.

    title, unit : in words; signed : whether zero is in the middle of its colours, where both signs occur
    at : its values at the points of each piece, (m,), in a frame
    along : those of the lines of each piece, (k,), where lines have values of their own
    """

    title: str
    unit: str
    signed: bool
    at: Callable[[Frame], list[Float]]
    along: Callable[[Frame], list[Float]] | None = None


def drawn(shown: Field, pieces: Sequence[Piece], frame: Frame) -> list[Float]:
    """The values that are to be seen of each piece: at its points, along its lines, or both."""
    found = []
    lines = [None] * len(pieces) if shown.along is None else shown.along(frame)
    for piece, points, own in zip(pieces, shown.at(frame), lines, strict=True):
        found += [points] if own is None or not len(own) or len(piece.triangles) else []
        found += [] if own is None else [own]
    return found


def spread(values: Iterable[list[Float]], *, signed: bool) -> tuple[float, float]:
    """The least and the greatest of all values; for signed ones that have both signs, ± the greatest magnitude.

    >>> spread([[np.array([0.1, -0.3])], [np.array([0.2, np.nan])]], signed=True)
    (-0.3, 0.3)
    >>> spread([[np.array([0.1, 0.2])]], signed=True)
    (0.1, 0.2)
    """
    low, high = np.inf, -np.inf
    for each in values:
        known = np.concatenate(each)
        known = known[np.isfinite(known)]
        if len(known):
            low, high = min(low, float(known.min())), max(high, float(known.max()))
    if low > high:
        return 0.0, 0.0
    return (-max(-low, high), max(-low, high)) if signed and low < 0 < high else (low, high)


def field(name: str, subject: Subject, torn: Torn) -> Field | None:
    """The quantity of this name, or None for "plain"."""
    if name == PLAIN:
        return None
    if name == "speed":
        return Field("speed", "m/s", False, _carried(subject, lambda frame: np.linalg.norm(frame.v, axis=1)))
    if name == "strain":
        if not any(len(piece.mesh.edges) for piece in subject.pieces):
            raise ModelError("colour 'strain': there are no edges, particles only; colour by speed")
        return Field("strain", "", True, *_strains(subject, torn))
    if name == "stress":
        return _stress(subject, torn)
    placed = subject.system.placed
    if name not in placed:
        known = ("plain", "strain", "speed", "stress", *placed)
        raise ModelError(f"there is no colour '{name}'; there are {', '.join(known)}{did_you_mean(name, known)}")
    return Field(f"energy of {name}", "J", False, _carried(subject, lambda frame: _energy(subject, name, torn, frame)))


def _carried(subject: Subject, values: Callable[[Frame], Float]) -> Callable[[Frame], list[Float]]:
    """Numbers of particles, (n,), at the points of each piece."""

    def at(frame: Frame) -> list[Float]:
        every = values(frame)
        return [_weighed(piece, every[piece.start : piece.stop]) for piece in subject.pieces]

    return at


def _weighed(piece: Piece, own: Float) -> Float:
    riding = piece.embedding
    return own if riding is None else np.einsum("mk,mk->m", riding.weights, own[riding.indices])


def _strains(subject: Subject, torn: Torn) -> tuple[Callable[[Frame], list[Float]], Callable[[Frame], list[Float]]]:
    """Strains at the points and along the lines of each piece; torn edges have none."""

    def at(frame: Frame) -> list[Float]:
        found = []
        for piece in subject.pieces:
            each = _elongation(piece, piece.mesh.edges, frame, torn)
            known = np.isfinite(each)
            found.append(_mean(piece.mesh.edges[known], each[known], piece.mesh.n))
        return found

    return at, lambda frame: [_elongation(piece, piece.lines, frame, torn) for piece in subject.pieces]


def _elongation(piece: Piece, pairs: Int, frame: Frame, torn: Torn) -> Float:
    """l/L - 1 of pairs of points of a piece, (k,); nan where L is zero, or the pair is torn."""
    x, rest = piece.positions(frame.q), piece.mesh.positions
    length, before = (np.linalg.norm(p[pairs[:, 1]] - p[pairs[:, 0]], axis=1) for p in (x, rest))
    found = np.divide(length, before, out=np.full(len(pairs), np.nan), where=before > 0) - 1
    broken = torn.pairs(frame.step) - piece.start
    if len(broken) and piece.embedding is None:
        found[_where(broken, pairs) >= 0] = np.nan
    return found


def _where(known: Int, pairs: Int) -> Int:
    """For each pair of numbers (k, 2), in either order, its place among others (m, 2), or -1."""
    if not len(known) or not len(pairs):
        return np.full(len(pairs), -1)
    ways = np.array([1 + max(int(known.max()), int(pairs.max())), 1])
    keys, wanted = (np.sort(each, axis=1) @ ways for each in (known, pairs))
    order = np.argsort(keys, kind="stable")
    place = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
    return np.where(keys[place] == wanted, place, -1)


def _mean(pairs: Int, values: Float, n: int) -> Float:
    """The mean of values (k,) over the pairs (k, 2) at each of n points; nan where there are none."""
    count = np.bincount(pairs.ravel(), minlength=n)
    total = np.bincount(pairs.ravel(), weights=np.repeat(values, 2), minlength=n)
    return np.divide(total, count, out=np.full(n, np.nan), where=count > 0)


def _stress(subject: Subject, torn: Torn) -> Field:
    meshes = [piece.simulated for piece in subject.pieces]
    dimensions = {max((kind.dimension for kind, _ in mesh.blocks()), default=0) for mesh in meshes}
    if len(dimensions) != 1 or not all(dimensions):
        raise ModelError("colour 'stress': lines, faces and solids have stresses in different units; colour by strain or by a law")
    (d,) = dimensions
    share = [
        sum((to_corners(np.abs(mesh.measure(kind.name)), cells, mesh.n) for kind, cells in mesh.blocks(d)), np.zeros(mesh.n))
        for mesh in meshes
    ]
    body, system = np.concatenate(share), subject.system

    def table(frame: Frame) -> Members:
        return system.members(State(frame.t, frame.q, frame.v, torn.active(frame.step)))

    def values(frame: Frame) -> Float:
        found = table(frame)
        rest = np.linalg.norm(system.rest[found.j] - system.rest[found.i], axis=1)
        each = 0.5 * np.nan_to_num(found.force) * rest
        total = np.bincount(np.concatenate([found.i, found.j]), weights=np.tile(each, 2), minlength=system.n)
        return np.divide(total, d * body, out=np.full(system.n, np.nan), where=body > 0)

    def along(frame: Frame) -> list[Float]:
        found = table(frame)
        ends = np.column_stack([found.i, found.j])
        forces = []
        for piece in subject.pieces:
            place = _where(piece.lines + piece.start, ends)
            total = np.bincount(place[place >= 0], weights=found.force[place >= 0], minlength=len(piece.lines))
            forces.append(np.where(np.bincount(place[place >= 0], minlength=len(piece.lines)) > 0, total, np.nan))
        return forces

    plain = all(piece.embedding is None for piece in subject.pieces)
    return Field("stress", UNITS[d], True, _carried(subject, values), along if d == 1 and plain else None)


def _energy(subject: Subject, name: str, torn: Torn, frame: Frame) -> Float:
    placed = subject.system.placed[name]
    each = placed.values(frame.q, frame.t)
    if placed.together:
        each = np.full(len(each), each.sum() / len(each))
    each = np.where(torn.active(frame.step).get(name, True), each, 0.0)
    return to_corners(each, placed.elements, subject.n)
