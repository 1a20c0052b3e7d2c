"""Stages of small systems, minimised by one compiled call: see `taut.step._stage_kernels`.

`CompiledStage.of` prepares what does not change from step to step. It returns None for what the
compiled loop does not do; then, and for a stage that it gives back, the general method takes over.
Both give the same bits.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from taut.arrays import Float, Mask
from taut.binding.compiled_law import HESSIAN_FLAGS
from taut.jit.background_compile import compile_in_background
from taut.jit.compile import SourceModule, is_compiled, kernel_source, kernels
from taut.linalg.direct import Direct, plan_elimination
from taut.linalg.elimination import Elimination
from taut.linalg.linear import LinearSolver
from taut.optimise.tolerance import Tolerance
from taut.step._accelerations import find_free_mass
from taut.step._objective import Prediction
from taut.step._stage_arrays import ARRAY_TYPES, StageTables
from taut.system.any_assembly import AnyAssembly
from taut.system.assembly import Assembly
from taut.system.projector import ConstraintProjector
from taut.system.system import System

KERNELS = "taut.step._stage_kernels"
# Beyond it, what Python does in a step no longer counts, and threads help within one.
MAX_PARTICLES = 256


@dataclass(eq=False)
class StageSolution:
    """The minimum of a stage: y [m] and its gradient [N], both (n, 3), and what a Report needs."""

    y: Float
    gradient: Float
    iterations: int
    evaluations: int
    linear_iterations: int
    decrease: float
    acceleration: float
    velocity_error: float
    particle: int
    residual: float
    tolerance: float

    def worst_present_residual(self) -> float:
        """Return the residual of the particle closest to its limit, in units of that."""
        return self.residual / self.tolerance


RESULTS = len(fields(StageSolution)) - 2  # numbers that the loop writes


def find_obstacle(system: System, assembly: AnyAssembly, solver: LinearSolver) -> str:
    """Return why the compiled loop cannot do the stages of a system; empty if it can.

    solver : after it has analysed the pattern
    """
    if not isinstance(assembly, Assembly):
        return "the system has contact"
    if system._rayleigh is not None:
        return "the system has Rayleigh damping"
    if not assembly.terms:
        return "the system has no law"
    if system.n > MAX_PARTICLES:
        return f"the system has {system.n} particles, more than {MAX_PARTICLES}"
    for term in assembly.terms:
        if term.outer is not None:
            return f"'{term.name}' is an energy of a total"
        if term.blocks and not term.compiled.can_write("metric"):
            return f"the stiffness of '{term.name}' is projected by eigenvalues"
    if not _is_along_axes(system._projector):
        return "a constraint leaves directions free that are not along the axes"
    if solver.name != Direct.name:
        return f"its matrix is not solved by a factorisation, but by {solver.name}"
    return ""


def _is_along_axes(projector: ConstraintProjector) -> bool:
    diagonal = np.einsum("nii->ni", projector.free_directions)
    return not len(projector.oblique_particles) and bool(np.isin(diagonal, (0.0, 1.0)).all())


@cache
def _kernel_source() -> SourceModule:
    return kernel_source(KERNELS)


def are_kernels_compiled() -> bool:
    """Whether the compiled loop is in the cache; if not, another process begins to compile it."""
    source = _kernel_source()
    if is_compiled(source):
        return True
    compile_in_background([source])
    return False


class CompiledStage:
    """The tables of a small system, and the call that minimises one of its stages."""

    def __init__(self, system: System, assembly: Assembly) -> None:
        self.assembly = assembly
        self.plan: Elimination = plan_elimination(assembly.pattern)
        self.tables = make_tables(system, assembly)
        self._free_mass = find_free_mass(system.mass, system._projector)
        self._mass = system.mass
        self._parameters: tuple[list[Float], Float] | None = None
        # The stage that the numbers below were found for, and these.
        self._key: tuple[float, Tolerance] | None = None
        self._inertia, self._numbers = np.empty(0), np.empty(0)
        self._solve = kernels(KERNELS).solve_stage

    def fits(self, assembly: AnyAssembly) -> bool:
        """Whether an assembly differs in values of parameters only."""
        if not isinstance(assembly, Assembly) or assembly.n != self.assembly.n:
            return False
        return assembly.has_same_elements(self.assembly)

    def with_assembly(self, assembly: AnyAssembly) -> CompiledStage:
        """Return the stages of an assembly that `fits`."""
        assert isinstance(assembly, Assembly)
        changed = copy(self)
        changed.assembly, changed._parameters = assembly, None
        return changed

    def pack_parameters(self, t: float) -> Float:
        """Return the parameters of all terms at time t [s], flat."""
        packed = [term.parameters(t) for term in self.assembly.terms]
        if self._parameters is None or any(
            a is not b for a, b in zip(self._parameters[0], packed, strict=True)
        ):
            flat = np.concatenate([*(p.reshape(-1) for p in packed), [0.0]])
            self._parameters = (packed, flat)
        return self._parameters[1]

    def solve(
        self, start: Prediction, frozen: Float, old: Float, tolerance: Tolerance
    ) -> StageSolution | None:
        """Minimise a stage; None if the general method has to.

        frozen : the positions that damping acts from [m]; old : y of the old ones [m]; both (n, 3)
        """
        inertia, numbers = self.find_numbers(start.h, tolerance)
        y, gradient, found = np.empty_like(old), np.empty_like(old), np.empty(RESULTS)
        outcome = self._solve(
            *(self.tables, self.plan, numbers, inertia, self.pack_parameters(start.t)),
            *(start.q.reshape(-1), frozen.reshape(-1), old.reshape(-1)),
            *(y.reshape(-1), gradient.reshape(-1), found),
        )
        return None if outcome else make_solution(y, gradient, found)

    def solve_copies(
        self, start: Prediction, frozen: Float, old: Float, tolerance: Tolerance, parameters: Float
    ) -> tuple[Float, Float, Float, Mask]:
        """Minimise a stage of many copies, whose particles follow one another in all arrays.

        parameters : of each copy, (copies, width); the others as in `solve`

        Returns y and its gradient, (copies, 3n), what a `StageSolution` has besides, (copies,
        numbers), and which copies the general method has to solve, (copies,).
        """
        count = len(parameters)
        inertia, numbers = self.find_numbers(start.h, tolerance)
        y, gradient = np.empty((count, old.size // count)), np.empty((count, old.size // count))
        found, outcome = np.empty((count, RESULTS)), np.empty(count, dtype=np.int64)
        kernels(KERNELS).solve_stages(
            *(self.tables, self.plan, numbers, inertia, parameters),
            *(array.reshape(count, -1) for array in (start.q, frozen, old)),
            *(y, gradient, found, outcome),
        )
        return y, gradient, found, outcome != 0

    def find_numbers(self, h: float, tolerance: Tolerance) -> tuple[Float, Float]:
        """Return m/γ² [N/m], (n,), and the numbers of a stage of γ = h [s]."""
        if self._key != (h, tolerance):
            self._key = (h, tolerance)
            self._inertia = self._mass / h**2
            self._numbers = np.array(
                [h, h**4, self._free_mass, tolerance.relative, tolerance.force]
            )
        return self._inertia, self._numbers


def make_solution(y: Float, gradient: Float, found: Float) -> StageSolution:
    """Return what the loop has found, with whole numbers where numbers are counts."""
    iterations, evaluations, linear = (int(count) for count in found[:3])
    decrease, acceleration, velocity_error, particle, residual, tolerance = found[3:].tolist()
    return StageSolution(
        *(y, gradient, iterations, evaluations, linear, decrease, acceleration, velocity_error),
        *(int(particle), residual, tolerance),
    )


def make_tables(system: System, assembly: Assembly) -> StageTables:
    """Return the tables of a system and its sums of laws (see `StageTables`)."""
    rows, elements, pairs = [], [], [np.zeros(1)]
    incidences = assembly._incidences
    incidence_at = np.cumsum([0, *(len(each.element) for each in incidences)])
    element_at = parameter_at = energy_at = vector_at = block_at = 0
    pair_at = 1
    for k, term in enumerate(assembly.terms):
        (m, s), compiled = term.elements.shape, term.compiled
        address, sizes = compiled.batches
        relaxed = compiled.relaxation_batches[1:] if term.blocks else (0, 0)
        rows.append(
            [
                *(m, s, term.vectors, term.blocks),
                *(term.form == "increment", term.has_constant_gradient, term.pair is not None),
                *(*address, *sizes, HESSIAN_FLAGS["metric"]),
                *(element_at, parameter_at, energy_at, vector_at, block_at, pair_at),
                *(compiled.width, *relaxed, incidence_at[k]),
            ]
        )
        elements.append(term.elements.reshape(-1))
        if term.pair is not None:
            pairs.append(term.pair)
            pair_at += len(term.pair)
        element_at += m * s
        parameter_at += m * compiled.width
        energy_at += m
        vector_at += m * term.vectors
        block_at += m * term.blocks
    pattern, projector = assembly.pattern, system._projector
    c = projector.constrained_particles
    touched = projector.is_constrained[pattern.rows] | projector.is_constrained[pattern.indices]
    affected = np.flatnonzero(touched)
    vectors, (block_row, blocks, slot, mirror) = assembly._vector_lists, assembly._block_lists
    tables = StageTables(
        terms=np.array(rows, dtype=np.int64).reshape(-1),
        elements=np.concatenate(elements),
        pairs=np.concatenate(pairs),
        mass=system.mass,
        inverse_mass=1.0 / system.mass,
        free=np.einsum("nii->ni", projector.free_directions).reshape(-1),
        constrained=c,
        **dict(zip(("vector_start", "vector_source", "vector_code"), vectors[:3], strict=True)),
        vector_table=vectors[3],
        block_row=block_row,
        **dict(zip(("block_start", "block_source", "block_code"), blocks[:3], strict=True)),
        block_table=blocks[3],
        slot=slot,
        mirror=mirror,
        indptr=pattern.indptr,
        indices=pattern.indices,
        diagonal=pattern.diagonal,
        affected=affected,
        affected_rows=pattern.rows[affected],
        incidence_start=np.concatenate([each.start for each in incidences]),
        incidence_element=np.concatenate([each.element for each in incidences]),
        incidence_place=np.concatenate([each.place for each in incidences]),
    )
    return StageTables(*(_to_loop(array, name) for name, array in tables._asdict().items()))


def _to_loop(array: Any, name: str) -> Any:
    """Return a copy of an array with the type that the loop expects, and writable."""
    return np.array(array, dtype=ARRAY_TYPES[name])
