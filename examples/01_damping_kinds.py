"""Kinds of damping: should damping inside a flying, vibrating pair of masses slow the pair down?

Drag -α m v on both masses slows down everything. A damper c in the spring (a rusty one) opposes
only the change of length. With c = α m/2 both give the same equation for the length, (m/2) r" + c
r' + k r = 0, and the same vibration, e^{-t/T} cos ωt with T = 2/α. The flight differs: with drag it
ends after the distance v/α; the rusty spring does not slow it down, nor does the oiled one, which
has no damping.
"""

import numpy as np

import taut
from taut import laws

M, K, ALPHA, SPEED, STRETCH = 1.0, 50.0, 1.0, 1.0, 0.3  # kg, N/m, 1/s, m/s, m
H, UNTIL = 0.02, 6.0

oiled = taut.System(
    [[0, 0, 0], [1, 0, 0]],
    mass=M,
    energies=[laws.spring([[0, 1]], k=K)],
    pose=[[-STRETCH / 2, 0, 0], [1 + STRETCH / 2, 0, 0]],
    velocity=[[SPEED, 0, 0], [SPEED, 0, 0]],
)
KINDS = {
    "oiled": oiled,
    "rusty": oiled.with_(damping=[laws.spring_damping([[0, 1]], c=ALPHA * M / 2)]),
    "drag": oiled.with_(damping=[laws.drag(alpha=ALPHA)]),
}


def run() -> dict[str, dict[str, np.ndarray]]:
    """Simulate each kind.

    Returns times [s], length minus rest length [m], position of the centre [m], momentum [kg m/s].
    """
    found = {}
    for kind, system in KINDS.items():
        states = [system.initial_state()]
        states += [
            state for state, _ in taut.simulate(system, taut.ImplicitMidpoint(), h=H, until=UNTIL)
        ]
        ends = np.array([state.q[:, 0] for state in states])
        found[kind] = {
            "t": np.array([state.t for state in states]),
            "stretch": ends[:, 1] - ends[:, 0] - 1.0,
            "centre": ends.mean(axis=1) - 0.5,
            "momentum": np.array([system.momentum(state)[0] for state in states]),
        }
    return found


def picture(figure, found) -> None:
    """Plot the length and the flight over time."""
    left, right = figure.subplots(1, 2)
    for (kind, of), style in zip(found.items(), ("-", "-", ":"), strict=True):
        left.plot(of["t"], of["stretch"], style, lw=2 if style == ":" else 1, label=kind)
        right.plot(of["t"], of["centre"], style, lw=2 if style == ":" else 1, label=kind)
    left.set(title="the vibration", xlabel="t [s]", ylabel="l - l₀ [m]", xlim=(0, 4))
    right.set(title="the flight of the pair", xlabel="t [s]", ylabel="way [m]")
    right.legend(frameon=False)


if __name__ == "__main__":
    found = run()
    print("         vibration at the end   flown     momentum")
    for kind, of in found.items():
        late = np.abs(of["stretch"][-100:]).max()
        print(
            f"{kind:8} {1000 * late:10.3f} mm {of['centre'][-1]:14.6f} m {of['momentum'][-1]:9.6f} "
            "kg m/s"
        )
    print(
        f"v/α (1 - e^-αt) = {SPEED / ALPHA * (1 - np.exp(-ALPHA * UNTIL)):.6f} m,  v t = "
        f"{SPEED * UNTIL:.6f} m"
    )
