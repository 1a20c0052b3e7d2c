"""What a System adds to a contact: values that were left open, neighbours, checks; and joining."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.collision.proximity import Primitives, ProximityList
from taut.errors import ModelError
from taut.linalg.blocks import row_norms
from taut.mesh.topology import edge_balance
from taut.system.contact import Contact, Plane
from taut.system.contact_groups import BodyNames, Group
from taut.system.contact_search import ContactSearch

# The range if none is given: the smaller one of these parts of the size and of the shortest edge
_RANGE_OF_SIZE, _RANGE_OF_EDGE = 2e-3, 0.25
_SLIP_OF_SIZE = 1e-3  # per second
# Of a body that is bent back onto itself as sharply as its thickness allows, the way between two
# points that touch is π/2 times their distance.
_BEND = np.pi / 2
# Bodies whose least gap at the start is between these parts of the range, the first below zero, are
# in touch: the gap of smoothed edges is a few hundredths less than that of their thickness.
_TOUCH, _NEXT_TO_NOTHING = 0.1, 1e-3

log = logging.getLogger("taut")


def resolve(contact: Contact, x: Float, rest: Float, weight: float, inertia: float) -> Contact:
    """Choose what a contact leaves open, and check it against the positions x [m], (n, 3).

    rest : positions at rest [m], (n, 3)
    weight : mean weight of a particle [N]; inertia : stiffness to use where nothing weighs [N/m]
    """
    n, primitives = len(x), contact.primitives
    _check_particles(contact, n)
    thickness = _spread_thickness(contact, n)
    edges = primitives.edges
    lengths = row_norms(x[edges[:, 1]] - x[edges[:, 0]])
    range, slip_speed = contact.range, contact.slip_speed
    size = float(np.ptp(x[primitives.points], axis=0).max(initial=0.0))
    if range is None:
        range = min(_RANGE_OF_SIZE * size, _RANGE_OF_EDGE * float(lengths.min(initial=np.inf)))
        if not range > 0.0:
            raise ModelError("the range of a contact must be given: the bodies have no size")
    if len(lengths) and not range < lengths.min():
        edge = BodyNames(contact.bodies).describe("edge", edges[np.argmin(lengths)].tolist())
        raise ModelError(
            f"range of a contact must be less than the shortest edge, {lengths.min():g} m, "
            f"got {range:g} ({edge})"
        )
    if slip_speed is None:
        slip_speed = _SLIP_OF_SIZE * (size if size > 0.0 else 1.0)
    k = contact.k
    if k is None:
        k = 10.0 * weight / (1.19 * range) if weight > 0.0 else inertia
    contact = replace(contact, range=range, k=k, slip_speed=slip_speed, thickness=thickness)
    return replace(contact, neighbours=_find_neighbours(contact, rest))


def loosen_touching(contact: Contact, movable: Mask, x: Float) -> Contact:
    """Return a contact whose bodies may start in touch, at their thickness, at x [m], (n, 3).

    Where a body starts at its thickness from another, the barrier has its pole. All thicknesses are
    then lowered until half of the range is left between them.
    """
    assert contact.range is not None
    assert not isinstance(contact.thickness, Mapping)
    least = ContactSearch(contact, movable).pairs.find_least_gap(x)
    if not -_TOUCH * contact.range < least <= _NEXT_TO_NOTHING * contact.range:
        return contact
    for part in (0.5, 1.0):  # where one side only is thick, its half counts
        less = contact.thickness - (contact.range - least) * part
        looser = replace(contact, thickness=np.maximum(less, 0.0))
        if ContactSearch(looser, movable).pairs.find_least_gap(x) > 0.4 * contact.range:
            log.info(
                "bodies start in touch: their thickness is taken as %.3g m less",
                (contact.range - least) * part,
            )
            return looser
    return contact


def _check_particles(contact: Contact, n: int) -> None:
    groups = [contact.primitives.points, *(particles for _, particles in contact.bodies)]
    pairs = [*contact.exempt, *((p.one, p.other) for p in contact.friction_pairs)]
    groups += [group.particles for pair in pairs for group in pair]
    for group in groups:
        outside = group[(group < 0) | (group >= n)]
        if len(outside):
            raise ModelError(f"contact names particle {outside[0]}, but there are {n}")
    for name, triangles in contact.one_sided:
        edges, faces, balance = edge_balance(triangles, n)
        if (faces != 2).any() or balance.any():
            raise ModelError(
                f"one_sided of a contact: '{name}' must be closed and oriented, but edge "
                f"{edges[(faces != 2) | (balance != 0)][0].tolist()} does not belong to two "
                "triangles with opposite directions"
            )


def _spread_thickness(contact: Contact, n: int) -> Float:
    """Return the thickness as one number or one for each particle, (n,) [m]."""
    if isinstance(contact.thickness, Mapping):
        thickness, bodies = np.zeros(n), dict(contact.bodies)
        for name, value in contact.thickness.items():
            thickness[bodies[name]] = value
        return thickness
    if contact.thickness.shape not in ((), (n,)):
        raise ModelError(
            f"thickness of a contact must be one number or {n}, got shape {contact.thickness.shape}"
        )
    return contact.thickness


def _find_neighbours(contact: Contact, rest: Float) -> Int:
    """Return the keys of the pairs of one body that would repel each other at rest, sorted.

    They are neighbours along the body: the way between them, edge by edge, is at most π/2 times
    the distance at which they repel. What is near but far along the body, as in a knot, touches.
    """
    assert contact.range is not None
    assert not isinstance(contact.thickness, Mapping)
    primitives, n, rest = contact.primitives, len(rest), np.array(rest)  # read-only
    radius = np.broadcast_to(contact.thickness / 2.0, n)
    near_at_rest = ProximityList(
        primitives, np.ones(n, dtype=bool), contact.range, radius=radius, skin=0.0
    )
    found = near_at_rest.find_near(rest).within(rest, contact.range, radius)
    if not len(found.keys):
        return found.keys
    rows = np.concatenate([found.point_triangle, found.edge_edge])
    limits = _BEND * (np.concatenate(found.thickness(radius)) + contact.range)
    splits = np.where(np.arange(len(rows)) < len(found.point_triangle), 1, 2)
    ways = _Ways(primitives.edges, rest, float(limits.max()))
    near = [
        ways.measure(row[:split], row[split:]) <= limit
        for row, split, limit in zip(rows.tolist(), splits.tolist(), limits.tolist(), strict=True)
    ]
    return np.sort(found.keys[np.array(near)])


class _Ways:
    """Lengths of the shortest ways along edges, up to a limit [m]; x : positions [m], (n, 3)."""

    def __init__(self, edges: Int, x: Float, limit: float) -> None:
        self._limit = limit
        self._steps: dict[int, list[tuple[int, float]]] = {}
        lengths = row_norms(x[edges[:, 1]] - x[edges[:, 0]])
        for (i, j), length in zip(edges.tolist(), lengths.tolist(), strict=True):
            self._steps.setdefault(i, []).append((j, length))
            self._steps.setdefault(j, []).append((i, length))
        self._known: dict[int, dict[int, float]] = {}

    def measure(self, some: Sequence[int], others: Sequence[int]) -> float:
        """Return the shortest way from one of some particles to one of others [m], or infinity."""
        return min(self._from(i).get(j, np.inf) for i in some for j in others)

    def _from(self, start: int) -> dict[int, float]:
        """Return the particles within the limit, with their distances (Dijkstra)."""
        if start not in self._known:
            reached: dict[int, float] = {}
            queue = [(0.0, start)]
            while queue:
                way, here = heappop(queue)
                if here in reached:
                    continue
                reached[here] = way
                for there, length in self._steps.get(here, []):
                    if there not in reached and way + length <= self._limit:
                        heappush(queue, (way + length, there))
            self._known[start] = reached
        return self._known[start]


def join_contacts(contacts: Sequence[Contact | None], counts: Sequence[int]) -> Contact | None:
    """Return the contact of bodies joined in one system, or None if none of them has any.

    contacts : of each system, resolved; counts : of their particles
    """
    given = [contact for contact in contacts if contact is not None]
    if not given:
        return None
    for name in ("range", "k", "friction", "slip_speed"):
        values = sorted({getattr(contact, name) for contact in given})
        if len(values) > 1:
            raise ModelError(
                f"join: contacts must have the same {name}, got {values[0]:g} and {values[-1]:g}; "
                "join without contact, and give the joined system its own by with_(contact=…)"
            )
    starts = np.cumsum([0, *counts[:-1]]).tolist()
    moved = [(c, s) for c, s in zip(contacts, starts, strict=True) if c is not None]

    def shift(name: str) -> Int:
        return np.concatenate([getattr(contact.primitives, name) + s for contact, s in moved])

    thickness = [
        np.broadcast_to(0.0 if contact is None else np.asarray(contact.thickness), n)
        for contact, n in zip(contacts, counts, strict=True)
    ]
    planes, renumbered = _join_planes(given)
    own: dict[str, Int] = {}
    for contact, s in moved:
        for name, particles in contact.bodies:
            if name in own:
                raise ModelError(f"join: names of bodies must be different, got '{name}' twice")
            own[name] = particles + s
    exempt: list[tuple[Group, Group]] = []
    friction_pairs = []
    for (contact, s), table in zip(moved, renumbered, strict=True):
        exempt += [(a.shift(s, table), b.shift(s, table)) for a, b in contact.exempt]
        friction_pairs += [
            replace(p, one=p.one.shift(s, table), other=p.other.shift(s, table))
            for p in contact.friction_pairs
        ]
    return replace(
        given[0],
        primitives=Primitives(*(shift(name) for name in ("points", "edges", "loose", "triangles"))),
        planes=planes,
        thickness=np.concatenate(thickness),
        exempt=tuple(exempt),
        friction_pairs=tuple(friction_pairs),
        bodies=tuple(own.items()),
        one_sided=tuple(
            (name, rows + s) for contact, s in moved for name, rows in contact.one_sided
        ),
        frames=np.concatenate([contact.frames + s for contact, s in moved]),
    )


def _join_planes(contacts: Sequence[Contact]) -> tuple[tuple[Plane, ...], list[Int]]:
    """Return all planes, equal ones once, and the new numbers of each contact's planes."""
    planes: dict[bytes, Plane] = {}
    tables = []
    for contact in contacts:
        keys = [np.concatenate([plane.point, plane.normal]).tobytes() for plane in contact.planes]
        for key, plane in zip(keys, contact.planes, strict=True):
            planes.setdefault(key, plane)
        numbers = list(planes)
        tables.append(np.array([numbers.index(key) for key in keys], dtype=np.int64))
    return tuple(planes.values()), tables
