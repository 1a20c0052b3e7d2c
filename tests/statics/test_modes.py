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
    with pytest.raises(taut.errors.ModelError, match=r"modes: a taut.State is needed, got 4"):
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


@pytest.mark.parametrize(("n", "cells"), [(20, "line"), (150, "line")])
def test_consistent_mass_of_a_bar_overestimates(n, cells):
    """ω² = (6E/ρh²)(1 - cos)/(2 + cos), above the bar's jπ√(E/ρ); lumped masses are below."""
    EA, rho = 3.0, 0.7
    rope = taut.mesh.rope(n)
    bar = taut.System(
        rope.points,
        mass=taut.line_mass(rope, rho),
        fixed=[0, n],
        energies=[laws.spring(rope.edges, k=n * EA)],
        constraints=[on_line(range(1, n), (1, 0, 0))],
    )
    found = taut.modes(bar, n=4, mass=taut.consistent_mass(rope, rho))
    j = np.arange(1, 5)
    wave = np.cos(j * np.pi / n)
    expected = n * np.sqrt(6 * EA / rho * (1 - wave) / (2 + wave))
    assert found.omega == pytest.approx(expected, rel=1e-9)
    exact = j * np.pi * np.sqrt(EA / rho)
    assert found.omega / exact - 1 == pytest.approx((j * np.pi / n) ** 2 / 24, rel=0.05)
    assert (taut.modes(bar, n=4).omega < exact).all()
    mass = taut.consistent_mass(rope, rho)
    gram = [[np.sum(a * (mass @ b)) for b in found.shapes] for a in found.shapes]
    assert gram == pytest.approx(np.eye(4), abs=1e-9)


def test_consistent_mass_of_triangles_and_tets():
    """Sums to the mass; 1/12 and 1/20 of it off the diagonal; a free body keeps its six zeros."""
    sheet = taut.mesh.sheet(2, 2, pattern="alternating")
    assert taut.consistent_mass(sheet, 3.0).sum() == pytest.approx(3.0)
    ball = taut.mesh.ball(2)
    whole = taut.consistent_mass(ball, 10.0)
    assert whole.sum() == pytest.approx(taut.volume_mass(ball, 10.0).sum())
    assert np.linalg.eigvalsh(whole.toarray()).min() > 0
    one = taut.mesh.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], {"tet": [[0, 1, 2, 3]]})
    assert taut.consistent_mass(one, 120.0).toarray() == pytest.approx(1 + np.eye(4))
    body = taut.System(ball.points, mass=1.0, energies=[laws.spring(ball.edges, k=1e3)])
    found = taut.modes(body, n=8, mass=whole)
    assert (found.rigid, (found.omega == 0).sum()) == (6, 6)
    quads = taut.mesh.block(1, 1, 1)
    with pytest.raises(taut.errors.ModelError, match="lines, triangles or tets, got hex"):
        taut.consistent_mass(quads, 1.0)
    with pytest.raises(
        taut.errors.ModelError, match=r"mass must have shape \(2, 2\), got \(3, 3\)"
    ):
        taut.modes(row(1, mass=1.0, fixed=[0], k=1.0), mass=np.eye(3))
    with pytest.raises(taut.errors.ModelError, match="mass must be positive definite"):
        taut.modes(row(1, mass=1.0, fixed=[0], k=1.0), mass=np.diag([1.0, 0.0]))
    with pytest.raises(taut.errors.ModelError, match="symmetric"):
        taut.modes(row(1, mass=1.0, fixed=[0], k=1.0), mass=[[1.0, 0.5], [0.0, 1.0]])


def test_damping_ratios():
    """Of a spring and damper ζ = c/2√(km); of Rayleigh damping as asked for; of none 0."""
    k, m, c = 50.0, 2.0, 0.3
    one = row(1, mass=m, fixed=[0], k=k)
    damped = one.with_(damping=[laws.spring_damping([[0, 1]], c=c)])
    assert taut.modes(damped).damping == pytest.approx([c / (2 * np.sqrt(k * m))])
    assert taut.modes(one).damping.tolist() == [0.0]
    chain = row(6, mass=m, fixed=[0, 6], k=k)
    omega = taut.modes(chain, n=5).omega
    alpha, beta = taut.rayleigh_coefficients((0.02, 0.05), (omega[0], omega[4]))
    found = taut.modes(chain.with_(damping=[laws.rayleigh(alpha=alpha, beta=beta)]), n=5)
    assert found.damping == pytest.approx(alpha / (2 * omega) + beta * omega / 2)
    assert found.damping[[0, 4]] == pytest.approx([0.02, 0.05])
    assert "ζ" in str(found)
    assert "ζ" not in str(taut.modes(chain))
    for ratios, at in (((0.02, 0.05), (1.0, 1.0)), ((0.02, 0.05), (0.0, 1.0)), ((0.1,), (1, 2))):
        with pytest.raises(taut.errors.LawError, match="rayleigh_coefficients"):
            taut.rayleigh_coefficients(ratios, at)
    with pytest.raises(taut.errors.LawError, match="must not be negative"):
        taut.rayleigh_coefficients((0.01, 0.5), (1.0, 2.0))
