"""Every integrator: order, conserved momenta, energy descent and bit-identical repetition."""

import numba
import numpy as np
import pytest

import taut
from taut import laws
from taut.step.explicit import Explicit
from tests.laws.motion import UNTIL, pendulum, reference


class Unprojected(taut.LinearlyImplicitEuler):
    """Linearly implicit Euler with the true stiffness."""

    def __init__(self, **options):
        super().__init__(project=False, **options)


OBEYS = {
    taut.ExplicitEuler: set(),
    taut.SymplecticEuler: {"angular momentum", "damped angular momentum"},
    taut.VelocityVerlet: {"angular momentum", "damped angular momentum"},
    taut.RK4: set(),
    taut.LinearlyImplicitEuler: set(),
    Unprojected: set(),
    taut.ImplicitEuler: {"descent", "angular momentum of the end"},
    taut.ImplicitMidpoint: {"angular momentum", "energy of linear oscillations"},
    taut.BDF2: set(),
    taut.TRBDF2: set(),
}
EXPLICIT = [i for i in OBEYS if issubclass(i, Explicit)]
IMPLICIT = [i for i in OBEYS if i not in EXPLICIT]
every = pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
TIGHT = taut.Tolerance(relative=1e-13)


def create_integrator(integrator, tolerance=TIGHT, **more):
    """An integrator with a tight tolerance, if it has one."""
    return integrator() if integrator in EXPLICIT else integrator(tolerance=tolerance, **more)


def body(rng, n=7, **more):
    """A free, tumbling, stretched body of springs with damping."""
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i)]
    return taut.System(
        x,
        mass=rng.uniform(0.5, 2.0, n),
        energies=[laws.spring(edges, k=40.0)],
        pose=1.2 * x,
        velocity=rng.normal(size=x.shape) + np.cross([0.3, 1.0, -0.4], x),
        **more,
    )


COARSEST = {1: 64, 2: 32, 4: 16}  # steps of the first run, by order


@every
def test_order(integrator):
    """Five halvings of the step, on a nonlinear problem with scripted points and all kinds of
    damping.
    """
    counts = COARSEST[integrator.order] * 2 ** np.arange(6)
    errors = []
    for n in counts:
        *_, (state, _) = taut.simulate(
            pendulum(), create_integrator(integrator, taut.Tolerance(1e-12)), UNTIL / n, UNTIL
        )
        errors.append(np.abs(np.concatenate([state.q[1], state.v[1]]) - reference()).max())
    orders = -np.diff(np.log2(errors))
    assert np.abs(orders - integrator.order).max() <= 0.1, (orders, errors)


@every
def test_linear_momentum_is_conserved(integrator):
    rng = np.random.default_rng(2)
    system = body(
        rng, damping=[laws.spring_damping([(0, 1), (2, 3)], c=0.5), laws.rayleigh(beta=1e-3)]
    )
    start = system.initial_state()
    scale = float(np.sum(system.mass[:, None] * np.abs(start.v)))
    for state, _ in taut.simulate(system, create_integrator(integrator), 0.02, 1.0):
        assert np.abs(system.momentum(state) - system.momentum(start)).max() <= 1e-11 * scale


@every
def test_angular_momentum_law_of_implicit_euler(integrator):
    """With internal forces at the new positions, ΔL = h Σ m v' × v exactly."""
    rng = np.random.default_rng(3)
    system = body(rng, damping=[laws.spring_damping([(0, 1), (2, 3), (4, 6)], c=5.0)])
    old = system.initial_state()
    gaps = []
    for state, _ in taut.simulate(system, create_integrator(integrator), 0.05, 1.0):
        expected = system.angular_momentum(old) + 0.05 * system.mass @ np.cross(state.v, old.v)
        gaps.append(np.abs(system.angular_momentum(state) - expected).max())
        old = state
    assert (max(gaps) <= 1e-11) == ("angular momentum of the end" in OBEYS[integrator])


@every
@pytest.mark.parametrize("law", ["angular momentum", "damped angular momentum"])
def test_angular_momentum_is_conserved(integrator, law):
    rng = np.random.default_rng(3)
    dampers = (
        [laws.spring_damping([(0, 1), (2, 3), (4, 6)], c=2.0)] if law.startswith("damped") else []
    )
    system = body(rng, damping=dampers)
    before = system.angular_momentum(system.initial_state())
    *_, (state, _) = taut.simulate(system, create_integrator(integrator), 0.02, 1.0)
    kept = np.abs(system.angular_momentum(state) - before).max() <= 1e-10 * np.abs(before).max()
    assert kept == (law in OBEYS[integrator])


def oscillator(omega):
    """One particle that oscillates with ω along x."""
    return taut.System(
        [[0, 0, 0]], mass=2.0, energies=[laws.pin(k=2.0 * omega**2)], pose=[[0.3, 0, 0]]
    )


@every
def test_energy_of_linear_oscillations(integrator):
    system = oscillator(3.0)
    energies = [
        system.T(s) + system.V(s)
        for s, _ in taut.simulate(system, create_integrator(integrator), 0.05, 10.0)
    ]
    drift = np.abs(np.array(energies) / system.V(system.initial_state()) - 1.0).max()
    assert (drift <= 1e-11) == ("energy of linear oscillations" in OBEYS[integrator])


def amplitude(system, integrator, h, steps):
    state = system.initial_state()
    for _ in range(steps):
        state, _ = integrator.step(system, state, h)
    return np.sqrt((system.T(state) + system.V(state)) / system.V(system.initial_state()))


@every
def test_stability_is_as_declared(integrator, log):
    omega = 40.0
    system = oscillator(omega)
    if integrator.stability == "unstable":
        for h in (0.1 / omega, 1e-3 / omega):  # 0.1: by √1.01 a step
            grown = (1.0 + (h * omega) ** 2) ** 200
            assert amplitude(system, integrator(), h, 400) == pytest.approx(grown, rel=1e-9)
        assert "the fastest one of this system by 1 + 0.00499 each time" in log.records[0].message
        assert len(log.records) == 2
        return
    if integrator.stability == "conditional":
        limit = integrator.limit(omega)
        assert amplitude(system, integrator(), 0.995 * limit, 400) < 30.0
        assert not log.records
        assert amplitude(system, integrator(), 1.01 * limit, 400) > 1e2
        [record] = log.records
        assert f"use h ≤ {limit:.3g} s" in record.message
        return
    assert amplitude(system, create_integrator(integrator), 1e3 / omega, 100) <= 1.0 + 1e-9
    dies = amplitude(system, create_integrator(integrator), 1e4 / omega, 3) < 1e-2
    assert dies == (integrator.stability == "L")


@pytest.mark.parametrize(
    ("integrator", "limit"),
    [(taut.SymplecticEuler, 2.0), (taut.VelocityVerlet, 2.0), (taut.RK4, 8**0.5)],
)
def test_limits_of_explicit_methods(integrator, limit):
    """h·ω without damping; with damping the limit is never larger."""
    assert integrator.limit(1.0) == pytest.approx(limit, rel=1e-6)
    for rate in (0.1, 1.0, 10.0):
        damped = integrator.limit(1.0, rate)
        assert damped <= limit * (1 + 1e-9)
        system = oscillator(1.0).with_(damping=[laws.drag(alpha=rate)])
        assert amplitude(system, integrator(), 0.99 * damped, 400) < 30.0
        for share in (0.25, 0.5, 0.75):
            less = oscillator(1.0).with_(damping=[laws.drag(alpha=share * rate)])
            assert amplitude(less, integrator(), 0.99 * damped, 150) < 30.0, (
                "less damping must not reduce the limit"
            )
    assert integrator.limit(0.0) == np.inf


@every
def test_needs_are_as_declared(integrator):
    """The state holds a history exactly if the method declares it."""
    system = pendulum()
    state, _ = create_integrator(integrator).step(system, system.initial_state(), 0.01)
    assert bool(state.history) == ("the previous step" in integrator.needs)
    assert "forces" in integrator.needs


@every
def test_stiffness_is_needed_where_it_is_declared(integrator, monkeypatch):
    """Without finite stiffness a force-only method takes its step and reports an unknown step
    limit.
    """
    from taut.errors import SingularState
    from taut.system.assembly import Assembly

    def nothing(*_, **__):
        raise SingularState("no stiffness today")

    system = oscillator(3.0)
    # The compiled stage of small systems evaluates stiffness without the assembly.
    monkeypatch.setattr(taut.step.Implicit, "_solve_compiled", lambda *_: None)
    monkeypatch.setattr(Assembly, "hessian", nothing)
    if "stiffness" in integrator.needs:
        with pytest.raises(taut.TautError):
            create_integrator(integrator).step(system, system.initial_state(), 0.01)
    else:
        _, report = create_integrator(integrator).step(system, system.initial_state(), 0.01)
        assert "could not be found: no stiffness today" in report.note


@every
@pytest.mark.parametrize("seed", range(4))
def test_descent(integrator, seed):
    """With a V that does not depend on time: V' + ½|Δv|²_M ≤ V + ½|v|²_M."""
    if "descent" not in OBEYS[integrator]:
        assert not integrator.descends
        return
    assert integrator.descends
    rng = np.random.default_rng(seed)
    system = body(rng)
    system = system.with_(
        pose=system.rest * rng.uniform(0.2, 2.0), energies=[*system.energies, laws.gravity()]
    )
    old = system.initial_state()
    for state, report in taut.simulate(system, integrator(), 0.1, 2.0):
        dv = state.v - old.v
        gain = (
            system.V(state)
            + 0.5 * system.mass @ np.sum(dv**2, axis=1)
            - system.V(old)
            - system.T(old)
        )
        assert gain <= 1e-9 * (abs(system.V(old)) + system.T(old))
        assert report.decrease >= -1e-9 * abs(system.V(old))
        assert report.residual <= max(report.tolerance, report.floor)
        old = state


def bits(system, make, h, threads, *, resume_at=None):
    numba.set_num_threads(threads)
    integrator, state, states = make(), system.initial_state(), []
    for i in range(12):
        if i == resume_at:
            integrator = make()
            state = taut.State(
                float(state.t),
                state.q.copy(),
                state.v.copy(),
                history={k: a.copy() for k, a in state.history.items()},
            )
            system = system.with_()
        state, _ = integrator.step(system, state, h)
        states.append(state.q.tobytes() + state.v.tobytes())
    return b"".join(states)


def cloth(n=24):
    x = np.stack(
        np.meshgrid(np.linspace(0, 1, n), [0.0], np.linspace(0, 1, n), indexing="ij"), -1
    ).reshape(-1, 3)
    index = np.arange(n * n).reshape(n, n)
    edges = np.concatenate(
        [
            np.stack([index[:-1].ravel(), index[1:].ravel()], 1),
            np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()], 1),
        ]
    )
    rows = np.concatenate([np.stack([index[i : n - 2 + i].ravel() for i in range(3)], 1)])
    return taut.System(
        x,
        mass=0.2 / n**2,
        fixed=[0, n - 1],
        energies=[laws.spring(edges, k=500.0), laws.rod_hinge(rows, k=1e-4), laws.gravity()],
        damping=[laws.spring_damping(edges, c=0.01), laws.rayleigh(alpha=0.1)],
    )


WAYS = [
    *((i, {"solver": s}) for i in IMPLICIT for s in ("direct", "cg")),
    *((i, {}) for i in EXPLICIT),
    (taut.ImplicitEuler, {"minimiser": "lbfgs"}),
    (taut.Adaptive, {"integrator": taut.BDF2}),
    (taut.Adaptive, {"integrator": taut.TRBDF2, "error": 1e-4}),
]


@pytest.mark.parametrize(
    ("integrator", "options"),
    WAYS,
    ids=lambda x: getattr(x, "__name__", None) or "-".join(map(str, x.values())),
)
def test_results_are_bit_identical(integrator, options):
    """Run twice, with one thread and with two, and resumed from a saved state."""
    system = cloth(10 if options.keys() & {"minimiser", "integrator"} else 24)

    def make():
        if "integrator" in options:
            return integrator(
                options["integrator"](), **{k: v for k, v in options.items() if k != "integrator"}
            )
        return integrator(**options)

    h = 2e-4 if integrator in EXPLICIT else 0.02
    before = numba.get_num_threads()
    try:
        first = bits(system, make, h, 1)
        assert bits(system, make, h, 1) == first
        assert bits(system, make, h, min(2, numba.config.NUMBA_NUM_THREADS)) == first
        assert bits(system, make, h, 1, resume_at=6) == first
    finally:
        numba.set_num_threads(before)
