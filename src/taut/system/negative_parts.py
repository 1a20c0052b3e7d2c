"""The parts that metrics leave out of Hessians, element by element, added up at the particles."""

from math import sqrt

from numba import njit


@njit(error_model="numpy", nogil=True)
def add_negative_parts(metric, true, count, vectors, weight, elements, particles, sums):
    """Add weight |metric - true| (Frobenius) of each element to the sums at its particles.

    metric, true : blocks on and right of the diagonal, as laws write them, flat; vectors : rows of
        blocks of an element; elements, particles : its particles, flat, and their number
    """
    at = 0
    for e in range(count):
        square = 0.0
        for p in range(vectors):
            for q in range(p, vectors):
                part = 0.0
                for k in range(at, at + 9):
                    difference = metric[k] - true[k]
                    part += difference * difference
                square += part if p == q else 2.0 * part
                at += 9
        length = weight * sqrt(square)
        for k in range(particles * e, particles * (e + 1)):
            sums[elements[k]] += length
