"""Static equilibrium: q with S ∇V(q, t) = 0 and K > 0, S the projector onto the free directions.

The load may be raised in steps (continuation): the laws that are linear in the positions are
multiplied by a load factor λ, and every step starts from the equilibrium before it. Saddles are
left, so an equilibrium that is returned is stable or has mechanisms. The constraints react with
(I - S) ∇V.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.linalg.linear import SolverName, make_solver
from taut.optimise.descent import Descent
from taut.optimise.tolerance import Tolerance, find_worst_particle
from taut.statics._certificate import StaticCertificate
from taut.statics._equilibrium_search import EquilibriumSearch
from taut.statics._slack_chains import choose_load_factors
from taut.statics._static_objective import check_static, check_tolerance
from taut.statics.stability import Stability
from taut.system.members import Members
from taut.system.state import State
from taut.system.system import System


@dataclass(frozen=True, eq=False)
class LoadStep:
    """An equilibrium at one load factor.

    left_saddles : how many unstable equilibria were left on the way to it
    """

    factor: float
    state: State
    stability: Stability
    left_saddles: int


@dataclass(frozen=True, eq=False)
class Equilibrium(StaticCertificate):
    """A static equilibrium and its certificate.

    state : positions at rest (v = 0)
    outcome : "converged" (every particle's residual is within its tolerance) or "rounding floor"
        (the others are within their rounding floors)
    particle : the one closest to its limit
    residual, tolerance, floor : of that particle [N]; floor is 0 where it was not needed
    iterations : Newton iterations in total
    stability : the smallest eigenvalues of K and the mechanisms
    left_saddles : how many unstable equilibria were left on the way
    reactions : force of the constraints on each particle [N], (n, 3); includes the weight of the
        constrained particle itself
    members : the table of member forces
    energies : of each law [J], the loads at their factor
    path : one entry for each load factor; the last is this equilibrium
    system : the one it is of

    >>> import taut
    >>> from taut import laws
    >>> spring = laws.spring([[0, 1]], k=981.0)
    >>> weight = taut.System(
    ...     [[0, 0, 0], [1, 0, 0]], mass=2.0, fixed=[0], energies=[spring, laws.gravity([1])]
    ... )
    >>> rest = taut.equilibrium(weight)
    >>> rest.state.q[1].round(6) + 0.0, rest.reactions[0].round(4) + 0.0
    (array([ 0.  , -1.02,  0.  ]), array([ 0.  , 19.62,  0.  ]))
    """

    state: State
    stability: Stability
    left_saddles: int
    reactions: Float
    members: Members
    energies: dict[str, float]
    path: tuple[LoadStep, ...]
    system: System

    def __str__(self) -> str:
        first = self.certificate
        if self.left_saddles:
            first += f", {self.left_saddles} saddles left"
        x, y, z = self.reactions.sum(axis=0) + 0.0
        energies = ", ".join(f"{name} {value:.6g}" for name, value in self.energies.items())
        return (
            f"{first}\n{self.stability}\n"
            f"sum of reactions [N]: ({x:.6g}, {y:.6g}, {z:.6g})\nenergies [J]: {energies or 'none'}"
        )


def equilibrium(
    system: System,
    state: State | None = None,
    *,
    loads: Iterable[float] | None = None,
    tolerance: Tolerance | None = None,
    solver: SolverName = "auto",
) -> Equilibrium:
    """Find the stable equilibrium that a descent in energy reaches from a state.

    state : where to start (default: the initial state)
    loads : load factors, reached one after the other: the laws that are linear in the positions
        (gravity, given forces) are multiplied by them. A load step that does not converge is
        halved (default: 1, which slack chains approach from larger factors)
    tolerance : on the unbalanced force of each particle (default: `Tolerance(relative=1e-8)`, a
        part of its gross force)
    solver : "auto", "direct" or "cg", as in a time step. Stability is decided by the signs of
        pivots where a factorisation is affordable, else by iteration (see `Stability.method`)

    Constraints and parameters are those of the state's time, elements that are inactive in it stay
    inactive, and damping has no effect. `NotConverged` carries the positions reached so far as its
    `state` and a `Report` on the last descent; `ModelError` names a particle that nothing holds.

    >>> import taut
    >>> from taut import laws
    >>> rope = taut.mesh.rope(10, end=(0.8, 0, 0))
    >>> cable = laws.cable(rope.edges, k=1e5, l0=0.1)
    >>> system = taut.System(
    ...     rope.points, mass=0.1, fixed=[0, 10], energies=[cable, laws.gravity()]
    ... )
    >>> found = taut.equilibrium(system)
    >>> found.outcome, found.stability.stable, found.reactions[[0, 10], 1].round(4)
    ('converged', True, array([5.3955, 5.3955]))
    """
    factors = [1.0] if loads is None else _check_loads(loads)
    start = check_static(system, state, "equilibrium")
    tolerance = check_tolerance(tolerance, "equilibrium")
    chosen = make_solver(solver)
    search = EquilibriumSearch(system, start, chosen, tolerance)
    path: list[LoadStep] = []
    reached = 0.0
    if loads is None:
        larger = choose_load_factors(system, start, search.objective.find_loads(start.q))
        for factor in larger:
            search.advance(reached, factor)
            reached = factor
    for factor in factors:
        before = search.left_saddles
        descent = search.advance(reached, factor)
        left_saddles = search.left_saddles - before
        path.append(LoadStep(factor, search.state(), search.stability(), left_saddles))
        reached = factor
    return _make_result(system, search, descent, path)


def _check_loads(loads: Iterable[float]) -> list[float]:
    message = f"equilibrium: loads must be a list of load factors, got {loads!r}"
    if isinstance(loads, str):
        raise ModelError(message)
    try:
        factors = [float(factor) for factor in loads]
    except (TypeError, ValueError) as error:
        raise ModelError(message) from error
    if not factors:
        raise ModelError("equilibrium: loads must have at least one load factor, got none")
    for factor in factors:
        if not np.isfinite(factor):
            raise ModelError(f"equilibrium: load factors must be finite, got {factor}")
    return factors


def _make_result(
    system: System, search: EquilibriumSearch, descent: Descent, path: list[LoadStep]
) -> Equilibrium:
    objective, state = search.objective, path[-1].state
    objective.set_proximal_term(0.0, search.q)
    gradient = objective.potential(search.q).gradient
    load_names = {term.name for term in objective.load.terms}
    members = system.members(state)
    factors = np.where(np.isin(members.law, sorted(load_names)), objective.load_factor, 1.0)
    energies = system.V_by_law(state)
    for name in load_names & energies.keys():
        energies[name] *= objective.load_factor
    return Equilibrium(
        state=state,
        outcome=descent.outcome,
        **find_worst_particle(descent.point.residuals, descent.targets, descent.rounding_floors),
        iterations=search.iterations,
        stability=path[-1].stability,
        left_saddles=search.left_saddles,
        reactions=gradient - system._projector.project(gradient),
        members=replace(members, force=factors * members.force),
        energies=energies,
        path=tuple(path),
        system=system,
    )
