"""Design by gradients: force densities of a loaded net for a target, with bounds on its forces.

A net between a square rim carries 10 N at each knot and shall hang in a lopsided bowl. Free force
densities come closest to it, but some cords then carry several times as much as others. With every
force between 8 N and 22 N the net hangs a little off the target. Both are found by sequential
quadratic programming (SLSQP) on exact derivatives of the form and of each force.
"""

from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import minimize

import taut

LOAD = (0.0, -10.0, 0.0)  # on each knot [N]
BOUNDS = (8.0, 22.0)  # on the force of each cord [N]

net = taut.mesh.net(4, 4, size=2.0)
x, z = np.array(net.points)[:, 0] - 1.0, np.array(net.points)[:, 1] - 1.0
TARGET = np.stack([x, (1 - x**2) * (z**2 - 1) * (0.5 + 0.2 * x), z], axis=1)
RIM = np.flatnonzero(np.isclose(np.maximum(np.abs(x), np.abs(z)), 1.0))
edges = net.edges[~np.isin(net.edges, RIM).all(axis=1)]
LOADS = np.where(np.isin(np.arange(net.n), RIM)[:, None], 0.0, LOAD)
DENSITY = np.full(len(edges), 50.0)  # where the search begins [N/m]


@cache
def find_form(density: tuple[float, ...]) -> Any:
    """Return the net in equilibrium with these force densities [N/m]."""
    return taut.form_finding(TARGET, fixed=RIM, edges=edges, density=density, loads=LOADS,
                             accuracy=1e-6)  # fmt: skip


def find(density: np.ndarray) -> Any:
    """Return the same for an array; SLSQP asks for each form several times."""
    return find_form(tuple(density.tolist()))


def miss(state) -> tuple[float, np.ndarray]:
    """Half the squared distance from the target [m²], and its gradient."""
    gap = np.array(state.q) - TARGET
    return 0.5 * float(np.sum(gap**2)), gap


def differentiate(form: Any, loss) -> np.ndarray:
    """Return the gradient of a loss of the form by all force densities."""
    return taut.gradient(form, loss, by=["force_density.d"], certify=False)["force_density.d"]


def force_slopes(form: Any, density: np.ndarray) -> np.ndarray:
    """Return the derivatives of all forces d·l by all force densities, (m, m)."""
    rows = np.diag(form.lengths)
    for e, (i, j) in enumerate(edges):
        along = (form.points[j] - form.points[i]) / form.lengths[e]
        by_q = np.zeros((net.n, 3))
        by_q[i], by_q[j] = -along, along
        rows[e] += density[e] * differentiate(form, lambda s, g=by_q: (0.0, g))
    return rows


def design(bounded: bool) -> Any:
    """Return the net that hangs nearest to the target."""
    low, high = BOUNDS
    limits = {
        "type": "ineq",
        "fun": lambda d: np.concatenate([find(d).forces - low, high - find(d).forces]),
        "jac": lambda d: np.concatenate([s := force_slopes(find(d), d), -s]),
    }
    best = minimize(
        lambda d: 1e3 * miss(find(d).system.initial_state().with_(q=find(d).points))[0],
        DENSITY,
        jac=lambda d: 1e3 * differentiate(find(d), miss),
        method="SLSQP",
        bounds=[(1.0, 500.0)] * len(edges),
        constraints=[limits] if bounded else [],
        options={"maxiter": 100, "ftol": 1e-8},
    )
    return find(best.x)


def run() -> dict[str, object]:
    """Return both nets, and how far they are off the target [m]."""
    free, held = design(False), design(True)
    off = [float(np.linalg.norm(form.points - TARGET, axis=1).max()) for form in (free, held)]
    return {"free": free, "held": held, "off_free": off[0], "off_held": off[1]}


def picture(figure, result) -> None:
    """Draw both nets over the target, cords as wide as their force, and the forces in order."""
    view = np.array([[0.9, -0.2], [0.0, 1.0], [0.5, 0.3]])
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.3, 1.3, 1.0))
    for axes, name in ((left, "free"), (middle, "held")):
        form = result[name]
        for i, j in edges:
            axes.plot(*(TARGET[[i, j]] @ view).T, lw=3.0, color="0.85")
        for (i, j), force in zip(edges, form.forces, strict=True):
            axes.plot(*(form.points[[i, j]] @ view).T, lw=force / 15, color="tab:blue")
        axes.set(aspect="equal", title=f"{name}: {1e3 * result['off_' + name]:.0f} mm off")
        axes.axis("off")
        right.plot(np.sort(form.forces), label=name)
    right.axhspan(*BOUNDS, color="0.9")
    right.set(xlabel="cord", ylabel="force [N]", ylim=(0, None))
    right.legend(frameon=False)


if __name__ == "__main__":
    result = run()
    for name in ("free", "held"):
        forces, off = result[name].forces, 1e3 * result[f"off_{name}"]
        print(f"{name}: forces from {forces.min():.3f} to {forces.max():.3f} N, {off:.2f} mm off")
