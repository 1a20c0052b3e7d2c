"""Values behind the colours, against statics, lattice elasticity and hand computation."""

from dataclasses import replace

import numpy as np
import pytest

import taut
from taut import laws
from taut.errors import ModelError, RunError
from taut.mesh.mesh import Mesh
from taut.run.open_run import Frame, open_run
from taut.scene import read_text
from taut.show.render._fields import make_field, value_range, visible_values
from taut.show.visual_model import VisualBody, VisualModel, model_from_run, model_from_scene


def evaluate(name, mesh, system, q, v=None):
    """Return the values and the unit of a field on one body."""
    model = VisualModel(
        "test",
        (VisualBody("body", mesh, 0, mesh.n),),
        mesh.n,
        np.empty(0, np.int64),
        lambda: system,
    )
    shown = make_field(name, model)
    (values,) = shown.at_points(Frame(3, 0.0, q, np.zeros_like(q) if v is None else v))
    return values, shown.unit


def test_stress_of_a_hanging_rope_equals_the_weight_below():
    n, m, g = 10, 0.3, 9.81
    rope = taut.mesh.rope(n, end=(0, -1, 0))
    system = taut.System(
        rope.points, mass=m, fixed=[0], energies=[laws.spring(rope.edges, k=500.0), laws.gravity()]
    )
    rest = taut.equilibrium(system).state.q
    links = m * g * np.arange(n, 0, -1)  # the force in each link, from above
    values, unit = evaluate("stress", rope, system, rest)
    assert unit == "N"
    expected = np.concatenate([links[:1], (links[1:] + links[:-1]) / 2, links[-1:]])
    np.testing.assert_allclose(values, expected, rtol=1e-7)  # tolerance of the equilibrium, 1e-8


def test_stress_of_a_square_lattice_matches_its_moduli():
    """C11 + C12 = k₁ + 2k₂ for springs k₁ along the sides and k₂ along both diagonals.

    The strains in both directions are equal.
    """
    sheet = taut.mesh.sheet(6, 6)
    k1, k2, strain = 30.0, 11.0, 1e-3
    energies = [laws.spring(sheet.edges, k=k1), laws.spring(sheet.diagonals, k=k2)]
    values, unit = evaluate(
        "stress",
        sheet,
        taut.System(sheet.points, mass=1.0, energies=energies),
        sheet.points * (1 + strain),
    )
    assert unit == "N/m"
    inner = np.setdiff1d(np.arange(sheet.n), sheet.boundary)
    np.testing.assert_allclose(values[inner], (k1 + 2 * k2) * strain, rtol=1e-10)


def test_stress_of_a_cubic_lattice_matches_its_moduli():
    """E = 2.5 k/a and ν = ¼ for edges and face diagonals of equal k: 3K = E/(1 - 2ν) = 5k/a."""
    cells = 4
    block = taut.mesh.block(cells, cells, cells, size=1.0)
    k, strain, a = 40.0, -2e-3, 1.0 / cells
    energies = [laws.spring(np.concatenate([block.edges, block.diagonals]), k=k)]
    values, unit = evaluate(
        "stress",
        block,
        taut.System(block.points, mass=1.0, energies=energies),
        block.points * (1 + strain),
    )
    assert unit == "Pa"
    inner = np.setdiff1d(np.arange(block.n), block.boundary)
    assert len(inner) == 27
    np.testing.assert_allclose(values[inner], 5 * k / a * strain, rtol=1e-10)


def test_force_and_strain_of_lines():
    """Two springs on the first line, a strut on the second, no spring on the third."""
    mesh = Mesh([[0.0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]], {"line": [[1, 0], [1, 2], [2, 3]]})
    energies = [laws.spring([[0, 1], [1, 2]], k=10.0), laws.cable([[0, 1]], k=4.0)]
    system = taut.System(mesh.points, mass=1.0, energies=energies)
    q = mesh.points * [1.5, 0.75, 1.0]
    model = VisualModel(
        "test", (VisualBody("body", mesh, 0, 4),), 4, np.empty(0, np.int64), lambda: system
    )
    frame = Frame(0, 0.0, q, np.zeros_like(q))
    stress, strain = (make_field(name, model) for name in ("stress", "strain"))
    np.testing.assert_allclose(
        stress.at_lines(frame)[0], [0.5 * 10 + 0.5 * 4, -0.5 * 10, np.nan], rtol=1e-12
    )
    np.testing.assert_allclose(strain.at_lines(frame)[0], [0.5, -0.25, 0.5], rtol=1e-12)
    (shown,) = visible_values(stress, model.pieces, frame)
    assert value_range([[shown]], signed=True) == (-7.0, 7.0)
    torn = replace(frame, active={"spring": np.array([False, True])})
    np.testing.assert_allclose(strain.at_lines(torn)[0], [np.nan, -0.25, 0.5], rtol=1e-12)
    np.testing.assert_allclose(strain.at_points(torn)[0], [np.nan, -0.25, 0.125, 0.5], rtol=1e-12)


def test_strain_is_the_mean_of_adjacent_edges():
    sheet = taut.mesh.sheet(4, 3)
    q = sheet.points + 0.1 * np.random.default_rng(5).normal(size=(sheet.n, 3))
    values, unit = evaluate("strain", sheet, None, q)
    assert unit == ""
    for i in range(sheet.n):
        mine = [(a, b) for a, b in sheet.edges.tolist() if i in (a, b)]
        ratios = [
            np.linalg.norm(q[a] - q[b]) / np.linalg.norm(sheet.points[a] - sheet.points[b])
            for a, b in mine
        ]
        assert values[i] == pytest.approx(np.mean(ratios) - 1, abs=1e-13)


def test_the_energy_of_a_law_is_shared_by_the_particles_of_its_elements():
    sheet = taut.mesh.sheet(4, 4)
    q = sheet.points + 0.05 * np.random.default_rng(6).normal(size=(sheet.n, 3))
    energies = [laws.spring(sheet.edges, k=20.0), laws.gravity(), laws.area(sheet.triangles, k=3.0)]
    system = taut.System(sheet.points, mass=0.1, energies=energies)
    by_law = system.V_by_law(system.initial_state().with_(q=q))
    for name, value in by_law.items():
        values, unit = evaluate(name, sheet, system, q)
        assert unit == "J"
        assert values.sum() == pytest.approx(value, rel=1e-12)
    length = np.linalg.norm(np.diff(q[sheet.edges], axis=1)[:, 0], axis=1)
    own = 10.0 * (length - sheet.lengths) ** 2
    corner = sum(e for e, pair in zip(own, sheet.edges.tolist(), strict=True) if 0 in pair) / 2
    assert evaluate("spring", sheet, system, q)[0][0] == pytest.approx(corner, rel=1e-12)
    np.testing.assert_allclose(
        evaluate("gravity", sheet, system, q)[0], 0.1 * 9.81 * q[:, 1], rtol=1e-12
    )


def test_the_energy_of_a_total_is_shared_by_all_particles():
    ball = taut.mesh.sphere(3, radius=0.5)
    system = taut.System(
        ball.points, mass=0.1, energies=[laws.enclosed_volume(ball.triangles, k=1e4)]
    )
    values, _ = evaluate("enclosed_volume", ball, system, 1.1 * ball.points)
    assert values.sum() == pytest.approx(
        system.V(system.initial_state().with_(q=1.1 * ball.points)), rel=1e-12
    )
    assert values.min() > 0.3 * values.max()


def test_speed_is_interpolated_to_an_embedded_mesh():
    text = """
    [time]
    h = 0.01
    duration = 0.1
    [[body]]
    name = "solid"
    mesh = { shape = "block", nx = 2, ny = 2, nz = 2 }
    render = { shape = "sphere", n = 3, radius = 0.4, displace = [0.5, 0.5, 0.5] }
    density = 1.0
    [[body.law]]
    law = "spring"
    on = "edges"
    k = 1.0
    """
    text = "\n".join(line.strip() for line in text.splitlines())
    model = model_from_scene(read_text(text))
    (piece,) = model.pieces
    assert piece.embedding is not None
    shown = make_field("speed", model)
    q = model.system.rest
    (values,) = shown.at_points(Frame(0, 0.0, q, np.ones_like(q)))
    np.testing.assert_allclose(values, np.sqrt(3), rtol=1e-12)
    plain = VisualModel(
        "test", (VisualBody("body", Mesh(q, {}), 0, len(q)),), len(q), np.empty(0, np.int64)
    )
    rng = np.random.default_rng(7).normal(size=q.shape)
    (own,) = make_field("speed", plain).at_points(Frame(0, 0.0, q, rng))
    np.testing.assert_allclose(own**2, (rng**2).sum(axis=1), rtol=1e-12)


def test_colour_range_covers_all_frames(hanging_run):
    with open_run(hanging_run) as run:
        model = model_from_run(run)
        frames = list(run.frames)
        for name, signed in (("speed", False), ("strain", True)):
            shown = make_field(name, model)
            low, high = value_range((shown.at_points(frame) for frame in frames), signed=signed)
            every = np.array([shown.at_points(frame)[0] for frame in frames])
            assert (low, high) == (
                (every.min(), every.max())
                if not signed
                else (-np.abs(every).max(), np.abs(every).max())
            )
        fastest = max(np.linalg.norm(frame.v, axis=1).max() for frame in frames)
        assert value_range(
            (make_field("speed", model).at_points(f) for f in frames), signed=False
        ) == (0.0, fastest)
    assert value_range([[np.array([np.nan])]], signed=True) == (0.0, 0.0)


def test_torn_element_has_no_stress(torn_run):
    with open_run(torn_run) as run:
        model = model_from_run(run)
        frame, ended = run.frames[-1], run.state().active["spring"]
        np.testing.assert_array_equal(frame.active["spring"], ended)
        assert 5 < (~ended).sum() < len(ended) / 2
        assert "spring" not in run.frames[0].active
        counts = [len(model.torn_pairs(frame)) for frame in run.frames]
        assert counts == sorted(counts)
        assert counts[0] == 0
        assert run.reports["torn"].sum() == counts[-1]
        (values,) = make_field("spring", model).at_points(frame)
        whole = model.system.V_by_law(run.state())["spring"]
        assert values.sum() == pytest.approx(whole, rel=1e-9)
        (stress,) = make_field("stress", model).at_points(frame)
        (wrong,) = make_field("stress", model).at_points(replace(frame, active={}))
        assert np.nanmax(wrong) > 2 * np.nanmax(stress)


def test_masks_that_do_not_fit_the_laws_are_rejected(torn_run):
    with open_run(torn_run) as run:
        model, frame = model_from_run(run), run.frames[-1]
        for active, what in (
            ({"spring": np.zeros(3, dtype=bool)}, "a mask of 3 elements for the"),
            ({"glue": np.zeros(3, dtype=bool)}, "'glue', which is no law"),
        ):
            with pytest.raises(RunError, match=what):
                model.torn_pairs(replace(frame, active=active))


def test_unknown_and_impossible_colours_are_rejected(hanging_run, tmp_path):
    with open_run(hanging_run) as run:
        model = model_from_run(run)
        with pytest.raises(ModelError, match=r"unknown colour 'sprng'.*did you mean 'spring'"):
            make_field("sprng", model)
    dots = VisualModel(
        "test", (VisualBody("body", Mesh(np.zeros((2, 3)), {}), 0, 2),), 2, np.empty(0, np.int64)
    )
    with pytest.raises(ModelError, match="needs edges"):
        make_field("strain", dots)
    with pytest.raises(taut.errors.RunError, match="without a scene"):
        make_field("spring", dots)
    rope, sheet = (
        VisualBody("rope", taut.mesh.rope(2), 0, 3),
        VisualBody("sheet", taut.mesh.sheet(2, 2), 3, 12),
    )
    with pytest.raises(ModelError, match="different units"):
        make_field("stress", VisualModel("test", (rope, sheet), 12, np.empty(0, np.int64)))


def test_contact_is_the_force_that_carries_the_weight():
    mass, n = 0.02, 3
    ground = taut.contact(np.arange(n), range=1e-3, planes=[([0, 0, 0], [0, 1, 0])])
    points = np.array([[0.0, 0.01, 0], [1, 0.01, 0], [2, 5, 0]])
    system = taut.System(
        points, mass=mass, energies=[laws.gravity()], contact=ground, fixed=[n - 1]
    )
    rest = taut.equilibrium(system).state.q
    values, unit = evaluate("contact", Mesh(points, {}), system, rest)
    assert unit == "N"
    np.testing.assert_allclose(values, [mass * 9.81, mass * 9.81, 0.0], rtol=1e-6)
    with pytest.raises(ModelError, match=r"unknown colour 'contact'.*speed"):
        evaluate("contact", Mesh(points, {}), system.with_(contact=None), rest)
