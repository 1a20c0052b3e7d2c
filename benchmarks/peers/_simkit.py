"""SimKit on the cloth: its mass-spring energy in its backward Euler, for the free particles."""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float
from taut.bench.net import GRAVITY, Net
from taut.bench.trajectory import H

ITERATIONS = 4


class _BackwardEuler:
    def __init__(self, net: Net) -> None:
        from scipy.sparse import csr_matrix, diags, identity, kron
        from simkit.edge_displacement_jacobian import edge_displacement_jacobian

        self._free = np.repeat(net.free, 3)
        everything = csr_matrix(
            kron(edge_displacement_jacobian(net.points, net.pairs), identity(3))
        )
        held = np.where(self._free, 0.0, net.points.reshape(-1)).reshape(-1, 1)
        self._map, self._offset = everything[:, np.flatnonzero(self._free)], everything @ held
        self._k, self._rest, self._ones = (
            net.k[:, None],
            net.rest[:, None],
            np.ones((len(net.k), 1)),
        )
        self._mass = diags(np.repeat(net.mass, 3)[self._free])
        self._weight = (net.mass[:, None] * GRAVITY).reshape(-1, 1)[self._free]
        self._points = net.points.reshape(-1).copy()
        self._now = self._before = self._points[self._free].reshape(-1, 1)

    def step(self) -> None:
        from simkit.energies import mass_springs as springs
        from simkit.integrators.backward_euler import backward_euler

        given = (self._map, self._k, self._ones, self._rest, self._offset)

        def energy(z: Float) -> float:
            return float(springs.mass_springs_energy_z(z, *given) - (self._weight.T @ z).item())

        def gradient(z: Float) -> Float:
            return springs.mass_springs_gradient_z(z, *given) - self._weight

        def hessian(z: Float) -> Any:
            return springs.mass_springs_hessian_z(z, *given)

        end = backward_euler(
            self._now,
            self._before,
            energy,
            gradient,
            hessian,
            self._mass,
            H,
            tolerance=0.0,
            max_iter=ITERATIONS,
        )
        self._before, self._now = self._now, end

    def state(self) -> tuple[Float, Float]:
        q, v = self._points.copy(), np.zeros_like(self._points)
        q[self._free], v[self._free] = self._now.ravel(), (self._now - self._before).ravel() / H
        return q.reshape(-1, 3), v.reshape(-1, 3)


def backward_euler(net: Net, n: int) -> _BackwardEuler:
    """Return a Stepper of backward Euler, solved by Newton's method from x + h v."""
    return _BackwardEuler(net)
