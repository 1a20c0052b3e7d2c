"""All constraints of a system by projection: q = Pᵀq̂ + b(t), per particle.

Each particle has a 3×3 projector S onto the directions in which it may move (I free, 0 fixed or
scripted, d dᵀ on a line, I - n nᵀ on a plane) and an anchor b(t). The constrained matrix is
S A S + a (I - S): one block format serves every case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from taut.arrays import Float, Int, Short
from taut.constraints.constraint import Constraint, Path, evaluate_path, to_numbers
from taut.errors import ModelError
from taut.linalg.blocks import BlockMatrix, ConstrainedRows, Pattern
from taut.linalg.low_rank import RankOne

# Fractions of a step at which a script is evaluated: the slope of the quartic through five points
# has an error of order h⁴, so that no method up to RK4 loses its order.
_SCRIPT_POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Eigenvalues of Σ(I - S) over the constraints of a particle that are smaller count as zero: their
# directions stay free.
_FREE_EIGENVALUE = 1e-9
# How far, relative to the size of the model, two constraints of a particle, or a state and its
# constraint, may disagree.
_GAP_TOLERANCE = 1e-9


def _derivative_weights(at: float) -> Float:
    """Return the weights of values at _SCRIPT_POINTS in the slope of their quartic at `at`."""
    x = np.array(_SCRIPT_POINTS)
    powers = np.arange(len(x))
    derivative = powers * at ** np.maximum(powers - 1, 0)
    weights = np.linalg.solve(x[None, :] ** powers[:, None], derivative)
    return np.asarray(weights, dtype=np.float64)


class AffectedBlocks(NamedTuple):
    """The blocks of a sparsity pattern in a row or column of a constrained particle."""

    slots: Int  # where they are stored, (b,)
    left: Float  # S of their rows, (b, 3, 3)
    right: Float  # S of their columns, (b, 3, 3)
    diagonal: Int  # where the diagonal blocks of the constrained particles are stored, (c,)
    complement: Float  # I - S of the constrained particles, (c, 3, 3)


class ConstraintProjector:
    """All constraints of a system, combined per particle; nothing changes after construction.

    anchor : b at t = 0 [m], (n, 3)
    scripts : particles and their paths
    is_fixed : mask of particles that may move in no direction, (n,)
    is_constrained : mask of particles that may not move in every direction, (n,)
    constrained_particles : their indices, (c,)
    constrained_projectors : S of these, (c, 3, 3); of all others it is the identity
    oblique_particles : indices of those on lines and planes across the axes
    is_static : whether there are only fixed particles and no scripts; projecting positions that
        satisfy the constraints then changes no bit
    """

    def __init__(self, pose: Float, constraints: Sequence[Constraint], *, flat: bool) -> None:
        """Combine constraints.

        pose : initial positions [m], (n, 3)
        flat : whether the system lies in the plane z = 0
        """
        n = len(pose)
        extent = float(np.ptp(pose, axis=0).max()) if n else 0.0
        # Not zero, so that a single particle at the origin has a tolerance too.
        self._scale = max(extent, float(np.abs(pose).max(initial=0.0)), 1e-300)
        self._flat = flat
        self.scripts: tuple[tuple[Int, Path], ...] = ()
        resolved = [c.resolve(pose) for c in constraints]
        if flat:
            in_plane, origin = np.diag([1.0, 1.0, 0.0]), (0.0, 0.0, 0.0)
            resolved.append(Constraint("on_plane", np.arange(n), in_plane, through=origin))
        points = [(c, self._points(c, pose)) for c in resolved]
        held, free, self.anchor = _combine(points, pose)
        for c, at in points:
            self._check_agreement(c, at, self.anchor, 0.0)
        self._shared_with_scripts = self._find_shared_with_scripts(points)
        self.is_fixed, self.is_constrained = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        self.is_fixed[held] = ~free.any(axis=(1, 2))
        self.is_constrained[held] = ~(free == np.eye(3)).all(axis=(1, 2))
        self.constrained_particles = held[self.is_constrained[held]]
        self.constrained_projectors = free[self.is_constrained[held]]
        # Copies: the loops of the multigrid are compiled for writable arrays.
        self._constrained_rows = ConstrainedRows(
            self.constrained_particles.copy(), self.constrained_projectors.copy()
        )
        self.is_static = not self.scripts and not self.constrained_projectors.any()
        off_diagonal = self.constrained_projectors * (1 - np.eye(3))
        self.oblique_particles = self.constrained_particles[off_diagonal.any(axis=(1, 2))]
        for array in (
            self.constrained_projectors,
            self.anchor,
            self.is_fixed,
            self.is_constrained,
            self.constrained_particles,
            self.oblique_particles,
        ):
            array.setflags(write=False)

    @property
    def free_directions(self) -> Float:
        """S of all particles, (n, 3, 3), a new array: 72 bytes a particle."""
        free = np.broadcast_to(np.eye(3), (len(self.is_fixed), 3, 3)).copy()
        free[self.constrained_particles] = self.constrained_projectors
        free.setflags(write=False)
        return free

    def find_free_directions(self, particles: Int | Short) -> Float:
        """Return S of some particles, (k, 3, 3)."""
        free = np.broadcast_to(np.eye(3), (len(particles), 3, 3)).copy()
        some = self.is_constrained[particles]
        rows = np.searchsorted(self.constrained_particles, particles[some])
        free[some] = self.constrained_projectors[rows]
        return free

    def _points(self, c: Constraint, pose: Float) -> Float:
        """Return a point [m] that each particle of a constraint passes at t = 0, (k, 3)."""
        if c.path is not None:
            return self._add_script(c, c.path, pose)
        if c.through is None:
            return pose[c.particles]
        point = np.zeros(3)
        given = to_numbers(c.through, f"{c.kind}: `through`")
        if given.shape not in ((2,), (3,)) or not np.isfinite(given).all():
            raise ModelError(
                f"{c.kind}: `through` must be a point (x, y, z) [m], got {c.through!r}"
            )
        point[: len(given)] = given
        return np.broadcast_to(point, (len(c.particles), 3))

    def _add_script(self, c: Constraint, path: Path, pose: Float) -> Float:
        for other, _ in self.scripts:
            both = np.intersect1d(other, c.particles)
            if len(both):
                raise ModelError(f"particle {both[0]} is scripted twice")
        self.scripts = (*self.scripts, (c.particles, path))
        at = self._evaluate_script(c.particles, path, 0.0)
        jump = np.abs(at - pose[c.particles]).max(axis=1, initial=0.0)
        if c.path_from is not None and (jump > _GAP_TOLERANCE * self._scale).any():
            worst = c.particles[np.argmax(jump)]
            raise ModelError(
                f"{c.kind}: displacement and rotation must be zero at t = 0 s, "
                f"but particle {worst} jumps by {jump.max():.3g} m"
            )
        return at

    def _evaluate_script(self, particles: Int, path: Path, t: float) -> Float:
        name = f"the path of particle {particles[0]}"
        value = evaluate_path(path, t, name)
        value = to_numbers(value, f"scripted: the path at t = {t:g} s")
        if value.shape[-1:] == (2,):
            value = np.concatenate([value, np.zeros((*value.shape[:-1], 1))], axis=-1)
        if value.shape not in ((3,), (len(particles), 3)):
            raise ModelError(
                f"scripted: the path at t = {t:g} s must have the shape (3,) or "
                f"({len(particles)}, 3), got {value.shape}"
            )
        if not np.isfinite(value).all():
            raise ModelError(f"scripted: {name} at t = {t:g} s is not finite")
        if self._flat and np.any(value[..., 2]):
            raise ModelError(f"{name} at t = {t:g} s leaves the plane z = 0 of a 2D system")
        return np.broadcast_to(value, (len(particles), 3))

    def _find_shared_with_scripts(
        self, points: Sequence[tuple[Constraint, Float]]
    ) -> list[tuple[Constraint, Float]]:
        """Return the constraints on scripted particles: paths must agree with them at all times."""
        shared = []
        none = np.empty(0, dtype=np.int64)
        scripted = np.unique(np.concatenate([none, *(particles for particles, _ in self.scripts)]))
        for c, at in points:
            is_scripted = np.isin(c.particles, scripted)
            if c.path is None and is_scripted.any():
                shared.append((replace(c, particles=c.particles[is_scripted]), at[is_scripted]))
        return shared

    def _check_agreement(self, c: Constraint, at: Float, anchor: Float, t: float) -> None:
        gap = np.abs((anchor[c.particles] - at) @ (np.eye(3) - c.free)).max(axis=1, initial=0.0)
        worst = int(np.argmax(gap)) if len(gap) else 0
        if len(gap) and gap[worst] > _GAP_TOLERANCE * self._scale:
            raise ModelError(
                f"the constraints of particle {c.particles[worst]} contradict each other "
                f"at t = {t:g} s: '{c.kind}' misses by {gap[worst]:.3g} m"
            )

    def anchors(self, t: float) -> Float:
        """Return b(t) [m], (n, 3): meaningful in the directions that are not free."""
        if not self.scripts:
            return self.anchor
        b = self.anchor.copy()
        for particles, path in self.scripts:
            b[particles] = self._evaluate_script(particles, path, t)
        for c, at in self._shared_with_scripts:
            self._check_agreement(c, at, b, t)
        return b

    def prescribed_velocities(self, t: float, h: float, at: float) -> Float:
        """Return ḃ(t + at·h) [m/s], (n, 3), by a quartic through points of the step's scripts."""
        slope = np.zeros((len(self.is_fixed), 3))
        if not self.scripts:
            return slope
        b = [self.anchors(t + h * c) for c in _SCRIPT_POINTS]
        # The weights add up to 0: with differences, what does not move has exactly zero velocity.
        for weight, point in zip(_derivative_weights(at)[1:], b[1:], strict=True):
            slope += weight / h * (point - b[0])
        return slope - self.project(slope)

    @staticmethod
    def velocity_weights(at: float) -> tuple[tuple[float, ...], Float]:
        """Return the fractions of a step at which `prescribed_velocities` reads a path, and the
        weights of the positions there in h·ḃ(t + at·h)."""
        weights = _derivative_weights(at)
        weights[0] = -weights[1:].sum()
        return _SCRIPT_POINTS, weights

    def project_positions(self, q: Float, t: float) -> Float:
        """Return positions (n, 3) that satisfy the constraints at time t; free directions stay."""
        c = self.constrained_particles
        positions = q.copy()
        positions[c] = self.project_constrained_positions(q[c], t)
        return positions

    def project_constrained_positions(self, q: Float, t: float) -> Float:
        """Project positions of the constrained particles alone, (c, 3)."""
        b = self.anchors(t)[self.constrained_particles]
        if self.is_static:
            return b
        return b + self.project_constrained(q - b)

    def project(self, vectors: Float) -> Float:
        """Return S·vectors, (n, 3), a new array."""
        c = self.constrained_particles
        result = vectors.copy()
        result[c] = self.project_constrained(vectors[c])
        return result

    def project_constrained(self, vectors: Float) -> Float:
        """Project vectors of the constrained particles alone, (c, 3)."""
        if self.is_static:
            return np.zeros_like(vectors)
        return np.matmul(self.constrained_projectors, vectors[:, :, None])[:, :, 0]

    def affected_blocks(self, pattern: Pattern) -> AffectedBlocks:
        """Find the blocks of a pattern that the constraints change."""
        touched = self.is_constrained[pattern.rows] | self.is_constrained[pattern.indices]
        slots = np.flatnonzero(touched)
        return AffectedBlocks(
            slots,
            self.find_free_directions(pattern.rows[slots]),
            self.find_free_directions(pattern.indices[slots]),
            pattern.diagonal[self.constrained_particles],
            np.eye(3) - self.constrained_projectors,
        )

    def apply_to_matrix(self, matrix: BlockMatrix, blocks: AffectedBlocks | None = None) -> None:
        """Replace A by S A S + a (I - S) in place, with a the size of each diagonal block.

        Constrained directions are then as stiff as the others: the rounding of large forces does
        not move a particle off its plane.

        blocks : `affected_blocks` of the matrix's pattern, where they are known
        """
        if blocks is None:
            blocks = self.affected_blocks(matrix.pattern)
        size = np.trace(matrix.data[blocks.diagonal], axis1=1, axis2=2) / 3
        size = np.where(size > 0.0, size, 1.0)
        matrix.data[blocks.slots] = blocks.left @ matrix.data[blocks.slots] @ blocks.right
        matrix.data[blocks.diagonal] += size[:, None, None] * blocks.complement
        matrix.low_rank = tuple(
            RankOne(rank.weight, self.project(rank.vector)) for rank in matrix.low_rank
        )
        matrix.constrained = self._constrained_rows

    def check(self, q: Float, t: float) -> None:
        """Raise ModelError if positions (n, 3) violate the constraints at time t."""
        c = self.constrained_particles
        if not len(c):
            return
        offset = q[c] - self.anchors(t)[c]
        gaps = np.abs(offset - self.project_constrained(offset))
        # `not <=` rather than `>`: a gap that is not a number fails too.
        if not gaps.max() <= _GAP_TOLERANCE * self._scale and not (
            gaps.max() <= _GAP_TOLERANCE * float(np.abs(q).max())
        ):
            gap = gaps.max(axis=1)
            worst = int(np.argmax(gap))
            raise ModelError(
                f"the state breaks the constraint of particle {c[worst]} at t = {t:g} s "
                f"by {gap[worst]:.3g} m"
            )


def _combine(points: Sequence[tuple[Constraint, Float]], pose: Float) -> tuple[Int, Float, Float]:
    """Return the particles of constraints and the points they pass, S of these, and b (n, 3)."""
    count = np.zeros(len(pose), dtype=np.int64)
    for c, _ in points:
        count[c.particles] += 1
    held = np.flatnonzero(count)
    place = np.cumsum(count > 0) - 1  # of each particle in `held`
    free = np.empty((len(held), 3, 3))
    anchor = pose.copy()
    blocked, pull = np.zeros((len(held), 3, 3)), np.zeros((len(held), 3))
    for c, at in points:
        blocked[place[c.particles]] += np.eye(3) - c.free
        pull[place[c.particles]] += at @ (np.eye(3) - c.free)
    # One constraint needs no eigenvalues: S and b are exact, without their rounding.
    single = count[held] == 1
    lone = held[single]
    free[single] = np.eye(3) - blocked[single]
    anchor[lone] = pose[lone] - np.einsum("nij,nj->ni", blocked[single], pose[lone]) + pull[single]
    several = np.flatnonzero(~single)
    if len(several):
        shared = held[several]
        values, vectors = np.linalg.eigh(blocked[several])
        is_free = values < _FREE_EIGENVALUE
        free[several] = np.einsum("nik,nk,njk->nij", vectors, is_free, vectors)
        inverse = np.where(is_free, 0.0, 1.0 / np.where(is_free, 1.0, values))
        prescribed = np.einsum("nik,nk,njk,nj->ni", vectors, inverse, vectors, pull[several])
        anchor[shared] = prescribed + np.einsum("nij,nj->ni", free[several], pose[shared])
    return held, free, anchor
