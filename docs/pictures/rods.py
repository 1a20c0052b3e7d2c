"""Draws rods.svg: the angle of a rod and its gradient.

Cantilevers under a load at the end, and under their own weight.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import taut
from taut import laws

mpl.rcParams.update(
    {"svg.fonttype": "none", "svg.hashsalt": "rods", "font.size": 9, "font.family": "sans-serif"}
)
COLOURS = mpl.colormaps["viridis"](np.linspace(0.0, 0.85, 6))
N = 60  # links of a rod with L = 1 m, EI = 1 N m²


def cantilever(load, growth):
    """Shape of a clamped rod, segments growing away from the clamp, where it bends most.

    Particles (N + 1, 3) [m].
    """
    places = np.expm1(growth * np.arange(N + 1) / N) / np.expm1(growth)
    lengths = np.diff(places)
    links, hinges = [[i, i + 1] for i in range(N)], [[i, i + 1, i + 2] for i in range(N - 1)]
    rod = taut.System(
        np.column_stack([places, 0 * places]),
        mass=np.convolve(lengths, [0.5, 0.5]),
        fixed=[0],
        energies=[
            laws.spring(links, k=1e8 / lengths),
            laws.rod_bending(hinges, EI=1.0),
            laws.rod_clamp([[0, 1]], EI=1.0),
            load,
        ],
    )
    return taut.equilibrium(rod).state.q


def angle(axes):
    """Three particles, the angle between their segments, and its gradient.

    Minus the force of V = θ²/2 by θ.
    """
    theta, a, b = np.radians(55), 1.3, 1.0
    q = np.array([[-a, 0], [0, 0], [b * np.cos(theta), b * np.sin(theta)]])
    hinge = taut.System(
        q, mass=1.0, energies=[laws.rod_bending([[0, 1, 2]], EI=1.0, l=1.0, theta0=0.0)]
    )
    gradient = -hinge.f(hinge.initial_state())[:, :2] / theta
    axes.plot(*q.T, "-", color="0.3", lw=2)
    axes.plot([0, 0.75], [0, 0], ":", color="0.5")
    arc = np.linspace(0, theta, 20)
    axes.plot(0.45 * np.cos(arc), 0.45 * np.sin(arc), color="0.5", lw=1)
    axes.text(0.5, 0.19, "θ")
    for x, g in zip(q, gradient, strict=True):
        axes.annotate(
            "",
            x + 0.5 * g,
            x,
            arrowprops={"arrowstyle": "->", "color": "tab:red", "shrinkA": 0, "shrinkB": 0},
        )
    axes.plot(*q.T, "o", color="k", ms=5)
    for text, x in (
        ("x₀", (-1.36, -0.2)),
        ("x₁", (-0.13, 0.1)),
        ("x₂", (0.66, 0.85)),
        ("a", (-0.7, 0.07)),
        ("b", (0.12, 0.42)),
    ):
        axes.text(*x, text)
    for text, x in (("1/|a|", (-1.22, 0.26)), ("1/|b|", (0.05, 1.12))):
        axes.text(*x, text, color="tab:red")
    axes.set(title="θ and its gradient", xlim=(-1.5, 1.05), ylim=(-1.05, 1.4))
    axes.axis("off")


def curves(axes, title, symbol, shapes):
    for colour, (number, q) in zip(COLOURS, shapes, strict=True):
        axes.plot(*q[::2, :2].T, color=colour, label=f"{symbol} = {number:g}")
    axes.plot([0, 0], [-0.06, 0.06], "k", lw=4)
    axes.set(title=title, xlim=(-0.05, 1.3), ylim=(-1.05, 0.1), xlabel="x/L", ylabel="y/L")
    axes.legend(frameon=False, loc="lower right", fontsize=8, handlelength=1.2)


figure = Figure(figsize=(10, 3.4))
left, middle, right = figure.subplots(1, 3)
figure.subplots_adjust(left=0.01, right=0.99, bottom=0.14, top=0.9, wspace=0.27)
angle(left)
ends = [(alpha, cantilever(laws.force([N], f=(0, -alpha)), 0.5)) for alpha in (0.5, 1, 2, 3, 5, 10)]
curves(middle, "a load at the end, α = PL²/EI", "α", ends)
weights = [
    (gamma, cantilever(laws.gravity(g=(0, -gamma, 0)), 3.0)) for gamma in (1, 5, 10, 20, 100, 1000)
]
curves(right, "its own weight, Γ = wL³/EI", "Γ", weights)
for plot in (left, middle, right):
    plot.set_aspect("equal")
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
