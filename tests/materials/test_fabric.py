"""Fabrics by name: the table, the direction of the warp, and what their laws do."""

import numpy as np
import pytest

import taut
from taut import laws, scene
from taut.errors import ModelError, SceneError
from taut.materials import FABRICS, fabric

SHEET = taut.mesh.sheet(4, 4, size=0.2)
NAMES = ["cotton", "denim", "silk", "wool", "jersey", "leather", "paper", "rubber", "felt"]


def test_table_is_complete_and_says_what_was_measured():
    assert list(FABRICS) == NAMES
    for name, sample in FABRICS.items():
        assert sample.name == name
        assert sample.membrane[1] <= sample.membrane[0]
        assert all(len(source) > 20 for source in sample.sources)
        # Whoever has an estimate says so, and whoever says so has one.
        everything = {"areal_density", "membrane", "shear", "poisson", "rigidity"}
        has_estimate = not everything <= set(sample.measured)
        assert has_estimate == any("estimate" in source for source in sample.sources)


def test_conversions_from_published_values():
    """Of Wang and others: 2 (C₁₁ - C₁₂²/C₂₂), 2 C₆₆/4 and 2/9 of the mean kₑ; E t and E t³/12."""
    knit = FABRICS["jersey"]
    assert knit.membrane[0] == pytest.approx(2 * (34.477123 - 14.69599**2 / 16.593832), rel=1e-2)
    assert knit.membrane[1] == pytest.approx(2 * (16.593832 - 14.69599**2 / 34.477123), rel=1e-2)
    assert knit.shear == pytest.approx(2 * 36.860302 / 4, rel=5e-3)
    assert knit.rigidity == pytest.approx(2 / 9 * (23.191698e-6 + 14.267624e-6) / 2, rel=5e-3)
    paper = FABRICS["paper"]
    assert paper.rigidity == pytest.approx(paper.membrane[0] * paper.thickness**2 / 12)
    felt, pound, yard = FABRICS["felt"], 0.45359237, 0.9144
    assert 0.95 <= felt.areal_density / (pound / yard**2) <= 1.05


@pytest.mark.parametrize("name", NAMES)
def test_weight_and_moduli_reach_the_laws(name):
    """A strip pulled along the warp has the modulus of the table, across it that of the weft."""
    cloth, sample = fabric(name, SHEET, warp=(0, 1, 0)), FABRICS[name]
    assert cloth.mass.sum() == pytest.approx(sample.areal_density * 0.2**2)
    membrane = laws.orthotropic_membrane(SHEET.triangles, **cloth.membrane)
    system = taut.System(SHEET.points, mass=cloth.mass, energies=[membrane])
    K = system.K(system.initial_state()).toarray()
    for axis, modulus in ((1, sample.membrane[0]), (0, sample.membrane[1])):
        strain, other = np.zeros_like(SHEET.points), np.zeros_like(SHEET.points)
        strain[:, axis] = SHEET.points[:, axis]
        other[:, 1 - axis] = SHEET.points[:, 1 - axis]
        # Free to narrow: energy ½ E ε² per area after the minimum over the other strain
        a, b, c = (
            u.ravel() @ K @ v.ravel() for u, v in ((strain,) * 2, (strain, other), (other,) * 2)
        )
        assert (a - b**2 / c) / 0.2**2 == pytest.approx(modulus, rel=1e-9)


def test_warp_follows_texture_coordinates_vectors_and_maps():
    """UVs turned by 90° turn the warp: v of the sheet's own coordinates is y."""
    assert fabric("denim", SHEET).warp == pytest.approx(np.tile([0.0, 1.0, 0.0], (32, 1)))
    turned = SHEET.with_(
        uv=taut.mesh.UV(SHEET.uv.coordinates[:, ::-1], SHEET.uv.corners),
        point_data={"grain": np.tile([1.0, 1.0, 5.0], (SHEET.n, 1))},
    )
    assert fabric("denim", turned).warp == pytest.approx(np.tile([1.0, 0.0, 0.0], (32, 1)))
    slanted = fabric("denim", turned, warp="grain").warp
    assert slanted == pytest.approx(np.tile([0.5**0.5, 0.5**0.5, 0.0], (32, 1)))
    assert fabric("denim", turned, warp=slanted).warp == pytest.approx(slanted)
    columns = {f"grain_{axis}": turned.point_data["grain"][:, k] for k, axis in enumerate("xyz")}
    apart = turned.with_(point_data=columns)
    assert fabric("denim", apart, warp="grain").warp == pytest.approx(slanted)


def test_warp_of_a_rolled_sheet_runs_with_its_texture():
    """On a cylinder whose v runs around, the warp is tangential everywhere."""
    turn = SHEET.points[:, 0] / 0.2
    rolled = SHEET.with_(
        points=np.column_stack([np.cos(turn), SHEET.points[:, 1], np.sin(turn)]) * [0.2, 1, 0.2],
        uv=taut.mesh.UV(SHEET.uv.coordinates[:, ::-1], SHEET.uv.corners),
    )
    warp = fabric("wool", rolled).warp
    assert np.abs(warp[:, 1]).max() < 1e-9
    assert np.linalg.norm(warp, axis=1) == pytest.approx(1.0)


def test_fabrics_without_a_direction_need_none():
    bare = SHEET.with_(uv=None)
    assert fabric("felt", bare).mass.sum() == pytest.approx(0.5425 * 0.04)
    with pytest.raises(ModelError, match="no texture coordinates to tell them: pass warp"):
        fabric("silk", bare)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("denm", SHEET), "did you mean 'denim'"),
        (("denim", taut.mesh.rope(3)), "needs faces"),
        (("denim", SHEET, (0, 0, 1)), "in the plane of every triangle, .* for triangle 0"),
        (("denim", SHEET, (0, 1)), "warp must be a vector of three numbers"),
        (("denim", SHEET, "grain"), "the mesh has no map 'grain'"),
    ],
)
def test_errors_say_what_must_be(arguments, message):
    name, mesh, *warp = arguments
    with pytest.raises(ModelError, match=message):
        fabric(name, mesh, warp=warp[0] if warp else None)


SCENE = """
[time]
h = 0.02
duration = 0.1
[[body]]
name = "cloth"
mesh = { shape = "sheet", nx = 4, ny = 4, size = 0.2 }
fabric = { name = "NAME" }
"""


def test_scenes_build_fabrics():
    built = scene.read_text(SCENE.replace("NAME", "denim")).build()
    names = ["orthotropic_membrane", "shell_bending", "area_barrier"]
    assert list(built.system._placed_energies) == names
    assert built.system.mass.sum() == pytest.approx(0.324 * 0.04)
    assert "cloth: denim: 11 oz black denim, 99% cotton and 1% spandex" in built.notes
    with pytest.raises(SceneError, match="line 8: unknown fabric 'deni'; did you mean 'denim'"):
        scene.read_text(SCENE.replace("NAME", "deni"))
