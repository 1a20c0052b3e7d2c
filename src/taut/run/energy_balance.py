"""The energy balance of a step: a formula for every joule that moved.

    T' + ΣV' = T + ΣV + work of loads and of changing parameters + work of scripted points
               - dissipation of each damping law - numerical dissipation
               + work of the solver's residual - plastic work
               - energy of the elements that broke

Every item has its own formula and none is computed as the remainder, so the `gap`, what does not
add up, is rounding alone: an error in any formula shows there. With the displacement Δ and the
inertial force A of the step (see `taut.step.step_result`), S the projector onto the free
directions, and Σ over the stages with their weights (BDF2 moves by the forces at the end alone, but
counts work at both ends):

    loads          -h Σ v_s·∇V_k   for laws marked as loads; -Δ·∇V_k for constant forces
    parameters     Σ V(q, t_s) - V(q, t) + V(q', t') - V(q', t_s)
                   for laws whose parameters depend on time
    scripted       h Σ (I - S)v_s·(∇V + ∂Ψ/∂v)
                   + the change of the kinetic energy in the constrained directions
    dissipation    h Σ v_s·∂Ψ/∂v(v_s)
    numerical      kinetic: SA·Δ - ½M(v' - v)·(v' + v), for implicit Euler ½|v' - v|²_M
                   potential: Δ·Σ∇V - (V' - V - work of parameters),
                   for implicit Euler V - V' - ∇V'·(q - q')
                   damping: Δ·Σ∂Ψ/∂v (or Δ·∂R/∂q, R its share of the objective) - dissipation
                   loads and scripts: likewise, moving forces less counted ones
    plastic        V before less V after rest values flowed at the end of the step
    torn           V of the broken elements at the end of the step
    residual       Δ·r, with r the forces that the solver left unbalanced
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from taut.arrays import Float
from taut.errors import NotConverged, SingularState
from taut.linalg.blocks import dot
from taut.run.ledger_entry import LedgerEntry, add_by_name
from taut.step.step_result import Stage, StepResult
from taut.system.any_assembly import AnyAssembly
from taut.system.contact_assembly import ContactAssembly
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs
from taut.system.workspace import Workspace, workspace_for

_RAYLEIGH = "rayleigh"  # the name of Rayleigh damping in the ledger


def balance_energy(system: System, step: StepResult) -> LedgerEntry:
    """Return the energy balance of a step; for one made of substeps, the sum of theirs.

    NotConverged if the energies overflow.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            entries = [_balance_substep(system, part) for part in step.substeps or (step,)]
            entry = entries[0]
            for later in entries[1:]:
                entry = entry.and_then(later)
        if not math.isfinite(entry.gap):
            raise SingularState("the energies of the step overflow")
    except SingularState as error:
        report = step.report
        advice = report.note or "take a shorter step"
        message = f"{report.integrator} at t = {report.t:g} s: {error}; {advice}"
        raise NotConverged(message, report, step.start) from error
    return replace(entry, t=step.state.t, h=step.h)


@dataclass
class _StageSums:
    """Sums over the stages of a step.

    Forces move the particles with `stage.weight` and count as work with `stage.counted`.
    """

    stored: float = 0.0  # Δ·Σ∇V of the laws that store energy [J]
    work: dict[str, float] = field(default_factory=dict)  # of loads [J]
    dissipated: dict[str, float] = field(default_factory=dict)  # by damping laws [J]
    total: Float = field(default_factory=lambda: np.zeros((0, 3)))  # Σ(∇V + ∂Ψ/∂v) [N]
    scripted: float = 0.0  # h Σ v·(∇V + ∂Ψ/∂v) in the constrained directions [J]
    defect: float = 0.0  # work of the forces that move, less the work that counts [J]
    magnitude: float = 0.0  # Σ |Δ|·|forces| [J]

    def add_load(self, name: str, stage: Stage, counted: float, moving: float) -> None:
        """Add the work of a load: counted = h v·∇V, moving = Δ·∇V [J]."""
        self.work[name] = self.work.get(name, 0.0) - stage.counted * counted
        self.defect += stage.weight * moving - stage.counted * counted

    def add_damping(self, name: str, stage: Stage, counted: float, moving: float) -> None:
        """Add the dissipation of a law: counted = h v·∂Ψ/∂v, moving = Δ·∂Ψ/∂v [J]."""
        self.dissipated[name] = self.dissipated.get(name, 0.0) + stage.counted * counted
        self.defect += stage.weight * moving - stage.counted * counted

    def add_forces(
        self, system: System, step: StepResult, stage: Stage, total: Float, magnitude: Float
    ) -> None:
        """Add the forces of a stage: total = ∇V + ∂Ψ/∂v and the sum of magnitudes [N], (n, 3)."""
        v = _velocity(stage)
        self.scripted += stage.counted * step.h * dot(v - system._projector.project(v), total)
        self.total += stage.weight * total
        weight = max(stage.weight, stage.counted)
        self.magnitude += weight * float(np.abs(step.displacement * magnitude).sum())


def _balance_substep(system: System, step: StepResult) -> LedgerEntry:
    """Return the balance of a step that has no substeps."""
    workspace = workspace_for(system).without_ended_constraints(step.start.t, step.h)
    workspace = workspace.with_held_loads(step.loads)
    system = workspace.system
    # `end` is the state before rest values flowed and elements broke, on which the forces acted
    start, end = step.start, step.state_before_changes

    sums = _sum_stages(workspace, step)
    V_start = _stored_energies(workspace, start)
    V_end = _stored_energies(workspace, end)
    V_flowed = V_end
    if step.state_before_flow is not None:
        V_flowed = _stored_energies(workspace, step.state_before_breaking or step.state)
    V_left = _stored_energies(workspace, step.state)
    plastic, torn = _find_losses(V_end, V_flowed), _find_losses(V_flowed, V_left)
    work_of_parameters = _work_of_parameters(workspace, step)
    work = add_by_name(sums.work, work_of_parameters)

    project = system._projector.project
    moved_free = project(step.displacement)
    moved_constrained = step.displacement - moved_free
    v0, v1 = np.array(start.v), np.array(end.v)
    v0_free, v1_free = project(v0), project(v1)
    mass = system.mass[:, None]
    # ½M(v' - v)·(v' + v) instead of T' - T, which would lose digits of a small change
    gain_free = 0.5 * dot(mass * (v1_free - v0_free), v1_free + v0_free)
    gain = 0.5 * dot(mass * (v1 - v0), v1 + v0)
    V_gain = sum(V_end.values()) - sum(V_start.values())

    scripted = sums.scripted + (gain - gain_free)
    dissipated = sum(sums.dissipated.values())
    numerical = dot(step.inertia, moved_free) - gain_free
    numerical += sums.stored - (V_gain - sum(work_of_parameters.values()))
    numerical += sums.defect + sums.scripted - dot(moved_constrained, sums.total)
    residual = dot(moved_free, step.residual)

    T_start, T_end = system.T(start), system.T(end)
    opening = T_start + sum(V_start.values())
    closing = T_end + sum(V_left.values())
    flows = opening + sum(work.values()) + scripted - dissipated - numerical + residual
    gap = closing - (flows - sum(plastic.values()) - sum(torn.values()))
    scale = T_start + T_end + sum(map(abs, V_start.values())) + sum(map(abs, V_end.values()))
    scale += sums.magnitude
    inertial = float(np.abs(step.inertia * moved_free).sum())
    scale += inertial + sum(map(abs, work.values())) + abs(scripted)
    return LedgerEntry(
        t=end.t,
        h=step.h,
        opening=opening,
        kinetic=T_end,
        stored=V_left,
        work=work,
        scripted=scripted,
        dissipated=sums.dissipated,
        numerical=numerical,
        plastic=plastic,
        torn=torn,
        residual=residual,
        gap=gap,
        scale=scale,
    )


def _find_losses(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Return what the laws whose energy [J] has changed have lost."""
    return {name: before[name] - after[name] for name in before if before[name] != after[name]}


def _hold_friction(assembly: AnyAssembly, stage: Stage) -> None:
    """Let contacts have the friction that they had in a stage."""
    if stage.friction is not None and isinstance(assembly, ContactAssembly):
        assembly.friction = stage.friction


def _sum_stages(workspace: Workspace, step: StepResult) -> _StageSums:
    system = workspace.system
    sums = _StageSums(total=np.zeros((system.n, 3)))
    for stage in step.stages:
        _add_potential(workspace, step, stage, sums)
        if (system._placed_damping or system._has_friction) and stage.span is None:
            _add_damping_rates(workspace, step, stage, sums)
        if system._rayleigh is not None:
            _add_rayleigh(workspace, step, stage, sums)
    return sums


def _velocity(stage: Stage) -> Float:
    """Return the velocity of a stage [m/s], (n, 3), with the linear part if it has one."""
    if stage.linear is None:
        return stage.v
    return stage.v + stage.linear.velocity_change


def _stored_energies(workspace: Workspace, state: State) -> dict[str, float]:
    """Return V of each law that stores energy [J]; loads do work instead."""
    energies = workspace.energies_by_law(state)
    loads = {name for name, p in workspace.system._placed_energies.items() if p.law.load}
    return {name: value for name, value in energies.items() if name not in loads}


def _add_potential(workspace: Workspace, step: StepResult, stage: Stage, sums: _StageSums) -> None:
    """Add ∇V of every law at a stage (linearised in a linear stage).

    Damping laws that act as increments contribute ∂R/∂q here.
    """
    assembly = workspace.assembly("potential" if stage.span is None else "increments", step.start)
    _hold_friction(assembly, stage)
    frozen, h = np.array(stage.frozen.q), stage.span or 0.0
    inputs = []
    for term in assembly.terms:
        geometry = frozen if term.form == "increment" else stage.q
        inputs.append(Inputs(stage.q, geometry, h, stage.t))
    if stage.linear is None:
        _, gradient, magnitude = assembly.gradient(inputs)
        total = gradient.copy()
        curvatures = [0.0] * len(assembly.terms)
    else:
        assembly.hessian(inputs, np.zeros(workspace.system.n), project=stage.linear.project)
        _, gradient, magnitude = assembly.sums()
        total = gradient + assembly.matrix.multiply(stage.linear.displacement)
        curvatures = assembly.curvatures(step.displacement, stage.linear.displacement)
    works, powers = assembly.works(step.displacement), assembly.works(stage.v)
    damping = {} if stage.span is None else _damping_powers(workspace, step, stage)
    for term, work, curvature, power in zip(assembly.terms, works, curvatures, powers, strict=True):
        moving = work + curvature
        if term.form == "increment":
            sums.add_damping(term.name, stage, step.h * damping[term.name], work)
        elif not term.is_load:
            sums.stored += stage.weight * moving
        elif stage.linear is not None:
            sums.add_load(term.name, stage, moving, moving)
        elif term.has_hessian or term.is_time_dependent:
            sums.add_load(term.name, stage, step.h * power, moving)
        else:  # a constant force does the work f·Δ, whatever the velocities of the stages
            sums.add_load(term.name, stage, moving, moving)
    sums.add_forces(workspace.system, step, stage, total, magnitude + np.abs(total - gradient))


def _damping_powers(workspace: Workspace, step: StepResult, stage: Stage) -> dict[str, float]:
    """Return v·∂Ψ/∂v of each damping law at a stage [W]."""
    assembly = workspace.assembly("damping", step.start)
    _hold_friction(assembly, stage)
    assembly.gradient([Inputs(stage.v, stage.q, 0.0, stage.t)] * len(assembly.terms))
    names = [term.name for term in assembly.terms]
    return dict(zip(names, assembly.works(stage.v), strict=True))


def _add_damping_rates(
    workspace: Workspace, step: StepResult, stage: Stage, sums: _StageSums
) -> None:
    """Add ∂Ψ/∂v of the damping laws that act as rates (linearised in a linear stage)."""
    assembly = workspace.assembly("damping", step.start)
    _hold_friction(assembly, stage)
    inputs = [Inputs(stage.v, np.array(stage.frozen.q), 0.0, stage.t)] * len(assembly.terms)
    if stage.linear is None:
        _, gradient, magnitude = assembly.gradient(inputs)
        moving = assembly.works(step.displacement)
        counted = [step.h * power for power in assembly.works(stage.v)]
        total = gradient.copy()
    else:
        assembly.hessian(inputs, np.zeros(workspace.system.n), project=False)
        _, gradient, magnitude = assembly.sums()
        curvatures = assembly.curvatures(step.displacement, stage.linear.velocity_change)
        works = assembly.works(step.displacement)
        moving = [work + more for work, more in zip(works, curvatures, strict=True)]
        counted = moving
        total = gradient + assembly.matrix.multiply(stage.linear.velocity_change)
    for term, taken, along in zip(assembly.terms, counted, moving, strict=True):
        sums.add_damping(term.name, stage, taken, along)
    sums.add_forces(workspace.system, step, stage, total, magnitude + np.abs(total - gradient))


def _add_rayleigh(workspace: Workspace, step: StepResult, stage: Stage, sums: _StageSums) -> None:
    """Add the forces D v of Rayleigh damping."""
    v = _velocity(stage)
    drag = workspace.rayleigh_matrix(stage.frozen).multiply(v)
    sums.add_damping(_RAYLEIGH, stage, step.h * dot(drag, v), dot(drag, step.displacement))
    sums.add_forces(workspace.system, step, stage, drag, np.abs(drag))


def _work_of_parameters(workspace: Workspace, step: StepResult) -> dict[str, float]:
    """Return the work of parameters that change with time, at fixed positions: law → J."""
    timed = [
        name
        for name, placed in workspace.system._placed_energies.items()
        if placed.parameters.time_dependent and not placed.law.load
    ]
    work = dict.fromkeys(timed, 0.0)
    if not timed:
        return work
    start, end = step.start, step.state_before_changes

    def energies(state: State, t: float) -> dict[str, float]:
        return workspace.energies_by_law(state.with_(t=t))

    V_start, V_end = energies(start, start.t), energies(end, end.t)
    for stage in step.stages:
        V_early, V_late = energies(start, stage.t), energies(end, stage.t)
        for name in timed:
            change = V_early[name] - V_start[name] + V_end[name] - V_late[name]
            work[name] += stage.counted * change
    return work
