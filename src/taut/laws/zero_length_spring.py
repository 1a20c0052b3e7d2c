"""Zero-length spring, V = ½ k |x₁ - x₀|²."""

from taut.binding.decorators import energy
from taut.formula import dot


@energy(invariant="rigid motion", limits={"k": ">= 0"})
def zero_length_spring(x, k):
    """Spring of rest length zero between two particles: V = ½ k |x₁ - x₀|².

    k : stiffness [N/m]

    It is linear, with a constant Hessian. As a stitch it joins two bodies particle to particle: see
    `taut.join` and `Mesh.select`, and `attachment` for a point inside of a triangle or tetrahedron.
    For a rest length use `spring`. Derived, as the simplest attachment, in
    docs/theory/06-areas-volumes-pressure.md.
    """
    d = x[1] - x[0]
    return k / 2 * dot(d, d)
