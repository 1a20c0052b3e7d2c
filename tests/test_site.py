"""The documentation site: builds without warnings, is complete, and its values match
their sources.
"""

import os
import re
import subprocess
import sys
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest

import taut

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
MODULES = [name for name in taut.__all__ if type(getattr(taut, name)).__name__ == "module"]
NAMES = [f"taut.{name}" for name in taut.__all__ if name not in MODULES and name != "__version__"]
NAMES += [
    f"taut.{module}.{name}"
    for module in MODULES
    for name in import_module(getattr(taut, module).__name__).__all__
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site.

    mkdocs runs in a separate process because it changes the logging configuration.
    """
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package, reason="the site is built with the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def _words(html: str) -> str:
    """The text of a page, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


def test_every_page_is_in_the_navigation(site):
    """The navigation on each page is checked; a link in the text is not sufficient."""
    home = (site / "index.html").read_text()
    listed = set(re.findall(r'<a href="([^"#]+)" class="md-nav__link', home))
    assert {page.removesuffix(".md") + ".html" for page in PAGES} - {"index.html"} <= listed
    assert all((site / target).is_file() for target in listed if target not in ("./", "."))


def test_every_public_name_is_in_the_reference(site):
    pages = {page.stem: page.read_text() for page in (site / "api").glob("*.html")}
    headings = {
        _words(heading).split()[0]  # "dataclass" may follow
        for page in pages.values()
        for heading in re.findall(r"<h3[^>]*>(.*?)</h3>", page, re.DOTALL)
    }
    assert [name for name in NAMES if name not in headings] == []
    overview = _words(pages["index"])
    assert [name for name in (f"taut.{n}" for n in taut.__all__) if name not in overview] == []


def test_reference_shows_the_docstrings(site):
    reference = " ".join(_words(page.read_text()) for page in (site / "api").glob("*.html"))
    missing = []
    for name in NAMES:
        module, _, last = name.rpartition(".")
        thing = getattr(
            import_module(getattr(taut, module.partition(".")[2]).__name__)
            if module != "taut"
            else taut,
            last,
        )
        own = (
            thing.__doc__ if thing.__doc__ != type(thing).__doc__ else ""
        )  # a dict has that of all dicts
        first = (own or "").strip().partition("\n")[0]
        missing += [name] * (" ".join(first.replace("`", "").split()) not in reference)
    assert missing == []


def test_law_signatures_are_shown(site):
    assert "spring(elements, *, k, l0=...)" in _words((site / "api/laws.html").read_text())


def test_search_works_without_a_server(site):
    """The index is a script, and each page loads what runs the search in a frame, not a worker."""
    assert (site / "search/search_index.js").read_text().startswith("var __index = {")
    assert "IFrameWorker" in (site / "iframe-worker.js").read_text()
    for page, source in (("index", "iframe-worker.js"), ("guide/export", "../iframe-worker.js")):
        assert f'<script src="{source}"' in (site / f"{page}.html").read_text()


def test_site_loads_nothing_from_other_hosts(site):
    """Scripts, styles, fonts and pictures are part of the site."""
    fetched = re.compile(
        r'<(?:script|img|iframe|source)[^>]*\ssrc="(https?:)?//|<link[^>]*rel="(?:stylesheet|preconnect)"[^>]*//'
    )
    assert [page.name for page in site.rglob("*.html") if fetched.search(page.read_text())] == []
    assert [
        sheet.name
        for sheet in site.rglob("*.css")
        if re.search(r"url\(\s*[\"']?(https?:)?//", sheet.read_text())
    ] == []


def test_values_of_choosing_match_the_guide():
    """`docs/choosing.md` rounds the output of `docs/guide/time.md`, which `tests/test_docs.py`
    runs.
    """
    guide = (DOCS / "guide/time.md").read_text()
    printed = {}
    for name, error, energy in re.findall(
        r"^(\w+) +(-?\d+\.\d\d) +(-?\d+\.\d\d)(?: +\d+ +\d+)?$", guide, re.MULTILINE
    ):
        printed.setdefault(name, []).extend([float(error), float(energy)])
    rows = re.findall(
        r"^\| `(\w+)` \| (.*? mm .*?) \|$", (DOCS / "choosing.md").read_text(), re.MULTILINE
    )
    assert len(rows) == 9
    for name, cells in rows:
        rounded = re.findall(r"(-?\d+(?:\.(\d+))?) m[mJ]", cells)
        assert len(rounded) == len(printed[name]), name
        for (number, digits), exact in zip(rounded, printed[name], strict=True):
            assert float(number) == pytest.approx(exact, abs=0.51 * 10.0 ** -len(digits)), (
                name,
                number,
                exact,
            )


def test_house_picture_shows_all_packages():
    space = {"__name__": "house", "__file__": str(DOCS / "pictures/house.py")}
    exec((DOCS / "pictures/house.py").read_text(), space)
    rooms = {name for floor in space["FLOORS"] for name, _ in floor} | {space["ROOF"][0]}
    assert rooms == {
        folder.name
        for folder in (ROOT / "src/taut").iterdir()
        if (folder / "__init__.py").is_file()
    }
    assert set(space["GROUND"]) == {file.stem for file in (ROOT / "src/taut").glob("*.py")} - {
        "__init__"
    }
    assert space["house"]() == (DOCS / "pictures/house.svg").read_text(), (
        "python docs/pictures/house.py draws it"
    )


def test_every_exercise_has_an_answer():
    for page in sorted((DOCS / "theory").glob("*.md")):
        _, _, rest = page.read_text().partition("\n## Exercises\n")
        asked, _, answered = rest.partition("<details")
        count = len(re.findall(r"^\d+\. ", asked, re.MULTILINE))
        assert count >= 5, page.name
        assert count == len(re.findall(r"^\d+\. ", answered, re.MULTILINE)), page.name
