"""A cable net: find its form from force densities, build it of cables, and load it with snow.

The net spans a square rim that lies on the saddle z = x y/25. With equal force densities its form
is exactly that saddle. Cables with the rest lengths of the forces that were found are in
equilibrium in this form. Under snow the net sags and its forces grow; the rim then carries the
weight of the snow.

    python examples/14_cable_net.py [FILE.csv]      also writes the table of members
"""

import sys

import numpy as np

import taut
from taut import laws

DENSITY, K, SNOW = 3e4, 4e6, 750.0  # force density [N/m], stiffness of a cable [N/m], load [N/m²]

net = taut.mesh.net(10, 10, size=20.0)
RIM = net.select("x == min or x == max or y == min or y == max")
saddle = np.array(net.points)
saddle[:, 2] = (saddle[:, 0] - 10) * (saddle[:, 1] - 10) / 25


def run() -> dict[str, object]:
    """Find, build and load the net; return form, loaded equilibrium and numbers to compare."""
    start = saddle.copy()
    start[np.setdiff1d(np.arange(len(start)), RIM), 2] = 0.0
    form = taut.form_finding(start, fixed=RIM, edges=net.edges, density=DENSITY)
    rest = taut.rest_length(form.points, net.edges, K, form.forces)
    snow = np.zeros_like(saddle)
    snow[:, 2] = -SNOW * taut.areal_mass(taut.mesh.sheet(10, 10, size=20.0), 1.0)
    built = taut.System(
        form.points,
        mass=1.0,
        fixed=RIM,
        energies=[laws.cable(net.edges, k=K, l0=rest), laws.force(f=snow)],
    )
    empty = taut.equilibrium(built, loads=[0.0])
    loaded = taut.equilibrium(built, empty.state, loads=[0.25, 0.5, 0.75, 1.0])
    return {
        "form": form,
        "loaded": loaded,
        "off_saddle": float(np.abs(form.points - saddle).max()),
        "moved": float(np.abs(empty.state.q - form.points).max()),
        "snow": float(-snow[:, 2].sum()),
        "held": float(loaded.reactions[:, 2].sum()),
        "sag": float((form.points[:, 2] - loaded.state.q[:, 2]).max()),
    }


def picture(figure, result) -> None:
    """Draw the form that was found and the net under snow, with heights doubled."""
    view = np.array([[0.9, -0.35], [0.55, 0.5], [0.0, 2.0]])
    axes = figure.subplots()
    for q, colour, label in (
        (result["form"].points, "0.7", "found"),
        (result["loaded"].state.q, "tab:blue", "under snow"),
    ):
        pen = np.pad(
            (q @ view)[net.edges], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan
        )  # nan lifts the pen
        axes.plot(*pen.reshape(-1, 2).T, lw=0.8, color=colour, label=label)
    axes.plot(*(result["form"].points @ view)[RIM].T, "o", ms=2, color="tab:red", label="held")
    axes.set(aspect="equal")
    axes.axis("off")
    axes.legend(frameon=False)


if __name__ == "__main__":
    result = run()
    print(result["form"])
    print(
        f"the form differs from the saddle by {result['off_saddle']:.1e} m; "
        f"built of cables it moves by {result['moved']:.1e} m"
    )
    loaded = result["loaded"]
    print(loaded)
    print(
        f"snow {result['snow']:.6f} N, held by the rim {result['held']:.6f} N; the net sags by "
        f"{1000 * result['sag']:.1f} mm"
    )
    print(loaded.members)
    if len(sys.argv) > 1:
        loaded.members.write_csv(sys.argv[1])
