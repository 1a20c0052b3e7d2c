"""Spring to a plane, V = ½ k (n·(x - p))²/|n|²."""

from taut.binding.decorators import energy
from taut.formula import Vector, dot


@energy(rest={"through": lambda x: x[0]}, limits={"k": ">= 0", "normal": "> 0"})
def plane_spring(x, k, normal: Vector, through: Vector):
    """Spring of rest length zero from a particle to a plane: V = ½ k (n·(x - p))²/|n|².

    k : stiffness [N/m]
    normal : n [1], of any length other than zero
    through : a point p of the plane [m] (default: the particle's rest position)

    Along the plane the particle is free. A goal of form finding, or an elastic wall that holds on
    both sides. To stay in a plane exactly use `taut.constraints.on_plane`. For other surfaces
    F(x) = 0 write V = ½ k F² with F a distance; for a ball there is `sphere_spring`.
    """
    return k / 2 * dot(normal, x[0] - through) ** 2 / dot(normal, normal)
