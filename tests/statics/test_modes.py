"""Natural frequencies against closed forms."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line
from taut.linalg.low_rank import SparsePlusLowRank

G = 9.81


def row(n, *, mass, fixed, k, l0=None, a=1.0, along=(1, 0, 0)):
    """n + 1 particles with spacing a on the x axis, joined by springs, that move along one
    direction.
    """
    rope = taut.mesh.rope(n, end=(a * n, 0, 0))
    rest = {} if l0 is None else {"l0": l0}
    free = np.setdiff1d(np.arange(n + 1), fixed)
    return taut.System(
        rope.points,
        mass=mass,
        fixed=fixed,
        energies=[laws.spring(rope.edges, k=k, **rest)],
        constraints=[on_line(free, along)],
    )


@pytest.mark.parametrize("n", [1, 2, 50])
def test_fixed_chain(n):
    """ω_j = 2√(k/m) sin(jπ/2(N+1)), all of them, to 1e-10."""
    k, m = 70.0, 0.4
    found = taut.modes(row(n + 1, mass=m, fixed=[0, n + 1], k=k), n=n)
    expected = 2 * np.sqrt(k / m) * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))
    assert np.abs(found.omega - expected).max() <= 1e-10
    assert found.frequencies == pytest.approx(expected / (2 * np.pi))


def test_taut_string():
    """Transverse: ω_j = 2√(T/(m a)) sin(jπ/2(N+1)) for tension T and spacing a; each
    twice in 3D.
    """
    n, k, m, a, l0 = 20, 100.0, 0.1, 0.5, 0.4
    system = row(n + 1, mass=m, fixed=[0, n + 1], k=k, l0=l0, a=a, along=(0, 1, 0))
    j = np.arange(1, n + 1)
    expected = 2 * np.sqrt(k * (a - l0) / (m * a)) * np.sin(j * np.pi / (2 * (n + 1)))
    assert np.abs(taut.modes(system, n=n).omega - expected).max() <= 1e-8
    both = taut.modes(system.with_(constraints=[]), n=4)
    assert both.omega == pytest.approx(np.repeat(expected[:2], 2), abs=1e-8)


def test_shapes_are_normalised_by_mass_and_signed():
    """φᵀMφ = I, and the shapes of a fixed chain are sines, the first of the largest components
    positive.
    """
    n, m = 9, 0.4
    found = taut.modes(row(n + 1, mass=m, fixed=[0, n + 1], k=70.0), n=3)
    gram = np.einsum("aij,bij->ab", m * found.shapes, found.shapes)
    assert gram == pytest.approx(np.eye(3), abs=1e-12)
    for j in (1, 2, 3):
        sine = np.sin(j * np.pi * np.arange(n + 2) / (n + 1)) * np.sqrt(2 / (m * (n + 1)))
        sine *= -1.0 if j == 3 else 1.0  # largest in the middle, where it points down
        assert found.shapes[j - 1, :, 0] == pytest.approx(sine, abs=1e-10)
    assert found.shapes.shape == (3, n + 2, 3)


def test_unequal_masses_of_a_free_pair():
    """Five rigid motions, and √(k/μ) with the reduced mass μ."""
    system = taut.System(
        [[0, 0, 0], [0, 2, 0]], mass=[1.0, 3.0], energies=[laws.spring([[0, 1]], k=12.0)]
    )
    found = taut.modes(system)
    assert (found.omega[:5] == 0.0).all()
    assert found.omega[5] == pytest.approx(np.sqrt(12 / 0.75))
    assert found.rigid == 5
    assert str(found).count("free: rigid motion") == 5
    centre = np.einsum("i,aij->aj", system.mass, found.shapes[5:])
    assert np.abs(centre).max() <= 1e-12


def test_unstable_mode_has_negative_frequency():
    """An inverted pendulum falls like e^{√(g/l) t}."""
    k = 1e4
    system = taut.System(
        [[0, 0, 0], [0, 1, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=k)],
        pose=[[0, 0, 0], [0, 1 - G / k, 0]],
    )
    found = taut.modes(system, n=2)
    assert found.omega == pytest.approx([-np.sqrt(G / (1 - G / k))] * 2, rel=1e-10)
    assert "grows: no vibration" in str(found)


def test_a_large_membrane_by_lanczos():
    """Springs under tension on a square grid, moving across it: ω² = (T/ma)(4 - 2cos iπ/n - 2cos
    jπ/n).
    """
    n, k, l0, m = 24, 50.0, 0.03, 0.01
    net = taut.mesh.net(n, n)
    rim = net.select("x == min or x == max or y == min or y == max")
    free = np.setdiff1d(np.arange(len(net.points)), rim)
    system = taut.System(
        net.points,
        mass=m,
        fixed=rim,
        energies=[laws.spring(net.edges, k=k, l0=l0)],
        constraints=[on_line(free, (0, 0, 1))],
    )
    assert len(free) > 300
    a = 1 / n
    part = 2 - 2 * np.cos(np.arange(1, n) * np.pi / n)
    expected = np.sort(np.sqrt(k * (a - l0) / (m * a) * (part[:, None] + part).ravel()))
    assert taut.modes(system, n=12).omega == pytest.approx(expected[:12], rel=1e-9)


def test_request_for_too_many_modes_returns_all():
    assert len(taut.modes(row(3, mass=1.0, fixed=[0, 3], k=1.0), n=100).omega) == 2
    assert taut.modes(taut.System([[0, 0, 0]], mass=1.0, fixed=[0])).shapes.shape == (0, 1, 3)


def test_reject_bad_number_of_modes():
    with pytest.raises(taut.errors.ModelError, match="modes: n"):
        taut.modes(row(3, mass=1.0, fixed=[0], k=1.0), n=0)
    with pytest.raises(taut.errors.ModelError, match="modes: 4 is not a State"):
        taut.modes(row(3, mass=1.0, fixed=[0], k=1.0), 4)


def test_degenerate_modes_are_reproducible():
    """All frequencies are √5: Lanczos ends after one step and restarts with a fixed vector."""
    system = taut.System(np.arange(1200.0).reshape(400, 3), mass=1.0, energies=[laws.pin(k=5.0)])
    one, two = taut.modes(system), taut.modes(system)
    assert one.omega == pytest.approx(np.full(6, np.sqrt(5.0)), rel=1e-12)
    assert one.shapes.tobytes() == two.shapes.tobytes()


@pytest.mark.parametrize(
    ("name", "parameters"), [("gas", {"p": 500.0}), ("enclosed_volume", {"k": 2.2e9})]
)
def test_modes_of_a_filled_ball(name, parameters, monkeypatch):
    """ω² of M^-½ K M^-½ against the dense spectrum, for unequal masses; with equal masses five
    equal frequencies are all found.
    """
    ball = taut.mesh.sphere(4, radius=0.1)
    energies = [laws.spring(ball.edges, k=200.0), getattr(laws, name)(ball.triangles, **parameters)]
    mass = np.random.default_rng(0).uniform(0.5e-3, 2e-3, len(ball.points))
    body = taut.System(ball.points, mass=mass, energies=energies)
    rest = taut.equilibrium(body).state
    half = 1 / np.sqrt(np.repeat(mass, 3))
    squares = np.linalg.eigvalsh(half[:, None] * body.K(rest).toarray() * half)
    alike = body.with_(mass=1e-3)
    equal = np.linalg.eigvalsh(alike.K(rest).toarray() / 1e-3)
    monkeypatch.setattr(SparsePlusLowRank, "toarray", None)
    found = taut.modes(body, rest, n=12)
    assert (found.omega[:6] == 0.0).all()
    # error of eigvalsh: a few ε times the largest eigenvalue
    assert found.omega[6:] ** 2 == pytest.approx(squares[6:12], abs=1e-8 + 1e-14 * squares[-1])
    assert np.einsum("i,aij,bij->ab", mass, found.shapes, found.shapes) == pytest.approx(
        np.eye(12), abs=1e-12
    )
    found = taut.modes(alike, rest, n=12)
    assert found.omega[6:] ** 2 == pytest.approx(equal[6:12], abs=1e-8 + 1e-14 * equal[-1])
    assert np.ptp(found.omega[6:11]) <= 1e-6 * found.omega[6]
