"""Design by gradients: the stiffness and the tip mass that give a beam two wanted frequencies.

A cantilever of rods shall vibrate at 3 Hz and 21 Hz. Bending stiffness and tip mass are fitted to
these two frequencies. Without a tip mass, theory gives f₁ = 1.8751²/(2π) √(EI/(m' L⁴)), with L
from the middle of the first rod, which is held at both ends.
"""

import numpy as np

import taut
from taut import laws

N, LENGTH, LINE = 20, 1.0, 0.5  # rods, length [m], mass per length [kg/m]
WANTED = (3.0, 21.0)  # [Hz]

rope = taut.mesh.rope(N, end=(LENGTH, 0, 0))
triples = np.stack([np.arange(i, N - 1 + i) for i in range(3)], axis=1)


def build(stiffness: float, tip: float) -> taut.System:
    """Return the beam in a plane, with a mass [kg] at its tip."""
    mass = taut.line_mass(rope, LINE)
    mass[-1] += tip
    return taut.System(
        np.array(rope.points)[:, :2],
        mass=mass,
        fixed=[0, 1],
        energies=[
            laws.spring(rope.edges, k=1e6),
            laws.planar_rod_bending(triples, EI=stiffness),
        ],
    )


def tune(start: float = 1.0) -> dict[str, float]:
    """Return EI [N m²] of a beam without tip mass that vibrates at the first wanted frequency."""
    seen = taut.inverse.Frequencies(build(start, 0.0), [2 * np.pi * WANTED[0]])
    found = taut.fit(seen, ["planar_rod_bending.EI"])["planar_rod_bending.EI"]
    free = LENGTH * (1 - 0.5 / N)
    theory = LINE * free**4 * (2 * np.pi * WANTED[0] / 1.875104**2) ** 2
    return {"EI": found, "theory": theory}


def run() -> dict[str, object]:
    """Tune the plain beam, then both parameters by Newton's method on exact derivatives."""
    plain = tune()
    value = np.array([plain["EI"], 0.02])  # EI [N m²], tip mass [kg]
    history = []
    for _ in range(7):
        system = build(*value)
        modes = taut.modes(system, n=2)
        history.append(modes.frequencies.copy())
        slopes = []
        for k in range(2):
            slope = taut.gradient(
                modes, lambda w, k=k: (w[k], np.eye(2)[k]), by=["planar_rod_bending.EI", "mass"]
            )
            slopes.append([float(slope["planar_rod_bending.EI"]), float(slope["mass"][-1])])
        change = np.linalg.solve(slopes, 2 * np.pi * (np.array(WANTED) - modes.frequencies))
        value = np.maximum(value + change, 0.3 * value)
    return {**plain, "stiffness": value[0], "tip": value[1], "history": np.array(history)}


def picture(figure, result) -> None:
    """Plot both frequencies over the iterations."""
    axes = figure.subplots()
    axes.plot(result["history"], "o-", ms=3)
    for f in WANTED:
        axes.axhline(f, color="0.7", lw=0.8)
    axes.set(title="two frequencies of a beam, tuned", xlabel="iteration", ylabel="f [Hz]")


if __name__ == "__main__":
    result = run()
    print(f"EI of the plain beam {result['EI']:.6f} N m², by theory {result['theory']:.6f} N m²")
    print(f"EI {result['stiffness']:.6f} N m² and a tip of {1e3 * result['tip']:.3f} g give",
          "and".join(f" {f:.9f} Hz " for f in result["history"][-1]))  # fmt: skip
