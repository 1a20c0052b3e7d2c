"""Sums of element results at particles and blocks, in an order independent of the thread count.

Each sum belongs to one thread, which adds its terms in the order of a list made once; so one thread
and two give the same bits. An entry of a list says which vector or block is added and which of a
few coefficients it is multiplied by. Vectors and blocks are added four numbers at a time, by vector
instructions that round as single ones do.
"""

from math import isfinite

from llvmlite import ir
from numba import int64, njit, prange, types
from numba.core import cgutils
from numba.extending import intrinsic

from taut.linalg.simd import (
    DOUBLE,
    I32,
    I64,
    accumulate,
    accumulators,
    address_of,
    broadcast,
    first_three,
    for_range,
    load4,
    store4,
    vector_type,
)
from taut.system.negative_parts import add_negative_parts

CHUNK = 256  # rows a thread takes at a time
FOUR = vector_type()


def _entry(builder, source, code, table, e):
    """The index and the coefficient of entry e."""
    s = builder.sext(builder.load(builder.gep(source, [e])), I64)
    c = builder.zext(builder.load(builder.gep(code, [e])), I64)
    return s, builder.load(builder.gep(table, [c]))


@intrinsic
def _vector_sum(typing, source, code, table, vectors, first, last, gross):
    """Σ c·v over entries, and Σ |c·v| if `gross` (else zero): three numbers each.

    The number after a vector is read, and not used.
    """
    signature = types.UniTuple(types.float64, 6)(source, code, table, vectors, first, last, gross)

    def emit(context, builder, signature, arguments):
        kinds = signature.args
        source, code, table, vectors = (
            address_of(context, builder, k, a)
            for k, a in zip(kinds[:4], arguments[:4], strict=True)
        )
        first, last, gross = arguments[4:]
        total, magnitude = accumulators(builder, 2, FOUR)
        absolute = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(FOUR, [FOUR]), "llvm.fabs.v4f64"
        )

        def term(e):
            s, c = _entry(builder, source, code, table, e)
            value = builder.fmul(
                broadcast(builder, c), load4(builder, vectors, builder.mul(s, I64(3)))
            )
            accumulate(builder, total, value)
            return value

        with builder.if_else(gross) as (wanted, unwanted):
            with wanted, for_range(builder, first, last) as (e, _):
                accumulate(builder, magnitude, builder.call(absolute, [term(e)]))
            with unwanted, for_range(builder, first, last) as (e, _):
                term(e)
        found = [
            *first_three(builder, builder.load(total)),
            *first_three(builder, builder.load(magnitude)),
        ]
        return context.make_tuple(builder, signature.return_type, found)

    return signature, emit


def _block(builder, data, index):
    """A 3×3 block as four numbers, four, and one."""
    at = builder.mul(index, I64(9))
    last = builder.load(builder.gep(data, [builder.add(at, I64(8))]))
    return load4(builder, data, at), load4(builder, data, builder.add(at, I64(4))), last


def _put_block(builder, data, index, block):
    at = builder.mul(index, I64(9))
    for k in range(2):
        store4(builder, data, builder.add(at, I64(4 * k)), block[k])
    builder.store(block[2], builder.gep(data, [builder.add(at, I64(8))]))


def _transposed(builder, block):
    """From the rows 00 01 02 10 | 11 12 20 21 | 22 to 00 10 20 01 | 11 21 02 12 | 22."""
    orders = [ir.Constant(ir.VectorType(I32, 4), order) for order in ([0, 3, 6, 1], [4, 7, 2, 5])]
    return *(builder.shuffle_vector(block[0], block[1], order) for order in orders), block[2]


def _block_places(builder):
    return *accumulators(builder, 2, FOUR), *accumulators(builder, 1, DOUBLE)


@intrinsic
def _block_sum(typing, source, code, table, blocks, first, last, shift, data, slot, mirror):
    """data[slot] = Σ c·B + shift·I over entries (Bᵀ where the source is negative).

    data[mirror] = its transpose if mirror ≥ 0.
    """
    signature = types.void(source, code, table, blocks, first, last, shift, data, slot, mirror)

    def emit(context, builder, signature, arguments):
        kinds = signature.args
        source, code, table, blocks, data = (
            address_of(context, builder, kinds[k], arguments[k]) for k in (0, 1, 2, 3, 7)
        )
        first, last, shift, slot, mirror = (arguments[k] for k in (4, 5, 6, 8, 9))
        straight, turned = _block_places(builder), _block_places(builder)

        def put(sums, index, c):
            b, same = _block(builder, blocks, index), broadcast(builder, c)
            for place, value, factor in zip(sums, b, (same, same, c), strict=True):
                accumulate(builder, place, builder.fmul(factor, value))

        with for_range(builder, first, last) as (e, _):
            s, c = _entry(builder, source, code, table, e)
            with builder.if_else(builder.icmp_signed(">=", s, I64(0))) as (plain, negative):
                with plain:
                    put(straight, s, c)
                with negative:
                    put(turned, builder.sub(I64(-1), s), c)
        other = _transposed(builder, [builder.load(place) for place in turned])
        diagonal = builder.insert_element(ir.Constant(FOUR, [0.0] * 4), shift, I32(0))
        total = [
            builder.fadd(builder.fadd(builder.load(place), more), extra)
            for place, more, extra in zip(straight, other, (diagonal, diagonal, shift), strict=True)
        ]
        _put_block(builder, data, slot, total)
        with builder.if_then(builder.icmp_signed(">=", mirror, I64(0))):
            _put_block(builder, data, mirror, _transposed(builder, total))
        return context.get_dummy_value()

    return signature, emit


@njit(
    "i8(i4[::1], i4[::1], u2[::1], f8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], b1)",
    parallel=True,
    cache=True,
    error_model="numpy",
    nogil=True,
)
def gather_vectors(start, source, code, table, vectors, scale, out, gross, wanted):
    """out[i] = scale[i] Σ c·v over the entries of particle i; if wanted, gross[i] = Σ |c·v|.

    The memory of `vectors` holds one more number than they have. Returns how many particles have
    sums that are not finite, or nearly so.
    """
    n = out.shape[0]
    wrong = 0
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for i in range(CHUNK * chunk, min(n, CHUNK * chunk + CHUNK)):
            a, b, c, p, q, r = _vector_sum(
                source, code, table, vectors, int64(start[i]), int64(start[i + 1]), wanted
            )
            f = scale[i]
            out[i, 0], out[i, 1], out[i, 2] = f * a, f * b, f * c
            if wanted:
                gross[i, 0], gross[i, 1], gross[i, 2] = p, q, r
            wrong += not isfinite(a + b + c + p + q + r)
    return wrong


@njit(
    "void(i4[::1], i4[::1], i4[::1], u2[::1], f8[::1], f8[:, :, ::1], f8[::1], i4[::1], i4[::1], "
    "f8[:, :, ::1])",
    parallel=True,
    cache=True,
    error_model="numpy",
    nogil=True,
)
def gather_blocks(row, start, source, code, table, blocks, shift, slot, mirror, data):
    """data[slot] = Σ c·B (Bᵀ where source is negative, counted from -1), and their mirror.

    `row[i]` is where particle i's blocks begin in `slot`; the first of them is its diagonal block,
    to which shift[i]·I is added, and whose mirror is -1.
    """
    n = row.shape[0] - 1
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for i in range(CHUNK * chunk, min(n, CHUNK * chunk + CHUNK)):
            extra = shift[i]
            for u in range(row[i], row[i + 1]):
                begin, end, d, m = (
                    int64(start[u]),
                    int64(start[u + 1]),
                    int64(slot[u]),
                    int64(mirror[u]),
                )
                _block_sum(source, code, table, blocks, begin, end, extra, data, d, m)
                extra = 0.0


BLOCKS = types.Array(types.f8, 4, "C")


@njit(
    types.void(
        BLOCKS,
        BLOCKS,
        types.i8,
        types.f8,
        types.Array(types.i8, 2, "C", readonly=True),
        types.Array(types.f8, 1, "C"),
    ),
    cache=True,
    error_model="numpy",
    nogil=True,
)
def gather_negative_parts(metric, true, vectors, weight, elements, sums):
    """Add weight |metric - true| of each element to the sums at its particles."""
    count, particles = elements.shape
    add_negative_parts(
        *(metric.reshape(-1), true.reshape(-1), count, vectors, weight),
        *(elements.reshape(-1), particles, sums),
    )
