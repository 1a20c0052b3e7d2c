"""Rows on contact: a cloth falls on a sphere and drapes, with self-contact and without friction.

Each step is taken twice from the same state, with contact and without, so that both meet the same
wrinkles: these, not contact, decide how many iterations a step takes. What is timed begins when
the cloth touches the sphere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np

from taut import laws
from taut.arrays import Int
from taut.bench.checkout import import_benchmarks, is_checkout
from taut.bench.net import cloth
from taut.bench.row import SOFT, TOLERANCE, Bench, Row, fit_exponent
from taut.bench.trajectory import H
from taut.mesh.shapes.surfaces import sphere
from taut.step.implicit_euler import ImplicitEuler
from taut.step.report import Report
from taut.system.contact import contact
from taut.system.system import System
from taut.system.workspace import workspace_for

RADIUS = 0.3  # of the sphere [m]
HEIGHT = 0.005  # of the cloth above it at the start [m]
SPHERE_SIDES = 8  # of the mesh of the sphere, whose 642 particles are held
FALL_STEPS = 4  # until the cloth touches the sphere: warm-up
DRAPE_STEPS = 16  # that are timed
GROWTH_STEPS = 6  # that are timed for the growth with the mesh
SIZES = (0.5, 1.0)  # of the cloth, in multiples of n
GROWTH_SIZES = (0.5, 1.0, 2.0)


def drape(n: int, *, has_contact: bool = True) -> System:
    """Return a cloth of n×n particles above a sphere, with or without contact.

    >>> system = drape(5)
    >>> system.n, system.contact is None
    (667, False)
    """
    net, ball = cloth(n), sphere(SPHERE_SIDES, RADIUS)
    above = net.points + np.array([-0.5, RADIUS + HEIGHT, -0.5])
    particles = len(net.points)
    touching = None
    if has_contact:
        touching = contact(_triangles(n), np.asarray(ball.triangles) + particles)
    return System(
        np.concatenate([above, np.asarray(ball.points)]),
        mass=np.concatenate([net.mass, np.full(ball.n, net.mass[0])]),
        fixed=np.arange(particles, particles + ball.n),
        energies=[laws.spring(net.pairs, k=net.k), laws.gravity()],
        contact=touching,
    )


def _triangles(n: int) -> Int:
    """Return two triangles for each cell of a cloth, (2(n - 1)², 3)."""
    grid = np.arange(n * n).reshape(n, n)
    a, b = grid[:-1, :-1].ravel(), grid[1:, :-1].ravel()
    c, d = grid[1:, 1:].ravel(), grid[:-1, 1:].ravel()
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


@dataclass
class Draping:
    """Steps of a drape of n×n particles, with contact and, from the same states, without.

    seconds, free_seconds : of each step; search : seconds of search and collision times in all
    """

    n: int
    seconds: list[float] = field(default_factory=list)
    free_seconds: list[float] = field(default_factory=list)
    search: float = 0.0
    reports: list[Report] = field(default_factory=list)
    free_reports: list[Report] = field(default_factory=list)

    @property
    def per_particle(self) -> float:
        """Time of a step with contact for each particle of the cloth [s]."""
        return float(np.mean(self.seconds)) / self.n**2

    @property
    def newton(self) -> float:
        """Newton iterations of a step with contact, on average."""
        return float(np.mean([report.iterations for report in self.reports]))

    @property
    def blocked_steps(self) -> int:
        """How many steps of the minimiser contact has shortened."""
        return sum(report.blocked_steps for report in self.reports)

    @property
    def free_part(self) -> float:
        """The least part that contact has left of a step of the minimiser."""
        return min(report.free_part for report in self.reports)

    def linear_ratio(self) -> float:
        """Linear iterations of a Newton iteration with contact, relative to those without."""
        own, free = (
            sum(r.linear_iterations for r in reports) / sum(r.iterations for r in reports)
            for reports in (self.reports, self.free_reports)
        )
        return own / free


def run_drape(bench: Bench, n: int, steps: int) -> Draping:
    """Let a cloth of n×n particles fall on the sphere; time the steps after it has touched it."""
    system, free = drape(n), drape(n, has_contact=False)
    with_contact, without = (ImplicitEuler(tolerance=TOLERANCE[SOFT]) for _ in range(2))
    made, state = Draping(n), system.initial_state()
    show_step = bench.start_task(f"contact, n = {n}", FALL_STEPS + steps)
    for i in range(FALL_STEPS + steps):
        begun = time.perf_counter()
        _, free_report = without.step(free, free.initial_state().with_(q=state.q, v=state.v), H)
        between, search = time.perf_counter(), workspace_for(system).contact_search.seconds
        state, report = with_contact.step(system, state, H)
        ended = time.perf_counter()
        if i >= FALL_STEPS:
            made.free_seconds.append(between - begun)
            made.seconds.append(ended - between)
            made.search += workspace_for(system).contact_search.seconds - search
            made.reports.append(report)
            made.free_reports.append(free_report)
        show_step(i + 1, f"{report.iterations} Newton iterations")
    return made


def measure_contact(bench: Bench) -> list[Row]:
    """Measure steps with contact against steps without it, and against MuJoCo's."""
    rows = []
    for n in (round(factor * bench.n) for factor in SIZES):
        made = run_drape(bench, n, DRAPE_STEPS)
        where = f"cloth on a sphere, n = {n}"
        details = {
            "n": n,
            "ms": [1e3 * s for s in made.seconds],
            "free_ms": [1e3 * s for s in made.free_seconds],
            "newton": [r.iterations for r in made.reports],
            "free_newton": [r.iterations for r in made.free_reports],
        }
        total, free_total = sum(made.seconds), sum(made.free_seconds)
        free_newton = np.mean([r.iterations for r in made.free_reports])
        rows += [
            Row(
                f"contact-{n}",
                f"step with contact over the same step without, {where}",
                total / free_total,
                "×",
                3.0,
                note=f"{1e3 * total / DRAPE_STEPS:.0f} and {1e3 * free_total / DRAPE_STEPS:.0f} ms "
                f"a step, {made.newton:.1f} and {free_newton:.1f} Newton iterations",
                details=details,
            ),
            Row(
                f"contact-search-{n}",
                f"search, distances and collision times, part of the step, {where}",
                made.search / total,
                "",
                1.0 / 3.0,
                details=details,
            ),
            Row(
                f"contact-newton-{n}",
                f"Newton iterations of a step, with contact over without, {where}",
                made.newton / float(free_newton),
                "×",
                2.0,
                note=f"contact shortened {made.blocked_steps} of "
                f"{sum(r.iterations for r in made.reports)} iterations, to {made.free_part:.0e} of "
                "a step at least",
                details=details,
            ),
            Row(
                f"contact-linear-{n}",
                f"linear iterations for each of Newton's, with contact over without, {where}",
                made.linear_ratio(),
                "×",
                2.0,
                details=details,
            ),
            _compare_with_mujoco(bench, made, where),
        ]
    return rows


def _compare_with_mujoco(bench: Bench, made: Draping, where: str) -> Row:
    name, what = f"contact-mujoco-{made.n}", f"time of a step over that of MuJoCo's ipc, {where}"
    if not is_checkout():
        note = "not measured: needs a source checkout installed with pip install -e ."
        return Row(name, what, None, "×", 0.5, note=note)
    if find_spec("mujoco") is None:
        return Row(name, what, None, "×", 0.5, note="not installed: pip install mujoco")
    begin: Callable[[int], Callable[[], None]] = import_benchmarks("peers._mujoco").drape
    show_step = bench.start_task(f"MuJoCo, n = {made.n}", FALL_STEPS + DRAPE_STEPS)
    # A release of another project may fail in any way; it must not end the other rows.
    try:
        step, seconds = begin(made.n), []
        for i in range(FALL_STEPS + DRAPE_STEPS):
            begun = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - begun)
            show_step(i + 1, "")
    except Exception as error:
        bench.progress.finish()
        return Row(name, what, None, "×", 0.5, note=f"failed: {error!r}")
    theirs = float(np.mean(seconds[FALL_STEPS:])) / made.n**2
    return Row(
        name,
        what,
        made.per_particle / theirs,
        "×",
        0.5,
        note=f"{1e6 * made.per_particle:.0f} and {1e6 * theirs:.0f} µs a particle; MuJoCo takes "
        "one thread and one linearisation a step, taut converges",
        details={"n": made.n, "us": 1e6 * made.per_particle, "mujoco_us": 1e6 * theirs},
    )


def measure_draping(bench: Bench) -> list[Row]:
    """Measure steps with contact against the number of particles, as the cloth begins to drape.

    A finer cloth wrinkles earlier, and then takes more iterations, with contact and without: so the
    growth of an iteration is measured too.
    """
    runs = [run_drape(bench, round(factor * bench.n), GROWTH_STEPS) for factor in GROWTH_SIZES]
    sizes, newton = [run.n**2 for run in runs], [run.newton for run in runs]
    times = [float(np.mean(run.seconds)) for run in runs]
    free = fit_exponent(sizes, [float(np.mean(run.free_seconds)) for run in runs])
    each_iteration = [s / i for s, i in zip(times, newton, strict=True)]
    each = ", ".join(
        f"{size}: {1e3 * s:.0f} ms ({i:.1f} Newton)"
        for size, s, i in zip(sizes, times, newton, strict=True)
    )
    details = {"particles": sizes, "ms": [1e3 * s for s in times], "newton": newton}
    span = f"{sizes[0]} to {sizes[-1]} particles"
    return [
        Row(
            "scaling-contact",
            f"time of a step with contact, {span}",
            fit_exponent(sizes, times),
            "exponent",
            1.25,
            note=f"{each}; without contact, from the same states: {free:.2f}",
            details={**details, "free_exponent": free},
        ),
        Row(
            "scaling-contact-iteration",
            f"time of a Newton iteration with contact, {span}",
            fit_exponent(sizes, each_iteration),
            "exponent",
            1.25,
            details=details,
        ),
    ]
