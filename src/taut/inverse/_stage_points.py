"""Where the stages of a step were solved: their points, predictions and linear systems."""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.inverse._moment import Moment, StagePoint
from taut.inverse.tableaux import Evaluation, LinearSolution, Solution
from taut.system.terms import Inputs

Vectors = dict[str, Float]
"""Vectors of a step, (n, 3), by name."""


def solution_point(moment: Moment, stage: Solution, vectors: Vectors) -> StagePoint:
    """Return where an implicit stage was solved; its "q k" and "v k" are among the vectors."""
    t = moment.state.t + stage.t.value
    q, v = vectors[f"q {stage.name}"], vectors[f"v {stage.name}"]
    if stage.frozen is None:
        frozen, frozen_time = np.array(moment.state.q), moment.state.t
    else:
        frozen, frozen_time = moment.constrain(stage.frozen.evaluate(vectors), t), t
    return StagePoint(t, stage.gamma.value, q, v, frozen, frozen_time, stage.frozen is None)


def predict(moment: Moment, stage: Solution, vectors: Vectors) -> tuple[Float, Float, Float]:
    """Return q̃ [m], ṽ [m/s] and the prescribed part of ṽ, (n, 3), of an implicit stage."""
    t, gamma = moment.state.t + stage.t.value, stage.gamma.value
    q, v = stage.q.evaluate(vectors), stage.v.evaluate(vectors)
    if stage.path is None:
        prescribed = moment.difference_paths(t, q, gamma)
    else:
        prescribed = moment.path_velocities(stage.path)
    return moment.constrain(q + gamma * v, t), moment.project(v) + prescribed, prescribed


def evaluate_point(moment: Moment, stage: Evaluation, vectors: Vectors) -> None:
    """Write "q k", "v k" and "a k" of an evaluation to the vectors."""
    t = moment.state.t + stage.t.value
    q = moment.constrain(stage.q.evaluate(vectors), t)
    v = moment.project(stage.v.evaluate(vectors)) + moment.path_velocities(stage.path)
    system = moment.system
    at = moment.state.with_(t=t, q=q, v=v)
    gradient = np.empty((system.n, 3))
    moment.workspace.scaled_gradients(at, np.full(system.n, 1.0), gradient)
    a = moment.project((moment.load - gradient) / moment.mass)
    vectors |= {f"q {stage.name}": q, f"v {stage.name}": v, f"a {stage.name}": a}


class LinearPoint:
    """The linear system of a step of linearly implicit Euler, as it was solved."""

    def __init__(self, moment: Moment, stage: LinearSolution, vectors: Vectors) -> None:
        self.h, self.t = stage.gamma.value, moment.state.t + stage.gamma.value
        self.q, self.v = vectors["q"], vectors["v"]
        self.new_v = vectors[f"v {stage.name}"]
        prescribed = moment.difference_paths(self.t, self.q, self.h)
        self.predicted_v = moment.project(self.v) + prescribed
        self.predicted_q = moment.constrain(self.q + self.h * self.v, self.t)
        self.stiffness = moment.stiffness(self.q, self.t, project=stage.project)
        self.damping = moment.damping_matrix(self.v, self.q, self.t)
        self.rayleigh = moment.rayleigh_stiffness(self.q, moment.state.t)
        parts, factors = [self.stiffness], [1.0]
        shift = moment.system.mass / self.h**2
        if self.damping is not None:
            parts.append(self.damping)
            factors.append(1.0 / self.h)
        if self.rayleigh is not None:
            rayleigh = moment.system._rayleigh
            assert rayleigh is not None
            parts.append(self.rayleigh)
            factors.append(rayleigh.beta / self.h)
            shift = shift + rayleigh.alpha * moment.system.mass / self.h
        workspace = moment.workspace
        total = workspace.union([part.pattern for part in parts]).sum(parts, factors)
        total.data[total.pattern.diagonal] += shift[:, None, None] * np.eye(3)
        workspace.apply_constraints(total)
        self.matrix = total

    def right(self, moment: Moment) -> Float:
        """Return the right-hand side of the linear system for y [N], (n, 3)."""
        at = moment.state
        assembly = moment.workspace.assembly("potential", at)
        inputs = [Inputs(self.q, self.q, 0.0, self.t)] * len(assembly.terms)
        total = assembly.gradient(inputs)[1] - moment.load
        total = total + self.h * self.stiffness.multiply(self.predicted_v)
        if self.damping is not None:
            rates = moment.workspace.assembly("damping", at)
            inputs = [Inputs(self.v, self.q, 0.0, self.t)] * len(rates.terms)
            total = total + rates.gradient(inputs)[1]
            total = total + self.damping.multiply(self.predicted_v - self.v)
        total = total + moment.multiply_rayleigh(self.rayleigh, self.predicted_v)
        return -moment.project(total)
