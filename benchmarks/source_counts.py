"""Counts of the source tree: how much a reader has to hold in mind.

    python -m benchmarks.source_counts              # the package
    python -m benchmarks.source_counts --trace      # also: files through which one value goes

`--trace` builds a small scene from TOML, runs two steps into a folder and renders a frame, and
counts the files of the package in which at least one function is called on the way. What runs
only because a module is imported does not count.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tempfile
import tokenize
from collections import Counter
from pathlib import Path
from types import FrameType

import taut

PACKAGE = Path(taut.__file__).parent


def count_comments(path: Path) -> int:
    """Comments on a line of their own, tool directives left out."""
    directive = re.compile(r"#\s*(type:|noqa|fmt:|isort:|pragma)")
    with tokenize.open(path) as file:
        tokens = [t for t in tokenize.generate_tokens(file.readline) if t.type == tokenize.COMMENT]
    return sum(t.line.strip().startswith("#") and not directive.match(t.string) for t in tokens)


def count_importers(trees: dict[str, ast.Module]) -> Counter[str]:
    """For each module of the package, in how many other modules it is imported."""
    importers: Counter[str] = Counter()
    for name, tree in trees.items():
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
        importers.update(module for module in found & trees.keys() if module != name)
    return importers


def count_source() -> dict[str, float]:
    """All counts of the source text."""
    paths = sorted(PACKAGE.rglob("*.py"))
    trees = {}
    lines = over_100 = over_120 = comments = ternaries = lambdas = constants = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = tree
        lines += text.count("\n")
        over_100 += sum(len(line) > 100 for line in text.splitlines())
        over_120 += sum(len(line) > 120 for line in text.splitlines())
        comments += count_comments(path)
        ternaries += sum(isinstance(node, ast.IfExp) for node in ast.walk(tree))
        lambdas += sum(isinstance(node, ast.Lambda) for node in ast.walk(tree))
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets += [node.target] if isinstance(node, ast.AnnAssign) else []
            for target in targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                constants += sum(isinstance(n, ast.Name) and n.id.isupper() for n in names)
    importers = count_importers(trees)
    return {
        "files": len(paths),
        "lines": lines,
        "comments on a line of their own": comments,
        "ternaries per 1,000 lines": round(1e3 * ternaries / lines, 1),
        "lambdas": lambdas,
        "lines over 100 columns": over_100,
        "lines over 120 columns": over_120,
        "module constants in capitals": constants,
        "modules imported by exactly one other": sum(importers[name] == 1 for name in trees),
    }


def is_importing(frame: FrameType) -> bool:
    """Whether a frame runs because a module is imported: class bodies, decorators, tables."""
    caller: FrameType | None = frame
    while caller is not None:
        if caller.f_code.co_name == "<module>" and caller.f_code.co_filename.startswith(
            str(PACKAGE)
        ):
            return True
        caller = caller.f_back
    return False


def trace_value() -> set[str]:
    """The files with a function that is called between a scene's TOML text and a picture of it."""
    touched: set[str] = set()
    prefix = str(PACKAGE)

    def look(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        is_new_call = event == "call" and name.startswith(prefix) and name not in touched
        if is_new_call and not is_importing(frame):
            touched.add(name)

    from typer.testing import CliRunner

    from taut.cli.main import app

    with tempfile.TemporaryDirectory() as folder:
        import threading

        threading.setprofile(look)
        sys.setprofile(look)
        try:
            for command in (
                ["run", "cloth", "-o", f"{folder}/run", "--set", "time.duration=0.04", "--quiet"],
                ["render", f"{folder}/run", "-o", f"{folder}/picture.png"],
            ):
                result = CliRunner().invoke(app, command)
                if result.exit_code:
                    raise SystemExit(
                        f"taut {' '.join(command)}: {result.output} {result.exception!r}"
                    )
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return touched


def main() -> None:
    parser = argparse.ArgumentParser(description="Counts of the source tree.")
    parser.add_argument("--trace", action="store_true", help="follow one value from TOML to pixel")
    arguments = parser.parse_args()
    counts = count_source()
    if arguments.trace:
        touched = trace_value()
        counts["files from TOML to pixel"] = len(touched)
    for name, value in counts.items():
        print(f"{name:40} {value:>8,}")


if __name__ == "__main__":
    main()
