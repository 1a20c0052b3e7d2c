"""Residual against iterations of conjugate gradients.

With the blocks of particles alone and with multigrid: multigrid.svg.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from taut.bench.net import cloth
from taut.linalg.blocks import row_norms
from taut.linalg.multigrid import Multigrid
from taut.system.workspace import workspace_for

mpl.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "multigrid",
        "font.size": 9,
        "font.family": "sans-serif",
    }
)
H = 0.01


def problem(n):
    """The matrix and the right-hand side of a step of the soft cloth, bent a little."""
    system = cloth(n).system()
    q = np.array(system.initial_state().q)
    q[:, 1] -= 0.05 * np.sin(3 * q[:, 0]) * np.sin(2 * q[:, 2])
    state = system.initial_state().with_(q=system._projector.project_positions(q, 0.0))
    matrix = workspace_for(system).stiffness(state, project=True).copy()
    matrix.data[matrix.pattern.diagonal] += (system.mass / H**2)[:, None, None] * np.eye(3)
    system._projector.apply_to_matrix(matrix)
    return matrix, system._projector.project(system.f(state))


def by_blocks(matrix, b, until):
    """|r|/|b| after each iteration of conjugate gradients with the inverse diagonal blocks."""
    inverse = np.linalg.inv(matrix.data[matrix.pattern.diagonal])
    r, p, rz, found = b, np.zeros_like(b), 1.0, [1.0]
    while found[-1] > until:
        z = np.einsum("nij,nj->ni", inverse, r)
        rz, old = float((r * z).sum()), rz
        p = z + (rz / old if len(found) > 1 else 0.0) * p
        ap = matrix.multiply(p)
        r = r - rz / float((p * ap).sum()) * ap
        found.append(np.linalg.norm(r) / np.linalg.norm(b))
    return np.arange(len(found)), np.array(found)


def by_multigrid(matrix, b, until):
    """The same for multigrid, from solves that are cut short."""
    found = [(0, 1.0)]
    while found[-1][1] > until:
        solver = Multigrid(max_iterations=found[-1][0] + 1)
        solver.factor(matrix)
        solution = solver.solve(b, np.zeros(len(b)))
        found.append(
            (found[-1][0] + 1, np.linalg.norm(solution.residuals) / np.linalg.norm(row_norms(b)))
        )
    return np.array(found).T


figure = Figure(figsize=(6.4, 3.4), layout="constrained")
axes = figure.subplots()
for n, shade in ((25, 0.4), (50, 0.7), (100, 1.0)):
    matrix, b = problem(n)
    axes.semilogy(
        *by_blocks(matrix, b, 1e-8),
        color="tab:red",
        alpha=shade,
        lw=1,
        label=f"blocks of particles, n = {n}",
    )
    axes.semilogy(
        *by_multigrid(matrix, b, 1e-8),
        "-o",
        ms=2,
        color="tab:blue",
        alpha=shade,
        lw=1,
        label=f"multigrid, n = {n}",
    )
axes.set(xlabel="iterations", ylabel="residual, relative", xscale="symlog", ylim=(1e-8, 3))
axes.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
axes.legend(frameon=False, loc="lower left", fontsize=8)
axes.grid(alpha=0.3)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
