"""Particles of a region moved one after the other: `taut.system.relaxing`, called from Python."""

from numba import njit, types

from taut.system.relaxing import relax_particles


@njit(
    types.i8(
        types.f8[:, ::1],  # q
        types.f8[:, ::1],  # frozen
        types.f8,  # h
        types.i8[::1],  # region
        types.f8[:, ::1],  # gradient
        types.f8[::1],  # weights
        types.i8,  # sweeps
        types.i8[:, ::1],  # terms
        types.i8[:, ::1],  # address
        types.i8[:, ::1],  # start
        types.i8[::1],  # elements
        types.f8[::1],  # parameters
        types.i8[:, ::1],  # slots
        types.f8[::1],  # coefficients
        types.f8[:, ::1],  # energies, vectors, blocks: buffers
        types.f8[:, ::1],
        types.f8[:, ::1],
    ),
    cache=True,
    error_model="numpy",
    nogil=True,
)
def relax(
    q,
    frozen,
    h,
    region,
    gradient,
    weights,
    sweeps,
    terms,
    address,
    start,
    elements,
    parameters,
    slots,
    coefficients,
    energies,
    vectors,
    blocks,
):
    """Sweep over the region, forwards and backwards in turn, and move its particles in q.

    The arrays are those of `taut.system.relaxation`. Returns the number of moves.
    """
    return relax_particles(
        *(q, frozen, h, region, gradient, weights, sweeps, terms, address, start),
        *(elements, parameters, slots, coefficients, energies, vectors, blocks),
    )
