"""Rigid handles: particles that move as one body, x_i(t) = c + u(t) + R(t)(X_i - c).

X_i is where particle i starts, c a point of the body, u its displacement and R a rotation. Of a rotation vector w with θ = |w|,

    R = I + sin θ A + (1 - cos θ) A²,    A y = (w/θ) × y    (Rodrigues).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.constraints.constraint import Constraint, kept
from taut.constraints.paths import Path, numbers, timed
from taut.errors import ModelError

Float = NDArray[np.float64]
Timed = Callable[[float], ArrayLike] | tuple[ArrayLike, ArrayLike]
ORTHOGONAL = 1e-12  # how far RᵀR may be from I: no distance changes by more, relative to itself


def handle(
    particles: Any,
    *,
    move: Timed | None = None,
    turn: Timed | None = None,
    about: ArrayLike | None = None,
    until: float | None = None,
) -> Constraint:
    """Move particles as one rigid body, in the shape in which they start. Their distances stay what they are, to rounding.

    particles : indices or a mask, one or more
    move : displacement [m] of the body, (3,), as a function of time t [s], or samples (times, displacements) of shapes (T,) and
        (T, 3), joined by straight lines and held at the ends (default: none)
    turn : rotation, as a function of time: a rotation vector (axis times angle) [rad], (3,), a matrix, (3, 3), or the angle about
        the z axis [rad], the only one of a 2D system; or samples (times, rotation vectors or angles) (default: none)
    about : the point of the body [m] about which it turns and which `move` moves (default: the centroid of where the particles
        start)
    until : [s], the particles fly on from there with the velocities they have (default: never)

    Both begin with zero: a handle that would jump at t = 0 is refused. In 2D two components do.

    >>> import taut
    >>> lid = handle([0, 1], turn=lambda t: (0, 0, t), about=(0, 0, 0))
    >>> system = taut.System([[1, 0, 0], [2, 0, 0]], mass=1.0, constraints=[lid])
    >>> system.hold.anchors(np.pi / 2).round(12).tolist()
    [[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]
    """
    shift = None if move is None else timed(move, "handle: `move`", "displacements")
    rotation = None if turn is None else timed(turn, "handle: `turn`", "rotation vectors")
    centre = None if about is None else _vector(about, "handle: `about`")

    def carry(start: Float) -> Path:
        if not len(start):
            raise ModelError("handle: it has no particles")
        c = start.mean(axis=0) if centre is None else centre

        def path(t: float) -> Float:
            u = np.zeros(3) if shift is None else _vector(shift(t), f"handle: `move` at t = {t:g} s")
            if rotation is None:
                return start + u
            return c + u + (start - c) @ _rotation(rotation(t), f"handle: `turn` at t = {t:g} s").T

        return path

    return Constraint("handle", kept(particles), np.zeros((3, 3)), carry=carry, until=until)


def _vector(value: Any, what: str) -> Float:
    given = numbers(value, what)
    if given.shape not in ((2,), (3,)) or not np.isfinite(given).all():
        raise ModelError(f"{what} is a vector (x, y, z) [m] of finite numbers, not {value!r}")
    return np.append(given, 0.0) if len(given) == 2 else given


def _rotation(value: Any, what: str) -> Float:
    """A rotation matrix (3, 3) from itself, from a rotation vector, or from an angle about z."""
    given = numbers(value, what)
    if given.shape == ():
        given = np.array([0.0, 0.0, given])
    if given.shape not in ((3,), (3, 3)) or not np.isfinite(given).all():
        raise ModelError(f"{what} is a rotation vector (3,), a matrix (3, 3) or an angle, of finite numbers, not {value!r}")
    if given.ndim == 1:
        return rodrigues(given)
    skew = float(np.abs(given.T @ given - np.eye(3)).max())
    if skew > ORTHOGONAL or np.linalg.det(given) < 0.0:
        fault = f"RᵀR differs from I by {skew:.3g}" if skew > ORTHOGONAL else "it is a reflection"
        raise ModelError(f"{what} is no rotation: {fault}")
    return given


def rodrigues(w: Float) -> Float:
    """The matrix (3, 3) of a rotation vector, axis times angle [rad], (3,).

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
