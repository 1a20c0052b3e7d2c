"""The energy book: a mass hangs on a spring whose upper end is shaken.

And drag takes away what the shaking brings in.

When it has settled, the support does the work E = π m α Ω X² in each period, X = a ω²/√((ω² - Ω²)²
+ (αΩ)²), and the drag takes the same. A method with numerical dissipation has another X, and takes
a part itself: the book shows how much, and closes. For implicit Euler, BDF2 and the midpoint rule
the discrete motion is known as well: with s for d/dt in the method's own differences, s² x + α s x
+ ω²(x - b) = 0, and drag takes α m |s x|²/2 on average, x and b now being complex amplitudes.
"""

import cmath
import math

import taut
from taut import laws
from taut.constraints import scripted

M, K, L0, ALPHA, A, PUSH = 1.0, 25.0, 1.0, 4.0, 0.05, 4.0  # PUSH is Ω [rad/s]
STEPS, SETTLE = (
    32,
    6,
)  # steps a period; periods to wait: what was there at the start has fallen to e⁻¹⁸ of it
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


def taken_by_drag(s: complex) -> float:
    """Energy a period [J] if s stands for d/dt."""
    x = A * K / M / (s * s + ALPHA * s + K / M)
    return PERIOD * ALPHA * M * abs(s * x) ** 2 / 2


def run() -> dict[str, dict[str, float]]:
    """The book of one period for each method [J], and what theory says of the drag.

    Of the method, or of the motion.
    """
    z = cmath.exp(1j * PUSH * H)
    exact = taken_by_drag(1j * PUSH)
    differences = {
        "ImplicitEuler": 1 - 1 / z,
        "BDF2": 1.5 - 2 / z + 0.5 / z**2,
        "ImplicitMidpoint": 2 * (z - 1) / (z + 1),
    }
    expected = {name: taken_by_drag(d / H) for name, d in differences.items()}
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
    """What becomes of the work of the support in one period, by method."""
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
    print(f"in one period, {STEPS} steps, drag takes π m α Ω X² = {exact:.4f} mJ\n")
    print("in mJ              support       drag  numerical    gained       gap   drag, theory")
    for name, b in books.items():
        items = ("scripted", "drag", "numerical", "gained")
        amounts = "".join(f"{1000 * b[item]:11.4f}" for item in items)
        print(f"{name:16}{amounts}  {1000 * b['gap']:8.0e}{1000 * b['expected']:11.4f}")
