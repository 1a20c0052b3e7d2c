"""Every Python block in README and docs runs, in order, in one namespace per page.

The text block after it must be its output. A TOML block with a title is a file in the folder in
which they run.
"""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from taut import laws

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```(python|text|toml title=\"[\w.-]+\")\n(.*?)```", re.DOTALL)


def _round_numbers(text: str) -> str:
    """Remove what depends on the machine.

    Numbers in scientific notation (residuals) and digits after the sixth.
    """
    text = re.sub(r"-?\d\.?\d*e[-+]\d+", "#", text)
    return re.sub(r"(\.\d{6})\d+", r"\1", text).strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_blocks_print_the_documented_output(page, tmp_path, monkeypatch):
    blocks = [
        (m[1], m[2], page.read_text()[: m.start()].count("\n") + 2)
        for m in BLOCK.finditer(page.read_text())
    ]
    monkeypatch.chdir(tmp_path)
    space, printed = {"__name__": page.stem}, ""
    for kind, text, line in blocks:
        if kind == "python":
            with redirect_stdout(StringIO()) as out:
                exec(compile("\n" * (line - 1) + text, str(page), "exec"), space)
            printed = out.getvalue()
        elif kind.startswith("toml"):
            (tmp_path / kind.split('"')[1]).write_text(text)
        else:
            assert _round_numbers(printed) == _round_numbers(text), f"{page.name}, line {line}"


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_links_are_valid(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_named_files_exist(page):
    """Such as `scene/_law.py`: relative to src/taut or to the repository."""
    for path in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|toml))`", page.read_text()):
        assert any((top / path).exists() for top in (ROOT / "src/taut", ROOT / "src", ROOT)), path


def test_excerpt_of_generated_source_is_current():
    page = (ROOT / "docs/guide/own-law.md").read_text()
    excerpt = re.search(r"From the middle of the output:\n\n```\n(.*?)```", page, re.DOTALL)[1]
    source = laws.spring.compile("energy", 2, {"k": (), "l0": ()}).source().splitlines()
    assert [
        line for line in excerpt.splitlines() if line.strip() != "..." and line not in source
    ] == []
