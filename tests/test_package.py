"""The house: imports point down the pipeline, names have one path, nothing heavy is loaded before it is needed."""

import ast
import logging
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import taut

SOURCE = Path(taut.__file__).parent
PIPELINE = [
    "errors", "extras", "progress", "threads", "mesh", "materials", "formula", "laws", "constraints", "system", "solve",
    "step", "run", "scene", "show", "validate", "bench", "cli",
]  # fmt: skip
FILES = sorted(SOURCE.rglob("*.py"))


def _stage(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _imports(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute: one way to name a module"
            found += [f"{node.module}.{a.name}" for a in node.names]
    return [name for name in found if name.split(".")[0] == "taut"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_down_the_pipeline(path):
    stage = _stage(path)
    if stage == "__init__":
        return
    for name in _imports(ast.parse(path.read_text())):
        target = name.split(".")[1]
        if target != "__version__":
            assert PIPELINE.index(target) <= PIPELINE.index(stage), f"{stage} must not import {name}"


COMPILED_IN = ("taut.system.block_rows", "taut.system.lanes", "taut.system.team", "taut.solve.multigrid_rows")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_compiled_loops_call_nothing_compiled_elsewhere(path):
    """Numba does not notice an edit elsewhere: kernels are keyed on their text and on that of the few files they may import."""
    text = path.read_text()
    if re.search(r"^@(njit|cfunc|intrinsic)", text, re.MULTILINE):
        assert path.name.endswith("_kernels.py") or path.name in ("runtime.py", "block_rows.py", "team.py", "multigrid_rows.py")
        assert {name.rpartition(".")[0] for name in _imports(ast.parse(text))} <= set(COMPILED_IN)


def test_kernels_are_compiled_again_when_what_they_import_changes(monkeypatch):
    from taut.formula import compile as compiling

    keys = []
    monkeypatch.setattr(compiling, "load", lambda unit: keys.append(unit.digest))
    real = compiling._text_of
    for changed in ("", *COMPILED_IN):
        monkeypatch.setattr(compiling, "_text_of", lambda name, changed=changed: real(name) + "#" * (name == changed))
        compiling.kernels.__wrapped__("taut.solve.multigrid_kernels")
    assert len(set(keys)) == 1 + len(COMPILED_IN)


def test_every_module_says_what_it_is():
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path} has no docstring"


def test_public_names_resolve_and_are_documented():
    for name in taut.__all__:
        thing = getattr(taut, name)
        if name != "__version__":
            assert thing.__doc__, name
    with pytest.raises(AttributeError, match="did you mean 'System'"):
        taut.Sytem  # noqa: B018
    assert set(taut.__all__) <= set(dir(taut))


def test_the_top_level_stays_small():
    """About thirty names, and the modules with the rest: what is longer is not read."""
    modules = [name for name in taut.__all__ if isinstance(getattr(taut, name), ModuleType)]
    assert modules == ["constraints", "errors", "formula", "laws", "materials", "mesh", "plot", "scene"]
    assert len(set(taut.__all__) - {*modules, "__version__"}) <= 32


def test_public_names_have_one_path():
    """No name of a module is at the top level as well, and none is in two modules."""
    modules = {name: getattr(taut, name) for name in taut.__all__ if isinstance(getattr(taut, name), ModuleType)}
    things = [(id(getattr(taut, name)), f"taut.{name}") for name in taut.__all__]
    things += [(id(getattr(module, name)), f"taut.{place}.{name}") for place, module in modules.items() for name in module.__all__]
    paths: dict[int, list[str]] = {}
    for key, path in things:
        paths.setdefault(key, []).append(path)
    assert [found for found in paths.values() if len(found) > 1] == []


def test_public_functions_and_classes_have_a_doctest():
    for name in taut.__all__:
        thing = getattr(taut, name)
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)) and name != "Report":
            text = (thing.__doc__ or "") + "".join((getattr(v, "__doc__", "") or "") for v in vars(thing).values())
            assert ">>>" in text, f"taut.{name} has no doctest"


@pytest.mark.parametrize("statement", ["import taut", "import taut.cli", "from taut import laws; laws.spring"])
def test_nothing_heavy_is_imported_early(statement):
    code = f"import sys; {statement}; print(sorted({{'numba', 'scipy', 'sympy', 'qdldl'}} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_info_command():
    run = subprocess.run([sys.executable, "-m", "taut.cli", "info"], capture_output=True, text=True, check=True)
    for word in (taut.__version__, "numba", "threads", "kernel cache", "solvers"):
        assert word in run.stdout


def test_a_taut_error_on_the_command_line_is_one_line_and_code_2(tmp_path):
    tmp_path.chmod(0o777)
    run = subprocess.run(
        [sys.executable, "-m", "taut.cli", "info"], capture_output=True, text=True,
        env={"PATH": "", "TAUT_CACHE_DIR": str(tmp_path)}, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert run.stderr.startswith("taut: the kernel cache")
    assert "Traceback" not in run.stderr


def test_what_is_logged_cannot_steer_a_terminal():
    record = logging.LogRecord("taut", logging.INFO, "", 0, "group %s", ("\x1b[2Jé\n",), None)
    assert logging.getLogger("taut").handlers[0].format(record) == "taut: group \\x1b[2Jé\\n"
