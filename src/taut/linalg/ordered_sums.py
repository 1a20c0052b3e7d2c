"""Sums of products in the order in which NumPy adds them, for compiled functions.

A step that is compiled as a whole must give the bits of one whose parts Python calls. So sums here
have the order of `np.sum`, and of `np.einsum` with vector instructions of two numbers, which is how
NumPy is built for x86 processors; `tests/linalg/test_ordered_sums.py` compares them.
"""

from taut.linalg._worksharing import compiled

PAIRWISE_BLOCK = 128  # numbers that NumPy adds in eight interleaved sums


@compiled
def dot_flat(a, b, count):
    """Σ a·b over the first numbers of two flat arrays, as `np.einsum("i,i->", a, b)`."""
    even = odd = 0.0
    i = 0
    while count - i >= 8:
        for k in range(i + 6, i - 1, -2):
            even += a[k] * b[k]
            odd += a[k + 1] * b[k + 1]
        i += 8
    while count - i >= 2:
        even += a[i] * b[i]
        odd += a[i + 1] * b[i + 1]
        i += 2
    if i < count:
        even += a[i] * b[i]
    return even + odd


@compiled
def weighted_dot(weights, a, b, count):
    """Σ w·a·b over the first rows of three numbers, as `np.einsum("i,ij,ij->", w, a, b)`."""
    total = 0.0
    for i in range(count):
        for k in range(3 * i, 3 * i + 3):
            total += weights[i] * a[k] * b[k]
    return total


@compiled
def _sum_block(x, first, count):
    if count < 8:
        total = 0.0
        for i in range(first, first + count):
            total += x[i]
        return total
    a, b, c, d = x[first], x[first + 1], x[first + 2], x[first + 3]
    e, f, g, h = x[first + 4], x[first + 5], x[first + 6], x[first + 7]
    end = first + count - count % 8
    for i in range(first + 8, end, 8):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
        e += x[i + 4]
        f += x[i + 5]
        g += x[i + 6]
        h += x[i + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(end, first + count):
        total += x[i]
    return total


@compiled
def pairwise_sum(x, first, count):
    """The sum of `count` numbers from x[first] on, as `np.sum`."""
    if count <= PAIRWISE_BLOCK:
        return _sum_block(x, first, count)
    half = count // 2
    half -= half % 8
    return pairwise_sum(x, first, half) + pairwise_sum(x, first + half, count - half)
