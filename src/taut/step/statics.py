"""Static equilibrium: q with S ∇V(q, t) = 0, S the projector onto the free directions, and K > 0 there.

The load may be raised in steps (continuation): the laws that are linear in the positions are multiplied by a factor, and every
step begins where the one before ended. A saddle is left along the eigenvector of its lowest eigenvalue, so what is found is stable,
or has mechanisms. The constraints push with (I - S) ∇V.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.solve.linear import SolverName, linear_solver
from taut.solve.minimum import Minimum
from taut.solve.tolerance import Tolerance, decisive
from taut.step.balance import Balance
from taut.step.search import Search
from taut.step.stability import Stability
from taut.step.still import still_state
from taut.system.members import Members
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LoadStep:
    """An equilibrium on the way: the load factor, the state, its stability, and how many saddles were left to reach it."""

    factor: float
    state: State
    stability: Stability
    left_saddles: int


@dataclass(frozen=True, eq=False)
class Equilibrium(Balance):
    """A static equilibrium and its certificate.

    state : positions at rest (v = 0)
    outcome : "converged" (every particle's residual within its tolerance) or "rounding floor" (the rest within their floors)
    particle : the one closest to its limit; residual, tolerance, floor : its own [N] (floor 0 where it was not needed)
    iterations : of Newton's method, in all
    stability : the smallest eigenvalues of K and the mechanisms; left_saddles : how many unstable equilibria were left
    reactions : force of the constraints on each particle [N], (n, 3); a held particle's own weight is in it
    members : the table of member forces; energies : of each law [J], the loads at their factor
    path : an entry for each load factor asked for; the last is this equilibrium

    >>> import taut
    >>> from taut import laws
    >>> spring = laws.spring([[0, 1]], k=981.0)
    >>> weight = taut.System([[0, 0, 0], [1, 0, 0]], mass=2.0, fixed=[0], energies=[spring, laws.gravity([1])])
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

    def __str__(self) -> str:
        saddles = f", {self.left_saddles} saddles left" if self.left_saddles else ""
        total = self.reactions.sum(axis=0) + 0.0
        energies = ", ".join(f"{name} {value:.6g}" for name, value in self.energies.items()) or "none"
        return (
            f"{self.certificate}{saddles}\n{self.stability}\n"
            f"sum of reactions [N]: ({total[0]:.6g}, {total[1]:.6g}, {total[2]:.6g})\nenergies [J]: {energies}"
        )


def equilibrium(
    system: System,
    state: State | None = None,
    *,
    loads: Iterable[float] = (1.0,),
    tolerance: Tolerance | None = None,
    solver: SolverName = "auto",
) -> Equilibrium:
    """The stable equilibrium that is reached from a state (default: the initial one) going down in energy.

    loads : load factors, one equilibrium after the other: the laws that are linear in the positions (gravity, given forces) are
        multiplied by them. A step that does not converge is divided.
    tolerance : on the unbalanced force of each particle, as in a time step (default: `Tolerance()`)
    solver : "direct" or "cg"; "auto" is "direct" at any size, since stability is found by the same factorisation

    Constraints and parameters are those of the state's time; elements it has switched off stay off; damping plays no part.
    `NotConverged` carries the positions reached so far as its `state`, and a `Report` on the last descent; `ModelError` names a
    particle that nothing holds.

    >>> import taut
    >>> from taut import laws
    >>> rope = taut.mesh.rope(10, end=(0.8, 0, 0))
    >>> system = taut.System(rope.points, mass=0.1, fixed=[0, 10], energies=[laws.cable(rope.edges, k=1e5, l0=0.1), laws.gravity()])
    >>> found = taut.equilibrium(system)
    >>> found.outcome, found.stability.stable, found.reactions[[0, 10], 1].round(4)
    ('converged', True, array([5.3955, 5.3955]))
    """
    factors = _factors(loads)
    begin = still_state(system, state, "equilibrium")
    tolerance = Tolerance() if tolerance is None else tolerance
    if not isinstance(tolerance, Tolerance):
        raise ModelError(f"equilibrium: tolerance is a taut.Tolerance, not {tolerance!r}")
    search = Search(system, begin, linear_solver("direct" if solver == "auto" else solver), tolerance)
    path, record, reached = [], None, 0.0
    for factor in factors:
        before = search.left_saddles
        record = search.to(reached, factor)
        at = search.state()
        path.append(LoadStep(factor, at, search.stability(), search.left_saddles - before))
        reached = factor
    if record is None:
        raise ModelError("equilibrium: loads is empty; give at least one load factor")
    return _result(system, search, record, path)


def _factors(loads: Iterable[float]) -> list[float]:
    if isinstance(loads, str):
        raise ModelError(f"equilibrium: loads are load factors, numbers, not {loads!r}")
    try:
        factors = [float(factor) for factor in loads]
    except (TypeError, ValueError) as error:
        raise ModelError(f"equilibrium: loads are load factors, numbers, not {loads!r}") from error
    for factor in factors:
        if not np.isfinite(factor):
            raise ModelError(f"equilibrium: the load factor {factor} is not finite")
    return factors


def _result(system: System, search: Search, record: Minimum, path: list[LoadStep]) -> Equilibrium:
    objective, state = search.objective, path[-1].state
    objective.hold_back(0.0, search.q)
    _, gradient, _, _ = objective.gradient(search.q)
    linear = {term.name for term in objective.load.terms}
    table = system.members(state)
    scaled = np.where(np.isin(table.law, sorted(linear)), objective.factor, 1.0)
    return Equilibrium(
        state=state,
        outcome=record.outcome,
        **decisive(record.point.residuals, record.targets, record.floors),
        iterations=search.iterations,
        stability=path[-1].stability,
        left_saddles=search.left_saddles,
        reactions=gradient - system.hold.project(gradient),
        members=replace(table, force=scaled * table.force),
        energies={n: v * (objective.factor if n in linear else 1.0) for n, v in system.V_by_law(state).items()},
        path=tuple(path),
    )
