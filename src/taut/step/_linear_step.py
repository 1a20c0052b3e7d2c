"""The linear system of a linearly implicit step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Float
from taut.linalg.blocks import BlockMatrix, row_norms, row_norms_l1
from taut.linalg.linear import Solution
from taut.step._accelerations import Accelerations
from taut.step._objective import Prediction
from taut.system.negative_curvature import bound_negative_curvature
from taut.system.state import State
from taut.system.terms import Inputs
from taut.system.workspace import Workspace

# Of the inertial forces in a step with the true stiffness, relative to the forces: beyond it the
# velocities would have fewer than six correct digits, which no residual shows.
_MAX_ROUNDING = 1e-6


@dataclass(eq=False)
class LinearStep:
    """The linear system A y = b of a step for y = h(v' - ṽ), and its solution.

    matrix : A = M/h² + D/h + K [N/m]; right : b [N], (n, 3)
    gross : Σ of magnitudes of the forces in b [N], (n,), in the free directions; all_gross : in all
    project : whether K is projected
    definite_part : a c ≤ 1 for which A is at least c M/h²
    is_indefinite : whether A proved to be indefinite and was solved nevertheless
    """

    matrix: BlockMatrix
    right: Float
    gross: Float
    all_gross: Float
    project: bool
    accelerations: Accelerations
    definite_part: float
    solution: Solution | None = None
    is_indefinite: bool = False
    assembling: float = 0.0  # wall-clock time [s]
    solving: float = 0.0

    def is_lost_in_rounding(self, inertia: Float) -> bool:
        """Whether inertia and stiffness cancel so far that A is singular to rounding.

        inertia : M/h² [N/m], (n,)
        """
        if self.solution is None:
            return False
        rounding = np.finfo(np.float64).eps * (inertia * row_norms(self.solution.x)).max()
        return bool(rounding > _MAX_ROUNDING * row_norms(self.right).max())


def linearise(
    workspace: Workspace,
    state: State,
    prediction: Prediction,
    rayleigh: BlockMatrix | None,
    accelerations: Accelerations,
    *,
    project: bool,
) -> LinearStep:
    """Return the linear system for y = h(v' - ṽ), before constraints.

    ṽ is the predicted velocity: v where a particle is free, so that b is f(q, v) - hK v there;
    where it is not, the difference v - ṽ acts on its neighbours through D.
    """
    system, h = workspace.system, prediction.h
    jump = np.array(state.v) - prediction.v
    energies = workspace.assembly("potential", state)
    at = [Inputs.at(state, prediction.t)] * len(energies.terms)
    energies.hessian(at, np.zeros(system.n), project=project)
    _, gradient, sizes = energies.sums()
    gross = energies.projected_gross_force(system._projector)
    all_gross = row_norms_l1(sizes)
    forces = [gradient, h * energies.matrix.multiply(prediction.v)]
    matrices, factors = [energies.matrix], [1.0]
    weights, negative = accelerations.mobile_mass, 0.0
    if not project:
        negative += bound_negative_curvature(energies, at, weights / h**2)
    if system._placed_damping:
        damping = workspace.assembly("damping", state)
        at = [Inputs.rates(state, prediction.t)] * len(damping.terms)
        damping.hessian(at, np.zeros(system.n), project=False)
        forces += [damping.sums()[1], -damping.matrix.multiply(jump)]
        matrices.append(damping.matrix)
        factors.append(1.0 / h)
        negative += bound_negative_curvature(damping, at, weights / h)
    if rayleigh is not None:
        forces.append(rayleigh.multiply(prediction.v))
        matrices.append(rayleigh)
        factors.append(1.0 / h)
    total = workspace.union([m.pattern for m in matrices]).sum(matrices, factors)
    total.data[total.pattern.diagonal] += (system.mass / h**2)[:, None, None] * np.eye(3)
    for force in forces[1:]:
        gross += row_norms_l1(system._projector.project(force))
        all_gross += row_norms_l1(force)
    right = -np.sum(forces, axis=0)
    return LinearStep(total, right, gross, all_gross, project, accelerations, 1.0 - negative)
