"""Draws wind_tearing.svg.

Drag and lift of a triangle by angle, a flag in the wind from above, and a sheet being torn.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import taut
from taut import laws
from taut.constraints import fixed, scripted

mpl.rcParams.update(
    {"svg.fonttype": "none", "svg.hashsalt": "wind", "font.size": 9, "font.family": "sans-serif"}
)
COLOURS = mpl.colormaps["viridis"](np.linspace(0.0, 0.85, 6))


def forces(axes):
    """Drag and lift in units of ½ρ|u|²A, by the angle between the wind and the normal."""
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 2.0, 0]])
    angles = np.radians(np.arange(0, 91, 3))
    found = []
    for a in angles:
        u = np.array([np.sin(a), 0, np.cos(a)])
        plate = taut.System(
            points,
            mass=1.0,
            loads=[laws.wind([[0, 1, 2]], velocity=u, density=2.0, drag=1.0, lift=0.5)],
        )
        f = plate.f(plate.initial_state()).sum(axis=0)
        found.append([f @ u, np.linalg.norm(f - (f @ u) * u)])
    drag, lift = np.array(found).T
    axes.plot(np.degrees(angles), drag, color=COLOURS[0], label="drag, C_D = 1")
    axes.plot(np.degrees(angles), lift, color=COLOURS[4], label="lift, C_L = ½")
    axes.set(
        xlabel="angle of the wind to the normal [°]",
        ylabel="force / (½ρ|u|²A)",
        xticks=[0, 30, 60, 90],
    )
    axes.legend(frameon=False)
    axes.set_title("one triangle", fontsize=9)


def flag(axes):
    """A flag held at its left side, from above at several times."""
    mesh = taut.mesh.sheet(24, 12, size=(1.0, 0.5))
    system = taut.System(
        mesh.points,
        mass=taut.areal_mass(mesh, 0.1),
        fixed=mesh.select("x < 1e-6"),
        energies=[
            laws.spring(mesh.edges, k=200.0),
            laws.spring(mesh.diagonals, k=60.0),
            laws.shell_bending(mesh.hinges, c=1e-5),
            laws.gravity(),
        ],
        damping=[laws.spring_damping(mesh.edges, c=0.01)],
        loads=[
            laws.wind(
                mesh.triangles,
                velocity=lambda x, t: np.column_stack(
                    [np.full(len(x), 6.0), 0 * x[:, 0], 1.5 * np.sin(7 * t - 4 * x[:, 0])]
                ),
            )
        ],
    )
    row = mesh.select("abs(y - 0.25) < 0.01")
    for i, (state, _) in enumerate(taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=1.6)):
        if i >= 100 and i % 12 == 0:
            axes.plot(*state.q[row][:, [0, 2]].T, color=COLOURS[(i - 100) // 12])
    axes.set(xlabel="x [m]", ylabel="z [m]", aspect="equal", xlim=(-0.05, 1.05))
    axes.set_title("a flag in 6 m/s with gusts, seen from above", fontsize=9)


def torn(axes):
    """A sheet pulled apart: springs that are left, coloured by strain.

    Those of a colour in one path to keep the file small.
    """
    mesh = taut.mesh.sheet(12, 9, size=(1.0, 0.75))
    weak = 0.15 * (1 + 0.2 * np.random.default_rng(2).random(len(mesh.edges)))
    low = mesh.select("y < 0.01")
    start = mesh.positions[low]
    system = taut.System(
        mesh.points,
        mass=taut.areal_mass(mesh, 0.2),
        energies=[
            laws.spring(mesh.edges, k=200.0, breaking_strain=weak),
            laws.spring(mesh.diagonals, k=50.0, breaking_strain=0.2),
        ],
        damping=[laws.drag(alpha=4.0)],
        constraints=[
            fixed(mesh.select("y > 0.74")),
            scripted(low, lambda t: start - np.array([0.0, 0.3 * t, 0.0])),
        ],
    )
    *_, (state, _) = taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=0.5)
    table = system.members(state)
    ends = np.stack(
        [state.q[table.i, :2], state.q[table.j, :2], np.full((len(table.i), 2), np.nan)], axis=1
    )  # nan: lift the pen
    shade = np.clip(table.strain / 0.15 * len(COLOURS), 0, len(COLOURS) - 1).astype(int)
    for i, colour in enumerate(COLOURS):
        axes.plot(*ends[shade == i].reshape(-1, 2).T, color=colour, lw=1.0)
    axes.set(aspect="equal", xlim=(-0.05, 1.05), ylim=(-0.2, 0.8), xlabel="x [m]", ylabel="y [m]")
    axes.set_title("a sheet torn, strain 0 (dark) to 0.15", fontsize=9)


figure = Figure(figsize=(10.5, 3.2), layout="constrained")
left, middle, right = figure.subplots(1, 3)
forces(left)
flag(middle)
torn(right)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
