"""Words for numba intrinsics that work on four numbers at a time: what they load, repeat, add and take apart is LLVM's vectors.

Numba leaves three neighbouring numbers to be added one by one. Four are loaded at once instead, of which the fourth may belong to
whatever comes next, and is then not used. Products are added without fusing: every machine gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

DOUBLE, SINGLE = ir.DoubleType(), ir.FloatType()
I32, I64 = ir.IntType(32), ir.IntType(64)


def vector(number: Any = DOUBLE) -> Any:
    """The type of four numbers."""
    return ir.VectorType(number, 4)


def numbers_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The address of an array's first number, or an address as it is."""
    return array if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, array).data


def four(builder: Any, numbers: Any, at: Any, number: Any = DOUBLE) -> Any:
    """Four numbers from a position on, wherever they lie."""
    where = builder.bitcast(builder.gep(numbers, [at]), vector(number).as_pointer())
    return builder.load(where, align=8 if number == DOUBLE else 4)


def put_four(builder: Any, numbers: Any, at: Any, values: Any) -> None:
    """Store four numbers of double precision from a position on."""
    builder.store(values, builder.bitcast(builder.gep(numbers, [at]), vector().as_pointer()), align=8)


def everywhere(builder: Any, value: Any, number: Any = DOUBLE) -> Any:
    """One number four times."""
    nothing = ir.Constant(vector(number), ir.Undefined)
    one = builder.insert_element(nothing, value, I32(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(I32, 4), [0] * 4))


def places(builder: Any, count: int, kind: Any) -> list[Any]:
    """Places on the stack for sums, set to zero."""
    zero = ir.Constant(kind, [0.0] * 4 if isinstance(kind, ir.VectorType) else 0.0)
    return [cgutils.alloca_once_value(builder, zero) for _ in range(count)]


def add(builder: Any, place: Any, value: Any) -> None:
    """Add to the sum at a place."""
    builder.store(builder.fadd(builder.load(place), value), place)


def loop(builder: Any, first: Any, last: Any) -> AbstractContextManager[Any]:
    """for e in range(first, last)"""
    return cgutils.for_range_slice(builder, first, last, I64(1), I64, inc=True)


def by_twos(builder: Any, first: Any, last: Any, body: Callable[[Any, int], None]) -> None:
    """body(e, which) for first ≤ e < last, two at a time: which is 0 for the first of each two, and 1 for the second.

    Sums kept apart by `which` do not wait for each other, which is what a single sum spends most of its time on.
    """
    pairs = builder.ashr(builder.sub(last, first), I64(1))
    with loop(builder, I64(0), pairs) as (pair, _):
        e = builder.add(first, builder.shl(pair, I64(1)))
        body(e, 0)
        body(builder.add(e, I64(1)), 1)
    end = builder.add(first, builder.shl(pairs, I64(1)))
    with builder.if_then(builder.icmp_signed("<", end, last)):
        body(end, 0)


def three(builder: Any, values: Any) -> list[Any]:
    """The first three of four numbers."""
    return [builder.extract_element(values, I32(lane)) for lane in range(3)]
