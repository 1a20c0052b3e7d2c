"""Contact as a part of a System: what can touch, how near it may come, and how strongly it repels.

`taut.contact` describes it. A System chooses what is left open (`contact_choices`). The search for
pairs is in `contact_search`, the sums over them in `contact_assembly`, and the formulas are laws
like any other (`taut.laws.point_triangle_contact`, …).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.collision.proximity import Primitives
from taut.errors import ModelError
from taut.mesh.mesh import Mesh
from taut.system.contact_groups import Group, GroupReader, PairFriction, to_particles
from taut.system.contact_surfaces import gather_primitives

CONTACT_NAME = "contact"  # of its energy in tables of laws


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane that nothing passes.

    name : in messages and pairs; point : a point of it [m], (3,)
    normal : towards the free side, of length 1, (3,)
    """

    name: str
    point: Float
    normal: Float

    def measure_gaps(self, x: Float) -> Float:
        """Return how far points x [m], (m, 3), are above the plane [m], (m,)."""
        gaps: Float = (x - self.point) @ self.normal
        return gaps


def _no_rows(columns: int) -> Int:
    return np.empty((0, columns), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Contact:
    """What can touch in a System; made by `taut.contact`.

    primitives : points, edges and triangles, as particle indices
    planes : planes that nothing passes
    range : gap below which two surfaces repel each other [m], or None: chosen by the System
    k : stiffness of the repulsion [N/m], or None: chosen by the System
    thickness : of the bodies [m], one number, one for each particle of the System, or by name
    friction : coefficient of Coulomb's law [1]
    slip_speed : sliding speed at which friction is fully developed [m/s], or None: chosen by the
        System
    exempt : pairs of groups whose surfaces do not touch each other
    friction_pairs : pairs of groups with another coefficient; the last one counts
    bodies : names of bodies and their particles, (k,)
    one_sided : names and triangles, (l, 3), of closed surfaces that nothing may be inside of
    frames : rows (particle, origin, end, end, end): the particle belongs to an obstacle that turns
        as the three orthogonal vectors from the origin to the ends do, (k, 5)
    neighbours : keys of the pairs of one body that are near each other at rest, sorted
    """

    primitives: Primitives
    planes: tuple[Plane, ...]
    range: float | None
    k: float | None
    thickness: Float | Mapping[str, float]
    friction: float
    slip_speed: float | None
    exempt: tuple[tuple[Group, Group], ...] = ()
    friction_pairs: tuple[PairFriction, ...] = ()
    bodies: tuple[tuple[str, Int], ...] = ()
    one_sided: tuple[tuple[str, Int], ...] = ()
    frames: Int = field(default_factory=lambda: _no_rows(5))
    neighbours: Int = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def has_friction(self) -> bool:
        """Whether some pair has friction."""
        return self.friction > 0.0 or any(p.coefficient > 0.0 for p in self.friction_pairs)


def contact(
    *surfaces: Mesh | ArrayLike,
    range: float | None = None,
    k: float | None = None,
    thickness: ArrayLike | Mapping[str, float] = 0.0,
    friction: float = 0.0,
    slip_speed: float | None = None,
    planes: Mapping[str, Any] | Iterable[tuple[ArrayLike, ArrayLike]] = (),
    bodies: Mapping[str, ArrayLike] | None = None,
    exempt: Iterable[tuple[Any, Any]] = (),
    friction_pairs: Iterable[tuple[Any, Any, float]] = (),
    one_sided: Iterable[Any] = (),
) -> Contact:
    """Let bodies touch, and never pass through each other or themselves.

    surfaces : what can touch: Meshes whose points are the particles of the System in order (of
        solids the boundary), or arrays of triangles (m, 3), edges (m, 2) or particles (m,) in its
        numbers. Obstacles are surfaces whose particles are held, and those of `taut.obstacles`
    range : gap below which two surfaces repel each other [m] (default: 0.2% of the size of all
        bodies, but at most a quarter of the shortest edge)
    k : stiffness [N/m]: at a gap of half the range a pair is pushed apart by 1.19·k·range
        (default: so that this is ten times the mean weight of a particle)
    thickness : of the bodies [m], one number, one for each particle, or one for each body by name
        (others have none): surfaces touch at half the sum of theirs
    friction : coefficient μ of Coulomb's law [1]
    slip_speed : sliding speed at which friction is fully developed [m/s]; what sticks creeps with
        less (default: 0.1% of the size of all bodies in a second)
    planes : pairs of a point [m] and a normal towards the free side, in a list or by name
    bodies : names for groups of particles, for messages and for what follows
    exempt : pairs of groups of particles, or of names of bodies and planes: a surface with a
        particle of the one does not touch a surface with a particle of the other, such as the two
        sides of a seam
    friction_pairs : pairs likewise, each with its own μ
    one_sided : closed surfaces, by name or as groups of particles, whose triangles face outwards:
        to start inside of one is an error. Other surfaces have two sides

    Pass it as `System(…, contact=…)`. Pairs that share a particle do not repel each other, nor do
    parts of one body that are so near each other at rest that they would (see the guide). Steps
    need an implicit integrator with Newton's method, which tests the way of every iteration.

    >>> import taut
    >>> ball = taut.System([[0, 0.01, 0]], mass=0.1, energies=[taut.laws.gravity()],
    ...     contact=taut.contact([0], range=1e-3, planes=[([0, 0, 0], [0, 1, 0])]))
    >>> summary = taut.simulate(ball, taut.ImplicitEuler(), h=0.01, until=1.0)
    """
    for name, value in (("range", range), ("k", k), ("slip_speed", slip_speed)):
        if value is not None and not (is_finite(value) and value > 0.0):
            raise ModelError(f"{name} of a contact must be positive, got {value!r}")
    if not surfaces:
        raise ModelError("a contact needs at least one surface, edge or particle")
    primitives = gather_primitives(surfaces)
    groups = {name: _read_body(name, given) for name, given in (bodies or {}).items()}
    walls = _read_planes(planes)
    reader = GroupReader(groups, [plane.name for plane in walls])
    return Contact(
        primitives,
        walls,
        range,
        k,
        _read_thickness(thickness, groups),
        check_friction(friction, "friction of a contact"),
        slip_speed,
        exempt=tuple(
            (one, other)
            for one, other in (reader.read_pair(g, "exempt of a contact", 2) for g in exempt)
        ),
        friction_pairs=tuple(_read_friction(reader, given) for given in friction_pairs),
        bodies=tuple(groups.items()),
        one_sided=tuple(_read_side(reader, given, primitives) for given in one_sided),
    )


def is_finite(value: object) -> bool:
    """Whether a value is a finite real number."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def check_friction(value: object, what: str) -> float:
    """Return a coefficient of friction, or raise an error that begins with `what`."""
    if not is_finite(value) or not value >= 0.0:  # type: ignore[operator]
        raise ModelError(f"{what} must not be negative, got {value!r}")
    return float(value)  # type: ignore[arg-type]


def _read_body(name: object, given: ArrayLike) -> Int:
    particles = to_particles(given)
    if not isinstance(name, str) or particles is None or not len(particles):
        raise ModelError(
            "bodies of a contact must be groups of particles by name, "
            f"got {given!r} with the name {name!r}"
        )
    return np.unique(particles)


def _read_thickness(given: Any, bodies: Mapping[str, Int]) -> Float | Mapping[str, float]:
    if isinstance(given, Mapping):
        reader = GroupReader(bodies, [])
        for name, value in given.items():
            reader.read(name, "thickness of a contact")
            if not (is_finite(value) and value >= 0.0):
                raise ModelError(f"thickness of '{name}' must not be negative, got {value!r}")
        return {name: float(value) for name, value in given.items()}
    try:
        widths = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"thickness of a contact must be numbers: {error}") from error
    bad = np.flatnonzero(~(np.isfinite(widths) & (widths >= 0.0)))
    if len(bad):
        of = f" of particle {bad[0]}" if widths.ndim else ""
        wrong = float(widths.flat[bad[0]])
        raise ModelError(f"thickness of a contact must not be negative, got {wrong:g}{of}")
    return widths


def _read_planes(given: Any) -> tuple[Plane, ...]:
    if isinstance(given, Mapping):
        return tuple(_read_plane(str(name), plane) for name, plane in given.items())
    return tuple(_read_plane(f"plane {i}", plane) for i, plane in enumerate(given))


def _read_plane(name: str, given: Any) -> Plane:
    try:
        point, normal = (np.array(part, dtype=np.float64) for part in given)
    except (TypeError, ValueError):
        point = normal = np.zeros(0)
    length = float(np.linalg.norm(normal))
    finite = np.isfinite(point).all() and np.isfinite(length)
    if point.shape != (3,) or normal.shape != (3,) or not (finite and length > 0.0):
        raise ModelError(
            "a plane of a contact must be a point and a normal, not zero, of three numbers each, "
            f"got {given!r}"
        )
    return Plane(name, point, normal / length)


def _read_friction(reader: GroupReader, given: Any) -> PairFriction:
    what = "friction_pairs of a contact"
    one, other, coefficient = reader.read_pair(given, what, 3)
    return PairFriction(one, other, check_friction(coefficient, f"{what}: μ"))


def _read_side(reader: GroupReader, given: Any, primitives: Primitives) -> tuple[str, Int]:
    group = reader.read(given, "one_sided of a contact").particles
    triangles = primitives.triangles[np.isin(primitives.triangles, group).all(axis=1)]
    name = given if isinstance(given, str) else f"the surface with particle {group.min(initial=0)}"
    if not len(triangles):
        raise ModelError(f"one_sided of a contact: {name} has no triangles")
    return name, triangles
