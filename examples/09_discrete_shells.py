"""Discrete Shells (Grinspun, Hirani, Desbrun and Schröder 2003): edges, areas and hinge angles.

A strip of paper, clamped horizontally at one end, droops under its weight. How far depends only on
Γ = w L³/EI, with w the weight per length. The rigidity of its hinges is 6k; a free strip of squares
with alternating diagonals has EI/b = 0.8 · 6k. The ratio of height to width of the curve is
compared with the heavy elastica. Cells at the wall bend over half their length only, so the hinges
there have 2k.
"""

import numpy as np

import taut
from taut import laws

# cells along the strip of 1 m; bending stiffness [N m²]; paper [kg/m²]
CELLS, EI, DENSITY = 24, 1e-4, 0.08
WIDE = 1 / CELLS
DROOP = {1: 0.12456, 5: 0.58572, 10: 1.06680, 20: 1.86393}  # Γ → height / width
FULL = DENSITY * 9.81 * WIDE / EI  # Γ of the strip in Earth's gravity

mesh = taut.mesh.sheet(CELLS + 1, 1, size=(1 + WIDE, WIDE), pattern="alternating", plane="xz")
points = mesh.points - [WIDE, 0, 0]  # a row of cells is in the wall
wall = np.flatnonzero(points[:, 0] < 1e-9)
at_wall = np.abs(points[mesh.hinges[:, 2:], 0]).max(axis=1) < 1e-9
k = EI / WIDE / 0.8 / 6
strip = taut.System(
    points,
    mass=taut.areal_mass(mesh, DENSITY),
    fixed=wall,
    energies=[
        laws.discrete_shell_edge(mesh.edges, k=100.0),
        laws.discrete_shell_area(mesh.triangles, k=1000.0),
        laws.discrete_shell_bending(mesh.hinges, k=np.where(at_wall, 2 * k, k)),
        laws.gravity(),
    ],
)


def run() -> dict[str, object]:
    """Return the shapes [m] and height/width for each Γ; gravity is increased in steps."""
    found = taut.equilibrium(strip, loads=[gamma / FULL for gamma in DROOP])
    shapes = [step.state.q for step in found.path]
    tips = [q[points[:, 0] > 1 - 1e-9].mean(axis=0) for q in shapes]
    return {
        "shapes": shapes,
        "droop": [-tip[1] / tip[0] for tip in tips],
        "stable": found.stability.stable,
    }


def picture(figure, result) -> None:
    """Draw the strips, seen obliquely from above."""
    view = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.9]])
    axes = figure.subplots()
    for gamma, q in zip(DROOP, result["shapes"], strict=True):
        pen = np.pad(
            (q @ view)[mesh.edges], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan
        )  # nan lifts the pen
        axes.plot(*pen.reshape(-1, 2).T, lw=0.7)
        axes.annotate(f"Γ = {gamma:g}", (q @ view)[CELLS + 1], (5, -4), textcoords="offset points")
    axes.set(title="a strip of paper, more and more heavy", aspect="equal", xlim=(-0.08, 1.25))
    axes.axis("off")


if __name__ == "__main__":
    result = run()
    for (gamma, expected), found in zip(DROOP.items(), result["droop"], strict=True):
        print(
            f"Γ = {gamma:2}: height/width {found:.5f}, heavy elastica {expected:.5f} "
            f"({100 * (found / expected - 1):+.2f}%)"
        )
