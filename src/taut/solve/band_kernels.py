"""Numbering particles so that neighbours are few places apart."""

from numba import njit


@njit("i8(i4[::1], i4[::1], i8[::1], i8[::1], i8[::1])", cache=True, error_model="numpy", nogil=True)
def band(indptr, indices, starts, place, order):
    """The most places between neighbours when particles are numbered by the rule of Cuthill and McKee.

    From a particle with the fewest neighbours on, each is followed by those of its neighbours that have no number yet, the ones
    with the fewest neighbours first; and so on for what is not joined to it.

    starts : the particles, those with the fewest neighbours first; place : -1 of each, and order : room for each, both written to
    """
    count = done = widest = 0
    for s in range(starts.shape[0]):
        start = starts[s]
        if place[start] < 0:
            place[start], order[count] = count, start
            count += 1
        while done < count:
            i = order[done]
            done += 1
            begin = count
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if place[j] >= 0:
                    continue
                d, at = indptr[j + 1] - indptr[j], count
                while at > begin and indptr[order[at - 1] + 1] - indptr[order[at - 1]] > d:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = j
                place[j] = count  # for now: that it has one
                count += 1
            for at in range(begin, count):
                place[order[at]] = at
    for i in range(starts.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            widest = max(widest, abs(place[i] - place[indices[k]]))
    return widest
