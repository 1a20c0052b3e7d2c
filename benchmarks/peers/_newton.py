"""Newton (newton-physics) on the cloth: explicit, or vertex block descent; in single precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.bench.net import GRAVITY, Net
from taut.bench.step_rows import count_substeps
from taut.bench.trajectory import H

VBD_SUBSTEPS, VBD_ITERATIONS = 10, 5


class _Newton:
    """A model of the net, a solver for it, and two states that are swapped after each substep."""

    def __init__(self, net: Net, solver: str, count: int, **options: Any) -> None:
        import newton

        builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=tuple(GRAVITY))
        builder.default_particle_radius = 0.0  # no contact between particles
        mass = np.where(net.free, net.mass, 0.0)
        builder.add_particles(
            pos=net.points.tolist(), vel=np.zeros_like(net.points).tolist(), mass=mass.tolist()
        )
        for (i, j), k in zip(net.pairs.tolist(), net.k.tolist(), strict=True):
            builder.add_spring(i, j, k, 0.0, 0.0)
        builder.set_coloring(_colours(math.isqrt(len(net.points))))
        self._model = builder.finalize(device="cpu")
        self._solver = getattr(newton.solvers, solver)(self._model, **options)
        self._control = self._model.control()
        self._now, self._next = self._model.state(), self._model.state()
        self._count = count

    def step(self) -> None:
        for _ in range(self._count):
            self._now.clear_forces()
            self._solver.step(self._now, self._next, self._control, None, H / self._count)
            self._now, self._next = self._next, self._now

    def state(self) -> tuple[Float, Float]:
        return self._now.particle_q.numpy().astype(
            np.float64
        ), self._now.particle_qd.numpy().astype(np.float64)


def _colours(n: int) -> list[Int]:
    """Divide the particles of an n×n cloth into nine groups without springs inside a group."""
    i, j = np.divmod(np.arange(n * n), n)
    return [np.flatnonzero((i % 3 == a) & (j % 3 == b)) for a in range(3) for b in range(3)]


def semi_implicit(net: Net, n: int) -> _Newton:
    """Return a Stepper of symplectic Euler, with as many substeps as the row of taut."""
    return _Newton(net, "SolverSemiImplicit", count_substeps(n))


def vbd(net: Net, n: int) -> _Newton:
    """Return a Stepper of vertex block descent."""
    return _Newton(net, "SolverVBD", VBD_SUBSTEPS, iterations=VBD_ITERATIONS)
