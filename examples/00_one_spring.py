"""One spring: a mass of 1 kg on a spring of 25 N/m, released 10 cm below its equilibrium.

It oscillates with ω = √(k/m) = 5 rad/s. The implicit step dissipates a little energy, and reports
how much of the force is left unbalanced. The period is measured and compared with the discrete
theory, a phase of atan(hω) per step.
"""

import math

import taut
from taut import laws

K, M, L0, H = 25.0, 1.0, 1.0, 0.01
BALANCE = -(L0 + M * 9.81 / K)

system = taut.System(
    [[0, 0, 0], [0, -L0, 0]],
    mass=M,
    energies=[laws.spring([[0, 1]], k=K), laws.gravity()],
    fixed=[0],
    pose=[[0, 0, 0], [0, BALANCE - 0.1, 0]],
)


def run() -> dict[str, object]:
    """Simulate ten seconds.

    Returns the measured and expected periods [s], the largest residual [N] and the heights [m].
    """
    crossings, heights, worst, before = [], [BALANCE - 0.1], 0.0, BALANCE - 0.1
    for state, report in taut.simulate(system, taut.ImplicitEuler(), h=H, until=10.0):
        height = state.q[1, 1]
        if before < BALANCE <= height:  # upwards through equilibrium, interpolated in time
            crossings.append(state.t - H * (height - BALANCE) / (height - before))
        before, worst = height, max(worst, report.residual)
        heights.append(height)
    omega = math.sqrt(K / M)
    return {
        "measured": (crossings[-1] - crossings[0]) / (len(crossings) - 1),
        "discrete": 2 * math.pi / (math.atan(H * omega) / H),
        "continuous": 2 * math.pi / omega,
        "residual": worst,
        "heights": heights,
    }


def picture(figure, result) -> None:
    """Plot the height, between the amplitudes of the discrete theory: 1/√(1 + h²ω²) per step."""
    axes, every = figure.subplots(), range(0, len(result["heights"]), 4)
    t = [H * i for i in every]
    swing = [0.1 * (1 + H**2 * K / M) ** (-i / 2) for i in every]
    axes.fill_between(t, [BALANCE - s for s in swing], [BALANCE + s for s in swing], color="0.92")
    axes.plot(t, [result["heights"][i] for i in every])
    axes.set(
        title="a weight on a spring, h = 10 ms", xlabel="t [s]", ylabel="height [m]", xlim=(0, 10)
    )


if __name__ == "__main__":
    result = run()
    print(f"period measured       {result['measured']:.6f} s")
    print(f"period, discrete      {result['discrete']:.6f} s   2πh / atan(hω)")
    print(f"period, continuous    {result['continuous']:.6f} s   2π / ω")
    print(f"largest unbalanced force in 1000 steps: {result['residual']:.1e} N")
