"""All constraints of a system by projection: q = Pᵀq̂ + b(t), per particle.

Each particle has a 3×3 projector S onto the directions in which it may move (I free, 0 fixed or scripted, d dᵀ on a line,
I - n nᵀ on a plane) and an anchor b(t). The constrained matrix is S A S + a (I - S): one block format serves every case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.constraints.constraint import Constraint
from taut.constraints.paths import Path, evaluated, numbers
from taut.errors import ModelError
from taut.system.blocks import BlockMatrix, Held, Pattern, Rank

Float = NDArray[np.float64]
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a step: where a script is looked at to find its velocity
UNBLOCKED = 1e-9  # an eigenvalue of Σ(I - S) over the constraints of a particle that is none: its direction stays free
SLACK = 1e-9  # how far, relative to the size of the model, two constraints or a state and its constraint may disagree


def _slopes(at: float) -> Float:
    """The weights of the values at QUARTERS in the derivative, at `at`, of the polynomial through them."""
    x = np.array(QUARTERS)
    powers = np.arange(len(x))
    derivative = powers * at ** np.maximum(powers - 1, 0)
    weights = np.asarray(np.linalg.solve(x[None, :] ** powers[:, None], derivative), dtype=np.float64)
    return weights


class Constraints:
    """All constraints of a system, combined per particle."""

    def __init__(self, pose: Float, given: Sequence[Constraint], *, flat: bool) -> None:
        n = len(pose)
        self.scale = float(np.ptp(pose, axis=0).max()) if n else 0.0
        self.scale = max(self.scale, float(np.abs(pose).max(initial=0.0)), 1e-300)
        self.flat = flat
        self.free = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()  # S
        self.anchor = pose.copy()
        self.scripts: list[tuple[NDArray[np.int64], Path]] = []
        blocked, pull, count = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros(n, dtype=int)
        resolved = [c.placed(pose) for c in given]
        if flat:
            resolved.append(Constraint("on_plane", np.arange(n), np.diag([1.0, 1.0, 0.0]), through=(0.0, 0.0, 0.0)))
        points: list[tuple[Constraint, Float]] = []
        for c in resolved:
            at = self._points(c, pose)
            points.append((c, at))
            blocked[c.particles] += np.eye(3) - c.free
            pull[c.particles] += at @ (np.eye(3) - c.free)
            count[c.particles] += 1
        several = np.flatnonzero(count > 1)
        single = count == 1
        self.free[single] = np.eye(3) - blocked[single]
        self.anchor[single] = pose[single] - np.einsum("nij,nj->ni", blocked[single], pose[single]) + pull[single]
        if len(several):
            values, vectors = np.linalg.eigh(blocked[several])
            allowed = values < UNBLOCKED
            self.free[several] = np.einsum("nik,nk,njk->nij", vectors, allowed, vectors)
            inverse = np.where(allowed, 0.0, 1.0 / np.where(allowed, 1.0, values))
            held = np.einsum("nik,nk,njk,nj->ni", vectors, inverse, vectors, pull[several])
            self.anchor[several] = held + np.einsum("nij,nj->ni", self.free[several], pose[several])
        for c, at in points:
            self._check_agreement(c, at, self.anchor, 0.0)
        scripted = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(p for p, _ in self.scripts)]))
        shared = [(c, at, np.isin(c.particles, scripted)) for c, at in points if c.path is None]
        self._beside_scripts = [(replace(c, particles=c.particles[s]), at[s]) for c, at, s in shared if s.any()]
        self.held = ~self.free.any(axis=(1, 2))
        self.constrained = ~(self.free == np.eye(3)).all(axis=(1, 2))
        self.among = np.flatnonzero(self.constrained)  # the particles that are not free in every direction
        self._free_among = self.free[self.among]
        self._among = Held(self.among, self._free_among)
        self.at_rest = not self.scripts and not self._free_among.any()  # placing what is placed then changes no bit
        self.oblique = np.flatnonzero((self.free * (1 - np.eye(3))).any(axis=(1, 2)))  # lines and planes across the axes
        self._cache: dict[int, tuple[Pattern, Any]] = {}

    def _points(self, c: Constraint, pose: Float) -> Float:
        if c.path is not None:
            for other, _ in self.scripts:
                both = np.intersect1d(other, c.particles)
                if len(both):
                    raise ModelError(f"particle {both[0]} is scripted twice")
            self.scripts.append((c.particles, c.path))
            at = self._script(c.particles, c.path, 0.0)
            jump = np.abs(at - pose[c.particles]).max(axis=1, initial=0.0)
            if c.carry is not None and (jump > SLACK * self.scale).any():
                who = f"particle {c.particles[np.argmax(jump)]} jumps by {jump.max():.3g} m"
                raise ModelError(f"{c.kind}: {who} at t = 0 s; displacement and rotation begin with zero")
            return at
        if c.through is None:
            return pose[c.particles]
        point = np.zeros(3)
        given = numbers(c.through, f"{c.kind}: `through`")
        if given.shape not in ((2,), (3,)) or not np.isfinite(given).all():
            raise ModelError(f"{c.kind}: `through` is a point (x, y, z) [m], not {c.through!r}")
        point[: len(given)] = given
        return np.broadcast_to(point, (len(c.particles), 3))

    def _script(self, particles: NDArray[np.int64], path: Path, t: float) -> Float:
        value = numbers(evaluated(path, t, f"the path of particle {particles[0]}"), f"scripted: the path at t = {t:g} s")
        if value.shape[-1:] == (2,):
            value = np.concatenate([value, np.zeros((*value.shape[:-1], 1))], axis=-1)
        if value.shape not in ((3,), (len(particles), 3)):
            raise ModelError(f"scripted: the path at t = {t:g} s has shape {value.shape}, not (3,) or ({len(particles)}, 3)")
        if not np.isfinite(value).all():
            raise ModelError(f"scripted: the path of particle {particles[0]} at t = {t:g} s is not finite")
        if self.flat and np.any(value[..., 2]):
            raise ModelError(f"the path of particle {particles[0]} at t = {t:g} s leaves the plane z = 0 of a 2D system")
        return np.broadcast_to(value, (len(particles), 3))

    def _check_agreement(self, c: Constraint, at: Float, anchor: Float, t: float) -> None:
        gap = np.abs((anchor[c.particles] - at) @ (np.eye(3) - c.free)).max(axis=1, initial=0.0)
        worst = int(np.argmax(gap)) if len(gap) else 0
        if len(gap) and gap[worst] > SLACK * self.scale:
            raise ModelError(
                f"the constraints of particle {c.particles[worst]} contradict each other at t = {t:g} s: "
                f"'{c.kind}' misses by {gap[worst]:.3g} m"
            )

    def anchors(self, t: float) -> Float:
        """b(t) [m], shape (n, 3): meaningful in the directions that are not free."""
        if not self.scripts:
            return self.anchor
        b = self.anchor.copy()
        for particles, path in self.scripts:
            b[particles] = self._script(particles, path, t)
        for c, at in self._beside_scripts:
            self._check_agreement(c, at, b, t)
        return b

    def velocities(self, t: float, h: float, at: float) -> Float:
        """ḃ(t + at·h) [m/s], shape (n, 3): the slope of the quartic through five points of the scripts between t and t + h."""
        slope = np.zeros((len(self.free), 3))
        if not self.scripts:
            return slope
        b = [self.anchors(t + h * c) for c in QUARTERS]
        for weight, point in zip(_slopes(at)[1:], b[1:], strict=True):  # the weights add up to 0: what stands still has the slope 0
            slope += weight / h * (point - b[0])
        return slope - self.project(slope)

    def place(self, q: Float, t: float) -> Float:
        """The positions with constrained directions moved to where they belong at time t."""
        c = self.among
        placed = q.copy()
        placed[c] = self.placed(q[c], t)
        return placed

    def placed(self, q: Float, t: float) -> Float:
        """The same for positions of the constrained particles alone, (c, 3), in the order of `among`."""
        b = self.anchors(t)[self.among]
        return b if self.at_rest else b + self.projected(q - b)

    def project(self, vectors: Float) -> Float:
        """S·vectors, a new array."""
        result = vectors.copy()
        result[self.among] = self.projected(vectors[self.among])
        return result

    def projected(self, vectors: Float) -> Float:
        """The same for vectors of the constrained particles alone, (c, 3), in the order of `among`."""
        if self.at_rest:
            return np.zeros_like(vectors)
        return np.matmul(self._free_among, vectors[:, :, None])[:, :, 0]

    def constrain(self, matrix: BlockMatrix) -> None:
        """A ← S A S + a (I - S), in place, with a the size of each diagonal block.

        Held directions are then as stiff as the others: the rounding of large forces does not move a particle off its plane.
        """
        slots, left, right, diagonal, taken = self._affected(matrix.pattern)
        size = np.trace(matrix.data[diagonal], axis1=1, axis2=2) / 3
        size = np.where(size > 0.0, size, 1.0)
        matrix.data[slots] = left @ matrix.data[slots] @ right
        matrix.data[diagonal] += size[:, None, None] * taken
        matrix.spread = tuple(Rank(rank.weight, self.project(rank.vector)) for rank in matrix.spread)
        matrix.held = self._among

    def _affected(self, pattern: Pattern) -> Any:
        """Blocks in a constrained row or column, S of their rows and columns; diagonal blocks of these, and what is not free."""
        found = self._cache.get(id(pattern))
        if found is None or found[0] is not pattern:
            touched = self.constrained[pattern.rows] | self.constrained[pattern.indices]
            slots = np.flatnonzero(touched)
            left, right = self.free[pattern.rows[slots]], self.free[pattern.indices[slots]]
            lists = (slots, left, right, pattern.diagonal[self.among], np.eye(3) - self._free_among)
            self._cache = {id(pattern): (pattern, lists)}
            return lists
        return found[1]

    def check(self, q: Float, t: float) -> None:
        """Refuse positions that break the constraints at time t."""
        c = self.among
        if not len(c):
            return
        offset = q[c] - self.anchors(t)[c]
        gaps = np.abs(offset - self.projected(offset))
        if not gaps.max() <= SLACK * self.scale and not gaps.max() <= SLACK * float(np.abs(q).max()):
            gap = gaps.max(axis=1)
            worst = int(np.argmax(gap))
            raise ModelError(f"the state breaks the constraint of particle {c[worst]} at t = {t:g} s by {gap[worst]:.3g} m")
