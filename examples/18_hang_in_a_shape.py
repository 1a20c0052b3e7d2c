"""Design by gradients: rest lengths for which a net of cords hangs in a given shape.

The shape is a paraboloid 1 m deep under a square of 4 m, held along its rim. The squared distance
of the hanging net from it is minimised by L-BFGS over all rest lengths, with the exact gradient of
the equilibrium. The rim then carries the weight of the net.
"""

import numpy as np
from scipy.optimize import minimize

import taut
from taut import laws
from taut.inverse.targets import change_system

K, MASS = 2e3, 0.5  # stiffness of a cord [N/m], mass of a knot [kg]

net = taut.mesh.net(8, 8, size=4.0)
x, z = np.array(net.points)[:, 0] - 2.0, np.array(net.points)[:, 1] - 2.0
TARGET = np.stack([x, (1 - (x / 2) ** 2) * ((z / 2) ** 2 - 1), z], axis=1)
RIM = np.flatnonzero(np.isclose(np.maximum(np.abs(x), np.abs(z)), 2.0))
FLAT = np.linalg.norm(np.subtract(*TARGET[net.edges.T]), axis=1)
system = taut.System(
    TARGET,
    mass=MASS,
    fixed=RIM,
    energies=[laws.spring(net.edges, k=K, l0=FLAT), laws.gravity()],
)


def miss(state) -> tuple[float, np.ndarray]:
    """Half the squared distance from the target, and its gradient."""
    gap = np.array(state.q) - TARGET
    return 0.5 * float(np.sum(gap**2)), gap


def run() -> dict[str, object]:
    """Return the net before and after the design, and the distances from the target [m]."""
    tight, last = taut.Tolerance(relative=1e-12), system.initial_state()

    def evaluate(lengths):
        nonlocal last
        found = taut.equilibrium(
            change_system(system, {"spring.l0": lengths}), last, tolerance=tight
        )
        last = found.state
        slope = taut.gradient(found, miss, by=["spring.l0"], certify=False)
        return 1e6 * slope.value, 1e6 * slope["spring.l0"]

    before = taut.equilibrium(system, tolerance=tight)
    options = {"maxiter": 400, "ftol": 1e-18, "gtol": 1e-9}
    bounds = [(0.5 * length, 1.5 * length) for length in FLAT]
    best = minimize(evaluate, FLAT, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    after = taut.equilibrium(change_system(system, {"spring.l0": best.x}), last, tolerance=tight)
    return {
        "before": before.state.q,
        "after": after.state.q,
        "off_before": float(np.abs(before.state.q - TARGET).max()),
        "off_after": float(np.abs(after.state.q - TARGET).max()),
        "carried": float(after.reactions[:, 1].sum()),
        "evaluations": best.nfev,
    }


def picture(figure, result) -> None:
    """Draw the net before and after, and the target."""
    view = np.array([[0.9, -0.2], [0.0, 1.0], [0.5, 0.3]])
    axes = figure.subplots()
    shapes = (
        (TARGET, "0.8", "wanted", 3.0),
        (result["before"], "tab:orange", "modelled lengths", 0.7),
        (result["after"], "tab:blue", "designed lengths", 0.9),
    )
    for q, colour, label, width in shapes:
        pen = np.pad((q @ view)[net.edges], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
        axes.plot(*pen.reshape(-1, 2).T, lw=width, color=colour, label=label)
    axes.set(aspect="equal")
    axes.axis("off")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


if __name__ == "__main__":
    result = run()
    before, after = 1e3 * result["off_before"], 1e3 * result["off_after"]
    print(f"with modelled lengths the net hangs {before:.2f} mm off the target,")
    print(f"with designed ones {after:.5f} mm, found in {result['evaluations']} equilibria")
    print(f"the rim carries {result['carried']:.6f} N of {81 * MASS * 9.81:.6f} N")
