"""The kinds of cell: how many corners, which pairs are edges, which cycles are faces.

Corners are numbered as Gmsh and VTK number them. Faces of solids run anticlockwise seen from
outside when the volume is positive. A polygon with n > 4 corners is of the kind "polygon" followed
by n, such as "polygon5".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

Corners = tuple[int, ...]


@dataclass(frozen=True)
class Kind:
    """A kind of cell: dimension 1 is a line, 2 a face, 3 a solid."""

    name: str
    size: int
    dimension: int
    edges: tuple[Corners, ...]
    faces: tuple[Corners, ...] = ()
    body_diagonals: tuple[Corners, ...] = ()
    mirror: Corners = ()  # the same cell with the opposite orientation


def _solid(
    name: str,
    size: int,
    faces: tuple[Corners, ...],
    mirror: Corners,
    body_diagonals: tuple[Corners, ...] = (),
) -> Kind:
    pairs = {
        tuple(sorted(pair))
        for face in faces
        for pair in zip(face, face[1:] + face[:1], strict=True)
    }
    return Kind(name, size, 3, tuple(sorted(pairs)), faces, body_diagonals, mirror)


def _face(name: str, size: int) -> Kind:
    around = tuple(range(size))
    return Kind(
        name,
        size,
        2,
        tuple((i, (i + 1) % size) for i in around),
        (around,),
        mirror=(0, *around[:0:-1]),
    )


_FIXED = {
    kind.name: kind
    for kind in (
        Kind("line", 2, 1, ((0, 1),), mirror=(1, 0)),
        _face("triangle", 3),
        _face("quad", 4),
        _solid("tet", 4, ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)), (0, 2, 1, 3)),
        _solid(
            "pyramid",
            5,
            ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
            (0, 3, 2, 1, 4),
        ),
        _solid(
            "wedge",
            6,
            ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
            (0, 2, 1, 3, 5, 4),
        ),
        _solid(
            "hex",
            8,
            ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
            (0, 3, 2, 1, 4, 7, 6, 5),
            ((0, 6), (1, 7), (2, 4), (3, 5)),
        ),
    )
}
NAMES = (*_FIXED, "polygon5, polygon6, …")


# Bounded, because a hostile file may name any number of polygon sizes.
@lru_cache(maxsize=64)
def find_kind(name: str) -> Kind | None:
    """Return the kind with this name, or None."""
    if name in _FIXED:
        return _FIXED[name]
    many = re.fullmatch(r"polygon([1-9]\d{0,5})", name)
    return _face(name, int(many[1])) if many and int(many[1]) > 4 else None


def get_kind(name: str) -> Kind:
    """Return the kind with a name that is known to be valid.

    >>> get_kind("wedge").size, get_kind("wedge").dimension
    (6, 3)
    """
    found = find_kind(name)
    assert found is not None
    return found


def face_name(size: int) -> str:
    """Return the name of the kind of face with `size` corners.

    >>> face_name(3), face_name(4), face_name(7)
    ('triangle', 'quad', 'polygon7')
    """
    return {3: "triangle", 4: "quad"}.get(size, f"polygon{size}")


def sort_key(name: str) -> tuple[int, int]:
    """Sort key of kinds: lines, faces, solids, each by size."""
    return get_kind(name).dimension, get_kind(name).size


def find_trihedra(kind: Kind) -> list[tuple[int, tuple[int, int, int | None]]]:
    """Return corners, each with its next and previous corner in a face, and its third neighbour.

    The face looks outwards; the corners of a face have no third neighbour, and those of a solid
    where more than three edges meet, such as the apex of a pyramid, are left out.

    >>> find_trihedra(get_kind("tet"))[0]
    (0, (2, 1, 3))
    """
    if kind.dimension == 2:
        return [(i, ((i + 1) % kind.size, (i - 1) % kind.size, None)) for i in range(kind.size)]
    trihedra: list[tuple[int, tuple[int, int, int | None]]] = []
    for corner in range(kind.size):
        face = next(f for f in kind.faces if corner in f)
        at = face.index(corner)
        after, before = face[(at + 1) % len(face)], face[at - 1]
        others = {i for e in kind.edges if corner in e for i in e} - {corner, after, before}
        if len(others) == 1:
            trihedra.append((corner, (after, before, others.pop())))
    return trihedra
