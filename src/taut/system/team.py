"""Threads that stay together through many short loops, for compiled functions.

A parallel loop of numba's sends its threads away when it ends. Where hundreds of loops follow each other, each of some
microseconds, calling them back takes as long as the work. So they stay: one leads, and does the work as if it were alone; the
others help. For each loop the leader posts how many chunks there are, and takes them from the first on, the helpers from the last
on, until they meet. The leader never waits for a helper that has not come, only for chunks that one has taken: on a busy machine
the work goes on, and if one thread has to play all the parts, one after the other, it is done by the first of them.

Who does a chunk changes nothing in what it gives: a loop whose chunks do not depend on each other has the same bits always.

What is done is compiled apart, as C functions that are called by their address: a `WORK` does a chunk, and a `LEADER` decides
what comes next. Parallel loops take long to compile: a team needs a single one, that of `team_kernels`.
"""

from __future__ import annotations

import os
import platform

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from taut.system.lanes import I32, I64, numbers_of

NUMBERS, INTEGERS = types.CPointer(types.float64), types.CPointer(types.int64)
WORK = types.void(types.int64, NUMBERS, INTEGERS)
"""Do a chunk: its number, the task (numbers that say what to do), and a table of the addresses of arrays."""
LEADER = types.void(types.int64, NUMBERS, INTEGERS, INTEGERS)
"""Lead: the address of the work, the task, the table, and the board, by which threads talk to each other."""

LINE = 16  # integers from one that some thread writes to the next, so that no two share a line of the cache
BOARD = 4 * LINE  # integers on the board, all zeros at first
_COME, _POSTED, _DONE, _OVER = 0, LINE, 2 * LINE, 3 * LINE  # who has come; chunks posted; chunks helpers did; whether all is over
_HALF = 32  # bits: the lower half of what is posted is the first chunk that is left, the upper half the one after the last
_LOWER = (1 << _HALF) - 1
PATIENCE = 1000  # pauses, some ten microseconds, before a thread that waits lets others run
_PAUSES = {
    "x86_64": ("llvm.x86.sse2.pause", ()), "AMD64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)), "arm64": ("llvm.aarch64.hint", (1,)),
}  # fmt: skip


def _place(context, builder, signature, arguments):
    return builder.gep(numbers_of(context, builder, signature.args[0], arguments[0]), [arguments[1]])


@intrinsic
def _look(typing_context, board, at):
    """The number there now; what was written before it is seen too."""

    def emit(context, builder, signature, arguments):
        return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", 8)

    return types.int64(board, types.int64), emit


@intrinsic
def _put(typing_context, board, at, value):
    """Write a number, after all that was written before."""

    def emit(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _place(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(board, types.int64, types.int64), emit


@intrinsic
def _count(typing_context, board, at):
    """Add 1; returns what was there before."""

    def emit(context, builder, signature, arguments):
        return builder.atomic_rmw("add", _place(context, builder, signature, arguments), I64(1), "acq_rel")

    return types.int64(board, types.int64), emit


@intrinsic
def _swap(typing_context, board, at, old, new):
    """Write `new` where `old` stands; returns whether it stood there."""

    def emit(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        return builder.extract_value(builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire"), 1)

    return types.boolean(board, types.int64, types.int64, types.int64), emit


@intrinsic
def _pause(typing_context):
    """A moment's rest for a thread that waits, where the processor has an instruction for it."""

    def emit(context, builder, signature, arguments):
        if platform.machine() in _PAUSES:
            name, numbers = _PAUSES[platform.machine()]
            kind = ir.FunctionType(ir.VoidType(), [I32] * len(numbers))
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [I32(number) for number in numbers])
        return context.get_dummy_value()

    return types.void(), emit


@intrinsic
def _yield(typing_context):
    """Let others run, where the system has a call for it."""

    def emit(context, builder, signature, arguments):
        if os.name == "posix":
            builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(I32, []), "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), emit


@njit(error_model="numpy", nogil=True)
def _rest(waited):
    """Wait a little, after so many times before: the one waited for may need this very processor. Returns one more."""
    _pause()
    if waited >= PATIENCE:
        _yield()
    return waited + 1


def _call(context, builder, signature, arguments):
    """Call the function at an address, arrays being handed over by their addresses."""
    given = [
        value if isinstance(kind, types.Integer) else numbers_of(context, builder, kind, value)
        for kind, value in zip(signature.args[1:], arguments[1:], strict=True)
    ]
    shape = ir.FunctionType(ir.VoidType(), [value.type for value in given])
    builder.call(builder.inttoptr(arguments[0], shape.as_pointer()), given)
    return context.get_dummy_value()


@intrinsic
def _do(typing_context, work, chunk, task, table):
    """Call a WORK."""
    return types.void(types.int64, types.int64, task, table), _call


@intrinsic
def lead(typing_context, leader, work, task, table, board):
    """Call a LEADER."""
    return types.void(types.int64, types.int64, task, table, board), _call


@njit(error_model="numpy", nogil=True)
def _take(board, first_ones):
    """A chunk that nobody has taken, or -1.

    Whoever has taken one may read the task: it does not change before the chunk is done.
    """
    while True:
        posted = _look(board, _POSTED)
        first, last = posted & _LOWER, posted >> _HALF
        if first >= last:
            return -1
        if first_ones:
            if _swap(board, _POSTED, posted, posted + 1):
                return first
        elif _swap(board, _POSTED, posted, posted - (1 << _HALF)):
            return last - 1


@njit(error_model="numpy", nogil=True)
def share(work, chunks, alone, task, table, board):
    """By the leader: do all chunks of a task, with whoever is there to help, or alone."""
    if alone:
        for c in range(chunks):
            _do(work, c, task, table)
        return
    _put(board, _DONE, 0)
    _put(board, _POSTED, chunks << _HALF)
    c = _take(board, True)
    while c >= 0:
        _do(work, c, task, table)
        c = _take(board, True)
    taken = chunks - (_look(board, _POSTED) & _LOWER)
    waited = 0
    while _look(board, _DONE) < taken:
        waited = _rest(waited)


@njit(error_model="numpy", nogil=True)
def leads(board):
    """Whether the thread that asks leads: the first one does. It ends with `dismiss`."""
    return _count(board, _COME) == 0


@njit(error_model="numpy", nogil=True)
def dismiss(board):
    """By the leader: all is over."""
    _put(board, _OVER, 1)


@njit(error_model="numpy", nogil=True)
def help_out(work, task, table, board):
    """By the others: do chunks of whatever the leader shares, until all is over."""
    waited = 0
    while True:
        c = _take(board, False)
        if c >= 0:
            _do(work, c, task, table)
            _count(board, _DONE)
            waited = 0
        elif _look(board, _OVER) != 0:
            return
        else:
            waited = _rest(waited)
