"""The bytes of a step, on arrays small enough to be counted by hand."""

from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest

from taut.bench import suite
from taut.bench.net import cloth
from taut.bench.passes import (
    Traffic,
    count_cycle,
    count_factoring,
    count_factorings,
    count_iteration,
)
from taut.bench.roofline import count_assembly_bytes
from taut.bench.row import Bench
from taut.linalg.multigrid import Multigrid
from taut.progress import Progress
from taut.step.report import Report
from taut.system.workspace import workspace_for

THREE_LEVELS = SimpleNamespace(
    depth=3,
    rows=np.array([0, 4, 6, 7]),
    blocks=np.array([0, 10, 14, 15]),
    # P has 5 entries on the finest level and 3 on the next; so has its transpose
    p_indptr=np.array([0, 1, 2, 3, 5, 7, 8]),
    r_indptr=np.array([0, 0, 0, 0, 0, 2, 5, 8]),
    lanczos=np.zeros(10),
)
COARSENING = SimpleNamespace(
    ap_first=np.array([0, 6, 8]),
    ap_start=np.array([0, 2, 4, 6, 8, 10, 12, 15, 18]),
    pap_start=np.array([0, 3, 6, 9, 12, 16]),
)


def test_cycle_counted_by_hand():
    """A of 10, 4 and 1 blocks, 4, 2 and 1 rows."""
    a0, a1 = 10 * 40 + 4 * 4, 4 * 40 + 2 * 4
    inverse0, inverse1, vector0, vector1 = 4 * 36, 2 * 36, 4 * 12, 2 * 12
    finest = (
        (a0 + 3 * vector0)  # residual
        + (a0 + inverse0 + 3 * vector0)  # the last smoothing
        + 2 * vector0  # q in double
        + (5 * 8 + 2 * 4 + vector0 + vector1)  # restriction
        + (5 * 8 + 4 * 4 + 2 * vector0 + vector1)  # interpolation
    )
    # two visits; one begins from zero
    middle = (
        9 * a1
        + (7 * 3 + 2 * 3 + 2) * vector1  # x, b, out of 7 smoothings and 2 residuals; b, out
        + 8 * inverse1
        + 2 * (3 * 8 + 4 + vector1 + 12)
        + 2 * (3 * 8 + 2 * 4 + 2 * vector1 + 12)
    )
    coarsest = 2 * (8 * 9 + 8 * 3)  # two visits of a dense 3×3 factor
    assert count_cycle(THREE_LEVELS) == finest + middle + coarsest


def test_iteration_adds_the_product_in_double():
    n, blocks = 4, 10
    direction = n * (12 + 24 + 24)
    product = blocks * 76 + n * 4 + n * 3 * 24
    advance = n * (2 * 24 + 24 + 2 * 24 + 24 + 12 + 36 + 12 + 8)
    assert count_iteration(THREE_LEVELS) - count_cycle(THREE_LEVELS) == (
        direction + product + advance
    )


def test_factoring_counted_by_hand():
    diagonal = 4 * (72 + 8)  # blocks on the diagonal with their places
    copies = (10 + 4 + 1) * (72 + 36)
    inverses = (4 + 2 + 1) * (36 + 8)
    ap = (10 + 4) * 72 + (12 + 6) * 8 + (6 + 2) * 76
    pap = (6 + 2) * 72 + (12 + 4) * 8 + (4 + 1) * 76
    dense = 8 * 3**2
    assert count_factoring(THREE_LEVELS, COARSENING) == (
        diagonal + copies + inverses + ap + pap + dense
    )


def test_one_level_is_a_dense_solve():
    one = SimpleNamespace(depth=1, rows=np.array([0, 3]), blocks=np.array([0, 7]))
    assert count_cycle(one) == 8 * 9**2 + 8 * 9


def test_arrays_of_the_solver_have_the_sizes_of_the_model():
    """The model assumes 4 and 8 byte numbers: compare with what is stored."""
    solver = Multigrid()
    system = cloth(12).system()
    pattern = workspace_for(system).stiffness(system.initial_state(), project=False).pattern
    solver.analyse(pattern)
    levels, coarsening = solver._levels, solver._coarsening
    blocks, rows = int(levels.blocks[-1]), int(levels.rows[-1])
    assert levels.depth >= 2
    assert levels.data.nbytes == 36 * (blocks + 1)  # one spare
    assert levels.indices.nbytes == 4 * blocks
    assert levels.inverse.nbytes == 36 * rows
    assert levels.b.nbytes == 12 * (rows + 1)
    assert levels.p_weights.itemsize == levels.p_indices.itemsize == 4
    assert coarsening.ap_entry.itemsize == coarsening.pap_entry.itemsize == 4
    assert coarsening.ap_source.itemsize == coarsening.pap_source.itemsize == 4


def test_assembly_and_evaluation_counted_by_hand():
    """n = 4: 16 particles, 58 springs with one block each, gravity on each particle."""
    system = cloth(4).system()
    traffic = Traffic.of(system)
    upper, entries = 16 + 58, 3 * 58
    assert traffic.matrix == 76 * upper
    elements = 58 * (16 + 16 + 8) + 16 * (8 + 32 + 8)
    block_lists = 4 * 17 + 4 * (upper + 1) + 6 * entries + 8 * 2 + 2 * 4 * upper
    matrix = 72 * (16 + 2 * 58)
    vectors = 24 * (58 + 16)
    assert traffic.assembly == (elements + 16 * 32 + vectors + 2 * 72 * 58 + block_lists + matrix)
    vector_lists = 4 * 17 + 6 * (2 * 58 + 16) + 8 * 2
    assert traffic.evaluation == (
        elements + 16 * 24 + 2 * vectors + vector_lists + 16 * 56 + 16 * 128
    )
    # Metrics and Hessians of the elements, and sums at the particles.
    assert traffic.certificate == 2 * (elements + vectors) + 6 * 72 * 58 + 16 * 32
    least = count_assembly_bytes(
        system, workspace_for(system).stiffness(system.initial_state(), project=False)
    )
    assert traffic.assembly > least


def test_passes_of_a_step():
    traffic = Traffic(
        matrix=10,
        iteration=20,
        solve=5,
        factoring=100,
        relaxation=30,
        assembly=40,
        evaluation=7,
        visits=4,
        certificate=8,
    )
    report = Report(
        "implicit euler",
        0.0,
        0.01,
        "converged",
        iterations=3,
        evaluations=6,
        linear_iterations=50,
    )
    assert count_factorings(report) == 3
    expected = (50 * 20 + 3 * (5 + 100 + 2 * 40) + 30 + 6 * (7 + 2) + 8) / 10
    assert traffic.count_step(report) == expected
    idle = Report("implicit euler", 0.0, 0.01, "converged", evaluations=1)
    assert traffic.count_step(idle) == pytest.approx(1.7)


def test_row_is_the_median_of_the_steps():
    bench = Bench(n=8, steps=10, progress=Progress("taut bench", stream=StringIO()))
    (row,) = suite.run(bench, ["passes"])
    assert len(row.details["passes"]) == 10
    assert row.value == np.median(row.details["passes"][2:])
    assert set(row.details["passes_of"]) == {
        "iteration",
        "solve",
        "factoring",
        "relaxation",
        "assembly",
        "evaluation",
        "visits",
        "certificate",
    }
