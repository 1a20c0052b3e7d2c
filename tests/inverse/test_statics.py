"""Gradients of equilibria, frequencies and forms, against differences."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.inverse.targets import change_system, read_value
from taut.statics import _form_search
from tests.inverse.differences import TIGHT, slope

RNG = np.random.default_rng(0)
NET = taut.mesh.net(4, 4)
WEIGHTS = RNG.normal(size=(25, 3))


def loss(state):
    q = np.array(state.q)
    return float(np.sum(WEIGHTS * q) + 0.5 * np.sum(q**2)), WEIGHTS + q


def hanging(*more, **parts):
    k = np.linspace(50.0, 100.0, len(NET.edges))
    energies = [laws.spring(NET.edges, k=k, l0=0.2), laws.gravity(), *more]
    return taut.System(
        NET.points, mass=np.linspace(0.05, 0.1, 25), fixed=NET.corners(), energies=energies, **parts
    )


def check(system, name, exact, function, size=1e-3, rel=1e-8):
    """Compare a gradient along a random direction with differences of a function of a system."""
    value = read_value(system, name)
    direction = np.random.default_rng(3).normal(size=value.shape)
    if name == "pose":
        direction[np.setdiff1d(np.arange(system.n), system.fixed)] = 0.0
    step = size * np.abs(value).max() / np.abs(direction).max()
    expected = slope(lambda s: function(change_system(system, {name: value + s * direction})), step)
    assert np.sum(exact * direction) == pytest.approx(expected, rel=rel), name


@pytest.mark.parametrize("factor", [1.0, 0.6])
@pytest.mark.parametrize("name", ["spring.k", "spring.l0", "gravity.g", "mass", "pose"])
def test_equilibrium(name, factor):
    system = hanging()
    rest = taut.equilibrium(system, loads=[factor], tolerance=TIGHT)
    found = taut.gradient(rest, loss, [name])
    assert found.error[name].max() <= 1e-10 * np.abs(found[name]).max()

    def at(changed):
        start = None if name == "pose" else rest.state
        return loss(taut.equilibrium(changed, start, loads=[factor], tolerance=TIGHT).state)[0]

    check(system, name, found[name], at)


def test_error_bound_of_an_equilibrium_holds_and_is_close():
    system = hanging()
    true = taut.gradient(taut.equilibrium(system, tolerance=TIGHT), loss, ["spring.k"])
    loose = taut.equilibrium(system, tolerance=taut.Tolerance(relative=1e-3))
    found = taut.gradient(loose, loss, ["spring.k"])
    error = np.abs(found["spring.k"] - true["spring.k"]).max()
    assert error > 1e-12
    assert error <= found.error["spring.k"].max() <= 10.0 * error


@pytest.mark.parametrize("name", ["spring.k", "spring.l0", "gravity.g", "mass"])
def test_frequencies_about_an_equilibrium(name):
    system, weights = hanging(), np.array([1.0, -0.5, 0.3, 2.0])
    rest = taut.equilibrium(system, tolerance=TIGHT)

    def of(omega):
        return float(weights @ omega), weights

    modes = taut.modes(system, rest.state, n=4)
    found = taut.gradient(modes, of, [name], at=rest)

    def at(changed):
        moved = taut.equilibrium(changed, rest.state, tolerance=TIGHT)
        return of(taut.modes(changed, moved.state, n=4).omega)[0]

    check(system, name, found[name], at, size=3e-4, rel=1e-7)


def test_frequency_of_one_spring():
    """ω = √(k/m): ∂ω/∂k = ω/2k, ∂ω/∂m = -ω/2m, with the other end fixed."""
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=2.0,
        fixed=[0],
        constraints=[taut.constraints.on_line(1, direction=(1, 0, 0))],
        energies=[laws.spring([[0, 1]], k=8.0)],
    )
    modes = taut.modes(system, n=1)
    found = taut.gradient(modes, lambda w: (float(w[0]), np.ones(1)), ["spring.k", "mass"])
    assert float(found["spring.k"]) == pytest.approx(2.0 / 16.0, rel=1e-12)
    assert found["mass"][1] == pytest.approx(-2.0 / 4.0, rel=1e-12)


def test_equal_frequencies_are_noted():
    system = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.pin(k=4.0)])
    modes = taut.modes(system, n=3)
    found = taut.gradient(modes, lambda w: (float(w[0]), np.eye(3)[0]), ["pin.k"])
    assert "modes 0 and 1 have the same frequency" in found.notes[0]
    found = taut.gradient(modes, lambda w: (float(w.sum()), np.ones(3)), ["pin.k"])
    assert not found.notes


@pytest.mark.parametrize("name", ["force_density.d", "force.f", "pose"])
def test_net_of_force_densities(name):
    density = np.linspace(1.0, 2.0, len(NET.edges))
    points = np.array(NET.points)
    points[NET.corners()[0], 2] = 0.4

    def find(d=density, f=(0.0, 0.0, -0.1), start=points):
        return taut.form_finding(
            start, fixed=NET.corners(), edges=NET.edges, density=d, loads=f, tolerance=TIGHT
        )

    form = find()
    found = taut.gradient(form, loss, [name])

    def at(changed):
        again = find(
            read_value(changed, "force_density.d"), read_value(changed, "force.f"), changed.pose
        )
        return loss(changed.initial_state().with_(q=again.points))[0]

    check(form.system, name, found[name], at)


@pytest.mark.parametrize("name", ["stress", "density", "pressure", "points"])
def test_membrane_with_a_cable(name, monkeypatch):
    """Unequal stresses leave forces along the surface: that normals turn counts.

    Where a search puts points along the surface is a choice with jumps. One that begins at the form
    is kept from it, so that points only balance along their normals.
    """
    sheet, rng = taut.mesh.sheet(6, 6), np.random.default_rng(2)
    rim = np.unique(sheet.boundary_edges)
    points = np.array(sheet.points)
    flat = np.ptp(points, axis=0).argmin()
    u, v = points[:, np.arange(3) != flat].T
    points[:, flat] = 0.3 * np.sin(3 * u) * np.cos(2 * v)
    inner = np.setdiff1d(np.arange(len(points)), rim)
    middle = np.flatnonzero(np.isclose(u, np.median(u)))  # from rim to rim
    cable = sheet.edges[np.isin(sheet.edges, middle).all(axis=1)]
    a, b = rng.normal(size=(2, len(points), 3))

    def weigh(state):
        return float(np.sum(a * state.q + 0.5 * b * state.q**2)), a + b * state.q

    given = {
        "stress": 2.0 + 0.05 * rng.normal(size=len(sheet.triangles)),
        "pressure": 0.5,
        "density": np.full(len(cable), 1.5),
        "points": points,
    }
    fixed = {"fixed": rim, "triangles": sheet.triangles, "edges": cable, "accuracy": 1.0}

    def find(**changes):
        return taut.form_finding(**{**given, **changes}, **fixed, tolerance=TIGHT)

    form = find()
    given["points"] = form.points
    assert form.slip > 1e-3
    monkeypatch.setattr(_form_search.FormSearch, "_relax", lambda self, q: q)
    monkeypatch.setattr(_form_search, "_MAX_STRETCH", np.inf)
    target = {
        "stress": "surface_tension.stress",
        "density": "force_density.d",
        "pressure": "membrane_pressure.p",
    }.get(name, name)
    found = taut.gradient(find(), weigh, [target])
    direction = rng.normal(size=np.shape(given[name]))
    if name == "points":
        direction[inner] = 0.0  # they are a start, which does not count
        assert np.abs(found[target][inner]).max() < 1e-15

    def at(s):
        state = form.system.initial_state().with_(
            q=find(**{name: given[name] + s * direction}).points
        )
        return weigh(state)[0]

    expected = slope(at, 1e-4)
    assert np.sum(found[target] * direction) == pytest.approx(expected, rel=1e-7)
    assert found.error[target].max() < 1e-9 * np.abs(found[target]).max()


def test_a_bubble_depends_on_pressure_over_stress():
    """With defaults: if both grow alike, nothing changes."""
    disc = taut.mesh.disc(4)
    rim = np.unique(disc.boundary_edges)
    form = taut.form_finding(
        disc.points, fixed=rim, triangles=disc.triangles, stress=2.0, pressure=1.5
    )
    normal = np.eye(3)[np.ptp(disc.points, axis=0).argmin()]
    slopes = np.tile(normal, (len(form.points), 1))
    found = taut.gradient(
        form,
        lambda s: (float(np.sum(s.q * slopes)), slopes),
        ["surface_tension.stress", "membrane_pressure.p"],
    )
    by_stress = 2.0 * float(np.sum(found["surface_tension.stress"]))
    assert abs(by_stress) > 0.1
    assert by_stress == pytest.approx(-1.5 * float(found["membrane_pressure.p"]), rel=1e-6)


def test_a_mechanism_that_the_loss_sees_is_an_error():
    free = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=5.0)])
    rest = taut.equilibrium(free)
    with pytest.raises(taut.TautError, match="no derivative"):
        taut.gradient(rest, lambda s: (float(s.q[0, 1]), np.eye(3)[[1, 2]] * 1.0), ["spring.k"])


def test_what_has_no_effect_at_rest_is_an_error():
    with pytest.raises(taut.TautError, match="'velocity' has no effect at rest"):
        taut.gradient(taut.equilibrium(hanging()), loss, ["velocity"])
