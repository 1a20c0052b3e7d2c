"""Buckling: a column of links and hinges is compressed beyond the load at which it loses stability.

The straight equilibrium is found with the joints guided along the axis. Without the guide, an
eigenvalue of the stiffness falls to zero as the load grows. Bisection finds the critical load,
which for N links is exactly P = 4(B/l)sin²(π/2N), with B the stiffness of a hinge and l the length
of a compressed link. Beyond it, the equilibrium search leaves the straight state and the column
bends.
"""

import math

import numpy as np

import taut
from taut import laws
from taut.constraints import on_line, on_plane
from taut.statics.equilibrium import Equilibrium

N, B, K = 20, 1.0, 1e3  # links, stiffness of a hinge [J], of a link [N/m]

rod = taut.mesh.rope(N)
energies = [laws.spring(rod.edges, k=K), laws.rod_hinge(rod.rod_hinges, k=2 * B)]
guided = taut.System(
    rod.points,
    mass=1.0,
    fixed=[0],
    energies=energies,
    constraints=[on_line(range(1, N + 1), (1, 0, 0))],
)
free = guided.with_(constraints=[on_line([N], (1, 0, 0)), on_plane(range(1, N), (0, 0, 1))])


def compress(system: taut.System, load: float) -> Equilibrium:
    """Find the equilibrium of the column under a load [N] at its end."""
    return taut.equilibrium(system.with_(energies=[*energies, laws.force([N], f=(-load, 0, 0))]))


def run() -> dict[str, float]:
    """Find the critical load by bisection.

    Returns it with that of the formula and Euler's for a continuous rod [N], and the deflection
    beyond it [m].
    """
    low, high = 0.2, 1.0
    while high - low > 1e-10 * high:
        load = (low + high) / 2
        straight = compress(guided, load).state
        if taut.stability(free, straight, n=1).stable:
            low = load
        else:
            high = load
    link = 1 / N - low / K
    bent = compress(free, 1.02 * low)
    return {
        "found": low,
        "formula": 4 * B / link * math.sin(math.pi / (2 * N)) ** 2,
        "euler": math.pi**2 * B * link / (N * link) ** 2,
        "deflection": float(np.abs(bent.state.q[:, 1]).max()),
        "left_saddles": bent.left_saddles,
    }


def picture(figure, result) -> None:
    """Draw the column beyond the critical load, and plot its deflection against the load."""
    left, right = figure.subplots(1, 2, width_ratios=[2, 1])
    factors = (0.95, 1.005, 1.02, 1.06, 1.12)
    shapes = [compress(free, factor * result["found"]).state.q for factor in factors]
    for factor, q in zip(factors, shapes, strict=True):
        left.plot(q[:, 0], np.abs(q[:, 1]), "o-", ms=2, lw=1, label=f"{factor:g} P")
    left.set(title="the column", xlabel="x [m]", ylabel="y [m]", aspect="equal", ylim=(-0.02, 0.5))
    left.legend(frameon=False, fontsize=7, ncols=3, loc="upper left")
    right.plot(factors, [np.abs(q[:, 1]).max() for q in shapes], "o")
    past = np.linspace(0, 0.13, 40)
    right.plot([0.93, 1.0, *(1 + past)], [0, 0, *(np.sqrt(8 * past) / np.pi)], color="0.6", lw=1)
    right.set(title="deflection [m]", xlabel="load/P")


if __name__ == "__main__":
    result = run()
    print(f"critical load found   {result['found']:.9f} N")
    print(f"4(B/l)sin²(π/2N)      {result['formula']:.9f} N")
    print(f"over Euler's load     {result['found'] / result['euler']:.6f}")
    print(
        "2% beyond it the column leaves the straight state and deflects by "
        f"{result['deflection']:.4f} m"
    )
