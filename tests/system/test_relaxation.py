"""Sweeps over a region: each particle ends where nothing pulls it, and the others stay."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.system.terms import Inputs
from taut.system.workspace import workspace_for

rng = np.random.default_rng(8)
SHEET = taut.mesh.sheet(6, 6)
CRUMPLED = SHEET.points + 0.05 * rng.normal(size=SHEET.points.shape)


def build(energies, points=SHEET.points):
    return taut.System(points, mass=0.1, energies=[*energies, laws.gravity()])


def total(system, q, weights, centre):
    """The sum that is lowered, and its gradient, from the laws of the whole system."""
    assembly = workspace_for(system).assembly("potential", system.initial_state())
    value, gradient, _ = assembly.gradient([Inputs(q, q, 0.0, 0.0)] * len(assembly.terms))
    pull = weights[:, None] * (q - centre)
    return value + 0.5 * (pull * (q - centre)).sum(), gradient + pull


def relax(system, q, region, sweeps, stiffness=10.0):
    weights, centre = np.full(system.n, stiffness), np.zeros_like(q)
    before, gradient = total(system, q, weights, centre)
    assembly = workspace_for(system).assembly("potential", system.initial_state())
    inputs = [Inputs(q, q, 0.0, 0.0)] * len(assembly.terms)
    moved = assembly.relax(q, inputs, np.array(region, dtype=np.int64), gradient, weights, sweeps)
    return moved, before, *total(system, moved, weights, centre)


SETS = {
    "spring": lambda: [laws.spring(SHEET.edges, k=100.0), laws.spring(SHEET.diagonals, k=30.0)],
    "stiffening": lambda: [laws.stiffening_spring(SHEET.edges, k=100.0, beta=3.0)],
    "bending": lambda: [
        laws.spring(SHEET.edges, k=100.0),
        laws.shell_bending(SHEET.hinges, c=0.1, ratio=0.3),
    ],
    "area": lambda: [
        laws.spring(SHEET.edges, k=100.0),
        laws.surface_tension(SHEET.triangles, stress=3.0),
    ],
}


@pytest.mark.parametrize("name", SETS)
def test_single_particle_ends_in_equilibrium_between_its_neighbours(name):
    system = build(SETS[name]())
    moved, before, after, gradient = relax(system, CRUMPLED, [17], 200)
    assert after < before
    assert np.abs(gradient[17]).max() < 1e-7 * np.abs(gradient).max()
    others = np.delete(np.arange(system.n), 17)
    assert np.array_equal(moved[others], CRUMPLED[others])


@pytest.mark.parametrize("name", SETS)
def test_region_converges_to_the_minimum_with_the_others_held(name):
    system = build(SETS[name]())
    region = [8, 9, 15, 16, 17, 22, 23]
    _, before, after, gradient = relax(system, CRUMPLED, region, 3000)
    assert after < before
    assert np.abs(gradient[region]).max() < 1e-6 * np.abs(gradient).max()


def test_every_sweep_lowers_the_sum():
    system = build(SETS["bending"]())
    values = [relax(system, CRUMPLED, range(system.n), k)[2] for k in range(6)]
    assert np.all(np.diff(values) < 0.0)


def test_nothing_to_relax():
    only_gravity = taut.System(SHEET.points, mass=0.1, energies=[laws.gravity()])
    assert np.array_equal(relax(only_gravity, CRUMPLED, [3, 4], 5)[0], CRUMPLED)
    assert np.array_equal(relax(build(SETS["spring"]()), CRUMPLED, [], 5)[0], CRUMPLED)
    assert np.array_equal(relax(taut.System(SHEET.points, mass=0.1), CRUMPLED, [3], 5)[0], CRUMPLED)
    torn = build([laws.spring(np.empty((0, 2), dtype=np.int64), k=1.0)])
    assert np.array_equal(relax(torn, CRUMPLED, [3, 4], 0)[0], CRUMPLED)


def test_particle_without_elements_follows_the_quadratic_part():
    system = build([laws.spring([[0, 1]], k=10.0)])
    moved, _, _, gradient = relax(system, CRUMPLED, [5], 3)
    assert np.abs(gradient[5]).max() < 1e-12
    assert np.allclose(moved[5], [0.0, -0.1 * 9.81 / 10.0, 0.0], atol=1e-12)


def test_more_elements_at_a_particle_than_a_batch_holds():
    hub = np.concatenate([[[0.3, 0.2, 0.1]], rng.normal(size=(200, 3))])
    pairs = np.stack([np.zeros(200, dtype=np.int64), np.arange(1, 201)], axis=1)
    system = build([laws.spring(pairs, k=10.0, l0=0.7)], hub)
    _, before, after, gradient = relax(system, hub, [0], 100)
    assert after < before
    assert np.abs(gradient[0]).max() < 1e-8 * np.abs(gradient).max()
