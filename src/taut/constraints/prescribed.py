"""Particles with prescribed motion: fixed, along a path, or as one rigid body.

Fixed particles stay where they start, x(t) = X; scripted ones follow a path, x(t) = p(t).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float
from taut.constraints.constraint import Constraint, Path, to_numbers, to_path
from taut.errors import ModelError
from taut.importable import require_importable


def fixed(particles: Any, *, until: float | None = None) -> Constraint:
    """Fix particles where they start.

    particles : an index, indices (k,), or a mask (n,)
    until : [s], release them in the first step that does not begin before (default: never)

    >>> import taut
    >>> ball = taut.System(
    ...     [[0, 0, 0]],
    ...     mass=1.0,
    ...     energies=[taut.laws.gravity()],
    ...     constraints=[fixed(0, until=0.5)],
    ... )
    >>> steps = taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0)
    >>> np.round([state.v[0, 1] for state, _ in steps], 3).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, -0.981, -1.962, -2.943, -3.924, -4.905]
    """
    return Constraint("fixed", particles, np.zeros((3, 3)), until=until)


def scripted(
    particles: Any,
    path: Callable[[float], ArrayLike] | tuple[ArrayLike, ArrayLike],
    *,
    until: float | None = None,
) -> Constraint:
    """Move particles along a path.

    particles : an index, indices (k,), or a mask (n,)
    path : a function of time t [s] that gives positions [m], shape (3,) or (k, 3) for k particles,
        in the order given; or samples (times, positions) of shapes (T,) and (T, 3) or (T, k, 3),
        joined by straight lines and constant beyond the ends
    until : [s], release them with the velocity they have (default: never)

    >>> import numpy as np
    >>> scripted(0, lambda t: (np.sin(t), 0, 0)).kind
    'scripted'
    """
    function = to_path(path, "scripted: a path", "positions")
    return Constraint("scripted", particles, np.zeros((3, 3)), path=function, until=until)


# Rigid handles: particles that move as one body, x_i(t) = c + u(t) + R(t)(X_i - c).
#
# X_i is where particle i starts, c a point of the body, u its displacement and R a rotation. Of a
# rotation vector w with θ = |w|,
#
#     R = I + sin θ A + (1 - cos θ) A²,    A y = (w/θ) × y    (Rodrigues).

TimeFunction = Callable[[float], ArrayLike] | tuple[ArrayLike, ArrayLike]
# How far RᵀR may differ from I: the relative change of a distance that it permits.
_ORTHOGONALITY = 1e-12


def handle(
    particles: Any,
    *,
    move: TimeFunction | None = None,
    turn: TimeFunction | None = None,
    about: ArrayLike | None = None,
    until: float | None = None,
) -> Constraint:
    """Move particles as one rigid body, in the shape in which they start.

    particles : indices or a mask, one or more
    move : displacement [m] of the body, (3,), as a function of time t [s], or samples (times,
        displacements) of shapes (T,) and (T, 3), joined by straight lines and constant beyond the
        ends (default: none)
    turn : rotation, as a function of time: a rotation vector (axis times angle) [rad], (3,), a
        matrix, (3, 3), or an angle about the z axis [rad], the only one in 2D; or samples (times,
        rotation vectors or angles) (default: none)
    about : the point of the body [m] about which it turns and which `move` moves (default: the
        centroid of where the particles start)
    until : [s], release the particles with the velocities they have (default: never)

    Displacement and rotation must be zero at t = 0. In 2D, vectors may have two components.

    >>> import taut
    >>> lid = handle([0, 1], turn=lambda t: (0, 0, t), about=(0, 0, 0))
    >>> system = taut.System([[1, 0, 0], [2, 0, 0]], mass=1.0, constraints=[lid])
    >>> system._projector.anchors(np.pi / 2).round(12).tolist()
    [[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]
    """
    displacement = None if move is None else to_path(move, "handle: `move`", "displacements")
    rotation = None if turn is None else to_path(turn, "handle: `turn`", "rotation vectors")
    centre = None if about is None else _to_vector(about, "handle: `about`")
    body = _RigidMotion(displacement, rotation, centre)
    return Constraint("handle", particles, np.zeros((3, 3)), path_from=body, until=until)


@dataclass(frozen=True, eq=False)
class _RigidMotion:
    """The motion of a rigid body; called with where its particles start, it returns their path."""

    displacement: Path | None
    rotation: Path | None
    centre: Float | None

    def __reduce__(self) -> tuple[Any, ...]:
        for name, function in (("move", self.displacement), ("turn", self.rotation)):
            require_importable(function, f"handle: the function for `{name}`", ModelError)
        return _RigidMotion, (self.displacement, self.rotation, self.centre)

    def __call__(self, start: Float) -> Path:
        if not len(start):
            raise ModelError("handle: it has no particles")
        displacement, rotation = self.displacement, self.rotation
        c = start.mean(axis=0) if self.centre is None else self.centre

        def path(t: float) -> Float:
            u = np.zeros(3)
            if displacement is not None:
                u = _to_vector(displacement(t), f"handle: `move` at t = {t:g} s")
            if rotation is None:
                return start + u
            R = _to_rotation(rotation(t), f"handle: `turn` at t = {t:g} s")
            return c + u + (start - c) @ R.T

        return path


def _to_vector(value: Any, what: str) -> Float:
    given = to_numbers(value, what)
    if given.shape not in ((2,), (3,)) or not np.isfinite(given).all():
        raise ModelError(f"{what} must be a vector (x, y, z) [m] of finite numbers, got {value!r}")
    return np.append(given, 0.0) if len(given) == 2 else given


def _to_rotation(value: Any, what: str) -> Float:
    """Return a rotation matrix (3, 3) from itself, a rotation vector, or an angle about z."""
    given = to_numbers(value, what)
    if given.shape == ():
        given = np.array([0.0, 0.0, given])
    if given.shape not in ((3,), (3, 3)) or not np.isfinite(given).all():
        raise ModelError(
            f"{what} must be a rotation vector (3,), a matrix (3, 3) or an angle of finite "
            f"numbers, got {value!r}"
        )
    if given.ndim == 1:
        return rodrigues(given)
    error = float(np.abs(given.T @ given - np.eye(3)).max())
    if error > _ORTHOGONALITY:
        raise ModelError(f"{what} must be a rotation: RᵀR differs from I by {error:.3g}")
    if np.linalg.det(given) < 0.0:
        raise ModelError(f"{what} must be a rotation: it is a reflection")
    return given


def rodrigues(w: Float) -> Float:
    """Return the matrix (3, 3) of a rotation vector, axis times angle [rad], (3,).

    >>> rodrigues(np.array([0.0, 0.0, np.pi])).round(12).tolist()[0]
    [-1.0, -0.0, 0.0]
    """
    angle = float(np.linalg.norm(w))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = w / angle
    A = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    # 1 - cos θ as 2 sin²(θ/2): small angles lose no digits
    return np.eye(3) + np.sin(angle) * A + 2 * np.sin(angle / 2) ** 2 * A @ A
