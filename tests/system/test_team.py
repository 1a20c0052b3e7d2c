"""Threads that stay together: every chunk of every loop is done, once, and nobody waits for somebody who does not come."""

import numba
import numpy as np
import pytest
from numba import cfunc, int64

from taut.bench.threads import threads
from taut.formula.compile import kernels
from taut.system.block_rows import longs
from taut.system.team import BOARD, LEADER, WORK, share

LOOPS, CHUNKS = 3000, 17


@cfunc(WORK)
def work(c, task, table):
    """Chunk c of loop k: count it, if all of the loop before have been counted."""
    counts, k = longs(table, 0), int64(task[0])
    complete = True
    for other in range(CHUNKS):
        complete = complete and (k == 0 or counts[CHUNKS * (k - 1) + other] == 1)
    counts[CHUNKS * k + c] += 1 if complete else 100


@cfunc(LEADER)
def leader(work, task, table, board):
    for k in range(LOOPS):
        task[0] = k
        share(work, CHUNKS, k % 10 == 9, task, table, board)
    task[1] += 1


@pytest.mark.parametrize("present", [1, 2])
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_every_chunk_is_done_once_and_loops_follow_each_other(present, parts):
    """Also where there are fewer threads than parts to play, so that a helper may come when all is over."""
    counts, task, board = np.zeros((LOOPS, CHUNKS), dtype=np.int64), np.zeros(2), np.zeros(BOARD, dtype=np.int64)
    table = np.array([counts.ctypes.data])
    with threads(min(present, numba.config.NUMBA_NUM_THREADS)):
        kernels("taut.system.team_kernels").run(leader.address, work.address, task, table, board, parts)
    assert (counts == 1).all()
    assert task[1] == 1, "one leads"
