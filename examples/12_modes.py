"""Modes: the frequencies and shapes of a drum made of threads.

A square net of n × n meshes of side a is stretched over a frame; each thread has the tension T,
each knot the mass m. The mode with i and j half waves has exactly ω² = (4T/ma)(sin²(iπ/2n) +
sin²(jπ/2n)). As the meshes shrink this tends to ω = π√((T/a)/(m/a²)) √(i² + j²)/L of a drum:
frequencies in the ratios √2 : √5 : √8, of which the second is double.
"""

import numpy as np

import taut
from taut import laws

N, TENSION, M, K = 16, 5.0, 1e-3, 1e4  # meshes; N; kg; stiffness of a piece of thread [N/m]
MODES = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1))

net = taut.mesh.net(N, N, size=1.0)
RIM = net.select("x == min or x == max or y == min or y == max")
drum = taut.System(
    net.points,
    mass=M,
    fixed=RIM,
    energies=[laws.spring(net.edges, k=K, l0=taut.rest_length(net.points, net.edges, K, TENSION))],
)


def run() -> dict[str, np.ndarray]:
    """Return ω of the lowest modes [rad/s], found and by both formulas, and their shapes."""
    found = taut.modes(drum, n=len(MODES))
    i, j = np.array(MODES).T
    return {
        "omega": found.omega,
        "net": np.sqrt(
            4 * TENSION * N / M * (np.sin(i * np.pi / 2 / N) ** 2 + np.sin(j * np.pi / 2 / N) ** 2)
        ),
        "drum": np.pi * np.sqrt(TENSION / M / N * (i**2 + j**2)),
        "shapes": found.shapes,
    }


def picture(figure, result) -> None:
    """Draw contours of four shapes: positive in red, negative in blue."""
    x = np.linspace(0, 1, N + 1)
    for axes, shape, omega in zip(
        figure.subplots(1, 4), result["shapes"], result["omega"], strict=False
    ):
        z = shape[:, 2].reshape(N + 1, N + 1) / np.abs(shape).max()
        axes.contour(
            x, x, z, levels=[-0.8, -0.5, -0.2, 0.2, 0.5, 0.8], cmap="coolwarm", linewidths=1
        )
        axes.set(title=f"{omega / 2 / np.pi:.1f} Hz", aspect="equal", xticks=[], yticks=[])


if __name__ == "__main__":
    result = run()
    print("half waves    found [rad/s]    net, exactly         drum")
    for (i, j), found, exact, smooth in zip(
        MODES, result["omega"], result["net"], result["drum"], strict=True
    ):
        print(f"{i:6} {j:1}   {found:16.9f} {exact:16.9f} {smooth:12.4f}")
