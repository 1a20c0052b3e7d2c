"""Hinges: unlike bending springs, an energy of the angle resists slight bending too.

The hinge k sin²(θ/2) with k = 2EI/l and the rod law ½(EI/l)(θ - θ₀)² both give a rod the bending
stiffness EI; at the wall, where only half a link bends, the clamp has 2EI/l. Under an end load P
L²/EI = α the rod takes the shape of Euler's elastica, whose deflection is given by elliptic
integrals.
"""

import numpy as np

import taut
from taut import laws

N, EI = 40, 1.0  # links of a rod of 1 m; bending stiffness [N m²]
ELASTICA = {
    0.5: 0.162144,
    1.0: 0.301721,
    2.0: 0.493457,
    3.0: 0.603253,
    5.0: 0.713792,
    10.0: 0.810609,
}  # α → deflection of the end / L

line = taut.mesh.rope(N)
LAWS = {
    "rod law": laws.rod_bending(line.rod_hinges, EI=EI),
    "sin² hinge": laws.rod_hinge(line.rod_hinges, k=2 * EI * N),
}


def bend(law) -> list[np.ndarray]:
    """Return the shapes [m] under each of the loads."""
    rod = taut.System(
        line.points,
        mass=1.0,
        fixed=[0],
        energies=[
            laws.spring(line.edges, k=1e7),  # nearly inextensible: 1e-5 at the largest load
            law,
            laws.rod_clamp([[0, 1]], EI=EI),
            laws.force([N], f=(0, -EI, 0)),
        ],
    )
    return [step.state.q for step in taut.equilibrium(rod, loads=ELASTICA).path]


def run() -> dict[str, object]:
    """Return the shapes by law, and the deflection of the end [m] under each load α."""
    shapes = {name: bend(law) for name, law in LAWS.items()}
    return {
        "shapes": shapes,
        "deflection": {name: [-q[N, 1] for q in each] for name, each in shapes.items()},
    }


def picture(figure, result) -> None:
    """Draw the shapes of the rod, and the ends of the elastica."""
    axes = figure.subplots()
    for alpha, q in zip(ELASTICA, result["shapes"]["rod law"], strict=True):
        axes.plot(q[:, 0], q[:, 1], color="tab:blue")
        axes.annotate(f"α = {alpha:g}", q[N, :2], (6, -3), textcoords="offset points")
        axes.plot(
            q[N, 0],
            -ELASTICA[alpha],
            "o",
            mfc="none",
            color="tab:red",
            label="elastica" if alpha == 1 else None,
        )
    axes.plot([0, 0], [-0.08, 0.08], "k", lw=4)
    axes.set(
        title="a rod of 40 links and its end load, α = PL²/EI",
        xlabel="x [m]",
        ylabel="y [m]",
        aspect="equal",
        xlim=(-0.05, 1.3),
    )
    axes.legend(frameon=False, loc="lower left")


if __name__ == "__main__":
    result = run()
    print("PL²/EI   elastica    " + "   ".join(f"{name:10}" for name in LAWS))
    for i, (alpha, expected) in enumerate(ELASTICA.items()):
        print(
            f"{alpha:6g}   {expected:.6f}    "
            + "     ".join(f"{of[i]:.6f}" for of in result["deflection"].values())
        )
