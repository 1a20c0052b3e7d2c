"""A solid block: tetrahedra need springs along their edges only, cubes also the face diagonals.

Cubes with edges only shear freely, and body diagonals are not enough either. With face diagonals
only six motions cost no energy, those of a rigid body. If all springs have the constant k, cubes of
side a have E = 2.5 k/a and ν = 1/4 in every direction. A spring is shared by the cells around it:
on the surface it has the fraction of its stiffness that belongs to the block.
"""

import numpy as np

import taut
from taut import laws
from taut.constraints import on_line, on_plane
from taut.statics.equilibrium import Equilibrium

K, SIDE, STRAIN = 100.0, 0.1, 1e-5
cubes = taut.mesh.block(3, 4, 3, size=(3 * SIDE, 4 * SIDE, 3 * SIDE))
tets = taut.mesh.block(2, 2, 2, cells="tet")
small = taut.mesh.block(2, 2, 2)
BRACED = {
    "cubes: edges": (small, [small.edges]),
    "cubes: edges, body diagonals": (small, [small.edges, small.body_diagonals]),
    "cubes: edges, face diagonals": (small, [small.edges, small.diagonals]),
    "tetrahedra: edges": (tets, [tets.edges]),
}


def make_springs(pairs: np.ndarray, cells: int, name: str):
    """Make springs of constant k; inside the block, `cells` cells share a spring.

    The matrix product counts the cells that contain both ends.
    """
    has = np.zeros((len(cubes.cells["hex"]), cubes.n))
    np.put_along_axis(has, cubes.cells["hex"], 1.0, axis=1)
    return laws.spring(pairs, k=K * (has.T @ has)[pairs[:, 0], pairs[:, 1]] / cells, name=name)


low, high = cubes.select("y == min"), cubes.select("y == max")
block = taut.System(
    cubes.points,
    mass=1.0,
    fixed=low[:1],
    energies=[
        make_springs(cubes.edges, 4, "edges"),
        make_springs(cubes.diagonals, 2, "face diagonals"),
    ],
    constraints=[
        on_line(low[1:2], (1, 0, 0)),
        on_plane(np.concatenate([low[2:], high]), (0, 1, 0)),
    ],
)


def stretch(strain: float) -> Equilibrium:
    """Stretch the block: bottom and top are held, but free to move sideways."""
    return taut.equilibrium(block.with_(pose=cubes.points * [1, 1 + strain, 1]))


def run() -> dict[str, object]:
    """Return the number of free motions by bracing, and E a/k and ν of the stretched block."""
    rest = stretch(STRAIN)
    across = np.ptp(rest.state.q[low, 0]) / (3 * SIDE) - 1
    force = rest.reactions[high, 1].sum()
    free = {
        name: taut.stability(
            taut.System(mesh.points, mass=1.0, energies=[laws.spring(np.concatenate(pairs), k=K)])
        ).zero
        for name, (mesh, pairs) in BRACED.items()
    }
    return {
        "free_motions": free,
        "E": force / (9 * SIDE**2 * STRAIN) * SIDE / K,
        "nu": -across / STRAIN,
    }


def picture(figure, result) -> None:
    """Draw the block at rest and stretched by a third."""
    view = np.array([[0.9, -0.15], [0.0, 1.0], [-0.45, -0.3]])
    for axes, q, title in zip(
        figure.subplots(1, 2, sharey=True),
        (cubes.points, stretch(1 / 3).state.q),
        ("at rest", "drawn out by a third"),
        strict=True,
    ):
        for pairs, colour in ((cubes.diagonals, "0.75"), (cubes.edges, "tab:blue")):
            pen = np.pad(
                (q @ view)[pairs], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan
            )  # nan lifts the pen
            axes.plot(*pen.reshape(-1, 2).T, lw=0.8, color=colour)
        axes.set(title=title, aspect="equal")
        axes.axis("off")


if __name__ == "__main__":
    result = run()
    for name, count in result["free_motions"].items():
        print(f"{name:30} {count:2} free motions")
    print(
        f"stretched: E = {result['E']:.6f} k/a (theory 2.5), ν = {result['nu']:.6f} (theory 0.25)"
    )
