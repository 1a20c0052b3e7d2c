"""Zero-length spring, V = ½ k |x₁ - x₀|²."""

from taut.formula import dot
from taut.formula.law import energy


@energy(invariant="rigid motion", limits={"k": ">= 0"})
def zero_length_spring(x, k):
    """Spring of rest length zero between two particles: V = ½ k |x₁ - x₀|². Linear, with a constant Hessian.

    k : stiffness [N/m]

    As a stitch it joins two bodies, particle to particle: see `taut.join` and `Mesh.select` for which, and `attachment` for a point
    inside a triangle or a tetrahedron. A spring with a length of its own is `spring`. Derived, as the simplest attachment, in
    docs/theory/06-areas-volumes-pressure.md.
    """
    d = x[1] - x[0]
    return k / 2 * dot(d, d)
