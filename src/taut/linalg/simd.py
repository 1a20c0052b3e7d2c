"""Sums over 3×3 blocks with vector instructions of four numbers.

Numba adds three neighbouring numbers one by one. Here four are loaded at once; the fourth belongs
to the next row and is not used, so arrays need one spare number at their end. Products are added
without fusing (no FMA), so that every machine gives the same bits.

The functions to call are at the end of the file: `multiply_row`, `multiply_last_row`, `sum_rows`
and `sum_blocks`. They define the order of the floating-point sums. Everything before them is the
vocabulary they are written in: what LLVM loads, broadcasts and adds.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import reduce
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

DOUBLE, SINGLE = ir.DoubleType(), ir.FloatType()
I32, I64 = ir.IntType(32), ir.IntType(64)


def vector_type(number: Any = DOUBLE) -> Any:
    """The LLVM type of four numbers."""
    return ir.VectorType(number, 4)


def address_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The address of the first number of an array; a pointer is returned as it is."""
    if isinstance(kind, types.CPointer):
        return array
    return context.make_array(kind)(context, builder, array).data


def load4(builder: Any, numbers: Any, at: Any, number: Any = DOUBLE) -> Any:
    """Load four numbers from a position; they need not be aligned as a vector."""
    where = builder.bitcast(builder.gep(numbers, [at]), vector_type(number).as_pointer())
    return builder.load(where, align=8 if number == DOUBLE else 4)


def store4(builder: Any, numbers: Any, at: Any, values: Any) -> None:
    """Store four numbers of double precision from a position on."""
    where = builder.bitcast(builder.gep(numbers, [at]), vector_type().as_pointer())
    builder.store(values, where, align=8)


def broadcast(builder: Any, value: Any, number: Any = DOUBLE) -> Any:
    """A vector with one number four times."""
    undefined = ir.Constant(vector_type(number), ir.Undefined)
    one = builder.insert_element(undefined, value, I32(0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(I32, 4), [0] * 4))


def accumulators(builder: Any, count: int, kind: Any) -> list[Any]:
    """Stack slots for sums, set to zero; LLVM keeps them in registers."""
    zero = ir.Constant(kind, [0.0] * 4 if isinstance(kind, ir.VectorType) else 0.0)
    return [cgutils.alloca_once_value(builder, zero) for _ in range(count)]


def accumulate(builder: Any, accumulator: Any, value: Any) -> None:
    """Add a value to an accumulator."""
    builder.store(builder.fadd(builder.load(accumulator), value), accumulator)


def for_range(builder: Any, first: Any, last: Any) -> AbstractContextManager[Any]:
    """for e in range(first, last)"""
    return cgutils.for_range_slice(builder, first, last, I64(1), I64, inc=True)


def for_pairs(builder: Any, first: Any, last: Any, body: Callable[[Any, int], None]) -> None:
    """body(e, parity) for first ≤ e < last; parity is 0 for the first of each two, else 1.

    A sum waits for its last addition, several cycles; two sums, one for each parity, do not wait
    for each other.
    """
    pairs = builder.ashr(builder.sub(last, first), I64(1))
    with for_range(builder, I64(0), pairs) as (pair, _):
        e = builder.add(first, builder.shl(pair, I64(1)))
        body(e, 0)
        body(builder.add(e, I64(1)), 1)
    end = builder.add(first, builder.shl(pairs, I64(1)))
    with builder.if_then(builder.icmp_signed("<", end, last)):
        body(end, 0)


def first_three(builder: Any, values: Any) -> list[Any]:
    """The first three numbers of a vector."""
    return [builder.extract_element(values, I32(k)) for k in range(3)]


def _addresses(context: Any, builder: Any, kinds: Any, arrays: Any) -> list[Any]:
    return [address_of(context, builder, k, a) for k, a in zip(kinds, arrays, strict=True)]


def _column(builder: Any, indices: Any, e: Any) -> Any:
    return builder.sext(builder.load(builder.gep(indices, [e])), I64)


@intrinsic
def multiply_row(typing_context, data, indices, x, first, last):
    """One row of a block matrix times x: Σ data[k]·x[indices[k]] for first ≤ k < last.

    data : blocks, 9 numbers each; indices : their columns; x : vectors, 3 numbers each. One number
        after each block and each vector is read. Data and x are both of double or both of single
        precision, and are flat arrays or pointers.
    """
    number = DOUBLE if data.dtype == types.float64 else SINGLE

    def emit(context, builder, signature, args):
        blocks, columns, vectors = _addresses(context, builder, signature.args[:3], args[:3])
        first, last = args[3:]

        def add_block(k, sums):
            at = builder.mul(_column(builder, columns, k), I64(3))
            factor = load4(builder, vectors, at, number)
            start = builder.mul(k, I64(9))
            for row in range(3):
                block_row = load4(builder, blocks, builder.add(start, I64(3 * row)), number)
                accumulate(builder, sums[row], builder.fmul(block_row, factor))

        if number == SINGLE:
            sums = [accumulators(builder, 3, vector_type(number)) for _ in range(2)]
            for_pairs(builder, first, last, lambda k, parity: add_block(k, sums[parity]))
        else:  # loading doubles takes longer than adding them: one sum is as fast as two
            sums = [accumulators(builder, 3, vector_type(number))]
            with for_range(builder, first, last) as (k, _):
                add_block(k, sums[0])
        totals = []
        for parts in zip(*sums, strict=True):
            whole = reduce(builder.fadd, [builder.load(part) for part in parts])
            a, b, c = first_three(builder, whole)
            totals.append(builder.fadd(builder.fadd(a, b), c))
        return context.make_tuple(builder, signature.return_type, totals)

    return types.UniTuple(data.dtype, 3)(data, indices, x, types.int64, types.int64), emit


@intrinsic
def sum_rows(typing_context, weight, indices, x, first, last):
    """Σ weight[e]·x[indices[e]] for first ≤ e < last: three numbers.

    x : vectors, 3 numbers each, of which the number after each is read
    """
    number = DOUBLE if x.dtype == types.float64 else SINGLE

    def emit(context, builder, signature, args):
        weights, columns, vectors = _addresses(context, builder, signature.args[:3], args[:3])
        (total,) = accumulators(builder, 1, vector_type(number))
        with for_range(builder, args[3], args[4]) as (e, _):
            at = builder.mul(_column(builder, columns, e), I64(3))
            part = load4(builder, vectors, at, number)
            factor = broadcast(builder, builder.load(builder.gep(weights, [e])), number)
            accumulate(builder, total, builder.fmul(factor, part))
        numbers = first_three(builder, builder.load(total))
        return context.make_tuple(builder, signature.return_type, numbers)

    return types.UniTuple(x.dtype, 3)(weight, indices, x, types.int64, types.int64), emit


@intrinsic
def sum_blocks(typing_context, blocks, offset, source, entry, weight, first, last, out, at):
    """Write the block Σ weight[entry[e]]·block source[e] for first ≤ e < last to out[at:at + 9].

    blocks : numbers of double precision; block 0 begins at blocks[offset]
    """

    def emit(context, builder, signature, args):
        some = (0, 2, 3, 4, 7)
        kinds, arrays = [signature.args[k] for k in some], [args[k] for k in some]
        values, sources, entries, weights, target = _addresses(context, builder, kinds, arrays)
        offset, first, last, at = (args[k] for k in (1, 5, 6, 8))
        sums = [
            (*accumulators(builder, 2, vector_type()), *accumulators(builder, 1, DOUBLE))
            for _ in range(2)
        ]

        def add_block(e, parity):
            start = builder.add(offset, builder.mul(_column(builder, sources, e), I64(9)))
            factor = builder.load(builder.gep(weights, [_column(builder, entries, e)]))
            factors = broadcast(builder, factor)
            for half in range(2):
                part = load4(builder, values, builder.add(start, I64(4 * half)))
                accumulate(builder, sums[parity][half], builder.fmul(factors, part))
            ninth = builder.load(builder.gep(values, [builder.add(start, I64(8))]))
            accumulate(builder, sums[parity][2], builder.fmul(factor, ninth))

        for_pairs(builder, first, last, add_block)
        totals = [
            builder.fadd(builder.load(even), builder.load(odd))
            for even, odd in zip(*sums, strict=True)
        ]
        for half in range(2):
            store4(builder, target, builder.add(at, I64(4 * half)), totals[half])
        builder.store(totals[2], builder.gep(target, [builder.add(at, I64(8))]))
        return context.get_dummy_value()

    i8 = types.int64
    return types.void(blocks, i8, source, entry, weight, i8, i8, out, i8), emit


@njit(error_model="numpy", nogil=True)
def multiply_last_row(data, indices, x, first, last):
    """The same as `multiply_row` in double precision, reading nothing beyond the last block."""
    a = b = c = 0.0
    for k in range(first, last):
        u, v, w = x[3 * indices[k]], x[3 * indices[k] + 1], x[3 * indices[k] + 2]
        a += data[9 * k] * u + data[9 * k + 1] * v + data[9 * k + 2] * w
        b += data[9 * k + 3] * u + data[9 * k + 4] * v + data[9 * k + 5] * w
        c += data[9 * k + 6] * u + data[9 * k + 7] * v + data[9 * k + 8] * w
    return a, b, c
