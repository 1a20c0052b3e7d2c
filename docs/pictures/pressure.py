"""Draws pressure.svg: the gradient of an area; films blown over a hole.

Poisson's ratio of springs with volume preservation.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import taut
from taut import laws
from taut.constraints import on_line, on_plane

mpl.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "pressure",
        "font.size": 9,
        "font.family": "sans-serif",
    }
)
COLOURS = mpl.colormaps["viridis"](np.linspace(0.0, 0.8, 4))
CORNER = np.array(
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
)


def area(axes):
    """A triangle and the gradient of its area.

    Which is minus the force of a film of unit tension.
    """
    q = np.array([[0.0, 0.0], [1.5, 0.1], [0.5, 1.1]])
    film = taut.System(
        np.column_stack([q, np.zeros(3)]),
        mass=1.0,
        energies=[laws.surface_tension([[0, 1, 2]], stress=1.0)],
    )
    gradient = -film.f(film.initial_state())[:, :2]
    axes.fill(*q.T, color="0.9")
    axes.plot(*np.concatenate([q, q[:1]]).T, "-", color="0.3", lw=2)
    for x, g in zip(q, gradient, strict=True):
        axes.annotate(
            "",
            x + 0.75 * g,
            x,
            arrowprops={"arrowstyle": "->", "color": "tab:red", "shrinkA": 0, "shrinkB": 0},
        )
    axes.plot(*q.T, "o", color="k", ms=5)
    for text, x in (
        ("x₀", (-0.2, 0.05)),
        ("x₁", (1.5, -0.14)),
        ("x₂", (0.26, 1.12)),
        ("A", (0.6, 0.4)),
        ("e₀", (1.02, 0.66)),
    ):
        axes.text(*x, text)
    axes.text(0.64, 1.42, "½ n̂ × e₂", color="tab:red")
    axes.set(
        title="an area and its gradient", xlim=(-0.65, 2.05), ylim=(-0.65, 1.75), aspect="equal"
    )
    axes.axis("off")


def film(rings, radius):
    """A film over a round hole of radius 1, blown to a cap of this radius.

    Heights of its particles by their distance [m].
    """
    disc = taut.mesh.disc(rings, plane="xz")
    inside = np.setdiff1d(np.arange(disc.n), disc.boundary)
    floor = np.arange(disc.n)
    floor[inside] = disc.n + np.arange(len(inside))
    points = np.concatenate([disc.points, disc.points[inside]])
    closed = np.concatenate([disc.triangles, floor[disc.triangles][:, ::-1]])
    blown = taut.System(
        points,
        mass=1.0,
        fixed=np.concatenate([disc.boundary, floor[inside]]),
        energies=[
            laws.surface_tension(disc.triangles, stress=1.0),
            laws.pressure(closed, p=2 / radius),
        ],
        constraints=[on_line(inside, (0, 1, 0))],
    )
    q = taut.equilibrium(blown).state.q[: disc.n]
    return np.hypot(q[:, 0], q[:, 2]), np.abs(q[:, 1])


def films(axes):
    x = np.linspace(-1, 1, 60)
    for colour, radius in zip(COLOURS, (4.0, 2.0, 1.4, 1.1), strict=True):
        away, high = film(6, radius)
        axes.plot(
            x,
            np.sqrt(radius**2 - x**2) - np.sqrt(radius**2 - 1),
            color=colour,
            lw=1,
            label=f"{2 / radius:.2f}",
        )
        away, one = np.unique(away.round(6), return_index=True)
        for side in (-1, 1):
            axes.plot(side * away, high[one], "o", color=colour, ms=3)
    axes.plot([-1.2, -1, np.nan, 1, 1.2], [0, 0, np.nan, 0, 0], "k", lw=4, solid_capstyle="butt")
    axes.set(
        title="films over a hole, and caps of R = 2σ/p",
        xlim=(-1.25, 1.25),
        ylim=(-0.1, 1.4),
        aspect="equal",
        xlabel="x/a",
    )
    axes.legend(
        frameon=False,
        title="pa/σ",
        loc="upper center",
        ncols=4,
        fontsize=8,
        handlelength=1.2,
        columnspacing=1,
    )


def poisson(kappa):
    """Poisson's ratio of a stretched block of springs with volume preservation k = κG."""
    mesh, strain = taut.mesh.block(2, 2, 2), 1e-6
    hexes = mesh.cells["hex"]
    energies = [laws.volume(hexes, k=2 * kappa)]
    for steps, share in ((1, 4), (2, 2)):  # edges belong to four cells, diagonals of faces to two
        pairs = [
            (i, j)
            for i in range(8)
            for j in range(i)
            if np.abs(CORNER[i] - CORNER[j]).sum() == steps
        ]
        energies.append(laws.spring(hexes[:, pairs].reshape(-1, 2), k=1 / share))
    plates = [
        on_plane(mesh.select(f"{axis} == min"), normal)
        for axis, normal in zip("xyz", np.eye(3), strict=True)
    ]
    plates.append(on_plane(mesh.select("y == max"), (0, 1, 0), through=(0, 1 + strain, 0)))
    rest = taut.equilibrium(
        taut.System(mesh.points, mass=1.0, energies=energies, constraints=plates)
    )
    return (1 - rest.state.q[mesh.select("x == max"), 0].mean()) / strain


def ratios(axes):
    kappa = np.logspace(-2, 3, 80)
    axes.semilogx(kappa, (1 + kappa) / (4 + 2 * kappa), color="0.3")
    few = np.logspace(-2, 3, 11)
    axes.semilogx(few, [poisson(k) for k in few], "o", color="tab:red", ms=4)
    for value, text, above in (
        (0.25, "springs alone, ¼", -0.017),
        (0.5, "incompressible, ½", 0.006),
    ):
        axes.axhline(value, color="0.6", ls=":", lw=1)
        axes.text(0.012, value + above, text, fontsize=8)
    axes.minorticks_off()
    axes.set(
        title="Poisson's ratio with volume preserved",
        xlabel="κ = k/G",
        ylabel="ν",
        ylim=(0.2, 0.55),
    )


figure = Figure(figsize=(10, 3.1), layout="constrained")
for draw, axes in zip((area, films, ratios), figure.subplots(1, 3), strict=True):
    draw(axes)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
