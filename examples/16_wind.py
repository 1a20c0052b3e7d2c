"""Wind: a banner, held at its upper edge, comes to rest at a slant in a steady wind.

Each triangle feels drag along the wind and lift across it. If the banner rests flat at the angle φ
to the vertical, the components of wind and weight perpendicular to it balance,

    ½ρu² (C_D cos²φ + C_L cos φ sin²φ) = σ g sin φ,

whatever the size of the banner, since each piece of it is in equilibrium by itself. The ledger
shows the work of the wind.
"""

import numpy as np
from scipy.optimize import brentq

import taut
from taut import laws

WIND, DENSITY, AIR, DRAG, LIFT = 1.5, 0.1, 1.204, 1.0, 0.5  # m/s; kg/m²; kg/m³; C_D; C_L

sheet = taut.mesh.sheet(6, 12, size=(0.5, 1.0), pattern="alternating")
TOP, FOOT = sheet.select("y == max"), sheet.select("y == min")
banner = taut.System(
    sheet.points,
    mass=taut.areal_mass(sheet, DENSITY),
    fixed=TOP,
    energies=[
        laws.spring(sheet.edges, k=2000.0),
        laws.shell_bending(sheet.hinges, c=1e-6),
        laws.gravity(),
    ],
    loads=[laws.wind(sheet.triangles, velocity=(0, 0, WIND), density=AIR, drag=DRAG, lift=LIFT)],
)


def run() -> dict[str, object]:
    """Simulate five seconds.

    Returns the slant over time and at equilibrium [rad], the states, the final speed [m/s] and the
    ledger [J].
    """
    ledger, states = taut.Ledger(), []
    for state, _ in taut.simulate(banner, taut.ImplicitEuler(), h=0.02, until=5.0, ledger=ledger):
        states.append(state)
    hung = np.array([s.q[FOOT].mean(axis=0) - s.q[TOP].mean(axis=0) for s in states])
    push = AIR * WIND**2 / 2 / (DENSITY * 9.81)
    slant = brentq(
        lambda p: push * (DRAG * np.cos(p) ** 2 + LIFT * np.cos(p) * np.sin(p) ** 2) - np.sin(p),
        0.0,
        np.pi / 2,
    )
    return {
        "t": np.array([s.t for s in states]),
        "slant": np.arctan2(hung[:, 2], -hung[:, 1]),
        "expected": slant,
        "states": states,
        "speed": float(np.linalg.norm(states[-1].v, axis=1).max()),
        "book": ledger.total(),
    }


def picture(figure, result) -> None:
    """Draw the banner from the side at several times, and plot its slant over time."""
    left, right = figure.subplots(1, 2)
    column = sheet.select("abs(x - 0.25) < 0.01")
    for step in (0, 12, 24, 40, 249):
        q = result["states"][step].q[column]
        left.plot(q[:, 2], q[:, 1], lw=2 if step == 249 else 1, label=f"{result['t'][step]:.2g} s")
    left.set(title="from the side", xlabel="z [m], with the wind", ylabel="y [m]", aspect="equal")
    left.legend(frameon=False, fontsize=7)
    right.plot(result["t"][::3], np.degrees(result["slant"])[::3])
    right.axhline(np.degrees(result["expected"]), color="0.5", ls="--", lw=1)
    right.set(title="slant", xlabel="t [s]", ylabel="φ [°]")


if __name__ == "__main__":
    result = run()
    print(
        f"slant {np.degrees(result['slant'][-1]):.4f}°, at equilibrium "
        f"{np.degrees(result['expected']):.4f}°"
    )
    print(f"its fastest point still moves at {1000 * result['speed']:.2g} mm/s")
    print(result["book"])
