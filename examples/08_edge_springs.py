"""Edge springs: two triangles resist folding over their edge (Bridson, Marino and Fedkiw 2003).

The paper gives the force F_i = k |E|²/(|N₁| + |N₂|) sin(θ/2) u_i on the four corners. taut has the
energy of which this is minus the gradient, and the two are compared on a fold. Then one triangle is
fixed and the other swings on its hinge like a door: m h² θ" + k_d |E| θ' + (k c/2) θ = 0 for a
small angle, with m the mass of its corner, h its height and c = |E|²/(|N₁| + |N₂|).
"""

import numpy as np

import taut
from taut import laws

# stiffness [J], damping [N s], mass of a corner [kg], step [s]
K, KD, M, H = 0.5, 0.004, 0.01, 0.005
HINGE = [[0, 1, 2, 3]]  # opposite corners, and the edge
FLAT = np.array([[0.5, 0.8, 0], [0.4, -0.6, 0], [0, 0, 0], [1, 0, 0]])
HEIGHT, RATIO = 0.6, 1.0 / (0.8 + 0.6)  # of the second triangle [m]; |E|²/(|N₁| + |N₂|)


def fold_positions(angle: float) -> np.ndarray:
    """Return positions (4, 3) with the second triangle turned down about the edge."""
    return np.array(
        [FLAT[0], [0.4, -HEIGHT * np.cos(angle), -HEIGHT * np.sin(angle)], FLAT[2], FLAT[3]]
    )


def published_force(x: np.ndarray, theta: float) -> np.ndarray:
    """Return the force [N] as in the paper, (4, 3); the angle is known by construction."""
    x1, x2, x3, x4 = x
    edge, n1, n2 = x4 - x3, np.cross(x1 - x3, x1 - x4), np.cross(x2 - x4, x2 - x3)
    e, size = np.linalg.norm(edge), np.linalg.norm(n1) + np.linalg.norm(n2)
    n1, n2 = n1 / (n1 @ n1), n2 / (n2 @ n2)
    u3 = (x1 - x4) @ edge / e * n1 + (x2 - x4) @ edge / e * n2
    u4 = -(x1 - x3) @ edge / e * n1 - (x2 - x3) @ edge / e * n2
    return K * e**2 / size * np.sin(theta / 2) * np.array([e * n1, e * n2, u3, u4])


fold = taut.System(
    FLAT, mass=M, energies=[laws.bridson_bending(HINGE, k=K)], pose=fold_positions(1.0)
)
door = fold.with_(
    energies=[laws.bridson_bending(HINGE, k=K), laws.spring([[1, 2], [1, 3]], k=1e5)],
    damping=[laws.bridson_damping(HINGE, k=KD)],
    fixed=[0, 2, 3],
    pose=fold_positions(0.05),
)


def run() -> dict[str, object]:
    """Compute the forces on the fold, and simulate the door.

    Returns the forces by taut and by the paper [N], the undamped frequency by taut and by formula
    [rad/s], and the angle over time [rad].
    """
    state = fold.initial_state()
    swing = [s for s, _ in taut.simulate(door, taut.ImplicitEuler(), h=H, until=1.5)]
    return {
        "force": fold.f(state),
        "printed": published_force(state.q, 1.0),
        "omega": taut.modes(door, door.initial_state().with_(q=FLAT), n=1).omega[0],
        "formula": np.sqrt(K * RATIO / 2 / (M * HEIGHT**2)),
        "t": np.array([0.0] + [s.t for s in swing]),
        "angle": np.array([0.05] + [np.arctan2(-s.q[1, 2], -s.q[1, 1]) for s in swing]),
    }


def picture(figure, result) -> None:
    """Draw the fold with the forces on its corners, and the angle of the door."""
    left, right = figure.subplots(1, 2)
    seen, arrows = (
        a @ np.array([[0.75, -0.3], [0.6, 0.35], [0.0, 1.0]])
        for a in (fold_positions(1.0), result["force"])
    )
    for corners, shade in (([0, 2, 3], "0.9"), ([1, 3, 2], "0.75")):
        left.fill(*seen[corners].T, fc=shade, ec="0.4")
    left.quiver(
        *seen.T, *arrows.T, angles="xy", scale_units="xy", scale=0.6, color="tab:red", width=0.008
    )
    left.set(title="forces on a fold", aspect="equal", xlim=(-0.7, 1.2), ylim=(-1.1, 0.5))
    left.axis("off")
    right.plot(result["t"], result["angle"])
    right.set(title="the door", xlabel="t [s]", ylabel="θ [rad]")


if __name__ == "__main__":
    result = run()
    print(
        "forces [N] of the energy and as in the paper:\n",
        np.hstack([result["force"], result["printed"]]).round(6) + 0.0,
    )
    print(
        f"the door swings with ω = {result['omega']:.9f} rad/s, by formula {result['formula']:.9f} "
        "rad/s"
    )
