"""The loop over all batches of a law's elements.

One loop serves all laws, which are called by the address of their compiled batch: compiling it for
each law would take as long as compiling the batch itself.
"""

from numba import int64, njit, prange, types

from taut.binding.batch_call import call_batch

CHUNK_SIZE = 256  # elements that a thread takes at a time
# Declared read-only, so that the positions of a State, (n, 3), and the elements of a law, (m, s),
# need no copy: both are read-only arrays.
POSITIONS = types.Array(types.float64, 2, "C", readonly=True)
ELEMENTS = types.Array(types.int64, 2, "C", readonly=True)


@njit(
    types.void(
        types.i8,  # address
        types.i8,  # size
        POSITIONS,  # x
        POSITIONS,  # y
        types.f8,  # h
        ELEMENTS,
        types.f8[:, ::1],  # parameters
        types.i8,  # mode
        types.f8[::1],  # a, b, c: outputs
        types.f8[::1],
        types.f8[::1],
        types.i8[::1],  # not_finite
    ),
    parallel=True,
    cache=True,
    error_model="numpy",
    nogil=True,
)
def evaluate(address, size, x, y, h, elements, parameters, mode, a, b, c, not_finite):
    """Run the batch at an address over all elements, `size` at a time.

    not_finite[chunk] is the first element of a chunk whose results are not finite, or -1.
    """
    m = elements.shape[0]
    for chunk in prange((m + CHUNK_SIZE - 1) // CHUNK_SIZE):
        last = min(m, CHUNK_SIZE * chunk + CHUNK_SIZE)
        not_finite[chunk] = -1
        for i in range(CHUNK_SIZE * chunk, last, size):
            count = int64(min(size, last - i))
            found = call_batch(
                address, int64(i), count, x, y, h, elements, parameters, mode, a, b, c
            )
            if not_finite[chunk] < 0:
                not_finite[chunk] = found
