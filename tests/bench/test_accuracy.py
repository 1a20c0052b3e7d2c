"""Accuracy measures of the benchmark against formulas written out by hand."""

import numpy as np
import pytest

import taut
from taut.bench.accuracy import (
    largest_strain,
    linear_residual,
    residual_ratio,
    unbalanced_acceleration,
)
from taut.bench.net import BENDING, SHEAR, STRUCTURAL, cloth
from taut.bench.trajectory import H, TautStepper, run_steps


@pytest.fixture(scope="module")
def perturbed_cloth():
    """A cloth with positions and velocities at which no spring is at its rest length."""
    net, rng = cloth(6), np.random.default_rng(0)
    x = net.points + 0.01 * rng.normal(size=net.points.shape)
    x[net.fixed] = net.points[net.fixed]
    v = 0.3 * rng.normal(size=x.shape)
    v[net.fixed] = 0.0
    return net, x, v


def test_cloth_matches_its_specification():
    net = cloth(5, 100.0)
    assert len(net.pairs) == 2 * 5 * 4 + 2 * 4 * 4 + 2 * 5 * 3
    assert net.mass.sum() == pytest.approx(0.2, rel=1e-14)
    assert np.abs(net.points[:, 1]).max() == 0.0
    assert net.points[net.fixed].tolist() == [[0, 0, 0], [0, 0, 1]]
    by_length = {round(float(rest), 6): set(net.k[np.isclose(net.rest, rest)]) for rest in net.rest}
    assert by_length == {
        0.25: {100 * STRUCTURAL},
        round(0.25 * 2**0.5, 6): {100 * SHEAR},
        0.5: {100 * BENDING},
    }
    with pytest.raises(taut.errors.ModelError, match="at least 4"):
        cloth(3)


def test_forces_match_taut(perturbed_cloth):
    net, x, _ = perturbed_cloth
    system = net.system()
    assert (
        np.abs(net.force(x) - system.f(system.initial_state().with_(q=x))).max() < 1e-11
    )  # forces are about 10 N


def test_residual_ratio_matches_hand_computation(perturbed_cloth):
    net, x, v = perturbed_cloth
    y = x + 0.7 * H * v

    def g(z):
        out = []
        for p in range(len(z)):
            if p in net.fixed:
                continue
            force = net.mass[p] * np.array([0, -9.81, 0])
            for (i, j), k in zip(net.pairs, net.k, strict=True):
                if p in (i, j):
                    to = z[j] - z[i] if p == i else z[i] - z[j]
                    rest = np.linalg.norm(net.points[j] - net.points[i])
                    force = force + k * (np.linalg.norm(to) - rest) * to / np.linalg.norm(to)
            out.append(net.mass[p] * (z[p] - x[p] - H * v[p]) - H**2 * force)
        return np.linalg.norm(out)

    assert residual_ratio(net, y, x, v, H) == pytest.approx(g(y) / g(x + H * v), rel=1e-12)


def test_unbalanced_acceleration_is_that_of_the_report(perturbed_cloth):
    """What peers are measured by is what a tolerance bounds."""
    net, x, v = perturbed_cloth
    system = net.system()
    v[net.fixed] = 0.0
    state = system.initial_state().with_(q=x, v=v)
    new, report = taut.ImplicitEuler(tolerance=taut.Tolerance(relative=1e-3)).step(system, state, H)
    found = unbalanced_acceleration(net, np.array(new.q), x, v, H)
    assert found == pytest.approx(1e-3 * report.residual / report.tolerance, rel=1e-6)


def test_strain_matches_hand_computation(perturbed_cloth):
    net = perturbed_cloth[0]
    assert largest_strain(net, 1.25 * net.points) == pytest.approx(0.25, rel=1e-12)
    assert largest_strain(net, net.points) == 0.0


def test_linear_residual_is_small_only_for_the_solution(perturbed_cloth):
    net, x, v = perturbed_cloth
    system = net.system()
    state = system.initial_state().with_(q=x, v=v)
    new, _ = taut.LinearlyImplicitEuler(solver="direct").step(system, state, H)
    stiffness = system.K(state, project=True)
    assert linear_residual(net, stiffness, x, v, np.array(new.v), H) < 1e-11
    assert linear_residual(net, stiffness, x, v, v, H) == pytest.approx(
        1.0, rel=1e-14
    )  # Δv = 0 leaves b


def test_run_steps_records_every_step():
    net, steps = cloth(8), []
    tolerance = taut.Tolerance(relative=1e-8)
    own = TautStepper(net.system(), taut.ImplicitEuler(tolerance=tolerance))
    made = run_steps(net, own, 10, lambda step, text: steps.append(step))
    assert steps == list(range(1, 11))
    assert len(made.seconds) == len(made.ratios) == len(made.strains) == 10
    assert made.window == slice(2, None)
    assert made.ratio < 1e-7
    assert made.acceleration < 1e-8
    assert made.lowest == pytest.approx(float(own.now.q[:, 1].min()))
    assert made.sane
    assert own.now.t == pytest.approx(0.1)
    assert "residual ratio" in str(made)
    made.strains[3] = 0.6
    assert not made.sane
    assert "broken" in str(made)


def test_substeps_sum_to_one_step():
    own = TautStepper(cloth(6).system(), taut.SymplecticEuler(), substeps=9)
    own.step()
    assert own.now.t == pytest.approx(H, rel=1e-14)
    assert own.report.h == H / 9
