"""A pressed body whose meridians are far stiffer than its parallels."""

import numpy as np
import pytest

import taut
from taut import laws

SEGMENTS, RINGS = 24, 12


def make_balloon():
    """Return points, outward triangles, meridians and parallels of a sphere of 12 × 24 cells."""
    polar = np.linspace(0.0, np.pi, RINGS + 1)[1:-1]
    azimuth = np.arange(SEGMENTS) * 2.0 * np.pi / SEGMENTS
    rings = [
        [np.sin(t) * np.cos(p), np.cos(t), np.sin(t) * np.sin(p)] for t in polar for p in azimuth
    ]
    points = np.array([[0.0, 1.0, 0.0], *rings, [0.0, -1.0, 0.0]])
    grid = 1 + np.arange(len(rings)).reshape(-1, SEGMENTS)
    after = np.roll(grid, -1, axis=1)
    top, bottom = np.zeros(SEGMENTS, dtype=int), np.full(SEGMENTS, len(points) - 1)
    columns = np.vstack([top, grid, bottom])
    meridians = np.stack([columns[:-1].ravel(), columns[1:].ravel()], axis=1)
    parallels = np.stack([grid.ravel(), after.ravel()], axis=1)
    triangles = np.concatenate(
        [
            np.stack([top, after[0], grid[0]], axis=1),
            np.stack([grid[:-1].ravel(), after[:-1].ravel(), grid[1:].ravel()], axis=1),
            np.stack([after[:-1].ravel(), after[1:].ravel(), grid[1:].ravel()], axis=1),
            np.stack([bottom, grid[-1], after[-1]], axis=1),
        ]
    )
    return points, triangles, meridians, parallels


@pytest.mark.parametrize("k", [1e4, 1e5, 1e6, 1e7])
def test_stiff_meridians_take_few_iterations(k):
    points, triangles, meridians, parallels = make_balloon()
    p = 1000.0
    system = taut.System(
        points,
        mass=0.01,
        fixed=[len(points) - 1],
        energies=[
            laws.spring(meridians, k=k, name="meridians"),
            laws.spring(parallels, k=500.0, name="parallels"),
            laws.pressure(triangles, p=p),
        ],
    )
    rest = taut.equilibrium(system)
    assert rest.outcome in ("converged", "rounding floor")
    assert rest.iterations <= 40
    # A closed surface under pressure needs no support.
    assert np.abs(rest.reactions).max() <= 1e-4 * p
