"""Sums over 3×3 blocks, four numbers at a time, for the compiled loops.

Where arithmetic and not memory sets the pace, what stands at even and at odd places is summed apart, so that no sum waits for the
one before.
"""

from __future__ import annotations

from functools import reduce

from numba import njit, types
from numba.extending import intrinsic

from taut.system.lanes import DOUBLE, I64, SINGLE, add, by_twos, everywhere, four, loop, numbers_of, places, put_four, three, vector


def _address(number):
    """An intrinsic that gives entry k of a table of addresses as that of numbers of a kind."""

    def address(typing_context, table, k):
        def generate(context, builder, signature, args):
            entries = numbers_of(context, builder, signature.args[0], args[0])
            pointer = context.get_value_type(signature.return_type)
            return builder.inttoptr(builder.load(builder.gep(entries, [args[1]])), pointer)

        return types.CPointer(number)(table, types.int64), generate

    return intrinsic(address)


doubles, singles, indices, longs = (_address(t) for t in (types.float64, types.float32, types.int32, types.int64))


@intrinsic
def row_times(typing_context, data, indices, x, first, last):
    """Σ data[k]·x[indices[k]] for first ≤ k < last: three numbers.

    data : (blocks, 3, 3), of which the last is not asked for; indices : (blocks,); x : (rows + 1, 3), the last row spare: one
    number beyond each block and each row is read. Arrays, flat ones or addresses; both of double or both of single precision.
    """
    number = DOUBLE if data.dtype == types.float64 else SINGLE

    def generate(context, builder, signature, args):
        blocks, columns, vectors = (numbers_of(context, builder, t, a) for t, a in zip(signature.args[:3], args[:3], strict=True))
        sums = [places(builder, 3, vector(number)) for _ in range(2 if number == SINGLE else 1)]

        def take(k, into):
            column = builder.sext(builder.load(builder.gep(columns, [k])), I64)
            factor = four(builder, vectors, builder.mul(column, I64(3)), number)
            start = builder.mul(k, I64(9))
            for row in range(3):
                add(builder, into[row], builder.fmul(four(builder, blocks, builder.add(start, I64(3 * row)), number), factor))

        if number == SINGLE:
            by_twos(builder, args[3], args[4], lambda k, which: take(k, sums[which]))
        else:  # doubles wait for memory, not for each other
            with loop(builder, args[3], args[4]) as (k, _):
                take(k, sums[0])
        totals = []
        for parts in zip(*sums, strict=True):
            a, b, c = three(builder, reduce(builder.fadd, [builder.load(part) for part in parts]))
            totals.append(builder.fadd(builder.fadd(a, b), c))
        return context.make_tuple(builder, signature.return_type, totals)

    return types.UniTuple(data.dtype, 3)(data, indices, x, types.int64, types.int64), generate


@intrinsic
def sum_rows(typing_context, weight, indices, x, first, last):
    """Σ weight[e]·x[indices[e]] for first ≤ e < last: three numbers; x : (rows + 1, 3), the last row spare."""
    number = DOUBLE if x.dtype == types.float64 else SINGLE

    def generate(context, builder, signature, args):
        weights, columns, vectors = (numbers_of(context, builder, t, a) for t, a in zip(signature.args[:3], args[:3], strict=True))
        (total,) = places(builder, 1, vector(number))
        with loop(builder, args[3], args[4]) as (e, _):
            column = builder.sext(builder.load(builder.gep(columns, [e])), I64)
            part = four(builder, vectors, builder.mul(column, I64(3)), number)
            add(builder, total, builder.fmul(everywhere(builder, builder.load(builder.gep(weights, [e])), number), part))
        return context.make_tuple(builder, signature.return_type, three(builder, builder.load(total)))

    return types.UniTuple(x.dtype, 3)(weight, indices, x, types.int64, types.int64), generate


@intrinsic
def sum_blocks(typing_context, blocks, before, source, weight, first, last, out, to):
    """The block from out[to] on = Σ weight[e]·(block source[e] of those from blocks[before] on) for first ≤ e < last; all flat."""

    def generate(context, builder, signature, args):
        kinds = signature.args
        values, sources, weights, target = (numbers_of(context, builder, kinds[k], args[k]) for k in (0, 2, 3, 6))
        sums = [(*places(builder, 2, vector()), *places(builder, 1, DOUBLE)) for _ in range(2)]

        def take(e, into):
            start = builder.add(args[1], builder.mul(builder.sext(builder.load(builder.gep(sources, [e])), I64), I64(9)))
            factor = builder.load(builder.gep(weights, [e]))
            same = everywhere(builder, factor)
            for half in range(2):
                add(builder, into[half], builder.fmul(same, four(builder, values, builder.add(start, I64(4 * half)))))
            rest = builder.load(builder.gep(values, [builder.add(start, I64(8))]))
            add(builder, into[2], builder.fmul(factor, rest))

        by_twos(builder, args[4], args[5], lambda e, which: take(e, sums[which]))
        totals = [builder.fadd(builder.load(even), builder.load(odd)) for even, odd in zip(*sums, strict=True)]
        for half in range(2):
            put_four(builder, target, builder.add(args[7], I64(4 * half)), totals[half])
        builder.store(totals[2], builder.gep(target, [builder.add(args[7], I64(8))]))
        return context.get_dummy_value()

    return types.void(blocks, types.int64, source, weight, types.int64, types.int64, out, types.int64), generate


@njit(error_model="numpy", nogil=True)
def last_row_times(data, indices, x, first, last):
    """Σ data[k]·x[indices[k]] for first ≤ k < last, reading nothing beyond: three numbers. All arrays are flat."""
    a = b = c = 0.0
    for k in range(first, last):
        u, v, w = x[3 * indices[k]], x[3 * indices[k] + 1], x[3 * indices[k] + 2]
        a += data[9 * k] * u + data[9 * k + 1] * v + data[9 * k + 2] * w
        b += data[9 * k + 3] * u + data[9 * k + 4] * v + data[9 * k + 5] * w
        c += data[9 * k + 6] * u + data[9 * k + 7] * v + data[9 * k + 8] * w
    return a, b, c
