"""Wind on triangles, f = ½ ρ A [C_D |uₙ| u + C_L (|u| uₙ n̂ - uₙ² û)], u the wind past the triangle."""

from taut.formula import Vector, dot, maximum, norm, unit
from taut.formula.law import load
from taut.laws.geometry import fullness, sized, vector_area


@load(limits={"density": ">= 0", "drag": ">= 0", "lift": ">= 0"}, proper={"has no area": fullness}, check=sized(3))
def wind(x, v, velocity: Vector, density=1.204, drag=1.0, lift=0.5):
    """Drag and lift of the air on triangles: f = ½ ρ A [C_D |uₙ| u + C_L (|u| uₙ n̂ - uₙ² û)], a third to each corner.

    velocity : of the air [m/s]: a vector, one per triangle (m, 3), a function of time t, or a function of places and time
        `lambda x, t: …` that takes the centres of the triangles (m, 3) [m] and gives (m, 3)
    density : of the air ρ [kg/m³]; default 1.204, at 20 °C
    drag : C_D [1], along the wind; about 1 for a plate that faces it
    lift : C_L [1], at a right angle to the wind; the largest lift is at 45°

    u is the wind's velocity less the triangle's, uₙ its part along the normal n̂: both forces go with the area that faces the
    wind, the lift also with the sine of the angle between the wind and the normal, so it is at a right angle to u for every angle.
    A model of a flat plate, derived in docs/theory/08-wind-and-tearing.md; C_D and C_L are for you to choose.

    No energy: the force is taken at the start of each step and held over it, and the ledger books its work. No triangle shelters
    another, and the air does not answer. In a 2D system triangles lie in the plane, and wind in that plane has no force on them:
    use `drag` or `force` there.
    """
    a = vector_area(x)
    n = unit(a)
    u = velocity - (v[0] + v[1] + v[2]) / 3
    un = dot(u, n)
    along = drag * maximum(un, -un) * u
    across = lift * (norm(u) * un * n - un**2 * unit(u))
    f = density / 2 * norm(a) / 3 * (along + across)
    return [f, f, f]
