"""A live simulation obeys the formulas of its sliders, drags and pins."""

import threading
import time

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import fixed, scripted
from taut.errors import ModelError, NotConverged
from taut.scene import load
from taut.show.view._drag_and_pin import DragEnergy
from taut.show.view.live import Live
from taut.watch import report_linear_iterations
from tests.show.view.scenes import cloth

H = 0.01


@pytest.fixture
def run():
    """Start live simulations and stop them at the end."""
    made = []

    def start(system, integrator=None, h=H, **options):
        live = Live(system, integrator or taut.ImplicitEuler(), h, **options)
        made.append(live)
        live.set_speed(1e6)
        live.start()
        return live

    yield start
    for live in made:
        live.close()


def step_live(live, count=1):
    """Return the snapshot after a number of single steps."""
    for _ in range(count):
        step = live.newest.step
        live.step()
        now = live.wait(lambda now, step=step: now.step == step + 1 or bool(now.error))
    return now


def play_live(live, step):
    """Play until a step, pause, and return the snapshot."""
    live.play()
    live.wait(lambda now: now.step >= step)
    live.pause()
    return live.wait(lambda now: not now.playing)


def ball(**options):
    return taut.System([[0, 10, 0]], mass=2.0, energies=[laws.gravity()], **options)


def small_cloth():
    return cloth().build()


def test_live_steps_are_bit_identical_to_simulate(run):
    built = small_cloth()
    live = run(built.system, built.integrator, built.h, state=built.state)
    now = step_live(live, 10)
    expected = [
        state
        for state, _ in taut.simulate(
            built.system, built.integrator, built.h, 10 * built.h, state=built.state
        )
    ][-1]
    assert np.array_equal(now.q, expected.q)
    assert now.t == expected.t


def test_without_gravity_nothing_accelerates(run):
    live = run(ball(velocity=[[3.0, 0.0, 0.0]]))
    falling = step_live(live)
    assert falling.q[0, 1] == pytest.approx(10.0 - 9.81 * H**2, abs=1e-12)
    live.set_sliders(gravity=0.0)
    first, second, third = (step_live(live).q for _ in range(3))
    assert second - first == pytest.approx(third - second, abs=1e-14)
    assert (third - second)[0].tolist() == pytest.approx([3.0 * H, -9.81 * H**2, 0.0], abs=1e-12)


def test_gravity_can_be_added(run):
    live = run(taut.System([[0, 0, 0]], mass=2.0))
    live.set_sliders(gravity=5.0)
    assert step_live(live).q[0].tolist() == pytest.approx([0.0, -5.0 * H**2, 0.0], abs=1e-15)


def test_the_stiffness_slider_multiplies_k(run):
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=100.0)],
        pose=[[0, 0, 0], [1.5, 0, 0]],
    )
    live = run(system)
    live.set_sliders(stiffness=3.0)
    extension = 0.5 / (1.0 + H**2 * 300.0)  # implicit Euler from rest: x' (1 + h²k/m) = x
    assert step_live(live).q[1, 0] - 1.0 == pytest.approx(extension, abs=1e-12)


def test_the_damping_slider_multiplies_c_and_functions_of_time(run):
    drag = laws.drag(alpha=lambda t: 2.0 + 0.0 * t)
    live = run(taut.System([[0, 0, 0]], mass=1.0, damping=[drag], velocity=[[1.0, 0, 0]]))
    live.set_sliders(damping=4.0)
    assert step_live(live).q[0, 0] == pytest.approx(H / (1.0 + 8.0 * H), abs=1e-13)


def test_wind_can_be_added_to_surfaces(run):
    points = [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    live = run(taut.System(points, mass=1.0), triangles=np.array([[0, 1, 2]]))
    live.set_sliders(wind=6.0)
    force = 0.5 * 1.204 * 0.5 * 6.0**2 / 3  # ½ ρ A C_D u² faces the wind: a third to each corner
    assert step_live(live).q[:, 0] == pytest.approx(np.full(3, H**2 * force), rel=1e-12)
    live.set_sliders(wind=0.0)
    before = live.newest.q
    after = step_live(live).q
    assert (after - before)[:, 0] == pytest.approx(
        np.full(3, H**2 * force), rel=1e-12
    )  # it continues at its speed


def test_the_step_slider_sets_h(run):
    live = run(ball())
    live.set_sliders(h=0.02)
    assert step_live(live).t == pytest.approx(0.02, abs=1e-15)


def test_a_dragged_particle_reaches_its_target_and_the_energy_balances(run):
    live = run(taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, damping=[laws.drag(alpha=20.0)]))
    live.drag("me", 1, [1.2, 0.3, -0.1])
    now = play_live(live, 300)
    assert now.q[1] == pytest.approx(
        np.array([1.2, 0.3, -0.1]), abs=1e-6
    )  # e^(-α/2·3 s) of the distance remains: far below
    assert np.array_equal(now.q[0], [0, 0, 0])
    live.end_drag("me")
    now = step_live(live, 2)
    total = now.total
    assert abs(total.gap) <= 1e-13 * total.scale
    assert (
        abs(total.between) <= 1e-13 * total.scale
    )  # all work of the pointer was recorded within steps
    assert total.work["pointer"] == pytest.approx(
        total.kinetic + sum(total.dissipated.values()) + total.numerical, rel=1e-9
    )


def test_a_drag_against_a_spring_reaches_the_balance_of_forces(run):
    k = 50.0
    spring = laws.zero_length_spring([[0, 1]], k=k)
    system = taut.System(
        [[0, 0, 0], [0, 0, 0]],
        mass=0.1,
        fixed=[0],
        energies=[spring],
        damping=[laws.drag(alpha=30.0)],
    )
    live = run(system)
    assert DragEnergy(system).stiffness == pytest.approx(k)
    live.set_sliders(pull=100.0)
    live.drag("me", 1, [0.4, 0.0, 0.0])
    now = play_live(live, 400)
    assert now.q[1, 0] == pytest.approx(0.2, abs=1e-6)  # k x = k_pin (0.4 - x)
    assert now.report.residual <= now.report.limit


def test_a_drag_pulls_with_no_more_than_its_limit(run):
    k, mass = 50.0, 0.1
    system = taut.System(
        [[0, 0, 0], [0, 0, 0]],
        mass=mass,
        fixed=[0],
        energies=[laws.zero_length_spring([[0, 1]], k=k)],
        damping=[laws.drag(alpha=30.0)],
    )
    live = run(system)
    for pull in (10.0, 2.5):
        live.set_sliders(pull=pull)
        live.drag("me", 1, [0.4, 0.0, 0.0])
        now = play_live(live, live.newest.step + 400)
        assert k * now.q[1, 0] == pytest.approx(pull * mass * 9.81, rel=1e-6)


def test_a_drag_has_a_speed_limit(run):
    live = run(taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0))
    drag = DragEnergy(live.sliders.system)
    live.drag("me", 1, [100.0, 0.0, 0.0])
    step_live(live)
    assert live._drag.target(H)[1, 0] == pytest.approx(1.0 + drag.speed * H, rel=1e-12)


@pytest.mark.parametrize(
    "integrator",
    [taut.BDF2(), taut.TRBDF2(), taut.Adaptive(taut.ImplicitEuler()), taut.SymplecticEuler()],
)
def test_every_step_of_a_drag_is_certified_and_balanced(run, integrator):
    built = small_cloth()
    h = 1e-3 if isinstance(integrator, taut.SymplecticEuler) else H
    live = run(built.system, integrator, h, state=built.state)
    middle = built.system.n // 2
    for i in range(12):
        if i < 8:
            live.drag("me", middle, built.state.q[middle] + [0.0, 0.01 * i, 0.02 * i])
        else:
            live.end_drag("me")
        now = step_live(live)
        assert not now.error
        assert now.report.residual <= now.report.limit or now.report.outcome == "explicit"
    assert abs(now.total.gap) <= 1e-12 * now.total.scale
    assert abs(now.total.between) <= 1e-12 * now.total.scale
    assert now.total.work["pointer"] != 0.0


def test_a_pinned_point_stays_and_a_released_one_falls(run):
    built = small_cloth()
    live = run(built.system, built.integrator, built.h, state=built.state)
    held, free = int(live.newest.held[0]), 40
    place = step_live(live, 3).q[free]
    live.toggle_pin(free)
    live.toggle_pin(held)
    now = step_live(live, 5)
    assert np.array_equal(now.q[free], place)
    assert free in now.held
    assert held not in now.held
    assert now.q[held, 1] < built.state.q[held, 1]
    fallen = now.q[held]
    live.toggle_pin(free)
    live.toggle_pin(held)  # its current position
    now = step_live(live, 3)
    assert now.q[free, 1] != place[1]
    assert np.array_equal(now.q[held], fallen)
    assert held in now.held
    assert abs(live.newest.total.gap) <= 1e-12 * live.newest.total.scale


def test_a_point_whose_hold_has_ended_is_pinned_by_a_click(run):
    system = taut.System(
        [[0, 0, 0]], mass=1.0, energies=[laws.gravity()], constraints=[fixed(0, until=2.5 * H)]
    )
    live = run(system)
    assert step_live(live, 2).held.tolist() == [0]
    fallen = step_live(live, 3)
    assert fallen.held.tolist() == []
    live.toggle_pin(0)
    now = step_live(live, 2)
    assert np.array_equal(now.q, fallen.q)
    assert now.held.tolist() == [0]


def test_a_scripted_point_can_be_pinned_and_the_others_go_on(run):
    path = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    system = taut.System(
        path, mass=1.0, constraints=[scripted([0, 1], lambda t: path + np.array([0.0, t, 0.0]))]
    )
    live = run(system)
    step_live(live)
    live.toggle_pin(0)  # it is held, so it is released
    now = step_live(live, 2)
    assert now.q[1].tolist() == pytest.approx([1.0, 3 * H, 0.0])
    assert now.held.tolist() == [1]


def test_released_ring_returns_to_its_rail(run):
    built = load("curtain").build()
    live = run(built.system, built.integrator, built.h, state=built.state)
    ring = 567
    live.toggle_pin(ring)
    live.wait(lambda now: live._pinned.keys() == {ring})
    pinned = step_live(live, 2)
    assert np.array_equal(pinned.q[ring], built.state.q[ring])
    live.toggle_pin(ring)
    now = step_live(live, 5)
    assert ring in now.held
    assert np.array_equal(
        live._system._projector.free_directions[ring], np.diag([1.0, 0.0, 0.0])
    )  # it slides along x alone, as in the scene
    assert np.array_equal(now.q[ring, 1:], built.state.q[ring, 1:])  # and has not fallen
    assert now.q[ring, 0] != built.state.q[ring, 0]  # but slides


def test_released_hold_stays_released_after_another_pin(run):
    live = run(taut.System([[0, 0, 0]], mass=1.0, fixed=[0], energies=[laws.gravity()]))
    live.toggle_pin(0)
    fallen = step_live(live, 3).q[0]
    assert fallen[1] == pytest.approx(
        -9.81 * H**2 * 6, rel=1e-12
    )  # 1 + 2 + 3 steps of implicit Euler
    live.toggle_pin(0)
    assert np.array_equal(step_live(live, 2).q[0], fallen)
    live.toggle_pin(0)  # the hold of the scene would pull it back to where it began
    now = step_live(live)
    assert now.held.tolist() == []
    assert now.q[0, 1] - fallen[1] == pytest.approx(-9.81 * H**2, rel=1e-12)  # from rest


def test_points_of_a_flat_system_can_be_dragged_and_pinned(run):
    system = taut.System(
        [[0, 0], [1, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=10.0), laws.gravity()],
        fixed=[0],
    )
    live = run(system)
    live.drag("me", 1, [1.0, 0.5, 0.7])
    live.toggle_pin(1)
    now = step_live(live, 2)
    assert now.q[1].tolist() == [1.0, 0.0, 0.0]
    assert now.held.tolist() == [0, 1]
    live.toggle_pin(1)
    assert (step_live(live, 2).q[:, 2] == 0.0).all()


def test_reset_restores_the_start(run):
    built = small_cloth()
    live = run(built.system, built.integrator, built.h, state=built.state)
    first = step_live(live, 3).q
    live.drag("me", 40, [0, 0, 0])
    live.toggle_pin(41)
    step_live(live)
    live.reset()
    now = live.wait(lambda now: now.epoch == 1)
    assert np.array_equal(now.q, built.state.q)
    assert (now.step, now.total, now.drags, 41 in now.held) == (0, None, (), False)
    assert np.array_equal(step_live(live, 3).q, first)


def test_a_failed_step_pauses_with_its_error_and_can_be_repeated(run):
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=1e4)],
        fixed=[0],
        pose=[[0, 0, 0], [1.001, 0.0, 0]],
    )
    live = run(system, taut.VelocityVerlet(), 1e-3)
    live.set_sliders(stiffness=1e300)
    live.play()
    failed = live.wait(lambda now: bool(now.error) and not now.playing)
    assert failed.playing is False
    assert np.isfinite(failed.q).all()
    live.set_sliders(stiffness=1.0)
    live.wait(lambda now: not now.error)
    now = step_live(live)
    assert (now.step, now.error) == (failed.step + 1, "")


def test_an_unexpected_error_is_shown(run, monkeypatch):
    caught = []
    monkeypatch.setattr(threading, "excepthook", caught.append)
    integrator = taut.ImplicitEuler()
    monkeypatch.setattr(integrator, "advance", lambda *arguments: 1 / 0)
    live = run(ball(), integrator)
    live.play()
    now = live.wait(lambda now: bool(now.error))
    assert "crashed" in now.error
    assert not now.playing
    live.close()
    assert caught[0].exc_type is ZeroDivisionError


def test_invalid_commands_are_rejected(run):
    live = run(ball())
    for wrong in ({"h": 0.0}, {"gravity": float("nan")}, {"stiffness": -1.0}, {"stifness": 1.0}):
        with pytest.raises(ModelError, match="slider"):
            live.set_sliders(**wrong)
    with pytest.raises(ModelError, match="particle must be from 0 to 0, got 5"):
        live.drag("me", 5, [0, 0, 0])
    with pytest.raises(ModelError, match="three finite numbers"):
        live.drag("me", 0, [0, float("inf"), 0])
    with pytest.raises(ModelError, match="particle must be from 0 to 0, got 1"):
        live.toggle_pin(1)
    with pytest.raises(ModelError, match="speed"):
        live.set_speed(0.0)


def test_pause_takes_effect_immediately_at_low_speed(run):
    live = run(ball())
    live.set_speed(1e-3)  # a step of 10 ms takes 10 s
    live.play()
    live.wait(lambda now: now.step == 1)
    live.pause()
    now = live.wait(
        lambda now: not now.playing
    )  # immediately, not after 10 s: commands wake the thread
    assert now.step <= 2


def test_many_threads_can_send_commands(run):
    live = run(small_cloth().system)
    live.play()

    def busy(seed):
        random = np.random.default_rng(seed)
        for _ in range(200):
            live.drag(seed, int(random.integers(81)), random.random(3))
            live.set_sliders(damping=float(random.random()))
        live.end_drag(seed)

    threads = [threading.Thread(target=busy, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    live.pause()
    assert live.wait(lambda now: not now.playing).drags == ()


class _Slow(taut.ImplicitEuler):
    """Implicit Euler that takes its time while something is dragged, or always."""

    def __init__(self, seconds, *, always=False):
        super().__init__()
        self.seconds, self.always = seconds, always

    def advance(self, system, state, h):
        if self.always or any(energy.name == "pointer" for energy in system.energies):
            end = time.perf_counter() + self.seconds
            while time.perf_counter() < end:
                report_linear_iterations(7)
                time.sleep(0.01)
        return super().advance(system, state, h)


def test_a_long_step_is_told_of_while_it_runs(run):
    live = run(ball(), _Slow(60.0, always=True))
    live.step()
    now = live.wait(lambda now: bool(now.work))
    assert now.step == 0
    assert now.work.startswith("this step has taken 0.")
    assert "linear solve at 7 iterations" in now.work


def test_a_drag_that_makes_steps_too_long_is_let_go_of(run, monkeypatch):
    monkeypatch.setattr("taut.show.view.live._LONGEST_DRAG", 0.2)
    live = run(ball(), _Slow(60.0))
    live.drag("me", 0, [5.0, 10.0, 0.0])
    live.play()
    now = live.wait(lambda now: now.step >= 3)
    assert now.playing
    assert now.error.startswith("let go: with this pull, a step took longer than 0.2 s")
    assert not now.drags
    assert now.q[0, 0] == 0.0  # it falls as if it had never been pulled
    # The next drag removes the message.
    monkeypatch.setattr("taut.show.view.live._LONGEST_DRAG", 120.0)
    live.integrator.seconds = 0.0
    live.drag("me", 0, [5.0, 10.0, 0.0])
    assert live.wait(lambda now: bool(now.drags) and not now.error).q[0, 0] >= 0.0


def test_the_pace_is_that_of_the_simulation(run):
    live = run(ball())
    live.set_speed(0.5)
    assert live.newest.pace == 0.0
    live.play()
    started, begun = time.perf_counter(), live.newest.t
    now = live.wait(lambda now: now.step >= 20)
    mean = (now.t - begun) / (time.perf_counter() - started)
    live.pause()
    assert 0.5 * mean < now.pace < 2.0 * mean
    assert live.wait(lambda now: not now.playing).pace == 0.0


def test_closing_ends_a_long_step(run):
    begun = threading.Event()

    class Endless(taut.ImplicitEuler):
        def advance(self, system, state, h):
            begun.set()
            while True:
                report_linear_iterations(1)

    live = run(ball(), Endless())
    live.step()
    begun.wait()
    live.close()
    assert (live.newest.step, live.newest.error) == (0, "")


def test_a_ball_pulled_through_the_ground_stays_above_it(run):
    ground = taut.contact([0], range=1e-3, planes=[([0, 0, 0], [0, 1, 0])])
    system = taut.System([[0, 0.05, 0]], mass=0.1, energies=[laws.gravity()], contact=ground)
    live = run(system)
    live.drag("me", 0, [1.0, -1.0, 0])
    for _ in range(60):
        now = step_live(live)
        assert not now.error
        assert now.q[0, 1] > 0
    assert now.q[0, 0] > 0.2  # it follows the pointer along the ground
    live.end_drag("me")
    assert not step_live(live, 30).error


class FailsWhenLong(taut.ImplicitEuler):
    """Solves only steps of at most h [s]."""

    longest = 0.0

    def advance(self, system, state, h):
        if h > self.longest:
            raise NotConverged("too long")
        return super().advance(system, state, h)


def test_a_step_with_contact_that_fails_is_divided(run):
    ground = taut.contact([0], range=1e-3, planes=[([0, 0, 0], [0, 1, 0])])
    system = taut.System([[0, 1.0, 0]], mass=0.1, energies=[laws.gravity()], contact=ground)
    integrator = FailsWhenLong()
    integrator.longest = H / 4
    live = run(system, integrator)
    now = step_live(live)
    assert (now.error, now.report.substeps >= 4, now.report.retries >= 2) == ("", True, True)
    assert "shortened" in now.report.note
    integrator.longest = 0.0
    live.drag("me", 0, [0, 2, 0])
    live.play()
    failed = live.wait(lambda now: bool(now.error) and not now.playing)
    assert (failed.step, failed.drags) == (1, ())  # nothing pulls any more
    integrator.longest = H
    live.step()
    assert live.wait(lambda now: now.step == 2).error == ""
