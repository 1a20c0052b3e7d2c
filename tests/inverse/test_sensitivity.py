"""Forward sensitivities against gradients, and Hessian products against differences."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.inverse.targets import change_system, list_targets, read_value
from tests.inverse.differences import TIGHT, Weigh
from tests.inverse.test_gradient import cloth
from tests.laws.motion import pendulum
from tests.laws.test_gradients import make, specimen_system
from tests.laws.test_integrators import OBEYS

H, STEPS = 0.01, 4


@pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
@pytest.mark.parametrize("which", ["pendulum", "gas", "wind", "shell_bending"])
def test_sensitivities_equal_gradients(integrator, which):
    """Weighed with the slopes of a loss, they add up to its gradient: to rounding, not to 1e-7."""
    system = pendulum() if which == "pendulum" else specimen_system(which)
    method, loss = make(integrator), Weigh(system.n)
    skipped = ("paths", "h", "gas.volume0", *(("points",) if which == "gas" else ()))
    names = [name for name in list_targets(system) if name not in skipped]
    names = [name for name in names if read_value(system, name).size <= 9]
    found = taut.sensitivity(taut.simulate(system, method, H, STEPS * H), names)
    expected = taut.gradient(
        taut.simulate(system, method, H, STEPS * H), loss, names, certify=False
    )
    for name in names:
        total = np.zeros_like(expected[name])
        for k in range(len(found.t)):
            state = taut.State(found.t[k], found.q[k], found.v[k])
            _, by_q, by_v = loss(state)
            total = total + np.einsum("ni,ni...->...", by_q, found.dq[name][k])
            total = total + np.einsum("ni,ni...->...", by_v, found.dv[name][k])
        scale = np.abs(expected[name]).max() + 1e-9
        if name == "velocity":
            total = system._projector.project(total)
        np.testing.assert_allclose(total, expected[name], rtol=1e-7, atol=1e-8 * scale)


@pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
@pytest.mark.parametrize("name", ["pose", "points"])
def test_fixed_points_and_rest_shapes_move_states(integrator, name):
    """A net held at two corners and on a plane, with and without a pose of its own."""
    net = taut.mesh.net(2, 2)
    plane = taut.constraints.on_plane(net.corners()[2], normal=(1.0, 2.0, 0.5))
    own = {"pose": 1.05 * net.points} if name == "pose" else {}
    system = taut.System(
        net.points,
        mass=0.05,
        fixed=net.corners()[:2],
        constraints=[plane],
        energies=[laws.spring(net.edges, k=80.0), laws.gravity()],
        damping=[laws.spring_damping(net.edges, c=0.05)],
        velocity=np.ones_like(net.points),
        **own,
    )
    method, loss = make(integrator), Weigh(system.n)
    found = taut.sensitivity(taut.simulate(system, method, H, STEPS * H), [name])
    run = taut.simulate(system, method, H, STEPS * H)
    expected = taut.gradient(run, loss, [name], certify=False)[name]
    assert np.abs(expected[net.corners()[:2]]).max() > 1e-2
    total = np.zeros_like(expected)
    for k, t in enumerate(found.t):
        _, by_q, by_v = loss(taut.State(t, found.q[k], found.v[k]))
        total += np.einsum("ni,ni...->...", by_q, found.dq[name][k])
        total += np.einsum("ni,ni...->...", by_v, found.dv[name][k])
    np.testing.assert_allclose(total, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["h", "paths"])
def test_what_only_gradients_offer_is_said(name):
    with pytest.raises(taut.TautError, match=f"sensitivity by '{name}' is not available"):
        taut.sensitivity(taut.simulate(cloth(), taut.ImplicitEuler(), H, H), [name])


def test_hessian_product_is_symmetric_and_a_difference():
    system, loss = cloth(3), Weigh(16)
    method = taut.BDF2(tolerance=TIGHT)

    def gradient_at(changed):
        run = taut.simulate(changed, method, H, 6 * H)
        return taut.gradient(run, loss, ["spring.l0", "velocity"], certify=False)

    rng = np.random.default_rng(0)
    a = {n: rng.normal(size=read_value(system, n).shape) for n in ("spring.l0", "velocity")}
    b = {n: rng.normal(size=read_value(system, n).shape) for n in ("spring.l0", "velocity")}
    of_a = taut.inverse.hessian_product(gradient_at, system, a)
    of_b = taut.inverse.hessian_product(gradient_at, system, b)
    left = sum(np.sum(of_a[n] * b[n]) for n in b)
    right = sum(np.sum(of_b[n] * a[n]) for n in a)
    assert left == pytest.approx(right, rel=1e-5)
    moved = {n: read_value(system, n) + 1e-4 * a[n] for n in a}
    back = {n: read_value(system, n) - 1e-4 * a[n] for n in a}
    values = [gradient_at(change_system(system, m)).value for m in (moved, back)]
    second = (values[0] - 2 * gradient_at(system).value + values[1]) / 1e-8
    assert sum(np.sum(of_a[n] * a[n]) for n in a) == pytest.approx(second, rel=1e-3)
