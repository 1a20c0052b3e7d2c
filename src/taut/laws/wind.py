"""Wind on triangles, f = ½ ρ A [C_D |uₙ| u + C_L (|u| uₙ n̂ - uₙ² û)]."""

from taut.binding.decorators import load
from taut.formula import Vector, dot, maximum, norm, unit
from taut.laws._geometry import area_ratio, require_particles, vector_area


@load(
    limits={"density": ">= 0", "drag": ">= 0", "lift": ">= 0"},
    proper={"has no area": area_ratio},
    check=require_particles(3),
)
def wind(x, v, velocity: Vector, density=1.204, drag=1.0, lift=0.5):
    """Drag and lift of air on triangles: f = ½ ρ A [C_D |uₙ| u + C_L (|u| uₙ n̂ - uₙ² û)].

    velocity : of the air [m/s]: one vector, one per triangle (m, 3), a function of time t, or a
        function `lambda x, t: …` of the centres of the triangles (m, 3) [m] and time that returns
        (m, 3), such as `taut.materials.Gusts`
    density : of the air ρ [kg/m³]; default 1.204, at 20 °C
    drag : C_D [1], along the wind; about 1 for a plate that faces it
    lift : C_L [1], perpendicular to the wind; the largest lift is at 45°

    u is the velocity of the air relative to the triangle, uₙ its component along the normal n̂; each
    corner has a third of the force. Both parts are proportional to the area that faces the wind,
    the lift also to the sine of the angle between wind and normal, and it is perpendicular to u for
    every angle. A model of a flat plate, derived in docs/theory/08-wind-and-tearing.md; choose C_D
    and C_L for your case.

    It has no energy: the force is taken at the start of each step and held over it, and the ledger
    books its work. Triangles do not shelter each other, and do not change the flow. In a 2D system
    triangles lie in the plane, and wind in that plane has no force on them: use `drag` or `force`.
    """
    a = vector_area(x)
    n = unit(a)
    u = velocity - (v[0] + v[1] + v[2]) / 3
    un = dot(u, n)
    along = drag * maximum(un, -un) * u
    across = lift * (norm(u) * un * n - un**2 * unit(u))
    f = density / 2 * norm(a) / 3 * (along + across)
    return [f, f, f]
