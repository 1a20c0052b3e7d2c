"""The memory traffic of a converged step, in passes over the matrix.

A pass moves the symmetric half of the Hessian in double precision once: 76 bytes for each 3×3 block
on or right of the diagonal, with its column. A step is counted from its report,

    linear iterations × (product in double + W-cycle in single precision + vectors)
    + solves × (what a solve adds at its beginning and end)
    + factorings × (coarse matrices of all levels) + steps × (relaxation factors)
    + assemblies × (element blocks, lists, matrix)
    + evaluations × (element vectors, lists, particles)
    + evaluations/2 × (visits of a relaxation)
    + steps × (element blocks of metric and Hessian, for the bound of the velocity error)

and the bytes of each term from the arrays that the solver and the assembly have stored for the
cloth, as their kernels read and write them:

- A loop reads or writes each of its arrays once. What it reads again within a loop, such as x of
  neighbouring rows, is taken to be in a cache; between two loops nothing is. A line that is read
  because part of it is written does not count.
- The solver stores all blocks of A, not half of them, in double for the product (76 bytes each) and
  in single precision for the cycle (40 bytes).
- In the W-cycle level l > 0 is visited 2ˡ times. Each visit smooths twice before the coarse
  correction, in every second visit from zero, which does not read A, then takes the residual, and
  smooths twice after it: 4½ times A on average. The finest level is smoothed from zero, and once
  after the correction: 2 times A. The coarsest is solved by a dense factor.
- Every second evaluation is of a point that was relaxed, with two visits to each particle, the most
  that it may have. A visit reads the elements of the particle and both of their ends.
- The relaxation factors are estimated once in a step, by Lanczos' method on each level.

Time that is not memory traffic, such as that of levels small enough for a cache, is not counted;
nor are the few vectors that Newton's method itself adds. Solves that went from conjugate gradients
to a factorisation move bytes that are not known here: the row then does not count as accurate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.bench.net import cloth
from taut.bench.row import SOFT, STEP_TOLERANCE, Bench, Row, count_missed, is_converged
from taut.bench.trajectory import TautStepper, Trajectory, run_steps
from taut.linalg.multigrid import Multigrid
from taut.step.implicit_euler import ImplicitEuler
from taut.step.report import Report
from taut.system.assembly import Assembly
from taut.system.system import System
from taut.system.workspace import workspace_for

TARGET = 400
HALF_BLOCK = 76  # bytes of a block in double precision, with its column
VECTOR, VECTOR_SINGLE = 24, 12  # bytes of a row of a vector in double and in single precision
BLOCK_SINGLE, INDEX = 36, 4


@dataclass(frozen=True)
class Traffic:
    """Bytes that the parts of a step move, on one system.

    matrix : one pass, the unit; the others are the terms in the docstring of this file
    """

    matrix: int
    iteration: int
    solve: int
    factoring: int
    relaxation: int
    assembly: int
    evaluation: int
    visits: int
    certificate: int

    @staticmethod
    def of(system: System) -> Traffic:
        """Count the bytes on the arrays of a system that multigrid solves."""
        assembly = workspace_for(system).assembly("potential", system.initial_state())
        assert isinstance(assembly, Assembly), "no system of the bench has contact"
        solver = Multigrid()
        solver.analyse(assembly.pattern)
        # The arrays are private to the solver; these lines are the only ones that know them.
        levels, coarsening = solver._levels, solver._coarsening
        return Traffic(
            matrix=HALF_BLOCK * len(assembly.pattern.upper),
            iteration=count_iteration(levels),
            solve=2 * _count_advance(levels) + _count_product(levels),
            factoring=count_factoring(levels, coarsening),
            relaxation=_count_relaxation(levels),
            assembly=_count_assembly(assembly),
            evaluation=_count_evaluation(assembly),
            visits=_count_visits(assembly),
            certificate=_count_certificate(assembly),
        )

    def count_step(self, report: Report) -> float:
        """Return the passes of a step."""
        factorings = count_factorings(report)
        moved = (
            report.linear_iterations * self.iteration
            + factorings * (self.solve + self.factoring + 2 * self.assembly)
            + (factorings > 0) * self.relaxation
            + report.evaluations * (self.evaluation + 0.5 * self.visits)
            + self.certificate
        )
        return moved / self.matrix

    def describe(self) -> dict[str, float]:
        """Return the passes of each part."""
        names = (
            *("iteration", "solve", "factoring", "relaxation"),
            *("assembly", "evaluation", "visits", "certificate"),
        )
        return {name: getattr(self, name) / self.matrix for name in names}


def count_factorings(report: Report) -> int:
    """Return how often a step computed a metric, its hierarchy, and a Hessian: each iteration."""
    return report.iterations


def measure_passes(bench: Bench) -> list[Row]:
    """Count the passes of converged steps of the soft cloth."""
    show_step = bench.start_task(f"passes, n = {bench.n}", bench.steps)
    return [PassCounter(bench.n).run(bench.steps, show_step).row("passes")]


class PassCounter:
    """Counts the passes of each step of a trajectory of the soft cloth of n×n particles."""

    def __init__(self, n: int) -> None:
        self.n, self.net = n, cloth(n)
        system = self.net.system()
        self.traffic = Traffic.of(system)
        self.stepper = TautStepper(system, ImplicitEuler(tolerance=STEP_TOLERANCE[SOFT]))
        self.made = Trajectory()
        self.passes: list[float] = []
        self.reports: list[Report] = []

    def run(self, steps: int, show_step: Any) -> PassCounter:
        """Take the steps; their times are in `made`."""

        def after_step() -> None:
            assert self.stepper.report is not None
            self.reports.append(self.stepper.report)
            self.passes.append(self.traffic.count_step(self.stepper.report))

        self.made = run_steps(self.net, self.stepper, steps, show_step, after_step)
        return self

    def row(self, name: str) -> Row:
        """Return the row of the median step."""
        made, window = self.made, self.made.window
        factored = sum("factorisation" in report.why for report in self.reports)
        work = [
            (count_factorings(r), r.linear_iterations, r.evaluations) for r in self.reports[window]
        ]
        factorings, inner, evaluations = (float(x) for x in np.median(work, axis=0))
        parts = self.traffic.describe()
        each = ", ".join(f"{part} {passes:.3g}" for part, passes in parts.items())
        return Row(
            name,
            f"memory traffic of a converged step, soft, n = {self.n}",
            float(np.median(self.passes[window])),
            "passes",
            TARGET,
            accurate=is_converged(made.ratios) and made.sane and factored == 0,
            note=f"worst {max(self.passes):.0f}; {inner:.0f} linear iterations, {factorings:.0f} "
            f"factorings, {evaluations:.0f} evaluations; passes of each: {each}; "
            + (f"{factored} steps used a factorisation; " if factored else "")
            + f"{made}; {count_missed(made.ratios)} steps above",
            details={
                **made.details(),
                "n": self.n,
                "passes": self.passes,
                "passes_of": parts,
                "pass_bytes": self.traffic.matrix,
                "factorings": factorings,
                "iterations": inner,
                "evaluations": evaluations,
                "factored_steps": factored,
            },
        )


# The multigrid. `levels` and `coarsening` are the arrays of `taut.linalg._multigrid_arrays`.


def count_iteration(levels: Any) -> int:
    """Return the bytes of one iteration of conjugate gradients with its W-cycle."""
    n = int(levels.rows[1])
    direction = n * (VECTOR_SINGLE + 2 * VECTOR)
    return count_cycle(levels) + direction + _count_product(levels) + _count_advance(levels)


def count_cycle(levels: Any) -> int:
    """Return the bytes of one W-cycle, without the first smoothing, which `advance` does."""
    coarsest = levels.depth - 1
    size = 3 * int(levels.rows[coarsest + 1] - levels.rows[coarsest])
    exact = 8 * size**2 + 2 * 4 * size  # both triangles of the factor, b and the solution
    if coarsest == 0:
        return exact
    total = 2 ** (coarsest - 1) * exact
    for level in range(coarsest):
        n, matrix = _count_rows(levels, level), _count_matrix(levels, level)
        residual = matrix + 3 * VECTOR_SINGLE * n
        from_zero = (BLOCK_SINGLE + 2 * VECTOR_SINGLE) * n
        smooth = matrix + (BLOCK_SINGLE + 3 * VECTOR_SINGLE) * n
        transfers = _count_transfers(levels, level)
        if level == 0:
            total += residual + transfers + smooth + VECTOR * n  # and the product with q
        else:
            visits = 2**level
            total += visits * (residual + transfers + 3 * smooth)
            total += visits // 2 * (smooth + from_zero)
    return total


def count_factoring(levels: Any, coarsening: Any) -> int:
    """Return the bytes by which new values of A become the matrices of all levels."""
    total = (72 + 8) * int(levels.rows[1])  # the largest number on the diagonal
    for level in range(levels.depth):
        n, blocks = _count_rows(levels, level), _count_blocks(levels, level)
        total += (72 + BLOCK_SINGLE) * blocks + (BLOCK_SINGLE + 8) * n  # copy and invert
        if level < levels.depth - 1:
            first, last = (int(k) for k in coarsening.ap_first[level : level + 2])
            total += 72 * blocks + _count_sums(coarsening.ap_start, first, last)
            total += 72 * (last - first)  # AP is read again for PᵀAP
            begin = int(levels.blocks[level + 1] - levels.blocks[1])
            end = int(levels.blocks[level + 2] - levels.blocks[1])
            total += _count_sums(coarsening.pap_start, begin, end)
    size = 3 * _count_rows(levels, levels.depth - 1)
    return total + 8 * size**2


def _count_sums(start: Any, first: int, last: int) -> int:
    """Return the bytes of lists (source, entry and start) and of the blocks that are written.

    The weights that the entries point to are few, and taken to be in a cache.
    """
    entries = int(start[last]) - int(start[first])
    return 2 * INDEX * entries + (INDEX + 72) * (last - first)


def _count_relaxation(levels: Any) -> int:
    """Return the bytes of Lanczos' method on all levels but the coarsest."""
    total, steps = 0, len(levels.lanczos) // 2
    for level in range(levels.depth - 1):
        n, matrix = _count_rows(levels, level), _count_matrix(levels, level)
        multiply = matrix + 3 * VECTOR_SINGLE * n
        orthogonalise = (BLOCK_SINGLE + 4 * VECTOR_SINGLE) * n
        normalise = 6 * VECTOR_SINGLE * n
        total += steps * (multiply + orthogonalise + normalise)
    return total


def _count_product(levels: Any) -> int:
    """Return the bytes of A p in double precision, and of the products with p and the residual."""
    n = int(levels.rows[1])
    return HALF_BLOCK * _count_blocks(levels, 0) + INDEX * n + 3 * VECTOR * n


def _count_advance(levels: Any) -> int:
    """Return the bytes of a step along p: x, residual, b of the cycle, and its first smoothing."""
    n = int(levels.rows[1])
    return n * (6 * VECTOR + 8 + BLOCK_SINGLE + 2 * VECTOR_SINGLE)


def _count_transfers(levels: Any, level: int) -> int:
    """Return the bytes of a restriction to the next level and of the interpolation back."""
    n, coarse = _count_rows(levels, level), _count_rows(levels, level + 1)
    down = _count_entries(levels.r_indptr, levels.rows[level + 1], levels.rows[level + 2])
    up = _count_entries(levels.p_indptr, levels.rows[level], levels.rows[level + 1])
    return (
        2 * INDEX * (down + up)
        + INDEX * (n + coarse)
        + VECTOR_SINGLE * (n + coarse)  # restriction reads the residual, and writes b
        + VECTOR_SINGLE * (2 * n + coarse)  # interpolation reads the solution, and adds to x
    )


def _count_rows(levels: Any, level: int) -> int:
    return int(levels.rows[level + 1] - levels.rows[level])


def _count_blocks(levels: Any, level: int) -> int:
    return int(levels.blocks[level + 1] - levels.blocks[level])


def _count_matrix(levels: Any, level: int) -> int:
    """Return the bytes of the matrix of a level in single precision."""
    return (BLOCK_SINGLE + INDEX) * _count_blocks(levels, level) + INDEX * _count_rows(
        levels, level
    )


def _count_entries(indptr: Any, first: int, last: int) -> int:
    return int(indptr[last]) - int(indptr[first])


# The assembly.


def _count_elements(assembly: Assembly) -> int:
    """Return the bytes of particles, parameters and energies of all elements."""
    return sum(
        term.elements.nbytes + term.parameters(0.0).nbytes + term.energy.nbytes
        for term in assembly.terms
    )


def _count_assembly(assembly: Assembly) -> int:
    """Return the bytes of a Hessian: element blocks are written, read again, and summed up."""
    row, lists, slot, mirror = assembly._block_lists
    read = sum(array.nbytes for array in (row, *lists, slot, mirror))
    positions_and_shift = (VECTOR + 8) * assembly.n
    stored = assembly._vectors.nbytes + 2 * assembly._blocks.nbytes
    matrix = 72 * len(assembly.pattern.indices)
    return _count_elements(assembly) + positions_and_shift + stored + read + matrix


def _count_certificate(assembly: Assembly) -> int:
    """Return the bytes of `Assembly.negative_parts`.

    Element vectors and blocks are written twice, the first blocks are copied, and both are read.
    """
    positions_and_sums = (VECTOR + 8) * assembly.n
    stored = 2 * assembly._vectors.nbytes + 6 * assembly._blocks.nbytes
    return 2 * _count_elements(assembly) + stored + positions_and_sums


def _count_visits(assembly: Assembly) -> int:
    """Count two visits to each particle: an element is read with each of its particles."""
    moved = 0
    for term in assembly.terms:
        m, s = term.elements.shape
        if term.blocks:
            width = term.compiled.width
            moved += 2 * s * m * (8 * s + 8 * width + VECTOR * s)
    return moved


def _count_evaluation(assembly: Assembly) -> int:
    """Return the bytes of an objective and its gradient.

    Element vectors are written, read again, and summed up; then the inertia is added.
    """
    lists = sum(array.nbytes for array in assembly._vector_lists)
    positions, sums = VECTOR * assembly.n, (8 + 2 * VECTOR) * assembly.n
    inertia = (4 * VECTOR + 4 * 8) * assembly.n  # forces, y, q, residual; inertia, gross, size
    return (
        _count_elements(assembly)
        + positions
        + 2 * assembly._vectors.nbytes
        + lists
        + sums
        + inertia
    )
