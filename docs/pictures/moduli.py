"""Young's modulus by direction.

Van Gelder's formula, and the fit, on three sheets. Writes moduli.svg next to this file.
"""

import re
from pathlib import Path

import matplotlib
import numpy as np
from scipy.spatial import Delaunay

import taut
from taut.materials import springs

matplotlib.use("svg")
matplotlib.rcParams |= {
    "svg.fonttype": "none",
    "svg.hashsalt": "taut",
    "font.family": "sans-serif",
    "font.size": 10,
}
from matplotlib import pyplot as plt  # noqa: E402

GUESS, FIT, ASKED = "#c05020", "#1f5fa8", "#888888"


def irregular(n):
    """A square of Delaunay triangles on points moved from a grid at random."""
    x, y = np.meshgrid(np.arange(n + 1) / n, np.arange(n + 1) / n)
    p = np.column_stack([x.ravel(), y.ravel()])
    inner = ((p > 1e-9) & (p < 1 - 1e-9)).all(axis=1)
    p[inner] += np.random.default_rng(4).uniform(-0.35, 0.35, (inner.sum(), 2)) / n
    t = Delaunay(p).simplices
    a, b = p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]]
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return taut.mesh.Mesh(
        p, {"triangle": np.where(area[:, None] < 0, t[:, ::-1], t)[np.abs(area) > 1e-9]}
    )


def main():
    sheets = {
        "rectangles 1.5 : 1": (taut.mesh.sheet(4, 6), taut.mesh.sheet(16, 16, size=(1.5, 1.0))),
        "alternating diagonals": (
            taut.mesh.sheet(6, 6, pattern="alternating"),
            taut.mesh.sheet(24, 24, pattern="alternating"),
        ),
        "irregular": (irregular(6), irregular(24)),
    }
    angle = np.linspace(0, 2 * np.pi, 61)
    figure = plt.figure(figsize=(8.4, 4.9))
    for i, (title, (shown, mesh)) in enumerate(sheets.items()):
        drawn = figure.add_axes((0.07 + 0.32 * i, 0.70, 0.17, 0.24))
        drawn.set_title(title, fontsize=10)
        pairs = np.concatenate([shown.edges, shown.diagonals])
        x, y = (
            np.insert(shown.positions[pairs, axis], 2, np.nan, axis=1).ravel() for axis in (0, 1)
        )
        drawn.plot(x, y, color="black", linewidth=0.5)
        drawn.set_aspect("equal")
        drawn.axis("off")
        polar = figure.add_axes((0.03 + 0.32 * i, 0.09, 0.26, 0.52), projection="polar")
        polar.plot(
            angle, np.ones_like(angle), color=ASKED, linewidth=1, linestyle=":", label="asked for"
        )
        for fit, colour, label in ((False, GUESS, "Van Gelder"), (True, FIT, "fitted")):
            reached = springs(mesh, membrane=1.0, fit=fit).reached
            polar.plot(
                angle,
                [reached.along([np.cos(a), np.sin(a), 0]) for a in angle],
                color=colour,
                linewidth=1.6,
                label=label,
            )
        polar.set_ylim(0, 1.5)
        polar.set_rlabel_position(65)
        polar.set_yticks([0.5, 1.0, 1.5], ["0.5", "1", ""], fontsize=8)
        polar.set_xticks(np.arange(4) * np.pi / 2, ["0°", "90°", "", ""], fontsize=8)
    figure.legend(*polar.get_legend_handles_labels(), loc="lower center", ncol=3, frameon=False)
    path = Path(__file__).with_suffix(".svg")
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    path.write_text(
        re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", path.read_text())
    )


if __name__ == "__main__":
    main()
