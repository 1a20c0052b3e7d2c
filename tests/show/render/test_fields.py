"""What colours mean, against numbers from elsewhere: statics, elasticity of lattices, sums by hand."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.errors import ModelError
from taut.mesh.mesh import Mesh
from taut.run.frames import Frame
from taut.run.opening import open_run
from taut.scene import read_text
from taut.show.render.fields import drawn, field, spread
from taut.show.subject import Piece, Subject, of_run, of_scene
from taut.show.torn import NEVER, Torn, torn_in

WHOLE = Torn({}, {})


def seen(name, mesh, system, q, v=None, torn=WHOLE):
    """The values of a field on one body."""
    subject = Subject("test", (Piece("body", mesh, 0, mesh.n),), mesh.n, np.empty(0, np.int64), lambda: system)
    shown = field(name, subject, torn)
    (values,) = shown.at(Frame(3, 0.0, q, np.zeros_like(q) if v is None else v))
    return values, shown.unit


def test_stress_of_a_hanging_rope_is_the_weight_below():
    n, m, g = 10, 0.3, 9.81
    rope = taut.mesh.rope(n, end=(0, -1, 0))
    system = taut.System(rope.points, mass=m, fixed=[0], energies=[laws.spring(rope.edges, k=500.0), laws.gravity()])
    rest = taut.equilibrium(system).state.q
    links = m * g * np.arange(n, 0, -1)  # the force in each link, from above
    values, unit = seen("stress", rope, system, rest)
    assert unit == "N"
    expected = np.concatenate([links[:1], (links[1:] + links[:-1]) / 2, links[-1:]])
    np.testing.assert_allclose(values, expected, rtol=1e-7)  # what the tolerance of the equilibrium, 1e-8, leaves


def test_stress_of_a_square_lattice_is_that_of_its_moduli():
    """C11 + C12 = k₁ + 2k₂ for springs k₁ along the sides and k₂ along both diagonals, under equal strains in both directions."""
    sheet = taut.mesh.sheet(6, 6)
    k1, k2, strain = 30.0, 11.0, 1e-3
    energies = [laws.spring(sheet.edges, k=k1), laws.spring(sheet.diagonals, k=k2)]
    values, unit = seen("stress", sheet, taut.System(sheet.points, mass=1.0, energies=energies), sheet.points * (1 + strain))
    assert unit == "N/m"
    inner = np.setdiff1d(np.arange(sheet.n), sheet.boundary)
    np.testing.assert_allclose(values[inner], (k1 + 2 * k2) * strain, rtol=1e-10)


def test_stress_of_a_cubic_lattice_is_that_of_its_moduli():
    """E = 2.5 k/a and ν = ¼ for edges and face diagonals of equal k: 3K = E/(1 - 2ν) = 5k/a."""
    cells = 4
    block = taut.mesh.block(cells, cells, cells, size=1.0)
    k, strain, a = 40.0, -2e-3, 1.0 / cells
    energies = [laws.spring(np.concatenate([block.edges, block.diagonals]), k=k)]
    values, unit = seen("stress", block, taut.System(block.points, mass=1.0, energies=energies), block.points * (1 + strain))
    assert unit == "Pa"
    inner = np.setdiff1d(np.arange(block.n), block.boundary)
    assert len(inner) == 27
    np.testing.assert_allclose(values[inner], 5 * k / a * strain, rtol=1e-10)


def test_lines_have_the_force_and_the_strain_in_them():
    """Two springs on the first line, a strut and a line without a spring: what is drawn along each is what is in it."""
    mesh = Mesh([[0.0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]], {"line": [[1, 0], [1, 2], [2, 3]]})
    energies = [laws.spring([[0, 1], [1, 2]], k=10.0), laws.cable([[0, 1]], k=4.0)]
    system = taut.System(mesh.points, mass=1.0, energies=energies)
    q = mesh.points * [1.5, 0.75, 1.0]
    subject = Subject("test", (Piece("body", mesh, 0, 4),), 4, np.empty(0, np.int64), lambda: system)
    frame = Frame(0, 0.0, q, np.zeros_like(q))
    stress, strain = (field(name, subject, WHOLE) for name in ("stress", "strain"))
    np.testing.assert_allclose(stress.along(frame)[0], [0.5 * 10 + 0.5 * 4, -0.5 * 10, np.nan], rtol=1e-12)
    np.testing.assert_allclose(strain.along(frame)[0], [0.5, -0.25, 0.5], rtol=1e-12)
    (shown,) = drawn(stress, subject.pieces, frame)
    assert spread([[shown]], signed=True) == (-7.0, 7.0)
    torn = Torn({"spring": np.array([0, NEVER])}, {"spring": np.array([[0, 1], [1, 2]])})
    broken = field("strain", subject, torn)
    np.testing.assert_allclose(broken.along(frame)[0], [np.nan, -0.25, 0.5], rtol=1e-12)
    np.testing.assert_allclose(broken.at(frame)[0], [np.nan, -0.25, 0.125, 0.5], rtol=1e-12)


def test_strain_is_the_mean_elongation_of_the_edges_that_meet():
    sheet = taut.mesh.sheet(4, 3)
    q = sheet.points + 0.1 * np.random.default_rng(5).normal(size=(sheet.n, 3))
    values, unit = seen("strain", sheet, None, q)
    assert unit == ""
    for i in range(sheet.n):
        mine = [(a, b) for a, b in sheet.edges.tolist() if i in (a, b)]
        ratios = [np.linalg.norm(q[a] - q[b]) / np.linalg.norm(sheet.points[a] - sheet.points[b]) for a, b in mine]
        assert values[i] == pytest.approx(np.mean(ratios) - 1, abs=1e-13)


def test_the_energy_of_a_law_is_shared_by_the_particles_of_its_elements():
    sheet = taut.mesh.sheet(4, 4)
    q = sheet.points + 0.05 * np.random.default_rng(6).normal(size=(sheet.n, 3))
    energies = [laws.spring(sheet.edges, k=20.0), laws.gravity(), laws.area(sheet.triangles, k=3.0)]
    system = taut.System(sheet.points, mass=0.1, energies=energies)
    by_law = system.V_by_law(system.initial_state().with_(q=q))
    for name, value in by_law.items():
        values, unit = seen(name, sheet, system, q)
        assert unit == "J"
        assert values.sum() == pytest.approx(value, rel=1e-12)
    length = np.linalg.norm(np.diff(q[sheet.edges], axis=1)[:, 0], axis=1)
    own = 10.0 * (length - sheet.lengths) ** 2
    corner = sum(e for e, pair in zip(own, sheet.edges.tolist(), strict=True) if 0 in pair) / 2
    assert seen("spring", sheet, system, q)[0][0] == pytest.approx(corner, rel=1e-12)
    np.testing.assert_allclose(seen("gravity", sheet, system, q)[0], 0.1 * 9.81 * q[:, 1], rtol=1e-12)


def test_the_energy_of_a_total_is_not_put_into_one_place():
    ball = taut.mesh.sphere(3, radius=0.5)
    system = taut.System(ball.points, mass=0.1, energies=[laws.enclosed_volume(ball.triangles, k=1e4)])
    values, _ = seen("enclosed_volume", ball, system, 1.1 * ball.points)
    assert values.sum() == pytest.approx(system.V(system.initial_state().with_(q=1.1 * ball.points)), rel=1e-12)
    assert values.min() > 0.3 * values.max()


def test_speed_is_that_of_the_particles_also_on_a_mesh_that_rides_on_them():
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
    subject = of_scene(read_text(text))
    (piece,) = subject.pieces
    assert piece.embedding is not None
    shown = field("speed", subject, WHOLE)
    q = subject.system.rest
    (values,) = shown.at(Frame(0, 0.0, q, np.ones_like(q)))
    np.testing.assert_allclose(values, np.sqrt(3), rtol=1e-12)
    plain = Subject("test", (Piece("body", Mesh(q, {}), 0, len(q)),), len(q), np.empty(0, np.int64))
    rng = np.random.default_rng(7).normal(size=q.shape)
    (own,) = field("speed", plain, WHOLE).at(Frame(0, 0.0, q, rng))
    np.testing.assert_allclose(own**2, (rng**2).sum(axis=1), rtol=1e-12)


def test_the_range_is_that_of_all_frames(hanging_run):
    with open_run(hanging_run) as run:
        subject = of_run(run)
        frames = list(run.frames)
        for name, signed in (("speed", False), ("strain", True)):
            shown = field(name, subject, WHOLE)
            low, high = spread((shown.at(frame) for frame in frames), signed=signed)
            every = np.array([shown.at(frame)[0] for frame in frames])
            assert (low, high) == ((every.min(), every.max()) if not signed else (-np.abs(every).max(), np.abs(every).max()))
        fastest = max(np.linalg.norm(frame.v, axis=1).max() for frame in frames)
        assert spread((field("speed", subject, WHOLE).at(f) for f in frames), signed=False) == (0.0, fastest)
    assert spread([[np.array([np.nan])]], signed=True) == (0.0, 0.0)


def test_a_torn_element_carries_nothing(torn_run):
    with open_run(torn_run) as run:
        subject = of_run(run)
        torn = torn_in(run, subject)
        last, ended = run.frames[-1].step, run.state().active["spring"]
        np.testing.assert_array_equal(torn.active(last)["spring"], ended)
        assert 5 < (~ended).sum() < len(ended) / 2
        assert torn.active(0)["spring"].all()
        counts = [(~torn.active(frame.step)["spring"]).sum() for frame in run.frames]
        assert counts == sorted(counts)
        assert run.reports["torn"].sum() == counts[-1]
        assert len(torn.pairs(last)) == counts[-1]
        frame = run.frames[-1]
        (values,) = field("spring", subject, torn).at(frame)
        whole = subject.system.V_by_law(run.state())["spring"]
        assert values.sum() == pytest.approx(whole, rel=1e-9)
        (stress,) = field("stress", subject, torn).at(frame)
        (wrong,) = field("stress", subject, WHOLE).at(frame)
        assert np.nanmax(wrong) > 2 * np.nanmax(stress)


def test_what_no_frame_shows_torn_is_torn_in_the_last(torn_run, monkeypatch):
    monkeypatch.setattr("taut.show.torn._beyond", lambda placed, q, t: np.zeros(len(placed.elements), dtype=bool))
    with open_run(torn_run) as run:
        torn, last = torn_in(run, of_run(run)), run.frames[-1].step
        np.testing.assert_array_equal(torn.active(last)["spring"], run.state().active["spring"])
        assert torn.active(last - 1)["spring"].all()


def test_what_is_not_there_is_refused_by_name(hanging_run, tmp_path):
    with open_run(hanging_run) as run:
        subject = of_run(run)
        with pytest.raises(ModelError, match=r"no colour 'sprng'.*did you mean 'spring'"):
            field("sprng", subject, WHOLE)
    dots = Subject("test", (Piece("body", Mesh(np.zeros((2, 3)), {}), 0, 2),), 2, np.empty(0, np.int64))
    with pytest.raises(ModelError, match="no edges"):
        field("strain", dots, WHOLE)
    with pytest.raises(taut.errors.RunError, match="without a scene"):
        field("spring", dots, WHOLE)
    rope, sheet = Piece("rope", taut.mesh.rope(2), 0, 3), Piece("sheet", taut.mesh.sheet(2, 2), 3, 12)
    with pytest.raises(ModelError, match="different units"):
        field("stress", Subject("test", (rope, sheet), 12, np.empty(0, np.int64)), WHOLE)
