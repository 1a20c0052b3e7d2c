"""A soft body from any mesh: springs along its edges, the mass of its cells, the top held.

    python examples/06_any_mesh.py [FILE]

Without a file it is the bunny, which hangs by its ears. A closed surface is first filled with
tetrahedra. When the body has come to rest, the held points carry its weight: the sum of the forces
on them is compared with M g.
"""

import sys

import numpy as np

import taut
from taut import laws


def build_body(mesh: taut.mesh.Mesh) -> taut.System:
    """Build a System with 1000 kg/m³ for solids, 1 kg/m² for a surface, 0.1 kg/m for lines."""
    if len(mesh.volumes):
        mass = taut.volume_mass(mesh, 1000.0)
    elif len(mesh.areas):
        mass = taut.areal_mass(mesh, 1.0)
    else:
        mass = taut.line_mass(mesh, 0.1)
    height = float(np.ptp(mesh.positions[:, 1]))
    return taut.System(
        mesh.points,
        mass=mass,
        fixed=mesh.select("y >= 0.95*max(y) + 0.05*min(y)"),
        energies=[laws.spring(mesh.edges, k=1000 * 9.81 * mass.sum() / height), laws.gravity()],
        damping=[laws.drag(alpha=20.0)],
    )


def run(mesh: taut.mesh.Mesh | None = None) -> dict[str, object]:
    """Let the body settle.

    Returns the force on the held points and the weight [N], how far it sank [m] and its speed
    [m/s].
    """
    mesh = taut.mesh.bunny(spacing=0.015) if mesh is None else mesh
    system = build_body(mesh)
    *_, (state, _) = taut.simulate(system, taut.ImplicitEuler(), h=0.1, until=3.0)
    held = -float(system.f(state)[system.fixed, 1].sum())
    sank = float((mesh.positions[:, 1] - state.q[:, 1]).max())
    speed = float(np.linalg.norm(state.v, axis=1).max())
    weight = 9.81 * float(system.mass.sum())
    return {
        "held": held,
        "weight": weight,
        "sank": sank,
        "speed": speed,
        "system": system,
        "mesh": mesh,
        "q": state.q,
    }


def picture(figure, result) -> None:
    """Draw the surface at rest and as it hangs, with displacements × 10, and the held points."""
    view = np.array([[0.9, -0.1], [0.0, 1.0], [-0.4, -0.25]])
    mesh, sunk = (
        result["mesh"],
        result["mesh"].positions + 10 * (result["q"] - result["mesh"].positions),
    )
    for axes, q, title in zip(
        figure.subplots(1, 2, sharey=True),
        (mesh.positions, sunk),
        ("as it was", "hung, displacements × 10"),
        strict=True,
    ):
        faces = mesh.boundary_faces["triangle"]
        (ax, ay), (bx, by) = (((q @ view)[faces[:, i]] - (q @ view)[faces[:, 0]]).T for i in (1, 2))
        front = faces[ax * by > ay * bx]  # faces towards the viewer are counterclockwise
        pairs = np.unique(np.sort(front[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
        axes.plot(
            *np.pad((q @ view)[pairs], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
            .reshape(-1, 2)
            .T,
            lw=0.5,
        )
        axes.plot(*(q @ view)[result["system"].fixed].T, "o", ms=2, color="tab:red")
        axes.set(title=title, aspect="equal")
        axes.axis("off")


if __name__ == "__main__":
    mesh = taut.mesh.read(sys.argv[1]) if len(sys.argv) > 1 else taut.mesh.bunny()
    if len(mesh.areas) and not len(mesh.volumes) and not len(mesh.boundary_edges):
        mesh = taut.mesh.fill(mesh)
    done = taut.mesh.clean(mesh, largest=True)  # components that are not held would fall for ever
    print(done.mesh, "-", done)
    result = run(done.mesh)
    print(
        f"the held points carry {result['held']:.6f} N of {result['weight']:.6f} N; it sank by "
        f"{1000 * result['sank']:.3f} mm"
    )
    print(f"its fastest point still moves at {1000 * result['speed']:.3g} mm/s")
