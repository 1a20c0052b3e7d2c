"""A law of your own: a spring that stiffens with strain, V = ½ k e² + ¼ s e⁴ with e = l - l₀.

Only the formula has to be written. A mass that hangs from the spring comes to rest at the extension
given by k e + s e³ = m g, which is solved here by Newton's method in one variable for comparison.
"""

import taut
from taut import laws
from taut.formula import norm

K, S, M = 20.0, 400.0, 1.0


@taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])}, invariant="rigid motion")
def stiffening_spring(x, k, s, l0):
    """V = ½ k e² + ¼ s e⁴, e = l - l₀."""
    e = norm(x[1] - x[0]) - l0
    return k / 2 * e**2 + s / 4 * e**4


system = taut.System(
    [[0, 0, 0], [0, -1, 0]],
    mass=M,
    energies=[stiffening_spring([[0, 1]], k=K, s=S), laws.gravity()],
    damping=[laws.spring_damping([[0, 1]], c=8.0)],
    fixed=[0],
)


def run() -> dict[str, object]:
    """Simulate eight seconds.

    Returns the extension after each step, the last one, and that at which the forces balance [m].
    """
    steps = taut.simulate(system, taut.ImplicitEuler(), h=0.02, until=8.0)
    extensions = [-float(state.q[1, 1]) - 1.0 for state, _ in steps]
    e = 0.3
    for _ in range(50):
        e -= (K * e + S * e**3 - M * 9.81) / (K + 3 * S * e**2)
    return {"simulated": extensions[-1], "balance": e, "extensions": extensions}


def picture(figure, result) -> None:
    """Plot the force of the law with Hooke's, and the extension over time."""
    left, right = figure.subplots(1, 2)
    e = [0.01 * i for i in range(36)]
    left.plot(e, [K * x + S * x**3 for x in e], label="k e + s e³")
    left.plot(e, [K * x for x in e], ":", label="k e")
    left.plot(result["balance"], M * 9.81, "o", color="tab:red", label="m g")
    left.set(title="the law", xlabel="extension [m]", ylabel="force [N]")
    left.legend(frameon=False)
    right.plot([0.02 * i for i in range(101)], [0.0, *result["extensions"][:100]])
    right.axhline(result["balance"], color="0.5", ls="--", lw=1)
    right.set(title="a kilogram on it", xlabel="t [s]", ylabel="extension [m]")


if __name__ == "__main__":
    result = run()
    print(
        f"extension simulated {result['simulated']:.9f} m, from the balance of forces "
        f"{result['balance']:.9f} m"
    )
