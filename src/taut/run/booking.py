"""The energy book: where every joule of a step went.

    T' + ΣV' = T + ΣV + work of loads and of changing parameters + work of scripted points
               - dissipation of each damping law - numerical dissipation + work of the solver's residual
               - what was stored in elements that broke

Each item has a formula of its own, and none is the remainder; what does not add up is the `gap`, which is rounding. With the
displacement Δ and the inertial force A of the step (see `taut.step.advance`), S the free directions, and Σ over the stages with
their weights (BDF2 is moved by the forces at the end alone, but counts work at both ends):

    loads            -h Σ v_s·∇V_k                               for laws marked as loads; of constant forces -Δ·∇V_k
    parameters       ΣV(q, t_s) - V(q, t) + V(q', t') - V(q', t_s)   for laws whose parameters depend on time
    scripted         h Σ(I - S)v_s·(∇V + ∂Ψ/∂v), and the change of the kinetic energy of constrained directions
    dissipation      h Σ v_s·∂Ψ/∂v(v_s)
    numerical        of the kinetic energy: SA·Δ - ½M(v' - v)·(v' + v), which for implicit Euler is ½|v' - v|²_M;
                     of the potential: Δ·Σ∇V - (V' - V - work of parameters), for implicit Euler V - V' - ∇V'·(q - q');
                     of the damping: Δ·Σ∂Ψ/∂v (or Δ·∂R/∂q, with R what it adds to the objective) less the dissipation;
                     and likewise for loads and scripts, where what moves is not what counts
    torn             V of the broken elements, at the end of the step
    residual         Δ·r, with r the forces that the solver left unbalanced
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taut.run.entry import Entry, added
from taut.step.advance import Advance, Stage
from taut.system.blocks import dot
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs

Float = NDArray[np.float64]
RAYLEIGH = "rayleigh"


@dataclass
class _Forces:
    """The forces of all stages, with the weights that move the particles, and the work that each law's do on the way Δ."""

    stored: float = 0.0  # Δ·Σ∇V of the laws that store energy [J]
    work: dict[str, float] = field(default_factory=dict)
    dissipated: dict[str, float] = field(default_factory=dict)
    total: Float = field(default_factory=lambda: np.zeros((0, 3)))  # Σ(∇V + ∂Ψ/∂v) [N]
    scripted: float = 0.0  # h Σ v·(∇V + ∂Ψ/∂v) in the constrained directions [J]
    defect: float = 0.0  # work and dissipation of the forces that move, less those that count [J]
    gross: float = 0.0  # Σ |Δ|·|forces| [J]

    def lift(self, name: str, stage: Stage, taken: float, along: float) -> None:
        """Book the work -h v·∇V of a load; `taken` is h v·∇V, `along` is Δ·∇V."""
        self.work[name] = self.work.get(name, 0.0) - stage.counted * taken
        self.defect += stage.weight * along - stage.counted * taken

    def spend(self, name: str, stage: Stage, taken: float, along: float) -> None:
        """Book what a damping law took; `along` is Δ·∂Ψ/∂v."""
        self.dissipated[name] = self.dissipated.get(name, 0.0) + stage.counted * taken
        self.defect += stage.weight * along - stage.counted * taken

    def add(self, system: System, step: Advance, stage: Stage, total: Float, gross: Float) -> None:
        """Count the forces of a stage."""
        v = stage.v if stage.linear is None else stage.v + stage.linear.faster
        self.scripted += stage.counted * step.h * dot(v - system.hold.project(v), total)
        self.total += stage.weight * total
        self.gross += max(stage.weight, stage.counted) * float(np.abs(step.moved * gross).sum())


def booked(system: System, step: Advance) -> Entry:
    """The entry of one step that is not made of others."""
    system = system.during(step.start.t, step.h).under(step.loads)
    old, new, hold = step.start, step.whole or step.state, system.hold
    forces = _Forces(total=np.zeros((system.n, 3)))
    for stage in step.stages:
        _add_positions(system, step, stage, forces)
        if system.placed_damping and stage.span is None:
            _add_rates(system, step, stage, forces)
        if system.rayleigh is not None:
            _add_rayleigh(system, step, stage, forces)
    before, after, left = (
        {name: value for name, value in system.V_by_law(state).items() if not system.placed[name].law.load}
        for state in (old, new, step.state)
    )
    torn = {} if step.whole is None else {name: after[name] - left[name] for name in after if after[name] != left[name]}
    driven = _driven(system, step)
    work = added(forces.work, driven)

    free = hold.project(step.moved)
    held = step.moved - free
    v, w = np.array(old.v), np.array(new.v)
    v_free, w_free = hold.project(v), hold.project(w)
    mass = system.mass[:, None]
    gain_free = 0.5 * dot(mass * (w_free - v_free), w_free + v_free)
    gain = 0.5 * dot(mass * (w - v), w + v)
    scripted = forces.scripted + (gain - gain_free)
    change = sum(after.values()) - sum(before.values())
    dissipated = sum(forces.dissipated.values())
    numerical = dot(step.inertia, free) - gain_free
    numerical += forces.stored - (change - sum(driven.values()))
    numerical += forces.defect + forces.scripted - dot(held, forces.total)
    residual = dot(free, step.residual)
    kinetic = system.T(new)
    opening = system.T(old) + sum(before.values())
    closing = kinetic + sum(left.values())
    gap = closing - (opening + sum(work.values()) + scripted - dissipated - numerical + residual - sum(torn.values()))
    scale = system.T(old) + kinetic + sum(map(abs, before.values())) + sum(map(abs, after.values())) + forces.gross
    scale += float(np.abs(step.inertia * free).sum()) + sum(map(abs, work.values())) + abs(scripted)
    return Entry(
        new.t, step.h, opening, kinetic, left, work, scripted, forces.dissipated, numerical, torn, residual, gap, scale
    )  # fmt: skip


def _add_positions(system: System, step: Advance, stage: Stage, forces: _Forces) -> None:
    """∇V of every law at a stage, or what a linear stage makes of it, and ∂R/∂q of the damping laws that act as increments."""
    assembly = system.assembly("potential" if stage.span is None else "increments", step.start)
    frozen, h = np.array(stage.frozen.q), stage.span or 0.0
    inputs = [Inputs(stage.q, frozen if t.form == "increment" else stage.q, h, stage.t) for t in assembly.terms]
    bent = [0.0] * len(assembly.terms)
    if stage.linear is None:
        _, gradient, gross = assembly.gradient(inputs)
        total = gradient.copy()
    else:
        assembly.hessian(inputs, np.zeros(system.n), project=stage.linear.project)
        _, gradient, gross = assembly.sums()
        total = gradient + assembly.matrix.times(stage.linear.moved)
        bent = assembly.curvatures(step.moved, stage.linear.moved)
    along, lifted = assembly.works(step.moved), assembly.works(stage.v)
    powers = {} if stage.span is None else _powers(system, step, stage)
    for term, flat, more, power in zip(assembly.terms, along, bent, lifted, strict=True):
        if term.form == "increment":
            forces.spend(term.name, stage, step.h * powers[term.name], flat)
        elif term.placed.law.load:
            given = stage.linear is not None or not (term.stiff or term.placed.timed)  # a constant force does f·Δ
            forces.lift(term.name, stage, flat + more if given else step.h * power, flat + more)
        else:
            forces.stored += stage.weight * (flat + more)
    forces.add(system, step, stage, total, gross + np.abs(total - gradient))


def _powers(system: System, step: Advance, stage: Stage) -> dict[str, float]:
    """v·∂Ψ/∂v of each damping law at a stage [W]."""
    assembly = system.assembly("damping", step.start)
    assembly.gradient([Inputs(stage.v, stage.q, 0.0, stage.t)] * len(assembly.terms))
    return {term.name: power for term, power in zip(assembly.terms, assembly.works(stage.v), strict=True)}


def _add_rates(system: System, step: Advance, stage: Stage, forces: _Forces) -> None:
    """∂Ψ/∂v of the damping laws that act as rates at a stage, or what a linear stage makes of it."""
    assembly = system.assembly("damping", step.start)
    inputs = [Inputs(stage.v, np.array(stage.frozen.q), 0.0, stage.t)] * len(assembly.terms)
    if stage.linear is None:
        _, drag, gross = assembly.gradient(inputs)
        along, taken = assembly.works(step.moved), [step.h * power for power in assembly.works(stage.v)]
        total = drag.copy()
    else:
        assembly.hessian(inputs, np.zeros(system.n), project=False)
        _, drag, gross = assembly.sums()
        bent = assembly.curvatures(step.moved, stage.linear.faster)
        along = taken = [a + b for a, b in zip(assembly.works(step.moved), bent, strict=True)]
        total = drag + assembly.matrix.times(stage.linear.faster)
    for term, a, b in zip(assembly.terms, taken, along, strict=True):
        forces.spend(term.name, stage, a, b)
    forces.add(system, step, stage, total, gross + np.abs(total - drag))


def _add_rayleigh(system: System, step: Advance, stage: Stage, forces: _Forces) -> None:
    v = stage.v if stage.linear is None else stage.v + stage.linear.faster
    drag = system.rayleigh_matrix(stage.frozen).times(v)
    forces.spend(RAYLEIGH, stage, step.h * dot(drag, v), dot(drag, step.moved))
    forces.add(system, step, stage, drag, np.abs(drag))


def _driven(system: System, step: Advance) -> dict[str, float]:
    """The work of parameters that change with time, at fixed positions: law → J."""
    timed = [name for name, placed in system.placed.items() if placed.timed and not placed.law.load]
    driven = dict.fromkeys(timed, 0.0)
    if not timed:
        return driven
    old, new = step.start, step.whole or step.state

    def energies(state: State, t: float) -> dict[str, float]:
        return system.V_by_law(state.with_(t=t))

    begun, ended = energies(old, old.t), energies(new, new.t)
    for stage in step.stages:
        early, late = energies(old, stage.t), energies(new, stage.t)
        for name in timed:
            driven[name] += stage.counted * (early[name] - begun[name] + ended[name] - late[name])
    return driven
