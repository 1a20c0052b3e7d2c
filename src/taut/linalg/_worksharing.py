"""Share the chunks of many short loops among threads that stay together for a whole solve.

Numba's `prange` sends its threads away when a loop ends. Conjugate gradients with a W-cycle run
hundreds of loops of a few microseconds each, and calling the threads back takes as long as the
work. So there is one `prange` around the whole solve, whose parts call `take_part`: the first
thread to arrive runs the algorithm as if it were alone, the others wait for loops to help with
(`_help`). For each loop (`parallel_for`) the leading thread announces the number of chunks and
takes them from the front while the helpers take them from the back, until they meet.

- The leading thread waits only for chunks that a helper has taken, never for a helper that has not
  arrived. A barrier of all threads would stop on a machine busier than its cores, and would
  deadlock where the threading layer runs two parts of the `prange` on one thread.
- Results do not depend on which thread runs a chunk: chunks are independent of each other, their
  size is fixed, and their partial sums are added in order by the leading thread.

A loop is an ordinary compiled function `body(first, last, *arguments)` for the items from `first`
to `last`. It returns nothing, or two numbers to be summed or maximised. `bind(body, arguments)`
makes it callable from other threads:

    parallel_for(pool, first, last, bind(smooth_rows, (levels, omega, x, out)))

The instructions that Numba lacks for this are in `_atomics`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit, types

from taut.linalg._atomics import call, exchange, increment, load, pause, store, yield_core

# Constants that are passed to compiled functions are numpy numbers: numba would compile a function
# again for each literal argument.
ROWS_PER_CHUNK = np.int64(128)  # fixes the order of sums: another number gives other bits
# loops up to this length are not shared: telling a helper would take longer
SERIAL_ROWS = np.int64(256)
BLOCKS_PER_CHUNK = np.int64(1024)  # of a sparse product, whose items are single 3×3 blocks
PAUSES_BEFORE_YIELD = 1000  # about ten microseconds; then the waiting thread offers its core

# Places in `Pool.counters`. Those that several threads write are a cache line of 128 bytes apart,
# so that writing one does not invalidate the others.
_LINE = 16
_ARRIVED = 0  # threads that have called `take_part`
_CHUNKS = _LINE  # chunks not taken: the first in the lower 32 bits, the end in the upper 32
_DONE = 2 * _LINE  # chunks that helpers have finished
_CLOSED = 3 * _LINE  # 1 when the leading thread has finished
_BODY = 4 * _LINE  # the loop at hand: two addresses from `bind`, and its range
_ARGUMENTS, _FIRST, _LAST, _SIZE = _BODY + 1, _BODY + 2, _BODY + 3, _BODY + 4
_COUNTERS = _BODY + _LINE
_LOW_BITS = (1 << 32) - 1


# Without wrappers for Python and for C, functions take half the time to compile.
_OPTIONS: Any = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}

compiled = njit(**_OPTIONS | {"no_cpython_wrapper": True})
"""Decorates functions that only compiled functions call."""

compiled_inline = njit(**_OPTIONS | {"no_cpython_wrapper": True, "forceinline": True})
"""The same for what is done in a single row: a call with all pointers takes as long as the work."""


def entry_point(signature: Any, *, parallel: bool = False) -> Any:
    """Decorate a function that Python calls: compiled at once for this signature, and cached."""
    return njit(signature, parallel=parallel, cache=True, **_OPTIONS)


class Pool(NamedTuple):
    """What the threads of one solve share; a new one for each."""

    counters: Any  # int64, (_COUNTERS,)
    sums: Any  # two float64 per chunk of a loop
    result: Any  # the two numbers that the leading function returns

    @staticmethod
    def create(sums: Any) -> Pool:
        """A pool before its first loop, with room for partial sums."""
        return Pool(np.zeros(_COUNTERS, dtype=np.int64), sums, np.zeros(2))


def array_types(kind: Any, **numbers: Any) -> Any:
    """The numba type of a NamedTuple whose fields are arrays of these numbers, or numbers.

    `float32` and other types of numba stand for an array of them in one dimension, `int` for one
    integer.
    """
    fields = [types.int64 if n is int else types.Array(n, 1, "C") for n in numbers.values()]
    assert tuple(numbers) == kind._fields
    return types.BaseTuple.from_types(fields, kind)


POOL = array_types(Pool, counters=types.int64, sums=types.float64, result=types.float64)


@compiled
def _wait(pauses):
    """Wait a little; returns pauses + 1.

    After many pauses the thread also yields: the one it waits for may need this very core.
    """
    pause()
    if pauses >= PAUSES_BEFORE_YIELD:
        yield_core()
    return pauses + 1


@compiled
def _take_first_chunk(counters):
    """Take the first chunk that is left of the loop at hand; -1 if there is none.

    Until the chunk is done, the description of the loop does not change.
    """
    while True:
        chunks = load(counters, _CHUNKS)
        first, end = chunks & _LOW_BITS, chunks >> 32
        if first >= end:
            return -1
        if exchange(counters, _CHUNKS, chunks, chunks + 1):
            return first


@compiled
def _take_last_chunk(counters):
    """Take the last chunk that is left; -1 if there is none."""
    while True:
        chunks = load(counters, _CHUNKS)
        first, end = chunks & _LOW_BITS, chunks >> 32
        if first >= end:
            return -1
        if exchange(counters, _CHUNKS, chunks, chunks - (1 << 32)):
            return end - 1


@compiled
def _do_chunk(pool, c):
    counters = pool.counters
    first = counters[_FIRST] + counters[_SIZE] * c
    last = min(counters[_LAST], first + counters[_SIZE])
    call(counters[_BODY], counters[_ARGUMENTS], first, last, pool.sums, 2 * c)


@compiled
def _share(pool, first, last, size, serial, loop):
    """Run a loop from `first` to `last` in chunks of `size`; returns the number of chunks.

    serial : loops up to this length are run by the leading thread alone
    """
    counters = pool.counters
    chunks = (last - first + size - 1) // size
    counters[_BODY], counters[_ARGUMENTS] = loop
    counters[_FIRST], counters[_LAST], counters[_SIZE] = first, last, size
    if last - first <= serial:
        for c in range(chunks):
            _do_chunk(pool, c)
        return chunks
    store(counters, _DONE, 0)
    store(counters, _CHUNKS, chunks << 32)
    c = _take_first_chunk(counters)
    while c >= 0:
        _do_chunk(pool, c)
        c = _take_first_chunk(counters)
    taken_by_helpers = chunks - (load(counters, _CHUNKS) & _LOW_BITS)
    pauses = int64(0)
    while load(counters, _DONE) < taken_by_helpers:
        pauses = _wait(pauses)
    return chunks


@compiled
def parallel_for(pool, first, last, loop):
    """Run a loop over rows."""
    _share(pool, first, last, ROWS_PER_CHUNK, SERIAL_ROWS, loop)


@compiled
def parallel_for_blocks(pool, count, loop):
    """Run a loop over the blocks 0 to `count` of a sparse product."""
    _share(pool, int64(0), count, BLOCKS_PER_CHUNK, BLOCKS_PER_CHUNK, loop)


@compiled
def parallel_sum(pool, first, last, loop):
    """Run a loop over rows; returns the sums of the two numbers it returns, added in order."""
    chunks = _share(pool, first, last, ROWS_PER_CHUNK, SERIAL_ROWS, loop)
    s = t = 0.0
    for c in range(chunks):
        s += pool.sums[2 * c]
        t += pool.sums[2 * c + 1]
    return s, t


@compiled
def parallel_max(pool, first, last, loop):
    """Run a loop over rows; returns the largest first number (or 0), and the sum of the second."""
    chunks = _share(pool, first, last, ROWS_PER_CHUNK, SERIAL_ROWS, loop)
    s = t = 0.0
    for c in range(chunks):
        s = max(s, pool.sums[2 * c])
        t += pool.sums[2 * c + 1]
    return s, t


@compiled
def _help(pool):
    """Run chunks of whatever the leading thread shares, until it has finished."""
    pauses = int64(0)
    while True:
        c = _take_last_chunk(pool.counters)
        if c >= 0:
            _do_chunk(pool, c)
            increment(pool.counters, _DONE)
            pauses = int64(0)
        elif load(pool.counters, _CLOSED) != 0:
            return
        else:
            pauses = _wait(pauses)


@compiled
def take_part(pool, algorithm):
    """Run the algorithm, made by `bind`, if this thread is the first; otherwise help.

    algorithm : its body is called with first = last = 0
    """
    if increment(pool.counters, _ARRIVED) == 0:
        call(algorithm[0], algorithm[1], 0, 0, pool.result, 0)
        store(pool.counters, _CLOSED, 1)
    else:
        _help(pool)
