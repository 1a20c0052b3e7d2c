"""Gradients of runs: checkpoints, run folders, paths, contact, kinks and tears, error bounds."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.inverse.gradient import MEMORY
from taut.inverse.targets import change_system, read_value
from taut.run.record import record
from tests.inverse.differences import TIGHT, Weigh, directional, run_loss, slope

H, STEPS = 0.01, 12
NAMES = ["spring.k", "spring.l0", "spring_damping.c", "mass", "velocity"]


def cloth(n=4, **more):
    net = taut.mesh.net(n, n)
    energies = [laws.spring(net.edges, k=80.0), laws.gravity()]
    return taut.System(
        net.points,
        mass=0.05,
        fixed=net.corners()[:2],
        energies=energies,
        damping=[laws.spring_damping(net.edges, c=0.05)],
        velocity=0.3 * np.sin(np.arange(3.0 * len(net.points))).reshape(-1, 3),
        **more,
    )


def differentiate(system, integrator, loss, by, steps=STEPS, **options):
    run = taut.simulate(system, integrator, H, steps * H)
    return taut.gradient(run, loss, by, **options)


METHODS = [
    taut.ImplicitEuler(tolerance=TIGHT),
    taut.BDF2(tolerance=TIGHT),
    taut.TRBDF2(tolerance=TIGHT),
    taut.RK4(),
    taut.Adaptive(taut.BDF2(tolerance=TIGHT), error=1e-4),
]
by_method = pytest.mark.parametrize(
    "method", METHODS, ids=lambda m: f"{type(m).__name__}{getattr(m, 'integrator', '') and 1}"
)


@by_method
def test_checkpoints_change_nothing(method):
    """With almost no memory, all steps are taken again: the same bits."""
    system, loss = cloth(), Weigh(25)
    kept = differentiate(system, method, loss, NAMES, memory=MEMORY)
    again = differentiate(system, method, loss, NAMES, memory=1.0)
    assert kept.value == again.value
    for name in NAMES:
        assert np.array_equal(kept[name], again[name]), name
        assert np.array_equal(kept.error[name], again.error[name]), name


@by_method
@pytest.mark.parametrize("every", [1, 4])
def test_a_run_folder_is_a_tape(tmp_path, method, every):
    system, loss = cloth(), Weigh(25)
    record(tmp_path / "run", system, method, h=H, until=STEPS * H, every=every)
    expected = differentiate(system, method, loss, NAMES, certify=False)
    with taut.open_run(tmp_path / "run") as run:
        found = taut.gradient(run, loss, NAMES, system=system, integrator=method, certify=False)
    for name in NAMES:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, atol=1e-12)


def test_a_run_with_another_system_is_rejected(tmp_path):
    """Steps that are taken again must end where the run did."""
    method = taut.ImplicitEuler()
    record(tmp_path / "run", cloth(), method, h=H, until=STEPS * H)
    other = change_system(cloth(), {"spring.k": 81.0})
    with taut.open_run(tmp_path / "run") as run:
        with pytest.raises(taut.TautError, match="taken again, ended elsewhere"):
            taut.gradient(run, Weigh(25), ["mass"], system=other, integrator=method)
        with pytest.raises(taut.TautError, match="recorded without a scene"):
            taut.gradient(run, Weigh(25), ["mass"])


def test_adaptive_steps():
    """Lengths of substeps count as given: differences over the same substeps."""
    system, loss = cloth(), Weigh(25)
    method = taut.Adaptive(taut.TRBDF2(tolerance=TIGHT), error=2e-5)
    found = differentiate(system, method, loss, ["spring.k", "pose"], certify=False)
    state, lengths, kept = system.initial_state(), [], []
    for _ in range(STEPS):
        result = method.advance(system, state, H)
        lengths += [part.h for part in result.substeps]
        kept += [False] * (len(result.substeps) - 1) + [True]
        state = result.state
    assert len(lengths) > STEPS

    def at(change):
        own = change_system(system, {"spring.k": 80.0 + change})
        state = own.initial_state()
        total = loss(state)[0]
        for h, counts in zip(lengths, kept, strict=True):
            state = method.integrator.advance(own, state, h).state
            total += counts * loss(state)[0]
        return total

    assert float(found["spring.k"]) == pytest.approx(slope(at, 0.1), rel=1e-8)


PATH = np.array([0.3, -0.2, 0.5])


def moving(a):
    """A net held at two corners, one on a path with a parameter a."""
    net = taut.mesh.sheet(3, 3)
    first, second = net.corners()[:2]
    start = np.array(net.points[first])
    path = taut.constraints.scripted([first], lambda t: start + np.sin(a * t) * PATH)
    return taut.System(
        net.points,
        mass=0.05,
        fixed=[second],
        constraints=[path],
        energies=[laws.spring(net.edges, k=80.0), laws.gravity()],
        damping=[laws.spring_damping(net.edges, c=0.05), laws.rayleigh(beta=1e-3)],
        loads=[laws.wind(net.triangles, velocity=(1.0, 2.0, 0.5))],
    )


EVERY_METHOD = [
    *(taut.ExplicitEuler(), taut.SymplecticEuler(), taut.VelocityVerlet(), taut.RK4()),
    *(m(tolerance=TIGHT) for m in (taut.ImplicitEuler, taut.ImplicitMidpoint, taut.BDF2)),
    *(m(tolerance=TIGHT) for m in (taut.TRBDF2, taut.LinearlyImplicitEuler)),
]
by_every_method = pytest.mark.parametrize("method", EVERY_METHOD, ids=lambda m: type(m).__name__)


@by_every_method
def test_gradient_by_paths_of_held_points(method):
    """Chained with ∂x/∂a of the path, it is the slope of the loss by a."""
    a, loss = 7.0, Weigh(16)
    by = differentiate(moving(a), method, loss, ["paths"], steps=5, certify=False)["paths"]
    slopes = (by.times * np.cos(a * by.times))[:, None, None] * PATH
    steps = [H] * 5
    expected = slope(lambda s: run_loss(moving(a + s), method, steps, loss), 1e-2)
    assert np.sum(by.values * slopes) == pytest.approx(expected, rel=1e-8)


def test_paths_of_a_system_without_scripted_points():
    by = differentiate(cloth(), taut.ImplicitEuler(), Weigh(25), ["paths"], certify=False)["paths"]
    assert by.values.shape == (0, 0, 3)


@by_every_method
def test_gradient_by_the_place_of_fixed_points_and_points_on_planes(method):
    net = taut.mesh.net(3, 3)
    plane = taut.constraints.on_plane(net.corners()[1], normal=(1.0, 2.0, 0.5))
    system = taut.System(
        net.points,
        mass=0.05,
        fixed=[net.corners()[0]],
        constraints=[plane],
        energies=[laws.spring(net.edges, k=80.0), laws.gravity()],
        pose=1.1 * net.points,
        velocity=np.ones_like(net.points),
    )
    loss, direction = Weigh(16), np.random.default_rng(1).normal(size=(16, 3))
    found = differentiate(system, method, loss, ["pose"], steps=4, certify=False)["pose"]

    def at(s):
        return run_loss(system.with_(pose=system.pose + s * direction), method, [H] * 4, loss)

    assert np.sum(found * direction) == pytest.approx(slope(at, 1e-4), rel=1e-8)


def two_bodies(k=50.0):
    """A ball of springs that falls onto a plane, and a net that lies across it."""
    ball, net = taut.mesh.sphere(1), taut.mesh.net(2, 2, size=0.16)
    lying = np.array(net.points)[:, [0, 2, 1]] - [0.08, -0.206, 0.08]
    points = np.concatenate([0.1 * ball.points + [0.0, 0.103, 0.0], lying])
    edges = np.concatenate([ball.edges, net.edges + ball.n])
    contact = taut.contact(
        ball.triangles, net.edges + ball.n, range=2e-3, k=50.0, planes=[((0, 0, 0), (0, 1, 0))]
    )
    return taut.System(
        points,
        mass=0.01,
        energies=[laws.spring(edges, k=k), laws.gravity()],
        contact=contact,
        velocity=np.where(np.arange(len(points))[:, None] < ball.n, [0.2, -1.0, 0.1], [0, -3.0, 0]),
    )


@pytest.mark.parametrize("name", ["spring.k", "contact.k", "contact.range"])
def test_contact_without_friction(name):
    system, size = two_bodies(), {"contact.range": 1e-7}.get(name, 1e-3)
    method, loss = taut.ImplicitEuler(tolerance=TIGHT), Weigh(system.n)
    run = taut.simulate(system, method, 2e-3, 0.02)
    found = taut.gradient(run, loss, [name], certify=False)
    value = float(read_value(system, name))

    def at(s):
        return run_loss(change_system(system, {name: value + s}), method, [2e-3] * 10, loss)

    assert float(found[name]) == pytest.approx(slope(at, size), rel=1e-5)
    tangent = taut.sensitivity(taut.simulate(system, method, 2e-3, 0.02), [name])
    total = 0.0
    for k, t in enumerate(tangent.t):
        _, by_q, by_v = loss(taut.State(t, tangent.q[k], tangent.v[k]))
        total += np.sum(by_q * tangent.dq[name][k]) + np.sum(by_v * tangent.dv[name][k])
    assert total == pytest.approx(float(found[name]), rel=1e-8)


def test_tears_and_kinks_are_named():
    rope = taut.mesh.rope(3, end=(0, -1, 0))
    torn = taut.System(
        rope.points,
        mass=1.0,
        fixed=[0],
        energies=[
            laws.spring(rope.edges, k=100.0, breaking_strain=[0.05, 10.0, 10.0]),
            laws.gravity(),
        ],
    )
    found = differentiate(torn, taut.ImplicitEuler(), Weigh(4), ["spring.k"], steps=30)
    assert "element 0 of 'spring'" in found.notes[0]
    assert "tears" in found.notes[0]
    slack = taut.System(
        [[0, 0, 0], [1, 0, 0], [0, 0, 0], [2, 0, 0]],
        mass=1.0,
        energies=[laws.cable([[0, 1], [2, 3]], k=100.0, l0=1.0)],
        velocity=[[0, 0, 0], [0, 0, 0], [0, 0, 0], [0.1, 0, 0]],
    )
    found = differentiate(slack, taut.SymplecticEuler(), Weigh(4), ["cable.k"], steps=1)
    assert "element 0 of 'cable' at t = 0 s is at a kink" in found.notes[0]
    assert "element 1" not in found.notes[0]


@pytest.mark.parametrize("relative", [1e-4, 1e-6, 1e-8])
def test_error_bound_holds_and_is_close(relative):
    """Against the gradient of steps solved to rounding: within the bound, and within ten of it."""
    system, loss = cloth(6), Weigh(49)
    names = ["spring.k", "spring_damping.c", "mass", "velocity"]
    true = differentiate(system, taut.ImplicitEuler(tolerance=TIGHT), loss, names, steps=20)
    loose = taut.ImplicitEuler(tolerance=taut.Tolerance(relative=relative))
    found = differentiate(system, loose, loss, names, steps=20)
    for name in names:
        error = np.abs(found[name] - true[name]).max()
        bound = found.error[name].max()
        assert error <= bound <= 10.0 * error, name
    assert abs(found.value - true.value) <= found.value_error <= 10 * abs(found.value - true.value)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("spring.k", "by must be a list of names"),
        ([], "at least one parameter"),
        (["spring.q"], "no parameter 'q'"),
        (["sprung.k"], "no law 'sprung'; did you mean 'spring'"),
        (["masses"], "no 'masses' to differentiate by; did you mean 'mass'"),
        (["rayleigh.beta"], "no Rayleigh damping"),
    ],
)
def test_unknown_names(by, message):
    with pytest.raises(taut.TautError, match=message):
        differentiate(cloth(), taut.ImplicitEuler(), Weigh(25), by)


def test_losses_that_cannot_be_used():
    for loss, message in (
        (lambda s: 1.0, "must return"),
        (lambda s: (1.0, np.zeros(3)), "shape"),
        (lambda s: (np.nan, None), "finite"),
    ):
        with pytest.raises(taut.TautError, match=message):
            differentiate(cloth(), taut.ImplicitEuler(), loss, ["mass"])


def test_a_simulation_that_has_begun_is_rejected():
    run = taut.simulate(cloth(), taut.ImplicitEuler(), H, STEPS * H)
    next(run)
    with pytest.raises(taut.TautError, match="must not have begun"):
        taut.gradient(run, Weigh(25), ["mass"])


def test_an_integrator_that_defines_its_step_anew_needs_a_tableau():
    class Own(taut.ImplicitEuler):
        def predict(self, workspace, state, h, solved):
            return super().predict(workspace, state, h, solved)

    with pytest.raises(taut.TautError, match="Own has no tableau"):
        differentiate(cloth(), Own(), Weigh(25), ["mass"])


@by_every_method
def test_loads_that_depend_on_places(method):
    """A wind that is a function of place and time: against differences, forward and backward."""

    def blow(x, t):
        return np.stack([3 + np.sin(4 * x[:, 1] + 9 * t), x[:, 0] ** 3, 5 * x[:, 0] * x[:, 2]], 1)

    net, loss = taut.mesh.net(3, 3), Weigh(16)
    system = taut.System(
        net.points,
        mass=0.002,
        fixed=net.corners()[:1],
        energies=[laws.spring(net.edges, k=8.0)],
        loads=[laws.wind(net.triangles, velocity=blow)],
        pose=1.1 * net.points,  # compressed springs have a projected stiffness, with a kink
        velocity=np.ones_like(net.points),
    )
    rng = np.random.default_rng(2)
    directions = {"pose": rng.normal(size=(16, 3)), "h": np.array([1.0, -2.0, 0.5, 1.0])}
    found = differentiate(system, method, loss, ["pose", "h"], steps=4, certify=False)
    total = np.sum(found["pose"] * directions["pose"]) + H * np.sum(found["h"] * directions["h"])
    expected = directional(system, method, H, 4, loss, directions, 1e-3)
    assert total == pytest.approx(expected, rel=1e-8)
    forward = taut.sensitivity(taut.simulate(system, method, H, 4 * H), ["h"])
    slopes = np.zeros(4)
    for k, t in enumerate(forward.t):
        _, by_q, by_v = loss(taut.State(t, forward.q[k], forward.v[k]))
        slopes += np.einsum("ni,nis->s", by_q, forward.dq["h"][k])
        slopes += np.einsum("ni,nis->s", by_v, forward.dv["h"][k])
    np.testing.assert_allclose(slopes, found["h"], rtol=1e-8)
    with pytest.raises(taut.TautError, match="is a function of place and time"):
        differentiate(system, method, loss, ["wind.velocity"])
