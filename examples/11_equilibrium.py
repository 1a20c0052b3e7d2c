"""Equilibrium: find where a chain comes to rest, without time steps.

A chain of one metre hangs between hooks 0.8 m apart. Its links are cables; the search starts from a
V with straight sides. The result is the catenary, 2c sinh(D/2c) = L: it sags by 0.265438 m as a
curve, by 0.265526 m with 40 rigid links. The hooks carry the weight, with a horizontal force w c.
"""

import math

import numpy as np
from scipy.optimize import brentq

import taut
from taut import laws

N, SPAN, LENGTH, MASS = 40, 0.8, 1.0, 1.0  # links; m; m; kg of the whole chain
RIGID = 0.265526  # sag of 40 rigid links [m]

rope = taut.mesh.rope(N, end=(SPAN, 0, 0))
drawn_down = np.array(rope.points)
# a right triangle on each side: 0.3, 0.4 and 0.5 m
drawn_down[:, 1] = 0.75 * (np.abs(drawn_down[:, 0] - SPAN / 2) - SPAN / 2)
chain = taut.System(
    rope.points,
    # each link gives half of its mass to either end
    mass=np.where(np.isin(np.arange(N + 1), (0, N)), 0.5, 1.0) * MASS / N,
    fixed=[0, N],
    energies=[laws.cable(rope.edges, k=4e8, l0=LENGTH / N), laws.gravity()],
    pose=drawn_down,
)


def run() -> dict[str, object]:
    """Return the equilibrium, and sag [m] and horizontal force [N] of links and curve."""
    rest = taut.equilibrium(chain)
    c = brentq(lambda c: 2 * c * math.sinh(SPAN / 2 / c) - LENGTH, 0.1, 10.0, xtol=1e-14)
    return {
        "rest": rest,
        "c": c,
        "sag": float(-rest.state.q[:, 1].min()),
        "curve_sag": c * (math.cosh(SPAN / 2 / c) - 1),
        "carried": float(rest.reactions[:, 1].sum()),
        "weight": MASS * 9.81,
        "pull": float(rest.reactions[N, 0]),
        "curve_pull": MASS * 9.81 / LENGTH * c,
    }


def picture(figure, result) -> None:
    """Draw the chain at rest over the catenary, and the forces of the hooks."""
    axes, q, c = figure.subplots(), result["rest"].state.q, result["c"]
    x = np.linspace(0, SPAN, 61)
    axes.plot(
        x,
        c * (np.cosh((x - SPAN / 2) / c) - math.cosh(SPAN / 2 / c)),
        lw=4,
        color="0.85",
        label="catenary",
    )
    axes.plot(q[:, 0], q[:, 1], "o-", ms=3, lw=1, label=f"{N} links")
    hooks = result["rest"].reactions[[0, N]]
    axes.quiver(
        *q[[0, N], :2].T,
        *hooks[:, :2].T,
        angles="xy",
        scale_units="xy",
        scale=40.0,
        color="tab:red",
        width=0.006,
    )
    axes.set(
        title="a chain at rest, and the forces of the hooks",
        xlabel="x [m]",
        ylabel="y [m]",
        aspect="equal",
    )
    axes.set(xlim=(-0.12, 0.92), ylim=(-0.3, 0.15))
    axes.legend(frameon=False, loc="lower left")


if __name__ == "__main__":
    result = run()
    print(result["rest"])
    print(
        f"sag {result['sag']:.6f} m, of rigid links {RIGID} m, of the curve "
        f"{result['curve_sag']:.6f} m"
    )
    print(f"the hooks carry {result['carried']:.6f} N of {result['weight']:.6f} N")
    print(f"and pull with {result['pull']:.4f} N, of the curve {result['curve_pull']:.4f} N")
