"""Amplification factors z of the integrators on x'' = -ω²x, where x_n = Re(C zⁿ).

|z| is the change of amplitude and arg z the phase of one step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.optimise.tolerance import Tolerance
from taut.run.simulate import simulate
from taut.step.bdf2 import BDF2
from taut.step.explicit_euler import ExplicitEuler
from taut.step.implicit_euler import ImplicitEuler
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.step.integrator import Integrator
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler
from taut.step.rk4 import RK4
from taut.step.symplectic_euler import SymplecticEuler
from taut.step.tr_bdf2 import TRBDF2
from taut.step.velocity_verlet import VelocityVerlet
from taut.validate._bodies import build_system, take_steps
from taut.validate.cases import Curve, Measurement, case

HAIRER = "Hairer and Wanner, Solving Ordinary Differential Equations II"
LUBICH = "Hairer, Lubich and Wanner, Geometric Numerical Integration, I.1, on x'' = -ω²x"
OMEGA, X0, V0 = 3.0, 0.3, -0.8
TIGHT = Tolerance(1e-14)
Y = 0.4  # hω
C = 2 - np.sqrt(2)  # fraction of a TR-BDF2 step that is trapezoidal


def bdf2_factor(w: complex) -> complex:
    """Return the larger root of (3/2 - w) z² - 2z + ½ = 0."""
    return complex(max(np.roots([1.5 - w, -2, 0.5]), key=abs))


def tr_bdf2_factor(w: complex) -> complex:
    middle = (1 + C / 2 * w) / (1 - C / 2 * w)
    return (middle / C - (1 - C) ** 2 / C) / (2 - C - (1 - C) * w)


def unit_circle_factor(w: complex) -> complex:
    """Return the factor of modulus 1 whose angle has the cosine 1 + w²/2."""
    return complex(np.exp(1j * np.arccos(1 + (w * w).real / 2)))


METHODS: dict[str, tuple[Callable[[], Integrator], Callable[[complex], complex], str, str]] = {
    "symplectic-euler": (
        SymplecticEuler,
        unit_circle_factor,
        "|z| = 1, cos arg z = 1 - (hω)²/2",
        LUBICH,
    ),
    "velocity-verlet": (
        VelocityVerlet,
        unit_circle_factor,
        "|z| = 1, cos arg z = 1 - (hω)²/2",
        LUBICH,
    ),
    "rk4": (
        RK4,
        lambda w: 1 + w + w**2 / 2 + w**3 / 6 + w**4 / 24,
        "z = 1 + w + w²/2 + w³/6 + w⁴/24, w = ihω",
        f"{HAIRER}, IV.2",
    ),
    "implicit-euler": (
        lambda: ImplicitEuler(tolerance=TIGHT),
        lambda w: 1 / (1 - w),
        "z = 1/(1 - ihω)",
        f"{HAIRER}, IV.3",
    ),
    "linearly-implicit-euler": (
        lambda: LinearlyImplicitEuler(tolerance=TIGHT),
        lambda w: 1 / (1 - w),
        "z = 1/(1 - ihω)",
        f"{HAIRER}, IV.3",
    ),
    "implicit-midpoint": (
        lambda: ImplicitMidpoint(tolerance=TIGHT),
        lambda w: (1 + w / 2) / (1 - w / 2),
        "z = (1 + w/2)/(1 - w/2), w = ihω",
        f"{HAIRER}, IV.3",
    ),
    "bdf2": (
        lambda: BDF2(tolerance=TIGHT),
        bdf2_factor,
        "(3/2 - ihω) z² - 2z + ½ = 0",
        f"{HAIRER}, V.1",
    ),
    "tr-bdf2": (
        lambda: TRBDF2(tolerance=TIGHT),
        tr_bdf2_factor,
        "z = ((1 + cw/2)/(1 - cw/2) - (1 - c)²)/c/(2 - c - (1 - c)w), c = 2 - √2, w = ihω",
        "Bank et al., IEEE Trans. Electron Devices 32 (1985) 1992",
    ),
    "explicit-euler": (ExplicitEuler, lambda w: 1 + w, "z = 1 + ihω", f"{HAIRER}, IV.2"),
}


def simulate_positions(integrator: Integrator, h: float, steps: int) -> Float:
    """Simulate a particle on a soft pin; return x [m], shape (steps + 1,), with the start."""
    start = [[X0, 0, 0]]
    system = build_system(
        [[0, 0, 0]],
        mass=1.5,
        energies=[laws.pin(k=1.5 * OMEGA**2)],
        pose=start,
        velocity=[[V0, 0, 0]],
    )
    return np.array([X0, *(state.q[0, 0] for state in take_steps(system, integrator, h, steps))])


def fit_factor(x: Float) -> complex:
    """Fit z to x_n = Re(C zⁿ), which obeys x_{n+2} = 2 Re z x_{n+1} - |z|² x_n."""
    s, d = np.linalg.lstsq(np.column_stack([x[1:-1], -x[:-2]]), x[2:], rcond=None)[0]
    return complex(s / 2, np.sqrt(d - s * s / 4))


def evaluate_powers(x: Float, z: complex) -> Float:
    """Return the sequence Re(C zⁿ) that starts with the first two values of x."""
    n = np.arange(len(x))
    a, b = np.linalg.solve([[1.0, 0.0], [z.real, -z.imag]], x[:2])
    return np.asarray((complex(a, b) * z**n).real, dtype=np.float64)


def describe_factor(z: complex) -> list[float]:
    """Return the modulus, and the numerical frequency divided by ω."""
    return [abs(z), float(np.angle(z)) / Y]


def register(
    name: str, make: Callable[[], Integrator], z: complex, formula: str, source: str
) -> None:
    @case(
        f"factor-{name}",
        formula=formula,
        source=source,
        expected=describe_factor(z),
        tolerance=1e-13,
        reason=(
            "a fit to numbers with the rounding of forty steps, about 1e-15 each; no limit is taken"
        ),
        description=f"|z| and frequency ω̃/ω of {type(make()).__name__} at hω = 0.4, undamped.",
    )
    def measure() -> Measurement:
        # By step 40 the parasitic root of BDF2, below ½, has decayed.
        x = simulate_positions(make(), Y / OMEGA, 80)[40:]
        step = np.arange(len(x))
        return Measurement(
            describe_factor(fit_factor(x)),
            Curve(step + 40, x, evaluate_powers(x, z), "step", "x [m]"),
        )


for name, (make, formula_of, formula, source) in METHODS.items():
    register(name, make, formula_of(1j * Y), formula, source)

SMALL = 0.1  # the hω of numbers that are often quoted
ONE = 1 / (1 - 1j * SMALL)


@case(
    "factor-implicit-euler-period",
    formula="|z|^{2π/arg z} with z = 1/(1 - ihω): 0.730783; arg z/hω: 0.996687",
    source=f"{HAIRER}, IV.3",
    expected=[abs(ONE) ** (2 * np.pi / np.angle(ONE)), np.angle(ONE) / SMALL],
    tolerance=1e-12,
    reason=(
        "a fit to numbers with rounding errors of 1e-15, raised to the power of the 63 steps of a "
        "period"
    ),
)
def measure_factor_implicit_euler_period() -> Measurement:
    """Implicit Euler at hω = 0.1: amplitude after one numerical period, and ω̃/ω."""
    x = simulate_positions(ImplicitEuler(tolerance=TIGHT), SMALL / OMEGA, 130)
    z = fit_factor(x)
    return Measurement(
        [abs(z) ** (2 * np.pi / np.angle(z)), np.angle(z) / SMALL],
        Curve(np.arange(131), x, evaluate_powers(x, ONE), "step", "x [m]"),
    )


STIFF, RATE, LONG = 400.0, 3.0, 0.1  # k/m, c/m, and h, which does not resolve the oscillation
ROOTS = np.roots([1 + LONG * RATE + LONG**2 * STIFF, -(2 + LONG * RATE), 1.0]).astype(complex)
WEIGHTS = np.linalg.solve(np.array([[1, 1], 1 / ROOTS]), np.array([X0, X0 - LONG * V0]))
STEPS = np.arange(1, 41)
DAMPED = (WEIGHTS[0] * ROOTS[0] ** STEPS + WEIGHTS[1] * ROOTS[1] ** STEPS).real


@case(
    "recurrence-damped",
    formula="(1 + hc/m + h²k/m) z² - (2 + hc/m) z + 1 = 0, x_n = C₁z₁ⁿ + C₂z₂ⁿ",
    source="implicit Euler on m x'' + c x' + k x = 0, differenced",
    unit="m",
    expected=DAMPED,
    scale=X0,
    tolerance=2e-14,
    reason="positions are rounded to 4e-16 m, forces accordingly, over the few steps that matter",
)
def measure_recurrence_damped() -> Measurement:
    """Trajectory of implicit Euler on a spring and a damper; h is a third of the period."""
    system = build_system(
        [[0, 0, 0], [2, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=STIFF)],
        damping=[laws.spring_damping([[0, 1]], c=RATE)],
        pose=[[0, 0, 0], [2 + X0, 0, 0]],
        velocity=[[0, 0, 0], [V0, 0, 0]],
    )
    run = simulate(system, ImplicitEuler(tolerance=TIGHT), LONG, 40 * LONG)
    got = np.array([state.q[1, 0] - 2 for state, _ in run])
    return Measurement(got, Curve(STEPS, got, DAMPED, "step", "x [m]"))


@case(
    "invariant-symplectic-euler",
    formula="v² + ω²x² - hω²xv = constant",
    source=LUBICH,
    expected=V0**2 + OMEGA**2 * X0**2 - Y * OMEGA * X0 * V0,
    unit="m²/s²",
    tolerance=1e-13,
    reason="rounding of 400 steps: √400 ε and a small factor",
)
def measure_invariant_symplectic_euler() -> Measurement:
    """The invariant of symplectic Euler, in place of the energy, after 400 steps at hω = 0.4."""
    h = Y / OMEGA
    system = build_system(
        [[0, 0, 0]],
        mass=1.5,
        energies=[laws.pin(k=1.5 * OMEGA**2)],
        pose=[[X0, 0, 0]],
        velocity=[[V0, 0, 0]],
    )
    x, v = np.array(
        [(s.q[0, 0], s.v[0, 0]) for s, _ in simulate(system, SymplecticEuler(), h, 400 * h)]
    ).T
    kept = v**2 + OMEGA**2 * x**2 - h * OMEGA**2 * x * v
    angle = np.linspace(0, 2 * np.pi, 200)
    size = np.sqrt(V0**2 + OMEGA**2 * X0**2 - Y * OMEGA * X0 * V0)
    across, along = (
        size / np.sqrt(1 + Y / 2) * np.cos(angle),
        size / np.sqrt(1 - Y / 2) * np.sin(angle),
    )  # axes of the ellipse
    u, w = (across + along) / np.sqrt(2), (along - across) / np.sqrt(2)
    return Measurement(
        kept[-1],
        Curve(OMEGA * x[:60], v[:60], w, "ωx [m/s]", "v [m/s]", theory_x=u, equal_axes=True),
    )


STRUT_STEPS = np.array([0.02, 0.05, 0.08, 0.13, 0.16, 0.2])  # [s]; singular at 0.1 s


def strut_speed(h: Float) -> Float:
    """Return v' [m/s] for m = 1 kg, k(1 - l₀/l) = -100 N/m and v = 0.3 m/s."""
    return 0.3 / (1 - 100.0 * h**2)


@case(
    "strut-true-stiffness",
    formula="v' = v/(1 + h²k(1 - l₀/l)/m), across a spring with l = l₀/2",
    source="(M + h²K)v' = Mv + hf with the Hessian of ½k(l - l₀)²",
    unit="m/s",
    expected=strut_speed(STRUT_STEPS),
    tolerance=1e-14,
    reason="one step each, of a matrix whose smallest pivot loses no more than a digit",
)
def measure_strut_true_stiffness() -> Measurement:
    """LinearlyImplicitEuler(project=False): speed across a strut after one step, for six h.

    From h = 0.1 s on the matrix is indefinite, and the speed has the other sign.
    """
    system = build_system(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=100.0)],
        pose=[[0, 0, 0], [0.5, 0, 0]],
        velocity=[[0, 0, 0], [0, 0.3, 0]],
    )
    start = system.initial_state()
    got = [
        LinearlyImplicitEuler(project=False).advance(system, start, float(h)).state.v[1, 1]
        for h in STRUT_STEPS
    ]
    h = np.linspace(0.01, 0.21, 400)
    theory = strut_speed(h)
    theory[np.abs(theory) > 1.2] = np.nan  # around the pole
    return Measurement(got, Curve(STRUT_STEPS, got, theory, "h [s]", "v' [m/s]", theory_x=h))
