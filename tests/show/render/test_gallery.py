"""The gallery has a small picture of every built-in scene and the command that draws it."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from taut.scene import names

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def make():
    """docs/gallery/make.py."""
    spec = spec_from_file_location("make", DOCS / "gallery/make.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_current(make):
    assert sorted(make.MOMENTS) == sorted(names())
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == make.page()


def test_every_scene_has_a_small_picture(make):
    for name in names():
        with Image.open(DOCS / f"gallery/{name}.png") as image:
            assert image.size == make.SIZE
            assert np.asarray(image.convert("RGB")).std() > 3, name
    assert sum((DOCS / f"gallery/{name}.png").stat().st_size for name in names()) < 900_000
    with Image.open(DOCS / "gallery/bowl.gif") as image:
        assert image.n_frames == 41
    assert (DOCS / "gallery/bowl.gif").stat().st_size < 1_500_000
