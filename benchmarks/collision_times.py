"""Random pairs of moving primitives: free parts of their ways against exact integer arithmetic.

    python -m benchmarks.collision_times [pairs]

Positions and moves have integer coordinates. Four points are in one plane where a cubic polynomial
in time with integer coefficients vanishes; its roots are enclosed by subdivision in the Bernstein
basis, in integers of any length, so that none is lost. At each root the pair meets or not, and no
pair may be given a free part that reaches its first meeting. Pairs that stop although they never
meet are counted.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int
from taut.jit.compile import kernels

DEPTH = 30  # halvings of an interval with a root
SAMPLES = 101  # of the distance on a way
KINDS = ("point and triangle", "edges")


@dataclass(frozen=True)
class Tally:
    """What was found of some pairs; missed must be zero.

    meetings : pairs that meet after the start; missed : pairs whose free part reaches the meeting
    near : pairs that never meet but stop, as they come nearer than a tenth of their first gap;
    early : those that stop and do not; flat : pairs that stay in one plane, which are not judged
    least : the least free part of the way to a meeting, in units of it
    """

    pairs: int
    meetings: int
    missed: int
    near: int
    early: int
    flat: int
    least: float


def make_pairs(rng: np.random.Generator, m: int, size: int) -> tuple[Int, Int]:
    """Return integer positions and moves, (m, 4, 3) each; half of the moves aim at the others.

    size : largest coordinate; a small one makes many parallel, flat and touching pairs
    """
    x = rng.integers(-size, size + 1, (m, 4, 3))
    move = rng.integers(-2 * size, 2 * size + 1, (m, 4, 3))
    half = m // 2
    # The first two corners are reflected through points near the others: they pass between them.
    middle = x[:half, 2:].sum(axis=1) // 2
    for i in range(2):
        spread = rng.integers(-(size // 4), size // 4 + 1, (half, 3))
        move[:half, i] = 2 * (middle - x[:half, i]) + spread
    return x, move


def compute_free_parts(
    x: Int | Float,
    move: Int | Float,
    is_edges: bool,
    thickness: float = 0.0,
    smoothing: float = 0.0,
) -> Float:
    """Return what taut takes for free, (m,)."""
    m = len(x)
    parts = np.empty(m)
    kernels("taut.collision.distance_kernels").write_free_parts(
        x.reshape(-1, 3).astype(float),
        move.reshape(-1, 3).astype(float),
        np.arange(4 * m).reshape(m, 4),
        np.full(m, thickness),
        is_edges,
        np.full(m, smoothing),
        parts,
    )
    return parts


def find_meeting(x: Int, move: Int, is_edges: bool) -> float | None:
    """Return a time just before a pair, (4, 3) each, first meets; None if it does not, up to 1.

    Raises ZeroDivisionError if the four points are in one plane all the time.
    """
    cubic = _find_volume(x, move)
    if not any(cubic):
        raise ZeroDivisionError
    c0, c1, c2, c3 = cubic
    bernstein = (3 * c0, 3 * c0 + c1, 3 * c0 + 2 * c1 + c2, 3 * (c0 + c1 + c2 + c3))
    stack = [(bernstein, 0, 0)]  # of the interval from place/2^depth on
    while stack:
        (b0, b1, b2, b3), place, depth = stack.pop()
        if min(b0, b1, b2, b3) > 0 or max(b0, b1, b2, b3) < 0:
            continue
        if depth == DEPTH:
            start, width = place / 2.0**DEPTH, 1.0 / 2.0**DEPTH
            at = x + (start + width / 2.0) * move
            reach = 2.0 * np.abs(move).max() * width + 1e-12 * np.abs(at).max()
            if measure(at, is_edges) <= reach:
                return start
            continue
        p, q, r = b0 + b1, b1 + b2, b2 + b3
        s, t = p + q, q + r
        left, right = (8 * b0, 4 * p, 2 * s, s + t), (s + t, 2 * t, 4 * r, 8 * b3)
        stack.append((right, 2 * place + 1, depth + 1))
        stack.append((left, 2 * place, depth + 1))
    return None


def _find_volume(x: Int, move: Int) -> tuple[int, ...]:
    """Return the coefficients of the volume of four moving points, a cubic in time."""
    corners, ways = x.tolist(), move.tolist()
    a, b, c = ([p - q for p, q in zip(corners[i], corners[3], strict=True)] for i in range(3))
    u, v, w = ([p - q for p, q in zip(ways[i], ways[3], strict=True)] for i in range(3))
    return (
        _determinant(a, b, c),
        _determinant(u, b, c) + _determinant(a, v, c) + _determinant(a, b, w),
        _determinant(a, v, w) + _determinant(u, b, w) + _determinant(u, v, c),
        _determinant(u, v, w),
    )


def _determinant(a: list[int], b: list[int], c: list[int]) -> int:
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )


def measure(x: Float, is_edges: bool) -> float:
    """Return the distance of a pair, (4, 3), from formulas that are not taut's.

    The closest points are inside of both, where a linear system has them, or one is on a side.
    """
    a, b, c, d = x
    if is_edges:
        spans, offset = np.stack([b - a, c - d], axis=1), c - a
        sides = [(a, c, d), (b, c, d), (c, a, b), (d, a, b)]
    else:
        spans, offset = np.stack([c - b, d - b], axis=1), a - b
        sides = [(a, b, c), (a, c, d), (a, d, b)]
    least = min(_measure_from_segment(*side) for side in sides)
    s, t = np.linalg.lstsq(spans, offset, rcond=None)[0]
    inside = 0 <= s <= 1 and 0 <= t <= 1 if is_edges else s >= 0 and t >= 0 and s + t <= 1
    if inside:
        least = min(least, float(np.linalg.norm(offset - spans @ [s, t])))
    return least


def _measure_from_segment(p: Float, a: Float, b: Float) -> float:
    e = b - a
    square = float(e @ e)
    t = min(max(float((p - a) @ e) / square, 0.0), 1.0) if square > 0.0 else 0.0
    return float(np.linalg.norm(p - a - t * e))


def tally_pairs(rng: np.random.Generator, m: int, size: int, is_edges: bool) -> Tally:
    """Compare m pairs."""
    x, move = make_pairs(rng, m, size)
    meetings = missed = near = early = flat = 0
    least = 1.0
    for own, way, part in zip(x, move, compute_free_parts(x, move, is_edges), strict=True):
        try:
            meeting = find_meeting(own, way, is_edges)
        except ZeroDivisionError:
            flat += 1
            continue
        if meeting is None:
            if part < 1.0:
                gaps = [measure(own + t * way, is_edges) for t in np.linspace(0.0, 1.0, SAMPLES)]
                is_near = min(gaps) < 0.1 * gaps[0]
                near += is_near
                early += not is_near
        elif meeting > 0.0:
            meetings += 1
            missed += part > meeting
            least = min(least, part / meeting)
        else:
            missed += part > 0.0 and measure(own, is_edges) == 0.0
    return Tally(m, meetings, missed, near, early, flat, least)


def main() -> None:
    """Print a table."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(0)
    names = "".join(f"{n:>8}" for n in ("size", "pairs", "meet", "missed", "near", "early", "flat"))
    print(f"{'kind':20}{names}   least")
    for is_edges, kind in enumerate(KINDS):
        for size in (2, 100, 100_000):
            tally = tally_pairs(rng, pairs // 6, size, bool(is_edges))
            print(
                f"{kind:20}{size:8}{tally.pairs:8}{tally.meetings:8}{tally.missed:8}"
                f"{tally.near:8}{tally.early:8}{tally.flat:8}  {tally.least:.4f}"
            )


if __name__ == "__main__":
    main()
