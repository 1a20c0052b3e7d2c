"""A rod of springs: N springs of constant N k are as stiff as one spring of constant k, but floppy.

Springs that skip one particle make the rod stick out from a wall. They also make it stiffer in
tension, by nearly 4 times their own constant, but they do not resist slight bending: the straight
rod has as many mechanisms with them as without. The rod without them hangs straight down, each link
stretched by the weight below it.
"""

import numpy as np

import taut
from taut import laws
from taut.constraints import on_line

N, K, WEIGHT = 10, 1000.0, 0.2  # links; stiffness of the whole rod [N/m]; its weight [N]
SKIPS = (0.0, 30.0, 300.0)  # constants of the bending springs [N/m], as of the whole rod


def build_rod(n: int, skip: float, load: list) -> taut.System:
    """Build a rod of 1 m along x, in the plane, held at its first two particles."""
    mesh = taut.mesh.rope(n)
    springs = [laws.spring(mesh.edges, k=n * K), laws.spring(mesh.skips, k=n * skip, name="skips")]
    return taut.System(
        mesh.points[:, :2], mass=WEIGHT / 9.81 / n, fixed=[0, 1], energies=[*springs, *load]
    )


def measure_stiffness(n: int, skip: float) -> float:
    """Measure the stiffness in tension [N/m]: fixed at the first particle, pulled with 1 N."""
    pulled = build_rod(n, skip, [laws.force([n], f=(1.0, 0.0))]).with_(
        fixed=[0], constraints=[on_line(range(1, n + 1), (1, 0))]
    )
    return 1.0 / (taut.equilibrium(pulled).state.q[n, 0] - 1.0)


def run() -> dict[str, object]:
    """Compute stiffness and shapes.

    Returns the stiffness in tension for several N and skips [N/m], the number of mechanisms, the
    shapes at rest [m] and the depth of the tip [m].
    """
    heavy = {skip: build_rod(N, skip, [laws.gravity(g=(0, -9.81))]) for skip in SKIPS}
    shapes = {skip: taut.equilibrium(system).state.q for skip, system in heavy.items()}
    below = WEIGHT * np.arange(1, N) / N  # weight below each hanging link, from the lowest up [N]
    return {
        "by_n": {n: measure_stiffness(n, 0.0) for n in (2, 5, 10, 20)},
        "by_skips": {skip: measure_stiffness(N, skip) for skip in SKIPS},
        "ways_to_bend": {skip: taut.stability(build_rod(N, skip, [])).zero for skip in SKIPS},
        "shapes": shapes,
        "depth": float(-shapes[0.0][N, 1]),
        "expected_depth": float((1 / N + below / (N * K)).sum()),
    }


def picture(figure, result) -> None:
    """Draw the shapes at rest."""
    axes = figure.subplots()
    for skip, q in result["shapes"].items():
        axes.plot(q[:, 0], q[:, 1], "o-", ms=3, label=f"{skip:g} N/m" if skip else "none: floppy")
    axes.plot([0, 0], [-0.1, 0.1], "k", lw=4)
    axes.set(
        title="a rod of springs in a wall, by its bending springs",
        xlabel="x [m]",
        ylabel="y [m]",
        aspect="equal",
    )
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.05, 0.5))


if __name__ == "__main__":
    result = run()
    print("stiffness in tension by N:    ", {n: f"{k:.6f}" for n, k in result["by_n"].items()})
    print(
        "with skips of 0, 30, 300 N/m: ", [f"{k:.3f}" for k in result["by_skips"].values()], "N/m"
    )
    print("ways to bend without force:   ", list(result["ways_to_bend"].values()))
    print(
        f"the floppy rod hangs {result['depth']:.9f} m deep, by its weight "
        f"{result['expected_depth']:.9f} m"
    )
    print(
        "with skips the tip is at",
        [[f"{c:.3f}" for c in q[N, :2]] for q in list(result["shapes"].values())[1:]],
    )
