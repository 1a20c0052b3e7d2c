"""Every example: its physical result and its picture."""

import ast
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import taut

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hooke(q, rest, pairs, k):
    """Forces of springs [N], (n, 3): f_i = k (|x_ij| - l₀) x̂_ij."""
    force = np.zeros_like(q)
    for i, j in pairs:
        x, l0 = q[j] - q[i], np.linalg.norm(rest[j] - rest[i])
        length = np.linalg.norm(x)
        force[i] += k * (length - l0) * x / length
        force[j] -= k * (length - l0) * x / length
    return force


def check_one_spring(module, result):
    assert result["measured"] == pytest.approx(
        result["discrete"], rel=2e-6
    )  # crossings are interpolated linearly
    assert result["continuous"] == pytest.approx(1.256637, abs=1e-6)
    assert result["residual"] < 1e-6


def check_damping_kinds(module, found):
    h, alpha, stiffness = module.H, module.ALPHA, 2 * module.K / module.M
    for kind, rate in (("oiled", 0.0), ("rusty", alpha), ("drag", alpha)):
        a = np.array(
            [[0.0, 1.0], [-stiffness, -rate]]
        )  # r" + rate r' + (2k/m) r = 0, stepped by the midpoint rule
        step = np.linalg.solve(np.eye(2) - h / 2 * a, np.eye(2) + h / 2 * a)
        expected = [
            (np.linalg.matrix_power(step, n) @ [module.STRETCH, 0.0])[0]
            for n in range(len(found[kind]["t"]))
        ]
        np.testing.assert_allclose(
            found[kind]["stretch"], expected, atol=1e-9
        )  # 300 steps solved to 1e-9 of 15 N at 1/50 s
    for kind in ("oiled", "rusty"):
        np.testing.assert_allclose(found[kind]["momentum"], 2.0, rtol=1e-12)
        assert found[kind]["centre"][-1] == pytest.approx(6.0, rel=1e-12)
    slowed = (1 - h * alpha / 2) / (1 + h * alpha / 2)
    np.testing.assert_allclose(found["drag"]["momentum"], 2.0 * slowed ** np.arange(301), atol=1e-9)
    assert found["drag"]["centre"][-1] == pytest.approx(
        1 - np.exp(-6.0), rel=1e-5
    )  # error (αh)²/12


def check_rod(module, result):
    for n, stiffness in result["by_n"].items():
        assert stiffness == pytest.approx(module.K, rel=1e-8), n
    n = module.N
    for skip, stiffness in result["by_skips"].items():
        matrix = np.zeros((n + 1, n + 1))
        for reach, k in ((1, n * module.K), (2, n * skip)):
            for i in range(n + 1 - reach):
                matrix[np.ix_([i, i + reach], [i, i + reach])] += [[k, -k], [-k, k]]
        assert stiffness == pytest.approx(1 / np.linalg.inv(matrix[1:, 1:])[-1, -1], rel=1e-8)
    assert set(result["ways_to_bend"].values()) == {n - 1}
    assert result["depth"] == pytest.approx(result["expected_depth"], abs=1e-8)
    rest = np.column_stack([np.arange(n + 1) / n, np.zeros((n + 1, 2))])
    for skip, q in result["shapes"].items():
        force = hooke(q, rest, [(i, i + 1) for i in range(n)], n * module.K)
        force += hooke(q, rest, [(i, i + 2) for i in range(n - 1)], n * skip)
        np.testing.assert_allclose(
            force[2:], [[0, module.WEIGHT / n, 0]] * (n - 1), atol=1e-6
        )  # of springs that pull with 10 N
    out = [q[n, 0] for q in result["shapes"].values()]
    assert out[0] < out[1] - 0.1 < out[2] - 0.2


def check_cloth(module, result):
    book, rest = result["book"], result["rest"]
    assert abs(book.gap) <= 1e-13 * book.scale
    assert book.dissipated["drag"] > book.numerical > book.dissipated["spring_damping"] > 0
    assert rest.stability.stable
    np.testing.assert_allclose(result["corners"][:, 1], 0.2 * 9.81 / 2, rtol=1e-6)
    assert result["corners"][0, 0] == pytest.approx(-result["corners"][1, 0], rel=1e-6)
    sheet, q = module.sheet, rest.state.q
    force = -9.81 * module.cloth.mass[:, None] * [0, 1, 0]
    for pairs, k in ((sheet.edges, 200.0), (sheet.diagonals, 40.0), (sheet.skips, 2.0)):
        force = force + hooke(q, sheet.points, pairs, k)
    free = np.setdiff1d(np.arange(sheet.n), module.CORNERS)
    assert np.abs(force[free]).max() < 1e-7  # the largest spring pulls with 1 N


def check_solid_2d(module, found):
    slight = 2e-5  # twice the strain: geometric change of the moduli
    for name, young in (("triangles", 2 / np.sqrt(3)), ("squares, braced", 4 / 3)):
        assert found[name]["E"] == pytest.approx(young, rel=slight)
        assert found[name]["nu"] == pytest.approx(1 / 3, rel=slight)
        assert found[name]["free_motions"] == 3
    assert found["squares"]["free_motions"] == 6 + 6 + 2


def check_solid_3d(module, result):
    assert result["E"] == pytest.approx(2.5, rel=2e-5)  # twice the strain
    assert result["nu"] == pytest.approx(0.25, rel=2e-5)
    for name, (mesh, pairs) in module.BRACED.items():
        pairs = np.concatenate(pairs)
        rigidity = np.zeros((len(pairs), mesh.n, 3))  # derivative of the lengths by the positions
        along = mesh.points[pairs[:, 0]] - mesh.points[pairs[:, 1]]
        (
            rigidity[np.arange(len(pairs)), pairs[:, 0]],
            rigidity[np.arange(len(pairs)), pairs[:, 1]],
        ) = along, -along
        assert result["free_motions"][name] == 3 * mesh.n - np.linalg.matrix_rank(
            rigidity.reshape(len(pairs), -1)
        ), name
    assert list(result["free_motions"].values())[2:] == [6, 6]


def check_any_mesh(module, result):
    assert result["weight"] == pytest.approx(9.81 * 1000 * result["mesh"].volumes.sum())
    assert result["held"] == pytest.approx(
        result["weight"], rel=1e-6
    )  # it is still moving slightly
    assert 1e-5 < result["sank"] < 1e-2
    assert result["speed"] < 1e-4


def elastica(alpha):
    """Deflection/L of a cantilever with an end load.

    By elliptic integrals of the parameter m (Bisshopp and Drucker 1945).
    """

    def start(m):
        return np.arcsin(1 / np.sqrt(2 * m))

    m = brentq(
        lambda m: ellipk(m) - ellipkinc(start(m), m) - np.sqrt(alpha),
        0.5 + 1e-12,
        1 - 1e-12,
        xtol=1e-15,
    )
    return 1 - 2 / np.sqrt(alpha) * (ellipe(m) - ellipeinc(start(m), m))


def check_hinge(module, result):
    assert [elastica(alpha) for alpha in module.ELASTICA] == pytest.approx(
        list(module.ELASTICA.values()), abs=1e-6
    )
    for i, expected in enumerate(module.ELASTICA.values()):
        assert result["deflection"]["rod law"][i] == pytest.approx(
            expected, rel=4.5e-4
        )  # 0.47%/16 at α = 1, second order in 1/N
        assert result["deflection"]["sin² hinge"][i] == pytest.approx(
            expected, rel=7e-4
        )  # its moment is less, by θ²/24 at most


def check_edge_springs(module, result):
    np.testing.assert_allclose(result["force"], result["printed"], atol=1e-14)
    assert np.abs(result["printed"]).max() > 0.2
    assert result["omega"] == pytest.approx(result["formula"], rel=1e-9)
    inertia, h = module.M * module.HEIGHT**2, module.H
    damping, stiffness = h * module.KD / inertia, h**2 * result["formula"] ** 2
    angle = [0.05, 0.05]  # implicit Euler from rest
    for _ in result["t"][1:]:
        angle.append(((2 + damping) * angle[-1] - angle[-2]) / (1 + damping + stiffness))
    np.testing.assert_allclose(
        result["angle"], angle[1:], atol=0.05 * 2e-3
    )  # θ² = 0.0025: error of the small-angle formula


def check_discrete_shells(module, result):
    s = np.linspace(0, 1, 101)
    for gamma, found in zip(module.DROOP, result["droop"], strict=True):
        heavy = solve_bvp(
            lambda s, y, gamma=gamma: np.stack(
                [y[1], -gamma * (1 - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]
            ),
            lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
            s,
            np.stack([s, 1 - s, s, s / 2]),
            tol=1e-8,
        )
        expected = heavy.y[3, -1] / heavy.y[2, -1]
        assert module.DROOP[gamma] == pytest.approx(expected, rel=3e-5)
        assert found == pytest.approx(
            expected, rel=2e-3
        )  # second order: (1/24)² at Γ = 1, as for the cantilever of links
    assert result["stable"]


def check_own_law(module, result):
    # At rest the residual may be the tolerance's part of the weight, which the spring balances.
    allowed = taut.Tolerance().relative * module.M * 9.81 / module.K
    assert result["simulated"] == pytest.approx(result["balance"], abs=allowed)
    assert result["balance"] == pytest.approx(0.234056, abs=1e-6)


def check_equilibrium(module, result):
    n, weight = module.N, result["weight"]
    rise = (
        (np.arange(n) + 0.5 - n / 2) * weight / n
    )  # vertical force in each rigid link, of which the slope is rise/pull

    def across(pull):
        return (module.LENGTH / n / np.hypot(1, rise / pull)).sum() - module.SPAN

    pull = brentq(across, 0.1, 100.0, xtol=1e-14)
    sag = -(module.LENGTH / n * (rise / pull / np.hypot(1, rise / pull)))[: n // 2].sum()
    assert sag == pytest.approx(module.RIGID, abs=1e-6)
    assert result["sag"] == pytest.approx(sag, abs=1e-6)  # the links stretch by 6e-7
    assert result["pull"] == pytest.approx(pull, rel=5e-6)
    assert result["carried"] == pytest.approx(weight, rel=1e-8)
    assert result["curve_sag"] == pytest.approx(0.265438, abs=1e-6)
    assert result["rest"].stability.stable


def check_modes(module, result):
    np.testing.assert_allclose(result["omega"], result["net"], rtol=1e-9)
    np.testing.assert_allclose(
        result["omega"] / result["drum"], 1.0, atol=(3 * np.pi / 32) ** 2 / 6
    )  # sin x/x at most
    assert np.abs(result["shapes"][:, :, :2]).max() < 1e-6 * np.abs(result["shapes"]).max()


def check_buckling(module, result):
    assert result["found"] == pytest.approx(result["formula"], rel=1e-8)
    assert result["found"] / result["euler"] == pytest.approx(0.997946, abs=1e-6)
    assert result["left_saddles"] == 1
    assert result["deflection"] == pytest.approx((8 * 0.02) ** 0.5 / np.pi, rel=0.05)


def check_cable_net(module, result):
    assert result["off_saddle"] <= 1e-9
    assert result["moved"] <= 1e-8
    assert result["held"] == pytest.approx(result["snow"], rel=1e-8)  # as the tolerance
    assert result["snow"] == pytest.approx(750.0 * 20.0**2)
    assert result["loaded"].stability.stable
    assert not result["loaded"].members.slack.any()
    assert 0.1 < result["sag"] < 1.0


def check_energy_book(module, books):
    exact = books["RK4"]["exact"]
    assert exact == pytest.approx(0.2330558, abs=1e-7)  # π m α Ω X² [J]
    for book in books.values():
        assert abs(book["gap"]) <= 1e-12 * book["scale"]
        flows = book["scripted"] - book["drag"] - book["numerical"] + book["residual"]
        assert book["gained"] == pytest.approx(flows, abs=1e-12 * book["scale"])
        assert abs(book["gained"]) < 1e-7 * exact, "the motion must have settled"
    for name in ("ImplicitEuler", "BDF2", "ImplicitMidpoint"):
        assert books[name]["drag"] == pytest.approx(books[name]["expected"], rel=1e-7)
    assert books["RK4"]["drag"] == pytest.approx(exact, rel=1e-4)
    for name in ("TRBDF2", "VelocityVerlet"):
        assert books[name]["drag"] == pytest.approx(exact, rel=4e-3)
    assert books["ImplicitEuler"]["numerical"] > 0.1 * exact


def check_wind(module, result):
    push = 1.204 * 1.5**2 / 2
    c, s = np.cos(result["expected"]), np.sin(result["expected"])
    assert push * (c**2 + c * s**2 / 2) == pytest.approx(0.1 * 9.81 * s, rel=1e-9)
    assert result["slant"][-1] == pytest.approx(
        result["expected"], abs=3e-4
    )  # threads of 2000 N/m stretch by as much
    assert result["speed"] < 1e-4
    book = result["book"]
    gained = book.kinetic + sum(book.stored.values()) - book.opening
    assert gained == pytest.approx(
        book.work["wind"] - book.numerical + book.residual, abs=1e-12 * book.scale
    )
    assert book.stored["gravity"] - book.opening == pytest.approx(
        0.05 * 9.81 * (1 - c) / 2, rel=2e-3
    )  # ½ m g L (1 - cos φ)


def check_tearing(module, result):
    book, state = result["book"], result["states"][-1]
    assert abs(book.gap) <= 1e-13 * book.scale
    assert result["pieces"] == 2
    assert (
        result["broken"].sum() == 12 + 22
    )  # of 17 threads and 32 crossings less 5 and 10 of the slit
    for name, pairs in (("spring", module.threads), ("shear", module.crossed)):
        heights = np.sort(module.x[pairs[~state.active[name]], 1], axis=1)
        assert len(np.unique(heights, axis=0)) == 1, "all torn threads are in one row"
    torn = sum(book.torn.values())
    assert result["least"] == pytest.approx(
        12 * 50 * 0.005**2 + 22 * 10 * 0.005**2 * 2
    )  # Σ ½k(ε l₀)²
    assert result["least"] < torn < 1.5 * result["least"]
    spent = (
        torn
        + sum(book.dissipated.values())
        + book.numerical
        + book.kinetic
        + sum(book.stored.values())
    )
    assert book.opening + book.scripted == pytest.approx(spent - book.residual, rel=1e-9)


def check_hang_in_a_shape(module, result):
    assert result["off_before"] > 5e-3
    assert result["off_after"] <= 1e-6
    assert result["carried"] == pytest.approx(81 * module.MASS * 9.81, rel=1e-9)


def check_tuned_beam(module, result):
    assert result["EI"] == pytest.approx(result["theory"], rel=2e-3)  # of 20 rods
    assert result["history"][-1] == pytest.approx(module.WANTED, rel=1e-9)


def check_bounded_forces(module, result):
    low, high = module.BOUNDS
    held, free = result["held"], result["free"]
    assert low - 1e-4 <= held.forces.min() <= held.forces.max() <= high + 1e-4
    assert free.forces.min() < low < high < free.forces.max()
    assert result["off_free"] < 1e-4
    assert 5e-3 < result["off_held"] < 0.1
    knots = module.net.n - len(module.RIM)
    for form in (free, held):  # the rim carries the load
        assert form.reactions[:, 1].sum() == pytest.approx(10.0 * knots, rel=1e-6)


CHECKS = {
    "00_one_spring": check_one_spring,
    "01_damping_kinds": check_damping_kinds,
    "02_rod": check_rod,
    "03_cloth": check_cloth,
    "04_solid_2d": check_solid_2d,
    "05_solid_3d": check_solid_3d,
    "06_any_mesh": check_any_mesh,
    "07_hinge": check_hinge,
    "08_edge_springs": check_edge_springs,
    "09_discrete_shells": check_discrete_shells,
    "10_own_law": check_own_law,
    "11_equilibrium": check_equilibrium,
    "12_modes": check_modes,
    "13_buckling": check_buckling,
    "14_cable_net": check_cable_net,
    "15_energy_book": check_energy_book,
    "16_wind": check_wind,
    "17_tearing": check_tearing,
    "18_hang_in_a_shape": check_hang_in_a_shape,
    "19_tuned_beam": check_tuned_beam,
    "20_bounded_forces": check_bounded_forces,
}


def count_code_lines(text):
    """Lines of code, without blank lines, comments and docstrings."""
    documented = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            documented |= set(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in documented
        for number, line in lines
    )


def test_every_example_is_checked_short_and_in_the_gallery():
    found = {p.stem: p for p in EXAMPLES.glob("*.py")}
    assert set(found) == set(CHECKS)
    page = (ROOT / "docs/examples.md").read_text()
    assert re.findall(r"examples/(\d\d_\w+)\.py\)", page) == sorted(found)
    for i, (name, path) in enumerate(sorted(found.items())):
        assert name.startswith(f"{i:02}_")
        assert count_code_lines(path.read_text()) < 80
        assert f"(examples/{name}.svg)" in page
        assert (ROOT / f"docs/examples/{name}.svg").stat().st_size < 40_000


@pytest.fixture
def descents(monkeypatch):
    """Check V' + ½|Δv|²_M ≤ V + ½|v|²_M for every implicit Euler step of an autonomous system.

    Counts these steps.
    """
    count, plain = [0], taut.ImplicitEuler.advance

    def advance(self, system, state, h):
        done = plain(self, system, state, h)
        timed = any(
            p.parameters.time_dependent
            for p in [*system._placed_energies.values(), *system._placed_damping.values()]
        )
        if not (system._projector.scripts or system._placed_loads or timed):
            dv = done.state.v - state.v
            gain = (
                system.V(done.state)
                + 0.5 * system.mass @ np.sum(dv**2, axis=1)
                - system.V(state)
                - system.T(state)
            )
            scale = sum(map(abs, system.V_by_law(state).values())) + sum(
                map(abs, system.V_by_law(done.state).values())
            )
            assert gain <= 1e-13 * (scale + system.T(state))
            count[0] += 1
        return done

    monkeypatch.setattr(taut.ImplicitEuler, "advance", advance)
    return count


STEPS = {
    "00_one_spring": 1000,
    "03_cloth": 100,
    "06_any_mesh": 30,
    "08_edge_springs": 300,
    "10_own_law": 400,
}  # must descend


@pytest.mark.parametrize("name", CHECKS)
def test_example(name, descents):
    module = load(EXAMPLES / f"{name}.py")
    result = module.run()
    CHECKS[name](module, result)
    assert descents[0] >= STEPS.get(name, 0)
    pytest.importorskip("matplotlib", reason="draws with the extra 'plot'")
    assert len(load(ROOT / "docs/examples/make.py").svg(module.picture, result)) < 40_000
