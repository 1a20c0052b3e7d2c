"""The bodies that are timed: springs between particles, as plain arrays that any solver can take.

The force

    f(x) = Σ k (1 - l₀/l) (x_j - x_i) + m g,  l = |x_j - x_i|

is evaluated here with NumPy alone, so that the accuracy of a solver is not measured by its own
code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from taut import laws
from taut.arrays import Float, Int, Mask
from taut.errors import ModelError
from taut.system.system import System

GRAVITY = np.array([0.0, -9.81, 0.0])  # [m/s²]
STRUCTURAL, SHEAR, BENDING = 1000.0, 300.0, 30.0  # [N/m], of the soft cloth
CLOTH_MASS = 0.2  # [kg]


@dataclass(frozen=True, eq=False)
class Net:
    """Particles joined by springs, under gravity.

    points : rest positions [m], (n, 3)
    pairs : particles that springs join, (m, 2)
    k : stiffness of the springs [N/m], (m,)
    mass : [kg], (n,)
    fixed : indices of the fixed particles
    """

    points: Float
    pairs: Int
    k: Float
    mass: Float
    fixed: Int

    @cached_property
    def rest(self) -> Float:
        """Rest lengths [m], (m,)."""
        return self.lengths(self.points)

    @cached_property
    def free(self) -> Mask:
        """Whether each particle is free to move, (n,)."""
        free = np.ones(len(self.points), dtype=bool)
        free[self.fixed] = False
        return free

    def system(self) -> System:
        """Return the net as a System of taut."""
        energies: list[Any] = [laws.spring(self.pairs, k=self.k), laws.gravity()]
        return System(self.points, mass=self.mass, fixed=self.fixed, energies=energies)

    def lengths(self, x: Float) -> Float:
        """Return the lengths of the springs [m], (m,), at positions x [m], (n, 3)."""
        return np.linalg.norm(x[self.pairs[:, 1]] - x[self.pairs[:, 0]], axis=1)

    def force(self, x: Float) -> Float:
        """Return the forces of springs and gravity [N], (n, 3), at positions x [m], (n, 3)."""
        i, j = self.pairs.T
        pull = (self.k * (1.0 - self.rest / self.lengths(x)))[:, None] * (x[j] - x[i])
        total = self.mass[:, None] * GRAVITY
        for axis in range(3):
            total[:, axis] += np.bincount(i, pull[:, axis], len(x)) - np.bincount(
                j, pull[:, axis], len(x)
            )
        return total


def cloth(n: int, stiffness: float = 1.0) -> Net:
    """Return the hanging cloth of n×n particles.

    1 m × 1 m, 0.2 kg, flat in the xz plane, held at the corners (0, 0) and (0, n - 1).

    stiffness : factor on all springs; 1 is soft, 100 stiff

    >>> c = cloth(100)
    >>> c.points.shape, c.pairs.shape, c.fixed.tolist(), round(float(c.mass.sum()), 12)
    ((10000, 3), (59002, 2), [0, 99], 0.2)
    """
    if n < 4:
        raise ModelError(f"the cloth must have at least 4 particles per side, got n = {n}")
    grid = np.arange(n * n).reshape(n, n)
    along = np.linspace(0.0, 1.0, n)
    points = np.zeros((n, n, 3))
    points[:, :, 0], points[:, :, 2] = along[:, None], along[None, :]
    families = (
        (grid[:-1], grid[1:], STRUCTURAL),
        (grid[:, :-1], grid[:, 1:], STRUCTURAL),
        (grid[:-1, :-1], grid[1:, 1:], SHEAR),
        (grid[1:, :-1], grid[:-1, 1:], SHEAR),
        (grid[:-2], grid[2:], BENDING),
        (grid[:, :-2], grid[:, 2:], BENDING),
    )
    pairs = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b, _ in families])
    k = stiffness * np.concatenate([np.full(a.size, value) for a, _, value in families])
    return Net(points.reshape(-1, 3), pairs, k, np.full(n * n, CLOTH_MASS / n**2), grid[0, [0, -1]])
