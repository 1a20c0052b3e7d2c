"""Continuum laws in scene files: moduli in pascals, from TOML alone."""

import numpy as np
import pytest

import taut
from taut import laws

SCENE = """
[time]
h = 0.01
duration = 0.05

[[body]]
name = "block"
mesh = { shape = "block", nx = 2, ny = 1, nz = 1, cells = "tet" }
density = 1000.0

[[body.law]]
law = "neo_hookean_solid"
on = "tet"
young = 1e5
poisson = 0.3

[[body.hold]]
where = "x == min"

[[law]]
law = "gravity"
"""


def test_block_of_rubber_from_a_scene(tmp_path):
    """The same stiffness as in Python, in two lines."""
    path = tmp_path / "block.toml"
    path.write_text(SCENE)
    built = taut.scene.load(path).build().system
    mesh = taut.mesh.block(2, 1, 1, cells="tet")
    rubber = laws.neo_hookean_solid(mesh.cells["tet"], young=1e5, poisson=0.3)
    system = taut.System(mesh.points, mass=taut.volume_mass(mesh, 1000.0), energies=[rubber])
    state = system.initial_state().with_(q=mesh.points * [1.1, 0.9, 1.0])
    assert built.V_by_law(state)["neo_hookean_solid"] == pytest.approx(system.V(state), rel=1e-14)
    np.testing.assert_allclose(built.mass, system.mass)
