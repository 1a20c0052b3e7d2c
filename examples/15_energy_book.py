"""The energy ledger: drag dissipates the work that shakes the support of a mass on a spring.

In the steady state the support does the work E = π m α Ω X² per period, X = a ω²/√((ω² - Ω²)² +
(αΩ)²), and drag dissipates as much. A method with numerical dissipation has another X, and
dissipates a part itself: the ledger shows how much, and closes. For implicit Euler, BDF2 and the
midpoint rule the discrete motion is also known: with s for d/dt in the differences of the method,
s² x + α s x + ω²(x - b) = 0, where x and b are complex amplitudes, and drag dissipates α m |s x|²/2
on average.
"""

import cmath
import math

import taut
from taut import laws
from taut.constraints import scripted

M, K, L0, ALPHA, A, PUSH = 1.0, 25.0, 1.0, 4.0, 0.05, 4.0  # PUSH is Ω [rad/s]
# steps per period; periods to wait, in which the transient falls to e⁻¹⁸
STEPS, SETTLE = 32, 6
PERIOD = 2 * math.pi / PUSH
H = PERIOD / STEPS
LOW = -(L0 + M * 9.81 / K)

system = taut.System(
    [[0, 0, 0], [0, -L0, 0]],
    mass=M,
    energies=[laws.spring([[0, 1]], k=K), laws.gravity()],
    damping=[laws.drag([1], alpha=ALPHA)],
    constraints=[scripted([0], lambda t: (0, A * math.sin(PUSH * t), 0))],
    pose=[[0, 0, 0], [0, LOW, 0]],
)
IMPLICIT = (taut.ImplicitEuler, taut.BDF2, taut.TRBDF2, taut.ImplicitMidpoint)
METHODS = (*IMPLICIT, taut.VelocityVerlet, taut.RK4)


def drag_dissipation(s: complex) -> float:
    """Return the energy that drag dissipates per period [J], with s for d/dt."""
    x = A * K / M / (s * s + ALPHA * s + K / M)
    return PERIOD * ALPHA * M * abs(s * x) ** 2 / 2


def run() -> dict[str, dict[str, float]]:
    """Simulate each method to its steady state.

    Returns the ledger of one period [J], and the dissipation of drag by theory: of the discrete
    motion if that is known, otherwise of the exact motion.
    """
    z = cmath.exp(1j * PUSH * H)
    exact = drag_dissipation(1j * PUSH)
    differences = {
        "ImplicitEuler": 1 - 1 / z,
        "BDF2": 1.5 - 2 / z + 0.5 / z**2,
        "ImplicitMidpoint": 2 * (z - 1) / (z + 1),
    }
    expected = {name: drag_dissipation(d / H) for name, d in differences.items()}
    books = {}
    for method in METHODS:
        *_, (state, _) = taut.simulate(system, method(), h=H, until=SETTLE * PERIOD)
        before = system.T(state) + system.V(state)
        end, ledger = (SETTLE + 1) * PERIOD, taut.Ledger()
        run = taut.simulate(system, method(), h=H, until=end, state=state, ledger=ledger)
        *_, (state, _) = run
        total = run.ledger.total()
        books[method.__name__] = {
            "scripted": total.scripted,
            "drag": total.dissipated["drag"],
            "numerical": total.numerical,
            "residual": total.residual,
            "gained": system.T(state) + system.V(state) - before,
            "gap": total.gap,
            "scale": total.scale,
            "expected": expected.get(method.__name__, exact),
            "exact": exact,
        }
    return books


def picture(figure, books) -> None:
    """Plot how the work of the support is dissipated in one period, by method."""
    axes, base = figure.subplots(), [0.0] * len(books)
    for item in ("drag", "numerical"):
        amounts = [1000 * b[item] for b in books.values()]
        axes.barh(list(books), amounts, left=base, height=0.6, label=item)
        base = amounts
    work = [1000 * b["scripted"] for b in books.values()]
    axes.plot(work, list(books), "|", ms=16, color="k", label="work of the support")
    axes.axvline(1000 * books["RK4"]["exact"], color="0.5", ls="--", lw=1, label="drag, exactly")
    axes.set(title="one period of a shaken spring, 32 steps", xlabel="energy [mJ]")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))


if __name__ == "__main__":
    books = run()
    exact = 1000 * books["RK4"]["exact"]
    print(f"in one period, {STEPS} steps, drag dissipates π m α Ω X² = {exact:.4f} mJ\n")
    print("in mJ              support       drag  numerical    gained       gap   drag, theory")
    for name, b in books.items():
        items = ("scripted", "drag", "numerical", "gained")
        amounts = "".join(f"{1000 * b[item]:11.4f}" for item in items)
        print(f"{name:16}{amounts}  {1000 * b['gap']:8.0e}{1000 * b['expected']:11.4f}")
