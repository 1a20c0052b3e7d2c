"""Sobol indices against closed forms, and against scipy.

For a product of powers of independent parameters, f = Π xᵢ^aᵢ, the variance of the conditional
expectation E[f|xᵢ] is E[f]² cᵢ with cᵢ = E[xᵢ^2aᵢ]/E[xᵢ^aᵢ]² - 1, and Var f is
E[f]² (Π (1 + cᵢ) - 1).
So Sᵢ = cᵢ/(Π (1 + cⱼ) - 1) and STᵢ = cᵢ Π_{j≠i} (1 + cⱼ)/(Π (1 + cⱼ) - 1).
"""

import numpy as np
import pytest
from scipy.stats import sobol_indices

import taut
from taut import laws
from taut.errors import ModelError
from taut.study.sobol_indices import find_indices

MASS = "body.spring.mass"
K = "body.spring.law.spring.k"


def mean_power(low, high, a):
    """E[x^a] of x uniform on an interval."""
    if a == -1:
        return np.log(high / low) / (high - low)
    return (high ** (a + 1) - low ** (a + 1)) / ((a + 1) * (high - low))


def product_indices(powers):
    """First-order and total indices of a product of powers: rows of (low, high, exponent)."""
    c = np.array(
        [mean_power(lo, hi, 2 * a) / mean_power(lo, hi, a) ** 2 - 1 for lo, hi, a in powers]
    )
    whole = np.prod(1 + c)
    return c / (whole - 1), c * whole / (1 + c) / (whole - 1)


def check_within_errors(indices, first, total):
    """Within three standard errors, which must be small enough to tell something."""
    assert np.all(indices.first_error < 0.2)
    assert np.all(indices.total_error < 0.2)
    assert np.all(np.abs(indices.first - first) < 3 * indices.first_error + 1e-3)
    assert np.all(np.abs(indices.total - total) < 3 * indices.total_error + 1e-3)


def test_frequency_of_a_spring(client, tmp_path):
    """√(k/m)/2π of a scene that is run and measured."""
    study = taut.sweep(
        "spring",
        {K: "50:200", MASS: "0.5:2"},
        {"f": "frequency(where(points(1), y))"},
        samples="saltelli:128",
        folder=tmp_path / "s",
        client=client,
    )
    first, total = product_indices([(50, 200, 0.5), (0.5, 2, -0.5)])
    indices = study.indices()
    assert indices.parameter.tolist() == [K, MASS]
    check_within_errors(indices, first, total)
    assert indices.first.argmax() == first.argmax()
    written = (tmp_path / "s" / "indices.csv").read_text().splitlines()
    assert written[0] == "measure,parameter,first,first_error,total,total_error,points"
    assert len(written) == 3


def cantilever(width, height, young, load):
    """Sag of the end of a clamped rod under a small force there: F L³/(3 E I), I = w h³/12."""
    n, length = 12, 1.0
    points = np.zeros((n + 1, 2))
    points[:, 0] = np.linspace(0.0, length, n + 1)
    edges = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    hinges = np.stack([np.arange(n - 1), np.arange(1, n), np.arange(2, n + 1)], axis=1)
    bending = young * width * height**3 / 12.0
    system = taut.System(
        points,
        mass=1.0,
        fixed=[0, 1],
        energies=[
            laws.spring(edges, k=young * width * height * n / length),
            laws.planar_rod_bending(hinges, EI=bending),
            laws.force([n], f=(0.0, -load)),
        ],
    )
    return -float(taut.equilibrium(system).state.q[n, 1])


def test_sag_of_a_cantilever(client):
    """A function of four parameters, with an equilibrium in each call."""
    study = taut.sweep(
        cantilever,
        {"width": "0.02:0.04", "height": "0.01:0.02", "young": "1e9:3e9", "load": "1e-3:3e-3"},
        samples="saltelli:128",
        client=client,
    )
    assert study.failed == 0
    first, total = product_indices(
        [(0.02, 0.04, -1), (0.01, 0.02, -3), (1e9, 3e9, -1), (1e-3, 3e-3, 1)]
    )
    indices = study.indices()
    check_within_errors(indices, first, total)
    assert indices.parameter[indices.total.argmax()] == "height"


def test_estimates_agree_with_scipy():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(5, 64))
    first, _, total, _, points = find_indices(f.ravel(), 3, 0)
    other = sobol_indices(func={"f_A": f[:1], "f_B": f[1:2], "f_AB": f[2:, None]}, n=64)
    assert points == 64
    assert first == pytest.approx(other.first_order, rel=1e-9)
    assert total == pytest.approx(other.total_order, rel=1e-9)


def test_errors_shrink_with_the_square_root_of_the_points():
    rng = np.random.default_rng(1)
    few, many = (find_indices(rng.normal(size=4 * n), 2, 0)[1].mean() for n in (64, 1024))
    assert few / many == pytest.approx(4.0, rel=0.3)


def test_base_points_with_failed_runs_are_left_out():
    rng = np.random.default_rng(2)
    f = rng.normal(size=(4, 32))
    f[2, 5] = np.nan
    kept = np.delete(f, 5, axis=1)
    assert find_indices(f.ravel(), 2, 0)[4] == 31
    assert find_indices(f.ravel(), 2, 0)[0].tolist() == find_indices(kept.ravel(), 2, 0)[0].tolist()
    with pytest.raises(ModelError, match="at least 8 base points"):
        find_indices(np.full(64, np.nan), 2, 0)


def test_a_constant_has_no_indices():
    first, error, total, _, _ = find_indices(1.2 + 1e-15 * np.arange(64), 2, 0)
    assert first.tolist() == total.tolist() == error.tolist() == [0.0, 0.0]


def test_other_samples_have_no_indices(client):
    study = taut.sweep(max_of_nothing, {"a": [1.0, 2.0]}, client=client)
    with pytest.raises(ModelError, match="saltelli:N, got grid"):
        study.indices()


def max_of_nothing(a):
    return a
