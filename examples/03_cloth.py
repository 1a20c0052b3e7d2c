"""Cloth of structural springs along the threads, shear springs across, and bending springs.

A horizontal square metre, held at two corners, is released. It swings down, drag slows it down, and
from there its equilibrium is found. Each corner then carries half of the weight, and both are
pulled inwards by equal forces.
"""

import numpy as np

import taut
from taut import laws

CELLS, DENSITY = 12, 0.2  # cells along a side; kg/m²

sheet = taut.mesh.sheet(CELLS, CELLS, plane="xz")
CORNERS = sheet.select("z == min and (x == min or x == max)")
cloth = taut.System(
    sheet.points,
    mass=taut.areal_mass(sheet, DENSITY),
    fixed=CORNERS,
    energies=[
        laws.spring(sheet.edges, k=200.0, name="structural"),
        laws.spring(sheet.diagonals, k=40.0, name="shear"),
        laws.spring(sheet.skips, k=2.0, name="bending"),
        laws.gravity(),
    ],
    damping=[laws.drag(alpha=2.0), laws.spring_damping(sheet.edges, c=0.05)],
)


def run() -> dict[str, object]:
    """Simulate 2 s and find the equilibrium.

    Returns the states, the ledger [J], the equilibrium and the forces on the corners [N].
    """
    ledger, states = taut.Ledger(), [cloth.initial_state()]
    for state, _ in taut.simulate(cloth, taut.ImplicitEuler(), h=0.02, until=2.0, ledger=ledger):
        states.append(state)
    rest = taut.equilibrium(cloth, states[-1])
    return {
        "states": states,
        "book": ledger.total(),
        "rest": rest,
        "corners": rest.reactions[CORNERS],
        "half_weight": 9.81 * DENSITY / 2,
        "free_weight": 9.81 * DENSITY - 9.81 * cloth.mass[CORNERS].sum(),
    }


def picture(figure, result) -> None:
    """Draw the threads at two times and at rest, seen obliquely from above."""
    view = np.array([[0.9, -0.15], [0.0, 1.0], [0.45, 0.3]])
    moments = [result["states"][i].q for i in (8, 20)] + [result["rest"].state.q]
    titles = ["t = 0.16 s", "t = 0.4 s", "at rest"]
    for axes, q, title in zip(
        figure.subplots(1, 3, sharex=True, sharey=True), moments, titles, strict=True
    ):
        pen = np.pad(
            (q @ view)[sheet.edges], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan
        )  # nan lifts the pen
        axes.plot(*pen.reshape(-1, 2).T, lw=0.6, color="tab:blue")
        axes.plot(*(q @ view)[CORNERS].T, "o", ms=3, color="tab:red")
        axes.set(title=title, aspect="equal")
        axes.axis("off")


if __name__ == "__main__":
    result = run()
    print(result["book"])
    print(
        result["rest"].outcome,
        "after",
        result["rest"].iterations,
        "iterations; stable:",
        result["rest"].stability.stable,
    )
    for corner, force in zip(CORNERS, result["corners"], strict=True):
        print(
            f"corner {corner:3} carries {force[1]:.6f} N and is pulled sideways by "
            f"{-force[0]:+.6f} N"
        )
    print(f"half of the weight is {result['half_weight']:.6f} N")
