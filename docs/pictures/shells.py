"""Draws shells.svg: a hinge with its vectors, rigidity by direction on three meshes.

And a strip against published deflections.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import taut
from taut import laws

mpl.rcParams.update(
    {"svg.fonttype": "none", "svg.hashsalt": "shells", "font.size": 9, "font.family": "sans-serif"}
)
TENSORS = {  # D/c for (κxx, κyy, 2κxy), as tests/catalogue/test_shells.py measures them
    "equilateral": [[1, -1 / 3, 0], [-1 / 3, 1, 0], [0, 0, 2 / 3]],
    "one-diagonal": [[1, 0, 1 / 2], [0, 1, 1 / 2], [1 / 2, 1 / 2, 3 / 2]],
    "alternating": [[5 / 6, -1 / 6, 0], [-1 / 6, 5 / 6, 0], [0, 0, 1]],
}
PUBLISHED = {
    0.1: (0.103, 1.309),
    0.5: (1.604, 4.933),
    1.0: (3.286, 6.698),
}  # P/P_max: U, W (Sze, Liu and Lo 2004)


def hinge(axes):
    """Two triangles and u = -∇θ, which is the force of V = ½θ² by θ."""
    theta = np.radians(50)
    x = np.array(
        [[0.2, -1.0, 0], [-0.1, np.cos(theta), -np.sin(theta)], [0.8, 0, 0], [-0.8, 0, 0]]
    )  # c, d, a, b
    bent = taut.System(
        x, mass=1.0, energies=[laws.shell_bending([[0, 1, 2, 3]], c=1.0, ratio=1.0, theta0=0.0)]
    )
    u = bent.f(bent.initial_state()) / theta
    view = np.array(
        [[-0.5, -0.45], [1.0, -0.1], [0.0, 1.0]]
    )  # x comes out of the picture, y runs to the right, z up
    seen, arrows = x @ view, 0.6 * u @ view
    for corners, shade in (((0, 2, 3), "0.9"), ((1, 3, 2), "0.8")):
        axes.fill(*seen[list(corners)].T, fc=shade, ec="0.4")
    axes.plot(*seen[2:].T, color="k", lw=2)
    for start, arrow in zip(seen, arrows, strict=True):
        axes.annotate(
            "",
            start + arrow,
            start,
            arrowprops={"arrowstyle": "->", "color": "tab:red", "shrinkA": 0, "shrinkB": 0},
        )
    axes.plot(*seen.T, "o", color="k", ms=4)
    foot = np.array([[x[0, 0], 0, 0]]) @ view
    axes.plot(*np.concatenate([seen[:1], foot]).T, ":", color="0.4")
    flat = np.array([[0.2, 0, 0], [0.2, 0.9, 0]]) @ view
    axes.plot(*flat.T, ":", color="0.4")
    arc = np.linspace(0, theta, 20)
    axes.plot(
        *(np.column_stack([0 * arc + 0.2, 0.6 * np.cos(arc), -0.6 * np.sin(arc)]) @ view).T,
        color="0.4",
        lw=1,
    )
    for text, place, shift in (
        ("c", seen[0], (-0.14, -0.04)),
        ("d", seen[1], (0.06, -0.1)),
        ("a", seen[2], (-0.14, -0.1)),
        ("b", seen[3], (-0.02, 0.07)),
        ("h₁", (seen[0] + foot[0]) / 2, (-0.05, 0.04)),
        ("e", seen[2:].mean(axis=0), (-0.15, 0.02)),
        ("θ", foot[0], (0.66, -0.3)),
    ):
        axes.text(*(place + shift), text)
    axes.text(*(seen[0] + arrows[0] + (-0.1, 0.05)), "n₁/h₁", color="tab:red")
    axes.text(*(seen[1] + arrows[1] + (0.03, 0.0)), "n₂/h₂", color="tab:red")
    axes.set(title="a hinge, and u = -∇θ", xlim=(-1.3, 1.35), ylim=(-1.1, 0.9), aspect="equal")
    axes.axis("off")


def rigidity(axes):
    """Cylindrical rigidity by the direction of the curvature."""
    a = np.linspace(0, 2 * np.pi, 145)
    curvature = np.stack([np.cos(a) ** 2, np.sin(a) ** 2, np.sin(2 * a)], axis=1)
    for (name, tensor), colour in zip(
        TENSORS.items(), mpl.colormaps["viridis"]([0.0, 0.45, 0.8]), strict=True
    ):
        radius = np.einsum("ai,ij,aj->a", curvature, np.array(tensor), curvature)
        axes.plot(radius * np.cos(a), radius * np.sin(a), color=colour, label=name)
    axes.axhline(0, color="0.8", lw=0.8, zorder=0)
    axes.axvline(0, color="0.8", lw=0.8, zorder=0)
    axes.set(
        title="D/c by the direction ψ of bending",
        xlim=(-2.4, 2.4),
        ylim=(-2.4, 2.4),
        aspect="equal",
        xticks=range(-2, 3),
    )
    axes.set(xlabel="(D/c) cos ψ", yticks=range(-2, 3))
    axes.set_ylabel("(D/c) sin ψ", labelpad=0)
    axes.legend(frameon=False, loc="lower right", fontsize=8, handlelength=1.2, borderaxespad=0.1)


def strip(axes):
    """The strip of tests/catalogue/test_strip.py, twice as long and mirrored at the wall.

    40 × 4 cells on either side.
    """
    length, ei, n = 10.0, 100.0, 40
    mesh = taut.mesh.sheet(2 * n, 4, size=(2 * length, 1.0), pattern="alternating")
    x = mesh.points - [length, 0, 0]
    ends, middle = np.flatnonzero(abs(x[:, 0]) > length - 1e-9), np.flatnonzero(abs(x[:, 0]) < 1e-9)
    share = np.where(np.isin(x[ends, 1], (0.0, 1.0)), 0.5, 1.0) / 4
    system = taut.System(
        x,
        mass=1.0,
        fixed=middle[[0, -1]],
        energies=[
            laws.spring(mesh.edges, k=1.2e4),
            laws.shell_bending(mesh.hinges, c=ei / 0.8),
            laws.force(ends, f=share[:, None] * [0, 0, 4 * ei / length**2]),
        ],
    )
    row = np.flatnonzero((x[:, 1] == 0.5) & (x[:, 0] > -1e-9))
    loads = np.linspace(0.1, 1.0, 10)
    for load, step in zip(loads, taut.equilibrium(system, loads=loads).path, strict=True):
        axes.plot(
            *step.state.q[row][::2][:, [0, 2]].T, color=mpl.colormaps["viridis"](0.85 * load), lw=1
        )
    tips = np.array([(length - u, w) for u, w in PUBLISHED.values()])
    axes.plot(*tips.T, "o", mfc="none", mec="tab:red", label="Sze, Liu and Lo")
    for (load, _), tip in zip(PUBLISHED.items(), tips, strict=True):
        axes.text(tip[0] + 0.25, tip[1] + 0.1, f"P/P_max = {load:g}", fontsize=8)
    axes.plot([0, 0], [-0.5, 0.5], "k", lw=4)
    axes.set(
        title="a strip under end shear, PL²/EI up to 4",
        xlabel="x [m]",
        ylabel="z [m]",
        xlim=(-0.3, 14.2),
        xticks=(0, 5, 10),
        ylim=(-0.6, 8),
        aspect="equal",
    )
    axes.legend(frameon=False, loc="upper left", fontsize=8)


figure = Figure(figsize=(10, 3.4))
left, centre, right = figure.subplots(1, 3)
figure.subplots_adjust(left=0.01, right=0.99, bottom=0.14, top=0.9, wspace=0.2)
hinge(left)
rigidity(centre)
strip(right)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
