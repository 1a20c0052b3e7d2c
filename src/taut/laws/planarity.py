"""Planarity of faces, V = ½ k Σ d², d the distance of the diagonals of four successive corners."""

from taut.binding.decorators import energy
from taut.formula import cross, dot, unit
from taut.laws._geometry import require_particles


def _diagonal_distance(a, b, c, d):
    """Distance [m] of the lines ac and bd, the diagonals of a quad, with a sign."""
    return dot(b - a, unit(cross(c - a, d - b)))


@energy(invariant="rigid motion", limits={"k": ">= 0"}, check=require_particles(*range(4, 13)))
def planarity(x, k):
    """Face that resists warping: V = ½ k Σ d², d the distance of the diagonals of four corners.

    k : stiffness [N/m]

    Elements are quads, or polygons of up to 12 corners (`Mesh.cells`), of which every four
    successive corners count; d is zero exactly where these four lie in a plane. A goal of form
    finding: panes of flat glass. It neither opens nor closes a face. A quad whose diagonals are
    parallel, such as one folded flat onto a line, has no force. Derived in
    docs/theory/03-equilibrium.md.
    """
    n = len(x)
    if n == 4:
        return k / 2 * _diagonal_distance(x[0], x[1], x[2], x[3]) ** 2
    energy_of_corners = 0.0
    for i in range(n):
        corners = [x[(i + j) % n] for j in range(4)]
        energy_of_corners = energy_of_corners + _diagonal_distance(*corners) ** 2
    return k / 2 * energy_of_corners
