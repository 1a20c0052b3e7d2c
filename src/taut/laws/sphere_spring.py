"""Spring to a sphere, V = ½ k (|x - c| - r)²."""

from taut.binding.decorators import energy
from taut.formula import Vector, norm


@energy(limits={"k": ">= 0", "radius": ">= 0"})
def sphere_spring(x, k, centre: Vector, radius):
    """Spring of rest length zero from a particle to a sphere: V = ½ k (|x - c| - r)².

    k : stiffness [N/m]
    centre : c [m]
    radius : r [m]

    Along the sphere the particle is free. A goal of form finding, such as a dome on a ball. It is
    the law of a `spring` whose other end is held. At the centre its direction is undefined: the
    force is zero there.
    """
    return k / 2 * (norm(x[0] - centre) - radius) ** 2
