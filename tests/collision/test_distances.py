"""Distances and closest features against formulas in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.collision_times import measure
from taut import laws
from taut.binding.placed_law import place
from taut.jit.compile import kernels

HALF = Fraction(1, 2)
# The particles of each closest feature of a point and a triangle
OF_TRIANGLE = ((0, 1), (0, 2), (0, 3), (0, 1, 2), (0, 2, 3), (0, 1, 3), (0, 1, 2, 3))


def measure_triangles(x):
    """Distances and features of x, (m, 4, 3)."""
    m = len(x)
    distances, features = np.empty(m), np.empty(m, dtype=np.int8)
    kernels("taut.collision.distance_kernels").measure_points_and_triangles(
        np.ascontiguousarray(x.reshape(-1, 3), dtype=float),
        np.arange(4 * m).reshape(m, 4),
        distances,
        features,
    )
    return distances, features


def measure_edges(x, square):
    m = len(x)
    distances, features = np.empty(m), np.empty(m, dtype=np.int8)
    kernels("taut.collision.distance_kernels").measure_edges(
        np.ascontiguousarray(x.reshape(-1, 3), dtype=float),
        np.arange(4 * m).reshape(m, 4),
        np.full(m, square),
        distances,
        features,
    )
    return distances, features


def test_points_and_triangles():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 4, 3))
    x[::2, 0] *= 0.3  # nearer, so that all features occur
    distances, features = measure_triangles(x)
    np.testing.assert_allclose(distances, [measure(own, False) for own in x], rtol=1e-11)
    assert set(features.tolist()) == set(range(7))
    for own, distance, feature in zip(x, distances, features, strict=True):
        places = OF_TRIANGLE[feature]
        spans = (own[list(places[2:])] - own[places[1]]).T
        offset = own[0] - own[places[1]]
        if spans.size:
            offset = offset - spans @ np.linalg.lstsq(spans, offset, rcond=None)[0]
        assert np.linalg.norm(offset) == pytest.approx(distance, rel=1e-9)


def test_triangles_without_area_are_their_sides():
    rng = np.random.default_rng(2)
    a, e = rng.normal(size=(2, 400, 3))
    along = rng.integers(0, 3, (400, 3))  # corners often coincide, in any order
    corners = a[:, None] + along[:, :, None] * e[:, None]
    x = np.concatenate([rng.normal(size=(400, 1, 3)), corners], axis=1)
    distances, _ = measure_triangles(x)
    spread = along.min(axis=1)[:, None], along.max(axis=1)[:, None]
    ends = a + spread[0] * e, a + spread[1] * e
    line = np.stack([x[:, 0], x[:, 0], *ends], axis=1)
    np.testing.assert_allclose(distances, [measure(own, True) for own in line], rtol=1e-9)


@pytest.mark.parametrize("height", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_slivers(height):
    """Of a triangle of nearly no height the distance is right to rounding of its size."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(500, 4, 3))
    x[:, 3] = x[:, 1] + rng.uniform(-0.5, 1.5, (500, 1)) * (x[:, 2] - x[:, 1])
    x[:, 3] += height * rng.normal(size=(500, 3))
    distances, _ = measure_triangles(x)
    exact = [float(_least_to_triangle(own)) ** 0.5 for own in x[:60]]
    np.testing.assert_allclose(distances[:60], exact, rtol=1e-6, atol=1e-14)


def _exact(own):
    return [[Fraction(c) for c in point] for point in own.tolist()]


def _minus(p, q):
    return [s - t for s, t in zip(p, q, strict=True)]


def _dot(p, q):
    return sum(s * t for s, t in zip(p, q, strict=True))


def _least_to_triangle(own):
    """The squared distance of a point from a triangle."""
    p, a, b, c = _exact(own)
    least = []
    for i, j in ((a, b), (b, c), (a, c)):
        e, r = _minus(j, i), _minus(p, i)
        t = min(max(_dot(r, e) / _dot(e, e), Fraction(0)), Fraction(1))
        w = [u - t * v for u, v in zip(r, e, strict=True)]
        least.append(_dot(w, w))
    e, f, r = _minus(b, a), _minus(c, a), _minus(p, a)
    ee, ff, ef, er, fr = _dot(e, e), _dot(f, f), _dot(e, f), _dot(e, r), _dot(f, r)
    determinant = ee * ff - ef * ef
    s, t = (ff * er - ef * fr) / determinant, (ee * fr - ef * er) / determinant
    if s >= 0 and t >= 0 and s + t <= 1:
        w = [u - s * v - t * q for u, v, q in zip(r, e, f, strict=True)]
        least.append(_dot(w, w))
    return min(least)


def find_least(own, square):
    """The least F of two edges over the unit square, and where: exact."""
    x0, x1, x2, x3 = _exact(own)
    e, f, r = _minus(x1, x0), _minus(x3, x2), _minus(x0, x2)
    square = Fraction(square)
    a, b, c = _dot(e, e) + square, _dot(f, f) + square, _dot(e, f)
    p, q = _dot(e, r) - square / 2, _dot(f, r) + square / 2
    determinant = a * b - c * c
    places = [((c * q - b * p) / determinant, (a * q - c * p) / determinant)]
    if not all(0 <= z <= 1 for z in places[0]):
        places = []
        for end in (Fraction(0), Fraction(1)):
            places.append((end, min(max((q + end * c) / b, Fraction(0)), Fraction(1))))
            places.append((min(max((end * c - p) / a, Fraction(0)), Fraction(1)), end))

    def value(place):
        s, t = place
        w = [u + s * v - t * z for u, v, z in zip(r, e, f, strict=True)]
        return _dot(w, w) + square * ((s - HALF) ** 2 + (t - HALF) ** 2)

    best = min(places, key=value)
    return value(best), best


def value_of_feature(own, square, feature):
    """F where a law takes it: least along the lines of the edges that a feature is inside of."""
    x0, x1, x2, x3 = _exact(own)
    e, f, r = _minus(x1, x0), _minus(x3, x2), _minus(x0, x2)
    square = Fraction(square)
    a, b, c = _dot(e, e) + square, _dot(f, f) + square, _dot(e, f)
    p, q = _dot(e, r) - square / 2, _dot(f, r) + square / 2
    if feature == 0:
        determinant = a * b - c * c
        s, t = (c * q - b * p) / determinant, (a * q - c * p) / determinant
    elif feature < 3:
        s = Fraction(feature - 1)
        t = (q + s * c) / b
    elif feature < 5:
        t = Fraction(feature - 3)
        s = (t * c - p) / a
    else:
        s, t = Fraction((feature - 5) % 2), Fraction((feature - 5) // 2)
    w = [u + s * v - t * z for u, v, z in zip(r, e, f, strict=True)]
    return _dot(w, w) + square * ((s - HALF) ** 2 + (t - HALF) ** 2)


def near_edges(rng, m, size, tilt):
    """Edges of about unit length, `size` apart, of directions that differ by about `tilt`."""
    x = np.empty((m, 4, 3))
    x[:, 0] = rng.normal(size=(m, 3))
    e = rng.normal(size=(m, 3))
    x[:, 1] = x[:, 0] + e
    x[:, 2] = x[:, 0] + rng.uniform(-1, 1, (m, 1)) * e + size * rng.normal(size=(m, 3))
    turned = e + tilt * rng.normal(size=(m, 3))
    x[:, 3] = x[:, 2] + rng.choice([-1.0, 1.0], (m, 1)) * rng.uniform(0.5, 2, (m, 1)) * turned
    return x


@pytest.mark.parametrize("tilt", [1.0, 1e-3, 1e-8, 0.0])
@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6])
def test_edges_have_the_least_of_f(tilt, size):
    """To rounding of positions, at any angle; ε is a tenth of the distance."""
    x = near_edges(np.random.default_rng(4), 60, size, tilt)
    square = (0.1 * size) ** 2
    distances, features = measure_edges(x, square)
    for own, distance, feature in zip(x, distances, features, strict=True):
        exact = float(find_least(own, square)[0]) ** 0.5
        assert distance == pytest.approx(exact, rel=1e-12, abs=1e-14)
        taken = float(value_of_feature(own, square, int(feature))) ** 0.5
        assert taken == pytest.approx(exact, rel=1e-12, abs=1e-14)


def test_all_features_of_edges_occur():
    x = near_edges(np.random.default_rng(5), 2000, 0.6, 1.0)
    assert set(measure_edges(x, 1e-3)[1].tolist()) == set(range(9))


def test_edges_without_length():
    """A loose particle is an edge of no length, whose parameter is one half."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(200, 4, 3))
    x[:, 3] = x[:, 2]
    x[100:, 1] = x[100:, 0]
    square = 1e-4
    distances, features = measure_edges(x, square)
    exact = [float(find_least(own, square)[0]) ** 0.5 for own in x]
    np.testing.assert_allclose(distances, exact, rtol=1e-13)
    assert set(features.tolist()) <= {0, 1, 2}
    assert set(features[100:].tolist()) == {0}


@pytest.mark.parametrize("tilt", [1.0, 1e-3, 1e-6, 0.0])
@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e-6])
def test_force_of_nearly_parallel_edges(tilt, size):
    """The gradient of the law against that of F at its exact minimum.

    Positions are of order 1, so that their rounding is eps/size of the distance.
    """
    x = near_edges(np.random.default_rng(7), 200, size, tilt)
    smoothing, reach = (0.1 * size) ** 2, 10.0 * size
    x = x[measure_edges(x, smoothing)[1] == 0][:20]
    assert len(x) > 4
    law = laws.edge_edge_contact(
        np.arange(4 * len(x)).reshape(-1, 4), k=1.0, thickness=0.0, range=reach, smoothing=smoothing
    )
    placed = place(law, x.reshape(-1, 3), np.ones(4 * len(x)))
    forces = placed.gradients(x.reshape(-1, 3))
    for own, force in zip(x, forces, strict=True):
        least, (s, t) = find_least(own, smoothing)
        distance = float(least) ** 0.5
        slope = (reach - distance) * (2 * np.log(distance / reach) - reach / distance + 1)
        x0, x1, x2, x3 = _exact(own)
        w = np.array(
            [
                float(p + s * (q - p) - u - t * (v - u))
                for p, q, u, v in zip(x0, x1, x2, x3, strict=True)
            ]
        )
        weights = np.array([1.0 - float(s), float(s), float(t) - 1.0, -float(t)])
        expected = slope * weights[:, None] * w / distance
        np.testing.assert_allclose(
            force, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max() / size * 1e-2
        )
