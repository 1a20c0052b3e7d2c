"""A solid in the plane: triangles need springs along their edges alone.

Squares need both diagonals, or they fold up.

Pulled slightly, a lattice of equilateral triangles has Young's modulus E = 2k/√3 and Poisson's
ratio ν = 1/3 in every direction. So have squares with diagonals of k/2, with E = 4k/3. (In two
dimensions E is a force per length [N/m].) Springs on the rim belong to one cell instead of two and
get half. Squares of n × m cells without diagonals have n + m + 2 motions free of force, a rigid
body in the plane has three.
"""

import numpy as np

import taut
from taut import laws
from taut.constraints import on_line
from taut.statics.equilibrium import Equilibrium

K, SLIGHT, FAR = 100.0, 1e-5, 0.25  # N/m; strains: to measure, and to look at
triangles, squares = taut.mesh.sheet(8, 8, pattern="equilateral"), taut.mesh.sheet(6, 6)


def sides(mesh: taut.mesh.Mesh):
    """Springs along the edges: k inside, k/2 on the rim."""
    rim = {frozenset(pair) for pair in mesh.boundary_edges.tolist()}
    return laws.spring(
        mesh.edges, k=[K / 2 if frozenset(pair) in rim else K for pair in mesh.edges.tolist()]
    )


BODIES = {
    "triangles": (triangles, [sides(triangles)]),
    "squares, braced": (squares, [sides(squares), laws.spring(squares.diagonals, k=K / 2)]),
    "squares": (squares, [sides(squares)]),
}


def pulled(name: str, strain: float) -> Equilibrium:
    """Held at its lowest row and drawn up at its highest, both free to move sideways."""
    mesh, energies = BODIES[name]
    middle = mesh.select("y == min")[[4 if mesh is triangles else 3]]
    sliding = on_line(np.setdiff1d(mesh.select("y == min or y == max"), middle), (1, 0))
    pose = mesh.points[:, :2] * [1, 1 + strain]
    return taut.equilibrium(
        taut.System(
            mesh.points[:, :2],
            mass=1.0,
            energies=energies,
            fixed=middle,
            constraints=[sliding],
            pose=pose,
        )
    )


def run() -> dict[str, dict[str, float]]:
    """Young's modulus by k [1] and Poisson's ratio of both.

    And the motions free of force of all three.
    """
    found = {}
    for name, (mesh, energies) in BODIES.items():
        free = taut.System(mesh.points[:, :2], mass=1.0, energies=energies)
        found[name] = {"free_motions": taut.stability(free).zero}
        if name != "squares":
            rest, low = pulled(name, SLIGHT), mesh.select("y == min")
            width = mesh.areas.sum() / np.ptp(
                mesh.points[:, 1]
            )  # the mean of rows, which differ in triangles
            across = np.ptp(rest.state.q[low, 0]) / np.ptp(mesh.points[low, 0]) - 1
            found[name] |= {
                "E": rest.reactions[mesh.select("y == max"), 1].sum() / (width * SLIGHT * K),
                "nu": -across / SLIGHT,
            }
    return found


def picture(figure, found) -> None:
    """Both solids drawn out by a quarter, and squares on their way to folding up."""
    shear = np.array([[1.0, 0.0], [0.5, np.sqrt(0.75)]])
    shapes = [pulled(name, FAR).state.q[:, :2] for name in list(BODIES)[:2]] + [
        squares.points[:, :2] @ shear
    ]
    for axes, q, (name, (mesh, energies)) in zip(
        figure.subplots(1, 3), shapes, BODIES.items(), strict=True
    ):
        pairs = np.concatenate([mesh.edges, mesh.diagonals]) if len(energies) == 2 else mesh.edges
        for points, colour in ((mesh.points[:, :2], "0.8"), (q, "tab:blue")):
            pen = np.pad(
                points[pairs], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan
            )  # nan lifts the pen
            axes.plot(*pen.reshape(-1, 2).T, lw=0.7, color=colour)
        axes.set(title=f"{name}: {found[name]['free_motions']} free motions", aspect="equal")
        axes.axis("off")


if __name__ == "__main__":
    for name, of in run().items():
        moduli = f", E = {of['E']:.6f} k, ν = {of['nu']:.6f}" if "E" in of else ""
        print(f"{name:16} {of['free_motions']:2} motions free of force{moduli}")
    print(
        f"theory: 2/√3 = {2 / np.sqrt(3):.6f}, 4/3 = {4 / 3:.6f}, ν = 1/3; 6 + 6 + 2 = 14 free "
        "motions"
    )
