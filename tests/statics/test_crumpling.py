"""Crumpling is foreseen where compression exceeds the closed-form loads of buckling."""

import json

import numpy as np
import pytest

import taut
from taut import laws
from taut.statics.crumpling import find_bearable_load

G = 9.81


def bearable(system, h, duration=10.0):
    return find_bearable_load(system, system.initial_state(), h, duration)


@pytest.mark.parametrize(("h", "expected"), [(0.3, 1.0), (0.4, 0.5), (1.0, 0.0625)])
def test_inverted_pendulum(h, expected):
    """Inertia m/h² bears the weight m g on a rod of length l while m/h² > s m g/l.

    For l = 1 m this is s < 1/(9.81 h²): 1.13, 0.64 and 0.10.
    """
    pendulum = taut.System(
        [[0, 0, 0], [0, 1, 0]],
        mass=2.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=1e7), laws.gravity()],
    )
    assert bearable(pendulum, h) == expected


@pytest.mark.parametrize(("load", "expected"), [(0.9, 1.0), (1.1, 0.5), (3.0, 0.25)])
def test_column_under_its_own_weight(load, expected):
    """A clamped column buckles under the weight q per length at q L³ = 7.837 EI (Greenhill).

    load : the weight in units of that; h is so long that inertia does not help.
    """
    n = 40
    line = taut.mesh.rope(n)
    mass = np.full(n + 1, 1.0 / n)
    mass[[0, n]] /= 2
    weights = laws.gravity(g=(0.0, -7.837 * load, 0.0))
    energies = [
        laws.spring(line.edges, k=1e8),
        laws.rod_bending(line.rod_hinges, EI=1.0),
        laws.rod_clamp([[0, 1]], EI=1.0),
        weights,
    ]
    column = taut.System(line.points[:, [1, 0, 2]], mass=mass, fixed=[0], energies=energies)
    assert bearable(column, h=100.0, duration=1e3) == expected


def test_falling_body_is_not_compressed():
    sheet = taut.mesh.sheet(8, 8)
    energies = [laws.spring(sheet.edges, k=100.0), laws.gravity()]
    assert bearable(taut.System(sheet.points, mass=0.01, energies=energies), 0.1) == 1.0


@pytest.mark.parametrize("where", ["y == max(y)", "corners"])
def test_hanging_cloth_is_not_warned_of(where, command):
    """Held along its upper edge, or, lying horizontally, at its corners."""
    plane = "xy" if "y" in where else "xz"
    taut.mesh.write(taut.mesh.sheet(12, 12, plane=plane), "cloth.obj")
    options = ["--young", "1e5", "--thickness", "1e-3", "--fix", where, "--json"]
    code, out, err = command("check", "cloth.obj", *options)
    assert (code, json.loads(out)["warnings"]) == (0, []), err


@pytest.mark.parametrize(("n", "young"), [(6, "1e3"), (12, "1e5")])
def test_soft_shell_on_its_foot_is_warned_of(command, n, young):
    """The softer one collapses, the finer one wrinkles; a stiff one stands."""
    taut.mesh.write(taut.mesh.sphere(n), "ball.obj")
    options = ["--thickness", "1e-2", "--fix", "y < min(y) + 0.1"]
    code, out, err = command("check", "ball.obj", "--young", young, *options)
    assert code == 0, err
    assert "warning: thin bodies will crumple" in out
    code, out, err = command("check", "ball.obj", "--young", "1e7", *options)
    assert (code, "warning" in out) == (0, False), err


def test_explicit_steps_are_not_warned_of():
    """They solve nothing that crumpling could make difficult."""
    scene = taut.scene.load("spring")
    assert taut.scene.foresee(scene.build()) == ()
