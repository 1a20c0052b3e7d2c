"""Meshes for tests: every generator, real files, and random ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from taut import mesh as generators
from taut.mesh import Mesh

DATA = Path(__file__).parents[3] / "shared" / "data"

SURFACES = {
    "quad sheet": lambda: generators.sheet(5, 4, size=(2.0, 1.0)),
    "one-diagonal sheet": lambda: generators.sheet(4, 3, pattern="one-diagonal"),
    "alternating sheet": lambda: generators.sheet(4, 5, pattern="alternating", plane="xz"),
    "equilateral sheet": lambda: generators.sheet(4, 5, pattern="equilateral", plane="yz"),
    "disc": lambda: generators.disc(4, 0.5),
    "cylinder": lambda: generators.cylinder(8, 3, 0.5, 2.0),
    "alternating cylinder": lambda: generators.cylinder(8, 3, pattern="alternating"),
    "sphere": lambda: generators.sphere(4, 2.0),
    "torus": lambda: generators.torus(10, 6),
    "triangulated torus": lambda: generators.torus(10, 6, pattern="one-diagonal"),
}
SOLIDS = {
    "hex block": lambda: generators.block(3, 2, 2, size=(3.0, 1.0, 2.0)),
    "tet block": lambda: generators.block(3, 2, 2, cells="tet"),
}
LINES = {
    "rope": lambda: generators.rope(7, (0, 1, 0), (2, 1, 1)),
    "ring": lambda: generators.ring(9, 0.3, plane="xz"),
    "net": lambda: generators.net(4, 3),
    "lattice": lambda: generators.lattice(2, 1, 2, braces="all"),
    "truss": lambda: generators.truss(5),
}
EVERY = SURFACES | SOLIDS | LINES


def real(name: str) -> Path:
    """A mesh file from a public source; the test is skipped if it is missing."""
    if not (DATA / name).exists():
        pytest.skip(
            f"{name} is missing: public meshes are expected in shared/data next to the repository"
        )
    return DATA / name


@st.composite
def triangle_soups(draw: st.DrawFn) -> Mesh:
    """Random triangles on a few points.

    Repeated points, repeated triangles and edges with many faces occur.
    """
    n = draw(st.integers(3, 12))
    triangles = draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 3), min_size=1, max_size=25))
    seed = draw(st.integers(0, 2**32 - 1))
    return Mesh(np.random.default_rng(seed).normal(size=(n, 3)), {"triangle": triangles})


@st.composite
def delaunay(draw: st.DrawFn, dimension: int = 3) -> Mesh:
    """A Delaunay mesh of random points: oriented triangles in the plane or tetrahedra in space."""
    from scipy.spatial import Delaunay

    n, seed = draw(st.integers(dimension + 2, 60)), draw(st.integers(0, 2**32 - 1))
    points = np.random.default_rng(seed).normal(size=(n, dimension))
    return generators.oriented(
        Mesh(points, {"triangle" if dimension == 2 else "tet": Delaunay(points).simplices})
    )
