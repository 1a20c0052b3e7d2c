"""Spring that yields and creeps, V = ½ k (l - l₀)², whose rest length l₀ flows."""

from taut.binding.decorators import energy
from taut.formula import exp, maximum, minimum
from taut.laws._geometry import length


def _flow(x, l0, yield_strain, creep, h):
    """The rest length [m] after a step: crept towards the length, then within the yield strain."""
    now = length(x)
    crept = now + (l0 - now) * exp(-creep * h)
    return minimum(maximum(crept, now / (1 + yield_strain)), now / (1 - yield_strain))


@energy(
    rest={"l0": length},
    invariant="rigid motion",
    limits={"k": ">= 0", "l0": "> 0", "yield_strain": "> 0 and < 1", "creep": ">= 0"},
    flow={"l0": _flow},
)
def plastic_spring(x, k, l0, yield_strain, creep=0.0):
    """Spring that keeps what it was stretched beyond its yield: V = ½ k (l - l₀)², l₀ flows.

    k : stiffness [N/m]
    l0 : rest length before it flows [m] (default: measured on the rest shape)
    yield_strain : largest elastic strain |l/l₀ - 1| [1]; what exceeds it becomes permanent
    creep : rate [1/s] at which the elastic elongation becomes permanent below the yield

    At the end of a step the rest length follows: l₀ creeps by dl₀/dt = creep·(l - l₀), as in a
    dashpot in series, and then, where |l/l₀ - 1| exceeds the yield strain, becomes the nearest one
    at which it does not. Perfect plasticity without hardening: pulled to the length L and let go,
    a bar keeps the length L/(1 + yield_strain). The energy it loses is the `plastic` work of the
    ledger, heat, never negative. The values are in `State.rest`. Each step takes the flow at its
    end, so that the force exceeds the yield by what one step adds to it.
    """
    return k / 2 * (length(x) - l0) ** 2
