"""What colours mean: a number at each drawn point, with a unit and one range for the whole run.

    speed     |v| [m/s]
    strain    of a line of the mesh: l/L - 1 with its rest length L; of a point: the mean of this
              over the edges that meet there
    stress    of a particle: Σ ½ N L / (d Ω) over its members (laws on two particles, see
              `System.members`), with force N [N], tension positive, rest length L and the
              particle's share Ω of the body at rest. By the virial theorem this is the mean of the
              principal stresses: force per length [N/m] for faces (d = 2), [Pa] for solids (d = 3).
              Of a line of the mesh: the force N itself [N]
    inversion of a particle of a solid: the least v/v₀ of the tetrahedra at the corners of its
              cells, with their rest volume v₀: negative where a cell is turned inside out
    contact   of a particle: |f| with the force f of all contacts on it, without friction [N] (see
              `taut.show.contact_model`)
    a law     of a particle: Σ V/s over the elements of the law that meet there, with s particles
              each [J], so that all particles together have V of the law. The energy of a total
              (such as of an enclosed gas) is shared equally by its elements

Values of particles are interpolated to a finer mesh (`render` in a scene) with the weights of its
embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int
from taut.errors import ModelError, did_you_mean
from taut.mesh.kinds import get_kind
from taut.mesh.measure import measures, share_among_corners
from taut.run.open_run import Frame
from taut.show.colours import TableName
from taut.show.contact_model import ContactForces
from taut.show.visual_model import VisualBody, VisualModel
from taut.system.contact import CONTACT_NAME
from taut.system.members import Members
from taut.system.state import State

PLAIN = "plain"
_STRESS_UNITS = {1: "N", 2: "N/m", 3: "Pa"}  # by the dimension of the body

Evaluate = Callable[[Frame], list[Float]]
"""Gives the values of each piece in a frame."""


@dataclass(frozen=True, eq=False)
class Field:
    """A quantity to colour by.

    title, unit : as the colour bar shows them
    signed : whether zero is in the middle of the colours if both signs occur
    at_points : evaluates the points of each piece, (m,)
    at_lines : evaluates the lines of each piece, (k,), if lines have values of their own
    table : of the colours, if zero is not in their middle
    """

    title: str
    unit: str
    signed: bool
    at_points: Evaluate
    at_lines: Evaluate | None = None
    table: TableName = "sequential"


def make_field(name: str, model: VisualModel) -> Field | None:
    """Make the field with this name, or None for "plain"."""
    if name == PLAIN:
        return None
    if name == "speed":
        return _make_speed(model)
    if name == "strain":
        return _make_strain(model)
    if name == "stress":
        return _make_stress(model)
    if name == "inversion":
        return _make_inversion(model)
    laws = model.system._placed_energies
    has_contact = model.system.contact is not None
    if name == CONTACT_NAME and has_contact:
        return _make_contact(model)
    if name not in laws:
        known = (
            "plain",
            "strain",
            "speed",
            "stress",
            "inversion",
            *[CONTACT_NAME] * has_contact,
            *laws,
        )
        raise ModelError(
            f"unknown colour '{name}'; choose one of {', '.join(known)}{did_you_mean(name, known)}"
        )
    return _make_energy(name, model)


def visible_values(field: Field, pieces: Sequence[VisualBody], frame: Frame) -> list[Float]:
    """Return the values that are drawn: at points, along lines, or both.

    The points of a piece that consists of lines with values of their own are drawn grey.
    """
    if field.at_lines is None:
        return list(field.at_points(frame))
    values = []
    for piece, points, lines in zip(
        pieces, field.at_points(frame), field.at_lines(frame), strict=True
    ):
        if not len(lines) or len(piece.triangles):
            values.append(points)
        values.append(lines)
    return values


def value_range(frames: Iterable[list[Float]], *, signed: bool) -> tuple[float, float]:
    """Return the least and the greatest finite value of all frames, (0, 0) if there is none.

    signed : if both signs occur, return ± the greatest magnitude

    >>> value_range([[np.array([0.1, -0.3])], [np.array([0.2, np.nan])]], signed=True)
    (-0.3, 0.3)
    >>> value_range([[np.array([0.1, 0.2])]], signed=True)
    (0.1, 0.2)
    """
    low, high = np.inf, -np.inf
    for values in frames:
        known = np.concatenate(values)
        known = known[np.isfinite(known)]
        if len(known):
            low, high = min(low, float(known.min())), max(high, float(known.max()))
    if low > high:
        return 0.0, 0.0
    if signed and low < 0 < high:
        magnitude = max(-low, high)
        return -magnitude, magnitude
    return low, high


def _interpolate_to_points(model: VisualModel, evaluate: Callable[[Frame], Float]) -> Evaluate:
    """Turn values of all particles, (n,), into values at the points of each piece."""

    def at_points(frame: Frame) -> list[Float]:
        values = evaluate(frame)
        return [_interpolate(piece, values[piece.start : piece.stop]) for piece in model.pieces]

    return at_points


def _interpolate(piece: VisualBody, values: Float) -> Float:
    embedding = piece.embedding
    if embedding is None:
        return values
    return np.einsum("mk,mk->m", embedding.weights, values[embedding.indices])


def _make_speed(model: VisualModel) -> Field:
    def evaluate(frame: Frame) -> Float:
        return np.asarray(np.linalg.norm(frame.v, axis=1))

    return Field("speed", "m/s", False, _interpolate_to_points(model, evaluate))


def _make_strain(model: VisualModel) -> Field:
    if not any(len(piece.mesh.edges) for piece in model.pieces):
        raise ModelError("colour 'strain' needs edges, but there are only particles; use 'speed'")

    def at_points(frame: Frame) -> list[Float]:
        values, torn = [], model.torn_pairs(frame)
        for piece in model.pieces:
            strains = _strains(piece, piece.mesh.edges, frame, torn)
            known = np.isfinite(strains)
            values.append(_average(piece.mesh.edges[known], strains[known], piece.mesh.n))
        return values

    def at_lines(frame: Frame) -> list[Float]:
        torn = model.torn_pairs(frame)
        return [_strains(piece, piece.lines, frame, torn) for piece in model.pieces]

    return Field("strain", "", True, at_points, at_lines)


def _strains(piece: VisualBody, pairs: Int, frame: Frame, torn: Int) -> Float:
    """Return l/L - 1 for pairs of points of a piece, (k,); nan if L is zero or the pair is torn."""
    x, rest = piece.positions(frame.q), piece.mesh.positions
    length = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
    rest_length = np.linalg.norm(rest[pairs[:, 1]] - rest[pairs[:, 0]], axis=1)
    ratio = np.full(len(pairs), np.nan)
    strains = np.divide(length, rest_length, out=ratio, where=rest_length > 0) - 1
    if len(torn) and piece.embedding is None:
        strains[_find_pairs(torn - piece.start, pairs) >= 0] = np.nan
    return strains


def _find_pairs(known: Int, pairs: Int) -> Int:
    """Return the row of each of `pairs` (k, 2), in either order, in `known` (m, 2), or -1."""
    if not len(known) or not len(pairs):
        return np.full(len(pairs), -1)
    # A sorted pair (i, j) becomes the single number i n + j.
    weights = np.array([1 + max(int(known.max()), int(pairs.max())), 1])
    known_keys, keys = np.sort(known, axis=1) @ weights, np.sort(pairs, axis=1) @ weights
    order = np.argsort(known_keys, kind="stable")
    nearest = np.minimum(np.searchsorted(known_keys[order], keys), len(known_keys) - 1)
    rows = order[nearest]
    return np.where(known_keys[rows] == keys, rows, -1)


def _average(pairs: Int, values: Float, n: int) -> Float:
    """Average the values (k,) of pairs (k, 2) at each of n points; nan for points without pairs."""
    count = np.bincount(pairs.ravel(), minlength=n)
    total = np.bincount(pairs.ravel(), weights=np.repeat(values, 2), minlength=n)
    return np.divide(total, count, out=np.full(n, np.nan), where=count > 0)


def _make_stress(model: VisualModel) -> Field:
    meshes = [piece.simulated for piece in model.pieces]
    dimensions = {max((kind.dimension for kind, _ in mesh.blocks()), default=0) for mesh in meshes}
    if len(dimensions) != 1 or not all(dimensions):
        raise ModelError(
            "colour 'stress' needs bodies of one kind: the stresses of lines, faces and solids "
            "have different units; use 'strain' or the name of a law"
        )
    (d,) = dimensions
    shares = []
    for mesh in meshes:
        share = np.zeros(mesh.n)
        for kind, cells in mesh.blocks(d):
            share = share + share_among_corners(np.abs(mesh.measure(kind.name)), cells, mesh.n)
        shares.append(share)
    omega, system = np.concatenate(shares), model.system

    def find_members(frame: Frame) -> Members:
        return system.members(State(frame.t, frame.q, frame.v, model.active_masks(frame)))

    def evaluate(frame: Frame) -> Float:
        members = find_members(frame)
        rest_length = np.linalg.norm(system.rest[members.j] - system.rest[members.i], axis=1)
        each = 0.5 * np.nan_to_num(members.force) * rest_length
        ends = np.concatenate([members.i, members.j])
        total = np.bincount(ends, weights=np.tile(each, 2), minlength=system.n)
        return np.divide(total, d * omega, out=np.full(system.n, np.nan), where=omega > 0)

    def at_lines(frame: Frame) -> list[Float]:
        members = find_members(frame)
        ends = np.column_stack([members.i, members.j])
        forces = []
        for piece in model.pieces:
            line = _find_pairs(piece.lines + piece.start, ends)
            found = line >= 0
            m = len(piece.lines)
            total = np.bincount(line[found], weights=members.force[found], minlength=m)
            count = np.bincount(line[found], minlength=m)
            forces.append(np.where(count > 0, total, np.nan))
        return forces

    has_line_values = d == 1 and all(piece.embedding is None for piece in model.pieces)
    return Field(
        "stress",
        _STRESS_UNITS[d],
        True,
        _interpolate_to_points(model, evaluate),
        at_lines if has_line_values else None,
    )


def _make_inversion(model: VisualModel) -> Field:
    solids = [
        (piece.start, piece.simulated.positions, piece.simulated.corner_tets)
        for piece in model.pieces
        if len(piece.simulated.corner_tets)
    ]
    if not solids:
        raise ModelError("colour 'inversion' needs solid cells; use 'strain'")
    tet = get_kind("tet")

    def evaluate(frame: Frame) -> Float:
        least = np.full(model.n, np.inf)
        for start, rest, tets in solids:
            own = frame.q[start : start + len(rest)]
            ratio = measures(own, tets, tet) / measures(rest, tets, tet)
            np.minimum.at(least, start + tets.ravel(), np.repeat(ratio, 4))
        return np.where(np.isfinite(least), least, np.nan)

    return Field("least v/v₀ of cells", "", True, _interpolate_to_points(model, evaluate))


def _make_contact(model: VisualModel) -> Field:
    forces = ContactForces(model.system)

    def evaluate(frame: Frame) -> Float:
        return np.asarray(np.linalg.norm(forces.at(frame.q), axis=1))

    at_points = _interpolate_to_points(model, evaluate)
    return Field("contact force", "N", False, at_points, table="warm")


def _make_energy(name: str, model: VisualModel) -> Field:
    law = model.system._placed_energies[name]

    def evaluate(frame: Frame) -> Float:
        energies = law.values(frame.q, frame.t)
        if law.couples_all_elements:
            energies = np.full(len(energies), energies.sum() / len(energies))
        energies = np.where(model.active_masks(frame).get(name, True), energies, 0.0)
        return share_among_corners(energies, law.elements, model.n)

    return Field(f"energy of {name}", "J", False, _interpolate_to_points(model, evaluate))
