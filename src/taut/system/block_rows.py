"""Sums over 3×3 blocks in vector instructions, for the compiled loops.

Numba leaves three neighbouring numbers to be added one by one. These functions are written for LLVM itself: they load a row of a
block as four numbers at once, of which the fourth, which belongs to whatever comes next, is never used. Products are added without
fusing, so that every machine gives the same bits.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 4
_INDEX = ir.IntType(64)


def _elements(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The address of an array's first number."""
    return context.make_array(kind)(context, builder, array).data


def _load(builder: Any, numbers: Any, at: Any, kind: Any) -> Any:
    """Four numbers from position `at` on."""
    vector = ir.VectorType(kind, LANES)
    where = builder.bitcast(builder.gep(numbers, [at]), vector.as_pointer())
    return builder.load(where, align=8 if kind == ir.DoubleType() else 4)


def _add(builder: Any, sums: Any, products: Any) -> None:
    builder.store(builder.fadd(builder.load(sums), products), sums)


def _same(builder: Any, value: Any, kind: Any) -> Any:
    """One number four times."""
    vector = ir.Constant(ir.VectorType(kind, LANES), ir.Undefined)
    for lane in range(LANES):
        vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), lane))
    return vector


def _three(builder: Any, vector: Any) -> list[Any]:
    """The first three of four numbers."""
    return [builder.extract_element(vector, ir.Constant(ir.IntType(32), lane)) for lane in range(3)]


@intrinsic
def row_times(typing_context, data, indices, x, first, last):
    """Σ data[k]·x[indices[k]] for first ≤ k < last: three numbers.

    data : (blocks, 3, 3), of which the last is not asked for; indices : (blocks,); x : (rows + 1, 3), the last row spare: one
    number beyond each block and each row is read. Both of double or both of single precision.
    """
    number = ir.DoubleType() if data.dtype == types.float64 else ir.FloatType()

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        blocks, columns, vectors = (_elements(context, builder, t, a) for t, a in zip(signature.args[:3], args[:3], strict=True))
        one, nothing = ir.Constant(_INDEX, 1), ir.Constant(ir.VectorType(number, LANES), [0.0] * LANES)
        sums = [cgutils.alloca_once_value(builder, nothing) for _ in range(3)]
        with cgutils.for_range_slice(builder, args[3], args[4], one, _INDEX, inc=True) as (k, _):
            column = builder.sext(builder.load(builder.gep(columns, [k])), _INDEX)
            factor = _load(builder, vectors, builder.mul(column, ir.Constant(_INDEX, 3)), number)
            start = builder.mul(k, ir.Constant(_INDEX, 9))
            for row in range(3):
                part = _load(builder, blocks, builder.add(start, ir.Constant(_INDEX, 3 * row)), number)
                _add(builder, sums[row], builder.fmul(part, factor))
        totals = []
        for s in sums:
            a, b, c = _three(builder, builder.load(s))
            totals.append(builder.fadd(builder.fadd(a, b), c))
        return context.make_tuple(builder, signature.return_type, totals)

    return types.UniTuple(data.dtype, 3)(data, indices, x, types.int64, types.int64), generate


@intrinsic
def sum_rows(typing_context, weight, indices, x, first, last):
    """Σ weight[e]·x[indices[e]] for first ≤ e < last: three numbers; x : (rows + 1, 3), the last row spare."""
    number = ir.DoubleType() if x.dtype == types.float64 else ir.FloatType()

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        weights, columns, vectors = (_elements(context, builder, t, a) for t, a in zip(signature.args[:3], args[:3], strict=True))
        total = cgutils.alloca_once_value(builder, ir.Constant(ir.VectorType(number, LANES), [0.0] * LANES))
        with cgutils.for_range_slice(builder, args[3], args[4], ir.Constant(_INDEX, 1), _INDEX, inc=True) as (e, _):
            column = builder.sext(builder.load(builder.gep(columns, [e])), _INDEX)
            part = _load(builder, vectors, builder.mul(column, ir.Constant(_INDEX, 3)), number)
            _add(builder, total, builder.fmul(_same(builder, builder.load(builder.gep(weights, [e])), number), part))
        return context.make_tuple(builder, signature.return_type, _three(builder, builder.load(total)))

    return types.UniTuple(x.dtype, 3)(weight, indices, x, types.int64, types.int64), generate


@intrinsic
def sum_blocks(typing_context, blocks, source, weight, first, last, out, slot):
    """out[slot] = Σ weight[e]·blocks[source[e]] for first ≤ e < last; blocks and out (…, 3, 3), source and weight (entries,)."""
    number = ir.DoubleType()

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, sources, weights = (_elements(context, builder, t, a) for t, a in zip(signature.args[:3], args[:3], strict=True))
        target = _elements(context, builder, signature.args[5], args[5])
        vector = ir.VectorType(number, LANES)
        one, nothing = ir.Constant(_INDEX, 1), ir.Constant(vector, [0.0] * LANES)
        sums = [cgutils.alloca_once_value(builder, nothing) for _ in range(2)]
        final = cgutils.alloca_once_value(builder, ir.Constant(number, 0.0))
        with cgutils.for_range_slice(builder, args[3], args[4], one, _INDEX, inc=True) as (e, _):
            start = builder.mul(builder.sext(builder.load(builder.gep(sources, [e])), _INDEX), ir.Constant(_INDEX, 9))
            factor = builder.load(builder.gep(weights, [e]))
            same = _same(builder, factor, number)
            for half in range(2):
                part = _load(builder, values, builder.add(start, ir.Constant(_INDEX, LANES * half)), number)
                _add(builder, sums[half], builder.fmul(same, part))
            rest = builder.load(builder.gep(values, [builder.add(start, ir.Constant(_INDEX, 8))]))
            _add(builder, final, builder.fmul(factor, rest))
        begin = builder.mul(args[6], ir.Constant(_INDEX, 9))
        for half in range(2):
            where = builder.gep(target, [builder.add(begin, ir.Constant(_INDEX, LANES * half))])
            builder.store(builder.load(sums[half]), builder.bitcast(where, vector.as_pointer()), align=8)
        builder.store(builder.load(final), builder.gep(target, [builder.add(begin, ir.Constant(_INDEX, 8))]))
        return context.get_dummy_value()

    return types.void(blocks, source, weight, types.int64, types.int64, out, types.int64), generate


@njit(error_model="numpy", nogil=True)
def last_row_times(data, indices, x, first):
    """Σ data[k]·x[indices[k]] from `first` to the last block, beyond which nothing may be read: three numbers."""
    a = b = c = 0.0
    for k in range(first, data.shape[0]):
        u, v, w = x[indices[k], 0], x[indices[k], 1], x[indices[k], 2]
        a += data[k, 0, 0] * u + data[k, 0, 1] * v + data[k, 0, 2] * w
        b += data[k, 1, 0] * u + data[k, 1, 1] * v + data[k, 1, 2] * w
        c += data[k, 2, 0] * u + data[k, 2, 1] * v + data[k, 2, 2] * w
    return a, b, c
