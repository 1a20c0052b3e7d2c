"""A solid in the plane: triangles need springs along their edges only, squares also both diagonals.

For small strains, a lattice of equilateral triangles has Young's modulus E = 2k/√3 and Poisson's
ratio ν = 1/3 in every direction. Squares with diagonals of k/2 have the same ν, and E = 4k/3. (In
two dimensions E is a force per length [N/m].) Springs on the rim belong to one cell instead of two
and have half the stiffness. Without diagonals, n × m squares have n + m + 2 motions that cost no
energy; a rigid body in the plane has three.
"""

import numpy as np

import taut
from taut import laws
from taut.constraints import on_line
from taut.statics.equilibrium import Equilibrium

K, SLIGHT, FAR = 100.0, 1e-5, 0.25  # N/m; strain to measure, strain to draw
triangles, squares = taut.mesh.sheet(8, 8, pattern="equilateral"), taut.mesh.sheet(6, 6)


def make_sides(mesh: taut.mesh.Mesh):
    """Make springs along the edges: k inside, k/2 on the rim."""
    rim = {frozenset(pair) for pair in mesh.boundary_edges.tolist()}
    return laws.spring(
        mesh.edges, k=[K / 2 if frozenset(pair) in rim else K for pair in mesh.edges.tolist()]
    )


BODIES = {
    "triangles": (triangles, [make_sides(triangles)]),
    "squares, braced": (squares, [make_sides(squares), laws.spring(squares.diagonals, k=K / 2)]),
    "squares": (squares, [make_sides(squares)]),
}


def stretch(name: str, strain: float) -> Equilibrium:
    """Stretch a body: the lowest and the highest row are held, but free to move sideways."""
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
    """Return the number of free motions, and for the stable bodies E/k [1] and Poisson's ratio."""
    found = {}
    for name, (mesh, energies) in BODIES.items():
        free = taut.System(mesh.points[:, :2], mass=1.0, energies=energies)
        found[name] = {"free_motions": taut.stability(free).zero}
        if name != "squares":
            rest, low = stretch(name, SLIGHT), mesh.select("y == min")
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
    """Draw both solids stretched by a quarter, and squares as they collapse."""
    shear = np.array([[1.0, 0.0], [0.5, np.sqrt(0.75)]])
    shapes = [stretch(name, FAR).state.q[:, :2] for name in list(BODIES)[:2]] + [
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
        print(f"{name:16} {of['free_motions']:2} free motions{moduli}")
    print(
        f"theory: 2/√3 = {2 / np.sqrt(3):.6f}, 4/3 = {4 / 3:.6f}, ν = 1/3; 6 + 6 + 2 = 14 free "
        "motions"
    )
