"""Links of a page that lead out of docs/ (to the source, to an example.

To CONTRIBUTING) lead to a page of the site.

A link stands in a page as it does in the repository, relative to the file, so that it works there
too. Here a target outside of docs/ becomes repository/PATH: Markdown as it is, source in a block on
a page, and anything else (a notebook) as a file.
"""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import dirname, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LINK = re.compile(r"\]\((?![a-z]+:|#|/)([^)#\s]+)(#[^)\s]*)?\)")
CODE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
SHOWN = "repository/"
IN_NAVIGATION = ("CONTRIBUTING.md", "CHANGELOG.md")
LANGUAGES = {".py": "python", ".toml": "toml", ".cpp": "cpp"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every file of the repository that some page links to."""
    root = Path(config.config_file_path).parent
    wanted, read = list(IN_NAVIGATION), set()
    for page in files.documentation_pages():
        wanted += _outside(page.content_string, f"docs/{page.src_uri}")
    while wanted:
        path = wanted.pop()
        if path in read or not (root / path).is_file():
            continue
        read.add(path)
        text = (root / path).read_text(encoding="utf-8")
        if path.endswith(".md"):
            wanted += _outside(text, path)
        elif Path(path).suffix in LANGUAGES:
            text = f"# {path}\n\n````{LANGUAGES[Path(path).suffix]}\n{text}\n````\n"
        files.append(File.generated(config, _uri(path), content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    uri = page.file.src_uri
    path = (
        uri.removeprefix(SHOWN).removesuffix(".shown.md")
        if uri.startswith(SHOWN)
        else f"docs/{uri}"
    )

    def turned(link: re.Match[str]) -> str:
        target = normpath(f"{dirname(path)}/{link[1]}".lstrip("/"))
        if files.get_file_from_path(_uri(target)) is None:
            return link[0]  # mkdocs then says that it leads nowhere
        return f"]({relpath(_uri(target), dirname(uri) or '.')}{link[2] or ''})"

    parts, end = [], 0
    for block in CODE.finditer(markdown):
        parts += [LINK.sub(turned, markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, LINK.sub(turned, markdown[end:])])


def _outside(text: str, path: str) -> list[str]:
    """The files outside of docs/ that a file links to, by their paths in the repository."""
    targets = [
        normpath(f"{dirname(path)}/{link[1]}".lstrip("/"))
        for link in LINK.finditer(CODE.sub("", text))
    ]
    return [t for t in targets if not t.startswith(("docs/", ".."))]


def _uri(path: str) -> str:
    """Where the site has a file of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return SHOWN + (f"{path}.shown.md" if Path(path).suffix in LANGUAGES else path)
