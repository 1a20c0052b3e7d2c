"""The table of materials: complete, with sources, and usable."""

import pytest

import taut
from taut.materials import MATERIALS, bending, material, springs

EXTRA = {"silk": {"area": 1e-8}, "steel wire": {"area": 1e-6}, "nylon rope": {"area": 1e-4}}


def test_all_materials_have_sources():
    assert set(MATERIALS) == {"cotton", "silk", "denim", "rubber", "steel wire", "nylon rope"}
    for found in MATERIALS.values():
        assert found.what
        assert all(len(source) > 20 for source in found.sources)
        assert found.sources


@pytest.mark.parametrize("name", MATERIALS)
def test_each_material_makes_springs(name):
    found = material(name)
    if "membrane" in found.keywords:
        cloth = taut.mesh.sheet(6, 6)
        made = springs(cloth, warp=(0, 1, 0), **found.keywords)
        assert made.mass.sum() == pytest.approx(found.keywords["areal_density"])
        assert made.reached.along([0, 1, 0]) == pytest.approx(
            found.keywords["membrane"][0], rel=1e-4
        )
        assert bending(cloth, found.rigidity) > 0
    elif name == "rubber":
        made = springs(taut.mesh.sheet(4, 4), thickness=1e-3, **found.keywords)
        assert made.reached.young == pytest.approx(1.5e6)
    else:
        line = taut.mesh.rope(4)
        made = springs(line, **found.keywords, **EXTRA[name])
        assert 1 / (1 / made.k).sum() == pytest.approx(
            found.keywords["young"] * EXTRA[name]["area"]
        )


def test_conversions_from_published_values():
    """From the published values: 2 (C₁₁ - C₁₂²/C₂₂), 2 C₆₆/4, 8/9 kₑ/4, and E·A of a circle of one
    inch.
    """
    warp, weft = material("denim").keywords["membrane"]
    assert warp == pytest.approx(2 * (1013.88629 - 10.234077**2 / 205.352005), rel=1e-3)
    assert weft == pytest.approx(2 * (205.352005 - 10.234077**2 / 1013.88629), rel=1e-3)
    assert material("denim").keywords["shear"] == pytest.approx(2 * 53.387184 / 4, rel=5e-3)
    assert material("cotton").keywords["shear"] == pytest.approx(2 * 104.759674 / 4, rel=5e-3)
    assert material("cotton").rigidity == pytest.approx(8 / 9 * 125e-6 / 4, rel=5e-3)
    assert material("denim").rigidity == pytest.approx(
        8 / 9 * (64.2e-6 + 97.0e-6) / 2 / 4, rel=5e-3
    )
    assert material("steel wire").breaking_strain == pytest.approx(2450e6 / 190e9, rel=5e-3)
    inch = 0.0254
    assert material("nylon rope").keywords["young"] == pytest.approx(
        5.29e5 / (3.14159265 * inch**2 / 4), rel=5e-3
    )
    pound, foot = 0.45359237, 0.3048
    circle = 3.14159265 * (7 / 8 * inch) ** 2 / 4
    assert material("nylon rope").keywords["density"] == pytest.approx(
        20.0 * pound / (100 * foot) / circle, rel=5e-3
    )


def test_table_is_immutable():
    mine = material("denim")
    mine.keywords["shear"] = 1.0
    assert material("denim").keywords["shear"] == 26.7
    with pytest.raises(TypeError):
        MATERIALS["denim"].keywords["shear"] = 1.0
    with pytest.raises(TypeError):
        MATERIALS["wool"] = mine
