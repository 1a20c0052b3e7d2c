"""Functions that help to build a System: masses of cells, prestressed rest lengths, joined bodies.

A line of linear density ρ and length l gives the mass ρ l/2 to each end, a triangle of areal
density ρ A/3, a tetrahedron ρ V/4; their sum is ρ times the length, area or volume. The consistent
mass matrix of linear elements, ∫ρ N_i N_j, has the entries m (1 + δ_ij)/((d + 1)(d + 2)) for a
cell of mass m and dimension d.

Members of length l and stiffness k have the forces N with rest lengths l₀ = l - N/k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, describe, to_floats
from taut.binding.law import Damping, Energy, Load
from taut.constraints.constraint import Constraint
from taut.errors import LawError, ModelError
from taut.mesh.measure import share_among_corners
from taut.mesh.mesh import Mesh
from taut.system._arguments import to_positions
from taut.system.contact_choices import join_contacts
from taut.system.obstacles import Obstacle
from taut.system.system import System


def line_mass(mesh: Mesh, density: ArrayLike) -> Float:
    """Masses [kg], shape (n,), of the lines of a mesh.

    density : [kg/m], one value or one per line

    >>> import taut
    >>> line_mass(taut.mesh.rope(2), 0.5)
    array([0.125, 0.25 , 0.125])
    """
    return _lumped(mesh, density, 1)


def areal_mass(mesh: Mesh, density: ArrayLike) -> Float:
    """Masses [kg], shape (n,), of the faces of a mesh.

    density : [kg/m²], one value or one per face (in the order of `mesh.areas`, which are what is
        weighed)

    >>> import taut
    >>> areal_mass(taut.mesh.sheet(1, 1), 0.2).tolist()
    [0.05, 0.05, 0.05, 0.05]
    """
    return _lumped(mesh, density, 2)


def volume_mass(mesh: Mesh, density: ArrayLike) -> Float:
    """Masses [kg], shape (n,), of the solids of a mesh.

    density : [kg/m³], one value or one per solid (in the order of `mesh.volumes`)

    >>> import taut
    >>> volume_mass(taut.mesh.block(1, 1, 1, size=0.1), 1000.0).round(12).tolist()
    [0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125]
    """
    return _lumped(mesh, density, 3)


def consistent_mass(mesh: Mesh, density: ArrayLike) -> Any:
    """Return the consistent mass matrix [kg], shape (n, n), of the lines, triangles or tets of a
    mesh: a scipy.sparse CSC array, for `taut.modes(system, mass=…)`.

    density : [kg/m], [kg/m²] or [kg/m³] of the cells of highest dimension in the mesh; one value or
        one per cell

    It multiplies each component of the displacements by itself. The frequencies of a body lie below
    those with this matrix, and for simple bars above those with lumped masses. Time steps have
    lumped masses (`line_mass`, `areal_mass`, `volume_mass`).

    >>> import taut
    >>> consistent_mass(taut.mesh.rope(2), 1.2).toarray().round(12).tolist()
    [[0.2, 0.1, 0.0], [0.1, 0.4, 0.1], [0.0, 0.1, 0.2]]
    """
    from scipy.sparse import csc_array

    dimension = max((kind.dimension for kind, _ in mesh.blocks()), default=1)
    matrix = csc_array((mesh.n, mesh.n))
    for kind, cells, mass in _weigh(mesh, density, dimension):
        corners = dimension + 1
        if cells.shape[1] != corners:
            raise ModelError(
                f"consistent_mass: cells must be lines, triangles or tets, got {kind}; "
                "taut.mesh.triangulated(mesh) cuts faces into triangles"
            )
        shares = mass[:, None, None] * (1.0 + np.eye(corners)) / ((corners) * (corners + 1))
        rows = np.repeat(cells, corners, axis=1).ravel()
        columns = np.tile(cells, (1, corners)).ravel()
        matrix = matrix + csc_array((shares.ravel(), (rows, columns)), shape=matrix.shape)
    return matrix.tocsc()


_CELLS = {1: "lines", 2: "faces", 3: "solids"}


def _lumped(mesh: Mesh, density: ArrayLike, dimension: int) -> Float:
    mass = np.zeros(mesh.n)
    for _, cells, amount in _weigh(mesh, density, dimension):
        mass += share_among_corners(amount, cells, mesh.n)
    return mass


def _weigh(mesh: Mesh, density: ArrayLike, dimension: int) -> list[tuple[str, Int, Float]]:
    """Return the kinds of cells of a dimension, the cells, and the mass of each [kg]."""
    blocks, what = mesh.blocks(dimension), _CELLS[dimension]
    if not blocks:
        raise ModelError(
            f"the mesh has no {what} to weigh; it has {', '.join(mesh.cells) or 'no cells'}"
        )
    total = sum(len(c) for _, c in blocks)
    try:
        given = to_floats(density)
    except (TypeError, ValueError) as error:
        raise ModelError(f"density is not a number or an array of numbers: {density!r}") from error
    if given.shape not in ((), (total,)):
        raise ModelError(
            f"density has shape {given.shape}; give one value or one for each of the {total} {what}"
        )
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ModelError("a density is negative or not finite")
    each = np.split(np.broadcast_to(given, total), np.cumsum([len(c) for _, c in blocks])[:-1])
    weighed = []
    for (kind, cells), share in zip(blocks, each, strict=True):
        measure = mesh.measure(kind.name)
        inverted = np.flatnonzero(measure < 0)
        if len(inverted):
            i = inverted[0]
            raise ModelError(
                f"{kind.name} {i} is inverted: its volume is {measure[i]:.3g} m³ "
                "(taut.mesh.clean turns it over)"
            )
        weighed.append((kind.name, cells, share * measure))
    return weighed


def rest_length(points: ArrayLike, edges: ArrayLike, k: ArrayLike, force: ArrayLike) -> Float:
    """Return the rest lengths [m] of prestressed members: l₀ = l - force/k, shape (m,).

    points : positions [m], (n, 3) or (n, 2), at which the members have these forces
    edges : the particles of each member, (m, 2)
    k : stiffness [N/m]; force : [N], tension positive; each one number or one per member

    l₀ must be positive: a member where it is not needs a larger k.

    >>> rest_length([[0, 0, 0], [2, 0, 0]], [[0, 1]], k=100.0, force=50.0)
    array([1.5])
    """
    x = to_positions(points, "points")
    try:
        pairs = np.asarray(edges)
    except ValueError as error:
        raise ModelError(
            f"rest_length: edges are pairs of particle indices, not {edges!r}"
        ) from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ModelError(
            "rest_length: edges must be pairs of particle indices, shape (m, 2), "
            f"got {pairs.dtype} of shape {pairs.shape}"
        )
    outside = np.flatnonzero(((pairs < 0) | (pairs >= len(x))).any(axis=1))
    if len(outside):
        raise ModelError(
            f"rest_length: member {outside[0]} joins {pairs[outside[0]].tolist()}, "
            f"but there are {len(x)} particles"
        )
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise ModelError(
            f"rest_length: member {loops[0]} joins particle {pairs[loops[0], 0]} to itself"
        )
    stiffness, tension = _per_member(k, len(pairs), "k"), _per_member(force, len(pairs), "force")
    soft = np.flatnonzero(stiffness <= 0.0)
    if len(soft):
        raise ModelError(
            f"rest_length: k of member {soft[0]} is {stiffness[soft[0]]:g} N/m, not positive"
        )
    length = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
    rest = length - tension / stiffness
    bad = np.flatnonzero(rest <= 0.0)
    if len(bad):
        m = bad[0]
        raise ModelError(
            f"rest_length: member {m} (particles {pairs[m].tolist()}) of length {length[m]:g} m "
            f"would need the rest length {rest[m]:g} m for {tension[m]:g} N with "
            f"k = {stiffness[m]:g} N/m"
        )
    return rest


def _per_member(value: ArrayLike, m: int, what: str) -> Float:
    try:
        array = to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"rest_length: {what} is not made of numbers: {value!r}") from error
    if array.shape not in ((), (m,)):
        raise ModelError(
            f"rest_length: {what} is one number or one per member, shape ({m},), not {array.shape}"
        )
    if not np.isfinite(array).all():
        bad = int(np.argmin(np.isfinite(np.atleast_1d(array))))
        raise ModelError(f"rest_length: {what} of member {bad} is not finite")
    return np.broadcast_to(array, (m,))


def _to_systems(bodies: Sequence[System | Obstacle]) -> list[System]:
    """Return bodies as systems; obstacles have the contact of the others."""
    systems = [body for body in bodies if isinstance(body, System)]
    for given in bodies:
        if not isinstance(given, (System, Obstacle)):
            raise ModelError(f"join needs systems, join(a, b, …), got {describe(given)}")
    if not systems:
        raise ModelError("join needs at least one system")
    if len(systems) == len(bodies):
        return systems
    contacts = [system.contact for system in systems if system.contact is not None]
    if not contacts:
        raise ModelError("join: obstacles need a system with contact; give one contact=…")
    if any(system.flat for system in systems):
        raise ModelError("join: obstacles need systems in space; in the plane, hold particles")
    return [body.to_system(contacts[0]) if isinstance(body, Obstacle) else body for body in bodies]


def join(*bodies: System | Obstacle) -> System:
    """Join several bodies in one system; their particles follow each other, in order.

    bodies : systems, and obstacles (see `taut.obstacles`), which touch what has contact

    Contacts become one, in which the bodies touch each other too; their ranges, stiffnesses and
    friction must be the same.

    >>> import taut
    >>> from taut import laws
    >>> one = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0)])
    >>> two = taut.join(one, one.with_(pose=[[0, 1, 0], [1, 1, 0]]))
    >>> two.n, two.energies[1].elements.tolist()
    (4, [[2, 3]])
    """
    systems = _to_systems(bodies)
    if len({s.flat for s in systems}) > 1:
        raise ModelError("join: systems in the plane and in space do not mix")
    if any(s._rayleigh is not None for s in systems):
        raise LawError(
            "join: Rayleigh damping belongs to a whole system; add it to the joined one by "
            "with_(damping=…)"
        )
    energies: list[Energy] = []
    damping: list[Damping] = []
    loads: list[Load] = []
    constraints: list[Constraint] = []
    held: list[int] = []
    start = 0
    for s in systems:
        energies += [p.shift_particles(start) for p in s._placed_energies.values()]
        damping += [p.shift_particles(start) for p in s._placed_damping.values()]
        loads += [p.shift_particles(start) for p in s._placed_loads.values()]
        constraints += [c.shift_particles(start, s.n) for c in s.constraints]
        held += (s.fixed + start).tolist()
        start += s.n
    points = np.concatenate([s.rest for s in systems])
    return System(
        points[:, :2] if systems[0].flat else points,
        mass=np.concatenate([s.mass for s in systems]),
        energies=energies,
        damping=damping,
        loads=loads,
        fixed=held,
        constraints=constraints,
        pose=np.concatenate([s.pose for s in systems]),
        velocity=np.concatenate([s.velocity for s in systems]),
        contact=join_contacts([s.contact for s in systems], [s.n for s in systems]),
    )
