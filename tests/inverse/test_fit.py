"""Fits: parameters come back from what a model with them shows, with honest errors."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.inverse import Frequencies, Motion, Shape, Unknown
from taut.inverse.targets import change_system
from tests.inverse.differences import TIGHT

H, STEPS = 0.02, 15
TRUE = {"spring.k": 120.0, "rod_hinge.k": 2e-3, "spring_damping.c": 0.02}


def cloth(n=8):
    net = taut.mesh.net(n - 1, n - 1)
    grid = np.arange(n * n).reshape(n, n)
    rows = np.concatenate([
        np.stack([grid[:, i : n - 2 + i].ravel() for i in range(3)], 1),
        np.stack([grid[i : n - 2 + i].ravel() for i in range(3)], 1),
    ])  # fmt: skip
    points = np.array(net.points)[:, [0, 2, 1]]
    return taut.System(
        points,
        mass=0.2 / n**2,
        fixed=net.corners()[:2],
        energies=[
            laws.spring(net.edges, k=TRUE["spring.k"]),
            laws.rod_hinge(rows, k=TRUE["rod_hinge.k"]),
            laws.gravity(),
        ],
        damping=[laws.spring_damping(net.edges, c=TRUE["spring_damping.c"])],
        pose=points + 1e-2 * np.sin(7 * points[:, [2, 0, 1]]) * [0, 1, 0],
    )


def observe(system, method):
    states = [state for state, _ in taut.simulate(system, method, H, STEPS * H)]
    return np.array([s.t for s in states]), np.array([s.q for s in states])


def test_three_parameters_of_a_cloth_from_points_without_noise():
    method = taut.ImplicitEuler(tolerance=TIGHT)
    times, seen = observe(cloth(), method)
    wrong = change_system(cloth(), {name: 4.0 * value for name, value in TRUE.items()})
    found = taut.fit(Motion(wrong, method, H, times, seen), list(TRUE))
    for name, value in TRUE.items():
        assert found[name] == pytest.approx(value, rel=1e-10), name
    assert found.determined.all()


def test_damping_that_the_data_cannot_tell_is_said():
    """With noise of 5 mm on a few points, stiffness is known and damping is not."""
    method = taut.ImplicitEuler(tolerance=TIGHT)
    times, seen = observe(cloth(), method)
    rng = np.random.default_rng(0)
    chosen = [20, 44, 63]
    noisy = seen[:, chosen] + 5e-3 * rng.normal(size=seen[:, chosen].shape)
    weak = change_system(cloth(), {"spring_damping.c": 1e-4})
    motion = Motion(weak, method, H, times, noisy, particles=chosen, sigma=5e-3)
    found = taut.fit(motion, ["spring.k", "spring_damping.c"])
    assert found.determined.tolist() == [True, False]
    assert "not determined" in str(found)
    assert abs(found["spring.k"] - TRUE["spring.k"]) <= 4 * found.errors[0]


def test_a_parameter_without_effect_is_an_answer():
    """A cable that stays slack: its stiffness changes nothing."""
    system = taut.System(
        [[0, 0, 0], [0, -1, 0]],
        mass=1.0,
        fixed=[0],
        energies=[
            laws.spring([[0, 1]], k=50.0),
            laws.cable([[0, 1]], k=10.0, l0=5.0),
            laws.gravity(),
        ],
    )
    seen = Shape(system, [[0.0, -1.0981, 0.0]], particles=[1], sigma=1e-4)
    found = taut.fit(seen, ["spring.k", "cable.k"])
    assert found["spring.k"] == pytest.approx(100.0, rel=1e-6)
    assert found.determined.tolist() == [True, False]
    assert np.isinf(found.errors[1])


def beam(k):
    rope = taut.mesh.rope(12, end=(1.2, 0, 0))
    triples = np.stack([np.arange(i, 11 + i) for i in range(3)], 1)
    return taut.System(
        rope.points,
        mass=0.01,
        fixed=[0, 1],
        energies=[
            laws.spring(rope.edges, k=1e4),
            laws.rod_bending(triples, EI=k),
            laws.gravity(),
        ],
    )


def test_deflections_and_frequencies_of_a_beam_agree():
    true = 0.8
    rest = taut.equilibrium(beam(true), tolerance=taut.Tolerance(relative=1e-12))
    omega = taut.modes(beam(true), rest.state, n=10).omega
    omega = omega[omega > 0][:3]
    bent = taut.fit(Shape(beam(0.3), rest.state.q), ["rod_bending.EI"])
    rung = taut.fit(Frequencies(beam(0.3), omega), ["rod_bending.EI"])
    both = taut.fit(
        [Shape(beam(0.3), rest.state.q, sigma=1e-3), Frequencies(beam(0.3), omega, sigma=0.1)],
        [Unknown("rod_bending.EI", prior=(0.8, 1.0))],
    )
    for found in (bent, rung, both):
        assert found["rod_bending.EI"] == pytest.approx(true, rel=1e-8)


def test_errors_shrink_as_expected():
    """The standard error is that of the linear model: σ/√Σ(∂q/∂k)², and grows with σ."""
    errors = []
    for sigma in (1e-4, 1e-3):
        seen = Shape(beam(0.8), taut.equilibrium(beam(0.8)).state.q, sigma=sigma)
        errors.append(taut.fit(seen, ["rod_bending.EI"]).errors[0])
    assert errors[1] == pytest.approx(10.0 * errors[0], rel=1e-4)


def test_bounds_hold():
    seen = Shape(beam(0.3), taut.equilibrium(beam(0.8)).state.q)
    found = taut.fit(seen, [Unknown("rod_bending.EI", start=0.3, high=0.5)])
    assert found["rod_bending.EI"] == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: taut.fit([], ["spring.k"]), "at least one experiment"),
        (
            lambda: taut.fit(Shape(beam(1.0), np.full((13, 3), np.nan)), ["spring.k"]),
            "experiment 0 has no data",
        ),
        (lambda: Shape(beam(1.0), [[0.0, 0.0]]), "shape"),
        (
            lambda: Motion(beam(1.0), taut.ImplicitEuler(), 0.1, [0.15], np.zeros((1, 13, 3))),
            "multiples of the step",
        ),
        (
            lambda: Motion(beam(1.0), taut.ImplicitEuler(), 0.1, [-0.1], np.zeros((1, 13, 3))),
            "from 0 on",
        ),
        (lambda: Frequencies(beam(1.0), [-3.0, 5.0]), "omega must be positive, got -3"),
        (
            lambda: taut.fit(Shape(beam(1.0), beam(1.0).rest, sigma=0.0), ["rod_bending.EI"]),
            "sigma of experiment 0 must be positive",
        ),
        (
            lambda: taut.fit(
                Shape(beam(1.0), beam(1.0).rest), [Unknown("rod_bending.EI", start=9.0, high=2.0)]
            ),
            "must start within",
        ),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(taut.TautError, match=message):
        make()
