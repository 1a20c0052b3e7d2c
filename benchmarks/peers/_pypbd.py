"""pyPBD (PositionBasedDynamics) on the cloth: distance constraints with compliance 1/k, by XPBD."""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.bench.net import Net
from taut.bench.trajectory import H

SUBSTEPS = 50


class _XPBD:
    def __init__(self, net: Net) -> None:
        import pypbd

        simulation = pypbd.Simulation.getCurrent()
        simulation.initDefault()
        self._model = simulation.getModel()
        self._model.reset()
        particles = self._model.getParticles()
        for point, mass, free in zip(net.points, net.mass, net.free, strict=True):
            particles.addVertex(point)
            particles.setMass(particles.size() - 1, float(mass) if free else 0.0)
        for (i, j), k in zip(net.pairs.tolist(), net.k.tolist(), strict=True):
            self._model.addDistanceConstraint_XPBD(i, j, k)
        pypbd.TimeManager.getCurrent().setTimeStepSize(H)
        self._stepper = simulation.getTimeStep()
        self._stepper.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, SUBSTEPS)
        self._stepper.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, 1)
        self._particles = particles

    def step(self) -> None:
        self._stepper.step(self._model)

    def state(self) -> tuple[Float, Float]:
        count = self._particles.size()
        q = np.array(self._particles.getVertices(), dtype=np.float64).reshape(count, 3)
        return q, np.array([self._particles.getVelocity(i) for i in range(count)]).reshape(count, 3)


def xpbd(net: Net, n: int) -> _XPBD:
    """Return a Stepper of XPBD, with one iteration per substep."""
    return _XPBD(net)
