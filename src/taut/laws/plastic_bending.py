"""Bending that creases, V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)², whose rest angle θ₀ flows."""

from math import pi

from taut.binding.decorators import energy
from taut.formula import exp, maximum, minimum, where
from taut.laws._geometry import (
    HINGE_FAULTS,
    SIGNED_ANGLE_LIMITS,
    edge_area_ratio,
    fold_angle,
    require_particles,
    squared_fold_change,
)


def _flow(x, theta0, yield_angle, creep, h):
    """The rest angle [rad] after a step: crept towards the angle, then within the yield angle."""
    theta = fold_angle(x)
    change = theta - theta0
    # The shorter way around, as the energy takes it
    change = where(change > pi, change - 2 * pi, where(change < -pi, change + 2 * pi, change))
    elastic = change * exp(-creep * h)
    elastic = minimum(maximum(elastic, -yield_angle), yield_angle)
    rest = theta - elastic
    return where(rest > pi, rest - 2 * pi, where(rest < -pi, rest + 2 * pi, rest))


@energy(
    rest={"theta0": fold_angle, "ratio": lambda x: 2 * edge_area_ratio(x)},
    invariant="rigid motion",
    limits={
        "c": ">= 0",
        "ratio": "> 0",
        "theta0": SIGNED_ANGLE_LIMITS,
        "yield_angle": "> 0",
        "creep": ">= 0",
    },
    proper=HINGE_FAULTS,
    check=require_particles(4),
    flow={"theta0": _flow},
)
def plastic_bending(x, c, ratio, theta0, yield_angle, creep=0.0):
    """Hinge that keeps a crease: V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)², θ₀ flows.

    c : bending rigidity [J], as of `shell_bending`
    ratio : |ē|²/(Ā₁ + Ā₂) [1], of the edge and the areas (default: measured on the rest shape)
    theta0 : rest angle θ₀ before it flows [rad], from -π to π (default: measured on the rest shape)
    yield_angle : largest elastic change |θ - θ₀| [rad]; what exceeds it becomes a crease. At a
        curvature κ a hinge turns by about κ times the height of its triangles: a finer mesh needs
        a smaller yield angle
    creep : rate [1/s] at which the elastic change becomes permanent below the yield

    Elements are `Mesh.hinges`. For paper, card, leather and cloth that keep their folds; otherwise
    as `shell_bending`, with which it shares the energy, and the flow of `plastic_spring`: at the
    end of a step θ₀ creeps, and follows θ to within the yield angle. The energy that is lost is
    the `plastic` work of the ledger, and the rest angles are in `State.rest`.
    """
    return c / 2 * ratio * squared_fold_change(x, theta0)
