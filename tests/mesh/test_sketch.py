"""Sketches for notebooks: well-formed, within their frame, small, and safe against
hostile names.
"""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line
from taut.mesh.mesh import Mesh
from taut.mesh.sketch import HEIGHT, WIDTH, card, project, sketch, spark
from taut.run.open_run import open_run
from taut.run.record import record

SVG = "{http://www.w3.org/2000/svg}"


def parse_sketch(text):
    """All coordinates in a drawing, (n, 2), and the drawing."""
    root = ET.fromstring(text)
    places = [
        n for path in root.iter(f"{SVG}path") for n in re.findall(r"-?\d+\.?\d*", path.get("d"))
    ]
    places += [c.get(k) for c in root.iter(f"{SVG}circle") for k in ("cx", "cy")]
    return np.array(places, dtype=float).reshape(-1, 2), root


@pytest.mark.parametrize(
    "mesh",
    [
        taut.mesh.bunny(),
        taut.mesh.sheet(5, 5, plane="xz"),
        taut.mesh.net(4, 4),
        taut.mesh.block(3, 2, 2),
        taut.mesh.rope(3),
        Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], {"quad": [[0, 1, 2, 3]]}),
        Mesh(np.zeros((1, 3)), {}),
        Mesh(np.empty((0, 3)), {}),
    ],
    ids=repr,
)
def test_a_mesh_is_drawn_within_its_frame(mesh):
    html = mesh._repr_html_()
    ET.fromstring(html)
    places, _ = parse_sketch(html[html.index("<svg") : html.index("</svg>") + 6])
    assert (places >= 0).all()
    assert (places <= [WIDTH, HEIGHT]).all()
    assert len(places) or not mesh.n
    assert len(html) < 100_000
    assert f"{mesh.n:,}" in html


def test_points_match_the_projection():
    x = np.array([[0.0, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 3]])
    lines = [[0, 1], [0, 2], [0, 3]]
    places, _ = parse_sketch(sketch(x, lines=lines))
    a, b = np.radians(35), np.radians(22)
    right = x @ [np.cos(a), 0, -np.sin(a)]
    up = x @ [-np.sin(b) * np.sin(a), np.cos(b), -np.sin(b) * np.cos(a)]
    np.testing.assert_allclose(project(x), np.column_stack([right, up]), atol=1e-15)
    expected = np.column_stack([right, -up])[np.array(lines).ravel()]
    scale = np.ptp(places, axis=0) / np.ptp(expected, axis=0)
    assert scale[0] == pytest.approx(
        scale[1], rel=2e-3
    )  # coordinates are rounded to a tenth of a pixel
    np.testing.assert_allclose(places - places[0], (expected - expected[0]) * scale, atol=0.11)


def test_faces_are_sorted_by_depth_and_solids_show_front_faces_only():
    near, far = (
        np.array([[0.0, 0, 1], [1, 0, 1], [0, 1, 1]]),
        np.array([[0.0, 0, -1], [1, 0, -1], [0, 1, -1]]),
    )
    places, _ = parse_sketch(sketch(np.concatenate([near, far]), faces=[[0, 1, 2], [3, 4, 5]]))
    reverse, _ = parse_sketch(sketch(np.concatenate([far, near]), faces=[[0, 1, 2], [3, 4, 5]]))
    np.testing.assert_array_equal(places, reverse)
    assert (
        places[:3, 0].mean() > places[3:, 0].mean()
    )  # seen from the front right, far points are drawn to the right
    block = taut.mesh.block(1, 1, 1)
    html = block._repr_html_()
    _, root = parse_sketch(html[html.index("<svg") : html.index("</svg>") + 6])
    assert (
        len(list(root.iter(f"{SVG}path"))) == 6
    )  # three of six sides face the camera, two triangles each


def test_sketch_of_a_large_mesh_is_small():
    sphere = taut.mesh.sphere(60)
    assert len(sphere.triangles) > 70_000
    html = sphere._repr_html_()
    assert len(html) < 100_000
    places, root = parse_sketch(html[html.index("<svg") : html.index("</svg>") + 6])
    assert len(list(root.iter(f"{SVG}path"))) > 200
    across = np.ptp(places, axis=0)
    assert across[0] == pytest.approx(across[1], rel=0.01)
    assert across.max() > 0.85 * HEIGHT
    net = taut.mesh.net(100, 100)
    assert len(net._repr_html_()) < 100_000
    assert (
        len(sketch(np.random.default_rng(1).normal(size=(50_000, 3)), marks=np.arange(50_000)))
        < 100_000
    )


def test_names_are_escaped():
    name = "<script>alert('x')</script>&\x00\x1b[31m\""
    mesh = Mesh([[0.0, 0, 0], [1, 0, 0]], {"line": [[0, 1]]}, groups={name: [0]})
    html = mesh._repr_html_()
    ET.fromstring(html)
    assert "<script" not in html
    assert "\x00" not in html
    assert "&lt;script&gt;" in html
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0, name=name)]
    )
    ET.fromstring(system._repr_html_())
    assert "<script" not in system._repr_html_()
    ET.fromstring(card(name, [(name, name)], [spark([1.0, np.nan, np.inf])]))


def test_non_finite_points_are_skipped():
    places, _ = parse_sketch(
        sketch(
            [[0, 0, 0], [1, 0, 0], [np.nan, 0, 0], [np.inf, 1, 1]],
            lines=[[0, 1], [1, 2], [2, 3]],
            marks=[2, 0],
        )
    )
    assert len(places) == 3
    assert np.isfinite(places).all()


def test_system_marks_held_points():
    sheet = taut.mesh.sheet(4, 4)
    system = taut.System(
        sheet.points,
        mass=0.01,
        energies=[laws.spring(sheet.edges, k=1.0), laws.gravity()],
        fixed=sheet.corners("top"),
        constraints=[on_line([0], direction=(1, 0, 0))],
        damping=[laws.drag(alpha=1.0), laws.rayleigh(alpha=0.5)],
    )
    html = system._repr_html_()
    ET.fromstring(html)
    _, root = parse_sketch(html[html.index("<svg") : html.index("</svg>") + 6])
    assert len(list(root.iter(f"{SVG}circle"))) == 3
    assert root.find(f"{SVG}path").get("d").count("M") == len(sheet.edges)
    for word in ("25", "0.25 kg", "spring", "gravity", "drag", "rayleigh"):
        assert word in html
    flat = taut.System(
        [[0, 0], [1, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0)], fixed=[1]
    )
    assert flat._repr_html_().count("<circle") == 1


def test_a_run_shows_its_last_frame_and_its_energy(tmp_path):
    fall = taut.System(
        [[0, 10, 0], [1, 10, 0]],
        mass=1.0,
        energies=[laws.gravity()],
        damping=[laws.drag(alpha=0.5)],
    )
    record(tmp_path / "run", fall, taut.ImplicitEuler(), h=0.1, until=1.0)
    with open_run(tmp_path / "run") as run:
        html = run._repr_html_()
        root = ET.fromstring(html)
        assert len(list(root.iter(f"{SVG}circle"))) == 2
        (line,) = root.iter(f"{SVG}polyline")
        drawn = np.array([pair.split(",") for pair in line.get("points").split()], dtype=float)
        energy = run.ledger["kinetic"] + run.ledger["stored gravity"]
        assert len(drawn) == len(energy) == 10
        down = (energy.max() - energy) / np.ptp(energy)
        np.testing.assert_allclose(
            (drawn[:, 1] - drawn[0, 1]) / np.ptp(drawn[:, 1]), down, atol=2e-3
        )  # a tenth of 42 pixels
        assert "10 of 10" in html
    closed = run._repr_html_()
    ET.fromstring(closed)
    assert "cannot be read" in closed
