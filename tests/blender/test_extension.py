"""The extension in Blender: registered, drawn, saved; what it refuses, and in which words."""

import pytest

from taut.materials import FABRICS


@pytest.fixture(scope="module")
def found(blender):
    """What the script that registers the extension told."""
    return blender("register.py")[1]


def test_it_is_registered_twice_and_keeps_its_properties(found):
    assert found["registered"] == [False, True, False, True]
    assert found["kept"] == ["CLOTH", "denim", "Pole", 0.25]
    assert found["map"] == ["Pole", 7.0]
    assert found["substeps"] == 9
    assert found["fabrics"] == list(FABRICS)


def test_panels_show_what_the_kind_of_object_has(found):
    before, shell, cloth = (found[name] for name in ("before", "shell", "cloth"))
    assert before[1] is None  # no pins before the object is marked
    assert "young" not in before[0]
    assert {"young", "thickness", "density", "poisson"} <= set(shell[0])
    assert {"fabric", "warp"} <= set(cloth[0])
    assert not {"young", "thickness"} & set(cloth[0])
    assert {"pin_group", "quantity", "group", "low", "high", "taut.remove_map"} <= set(cloth[1])
    assert "Frames 1 to 250, 24 per second" in cloth[3]
    assert "Gravity downwards: 9.81 m/s²" in cloth[3]


def test_what_cannot_be_baked_is_explained(blender):
    _, found = blender("refuse.py")
    for name, expected in {
        "nothing is marked": "nothing to simulate: mark an object as cloth",
        "not saved": "save the .blend file first",
        "unknown group": "'Flag.001' has no vertex group 'Pole' for its pins",
        "empty group": "no point of 'Flag.001' has a weight above 0.5 in the vertex group 'Pole'",
        "rope with faces": "'Flag.001' is a rope and must have edges only, but it has faces",
        "unknown fabric": "unknown fabric 'denimm'; did you mean 'denim'?",
        "intersection": "objects intersect at the first frame.",
        "resumed after a change": "exported anew, with changes, after this bake began",
        "no program": "taut was not found at '/no/such/taut'",
    }.items():
        assert expected in found[name], name
    for name in ("Flag.001", "Die Kugel"):
        assert f" of '{name}'" in found["intersection"]
    assert "passes through the triangle" in found["intersection"]
    assert found["unknown fabric"].startswith("Error: 'Flag.001': fabric.name, line")
