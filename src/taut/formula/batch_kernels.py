"""The loop over all batches of a law's elements: one for all laws, which are called by the address of their compiled batch."""

from llvmlite import ir
from numba import int64, njit, prange, types
from numba.extending import intrinsic

CHUNK = 256  # elements a thread takes at a time
POSITIONS = types.Array(types.float64, 2, "C", readonly=True)  # (n, 3); those of a State, which are read-only, need no copy


@intrinsic
def _called(typing, address, first, count, x, y, h, elements, parameters, project, a, b, c):
    """What the batch at an address returns for the elements from `first` on, `count` of them."""
    signature = types.int64(address, first, count, x, y, h, elements, parameters, project, a, b, c)

    def emit(context, builder, signature, arguments):
        given = []
        for kind, value in zip(signature.args[1:], arguments[1:], strict=True):
            given.append(context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value)
        shape = ir.FunctionType(ir.IntType(64), [value.type for value in given])
        return builder.call(builder.inttoptr(arguments[0], shape.as_pointer()), given)

    return signature, emit


@njit(
    types.void(
        types.i8, types.i8, POSITIONS, POSITIONS, types.f8, types.i8[:, ::1], types.f8[:, ::1], types.i8, types.f8[::1],
        types.f8[::1], types.f8[::1], types.i8[::1],
    ),
    parallel=True, cache=True, error_model="numpy", nogil=True,
)  # fmt: skip
def evaluate(address, size, x, y, h, elements, parameters, project, a, b, c, bad):
    """Run the batch at an address over all elements, `size` at a time; bad[chunk] is the first that is not finite, or -1."""
    m = elements.shape[0]
    for chunk in prange((m + CHUNK - 1) // CHUNK):
        last = min(m, CHUNK * chunk + CHUNK)
        bad[chunk] = -1
        for i in range(CHUNK * chunk, last, size):
            count = int64(min(size, last - i))
            wrong = _called(address, int64(i), count, x, y, h, elements, parameters, project, a, b, c)
            if bad[chunk] < 0:
                bad[chunk] = wrong
