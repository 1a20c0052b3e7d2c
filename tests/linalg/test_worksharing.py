"""Worksharing: every chunk of every loop runs once, loops run in order, and no thread deadlocks."""

import numba
import numpy as np
import pytest
from numba import int64, njit, prange

from taut.bench.timing import threads
from taut.linalg._atomics import bind, pointers
from taut.linalg._worksharing import Pool, parallel_for, parallel_sum, take_part

LOOPS, ROWS, CHUNKS = 3000, 17 * 128 - 5, 17


@njit
def count_rows(first, last, counts, k):
    """Count a chunk of loop k, if all chunks of the loop before have been counted."""
    complete = True
    for other in range(CHUNKS):
        complete = complete and (k == 0 or counts.result[CHUNKS * (k - 1) + other] == 1)
    counts.result[CHUNKS * k + first // 128] += 1 if complete else 100
    return float(last - first), 1.0


@njit
def lead(_first, _last, pool, counts):
    right = 0
    for k in range(LOOPS):
        if k % 10 == 9:  # too short to be shared
            for c in range(CHUNKS):
                end = min(ROWS, 128 * c + 128)
                parallel_for(pool, int64(128 * c), int64(end), bind(count_rows, (counts, k)))
            right += 1
        else:
            rows, chunks = parallel_sum(pool, int64(0), int64(ROWS), bind(count_rows, (counts, k)))
            right += rows == ROWS and chunks == CHUNKS
    return float(right), 1.0


@njit(parallel=True, nogil=True)
def run(parts, pool, counts):
    function, arguments = bind(lead, (pointers(pool), pointers(counts)))
    counters, sums, result = pool.counters, pool.sums, pool.result
    for _ in prange(parts):
        take_part(pointers(Pool(counters, sums, result)), (function, arguments))


@pytest.mark.parametrize("present", [1, 2])
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_every_chunk_runs_once_and_loops_follow_each_other(present, parts):
    """Also with fewer threads than parts, so that a helper may arrive after the last loop."""
    pool, counts = Pool.create(np.zeros(2 * CHUNKS)), Pool.create(np.zeros(0))
    counts = counts._replace(result=np.zeros(LOOPS * CHUNKS))
    with threads(min(present, numba.config.NUMBA_NUM_THREADS)):
        run(parts, pool, counts)
    assert (counts.result == 1).all()
    assert pool.result.tolist() == [LOOPS, 1.0], "sums must be complete"
    assert pool.counters[0] == parts
