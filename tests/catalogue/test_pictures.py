"""Every picture of the docs is drawn by a script next to it, is small, and is on a page."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted((DOCS / "pictures").glob("*.svg"))
LARGEST = 90_000  # bytes: pages must load over slow connections
each = pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)


def test_every_picture_has_a_script():
    """A script draws the picture of the same name, or several named `<script>-….svg`."""
    assert PICTURES
    drawn = {
        p.stem.partition("-")[0]
        for p in (DOCS / "pictures").iterdir()
        if p.suffix in (".svg", ".png")
    }
    assert drawn == {p.stem for p in (DOCS / "pictures").glob("*.py")}


@each
def test_picture_is_small(picture):
    assert 0 < picture.stat().st_size < LARGEST


@each
def test_picture_is_an_svg_with_searchable_text(picture):
    root = ElementTree.parse(picture).getroot()
    assert root.tag.endswith("svg")
    assert root.findall(".//{http://www.w3.org/2000/svg}text")


@each
def test_picture_is_shown_on_a_page_with_alt_text(picture):
    pages = [page for page in DOCS.rglob("*.md") if f"pictures/{picture.name}" in page.read_text()]
    assert pages, f"no page shows {picture.name}"
    for page in pages:
        words = re.findall(
            rf"!\[([^\]]*)\]\([^)]*pictures/{re.escape(picture.name)}\)", page.read_text()
        )
        assert words, f"{page.name} names {picture.name} and does not show it"
        assert all(len(text.split()) >= 5 for text in words), (
            f"{page.name} does not describe {picture.name}"
        )
