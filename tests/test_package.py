"""Package structure: imports point down the pipeline, names have one path.

Nothing heavy is loaded before it is needed.
"""

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
    ["errors", "arrays", "extras", "importable", "progress", "watch", "threads"],
    ["atomic_write", "regular_file", "tables"],
    ["mesh", "materials", "jit", "linalg", "optimise", "formula", "binding", "laws", "constraints"],
    ["collision", "system", "step", "statics", "proof", "run", "scene", "inverse", "study"],
    ["bridge", "show"],
    ["validate", "bench", "cli"],
]
STAGES = [stage for row in PIPELINE for stage in row]
FILES = sorted(SOURCE.rglob("*.py"))
MODULES = {
    ".".join(("taut", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in FILES
}
by_path = pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))


# Text that names a module: the whole of it, the part before a colon ("taut.mesh.isolated:call"),
# or what precedes the first value that is filled in ("taut.{}").
MODULE_NAME = re.compile(r"((?:taut|benchmarks)(?:\.\w+)*)(?:\.?$|:\w+$|\.[%{])")
# Source, as `ast.unparse` prints it, in which "taut" is the name of the program, not a module.
PROGRAM_NAME = (
    "logging.getLogger('taut",
    "user_cache_path('taut'",
    "'taut': __version__",
    "where['taut']",
    "'generator': 'taut'",
    "'svg.hashsalt': 'taut'",
    "label='taut'",
    "EXTRAS_KEY = 'taut'",
    "['# vtk DataFile Version 4.2', 'taut'",
)


def _names_program(parent: ast.AST, text: ast.Constant) -> bool:
    """Whether a string is the name of the program where it stands."""
    source = ast.unparse(parent)
    if isinstance(parent, ast.Dict):
        for key, value in zip(parent.keys, parent.values, strict=True):
            if key is not None and text in (key, value):
                source = f"{ast.unparse(key)}: {ast.unparse(value)}"
    return source.startswith(PROGRAM_NAME)


def _names_in_strings(parent: ast.AST) -> list[str]:
    """Modules that the strings directly below a node name.

    Strings count wherever they are, so that no other name of `import_module` and no other way
    to look up a module, such as `sys.modules`, hides an import.
    """
    children = list(ast.iter_child_nodes(parent))
    if isinstance(parent, ast.JoinedStr):
        children = children[:1]
    found = []
    for child in children:
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            match = MODULE_NAME.match(child.value)
            if match and not _names_program(parent, child):
                found.append(match[1])
    return found


def _imports(tree: ast.AST, root: str = "taut") -> list[str]:
    """Modules below a root that a file imports or names, wherever in the file it does.

    Lazy imports inside functions, imports for type checking, and names of modules in strings
    (`kernels("taut.linalg.…")`, `import_module(f"taut.…")`) count like those at the top.
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
            # `import taut.mesh` binds `taut`, through which everything is within reach.
            found += [alias.name.split(".")[0] for alias in node.names if not alias.asname]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports must be absolute: one way to name a module"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            found += _names_in_strings(node)
    return [name for name in found if name.split(".")[0] == root]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import taut", "taut"),
        ("import taut as package", "taut"),
        ("import taut.mesh", "taut"),
        ("def f():\n    from taut.cli import main", "taut.cli.main"),
        ("import_module('taut')", "taut"),
        ("from importlib import import_module as load\nload('taut')", "taut"),
        ("from importlib import import_module as load\nload('taut.cli')", "taut.cli"),
        ("load = importlib.import_module\nload(f'taut.{name}')", "taut"),
        ("import_module(f'taut.cli.{name}')", "taut.cli"),
        ("import_module(f'taut.validate._{name}')", "taut.validate._"),
        ("import_module('taut.cli.' + name)", "taut.cli"),
        ("import_module('taut.%s' % name)", "taut"),
        ("import_module('taut.cli.{}'.format(name))", "taut.cli"),
        ("import_module('.cli', package='taut')", "taut"),
        ("__import__('taut')", "taut"),
        ("sys.modules['taut']", "taut"),
        ("sys.modules.get('taut')", "taut"),
        ("from sys import modules as loaded\nloaded['taut.cli']", "taut.cli"),
        ("name = 'taut'", "taut"),
        ("names = {'package': 'taut'}", "taut"),
        ("call_isolated('taut.cli.main:main', {}, {})", "taut.cli.main"),
        ("import benchmarks", "benchmarks"),
        ("import benchmarks.peers as peers", "benchmarks.peers"),
        ("from benchmarks import peers", "benchmarks.peers"),
        ("from benchmarks.peers import measure_peers", "benchmarks.peers.measure_peers"),
        ("import_module(f'benchmarks.{name}')", "benchmarks"),
        ("sys.modules['benchmarks']", "benchmarks"),
    ],
)
def test_all_ways_to_import_are_found(source, name):
    assert name in _imports(ast.parse(source), name.split(".")[0])


@pytest.mark.parametrize(
    "source",
    [
        "log = logging.getLogger('taut')",
        "versions = {'numpy': numpy.__version__, 'taut': __version__}",
        "print('taut bench', f'taut has no {name}', 'taut: error')",
        "import numpy\nfrom numpy import linalg",
    ],
)
def test_the_name_of_the_program_is_no_import(source):
    assert _imports(ast.parse(source)) == []


@by_path
def test_benchmarks_are_imported_in_one_place_only(path):
    """They are not installed with the package: `bench/checkout.py` imports them on request."""
    tree = ast.parse(path.read_text())
    if path != SOURCE / "bench" / "checkout.py":
        assert _imports(tree, "benchmarks") == []
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            assert "benchmarks" not in ast.unparse(node), "use import_module, on request only"


def _module(name: str) -> str:
    """The module that a dotted name is, or is defined in."""
    while name not in MODULES:
        name = name.rpartition(".")[0]
    return name


@by_path
def test_imports_point_down_the_pipeline(path):
    stage = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if stage == "__init__":
        return
    for name in _imports(ast.parse(path.read_text())):
        if name == "taut.__version__":
            continue
        assert name != "taut", f"{path}: the top of the package is above every stage"
        target = name.split(".")[1]
        assert target in STAGES, f"{stage} must not import {name}: it is above every stage"
        assert STAGES.index(target) <= STAGES.index(stage), f"{stage} must not import {name}"


@by_path
def test_private_modules_are_imported_from_their_own_folder_only(path):
    """A module whose name begins with an underscore belongs to its folder."""
    folder = ".".join(("taut", *path.relative_to(SOURCE).parent.parts))
    for name in _imports(ast.parse(path.read_text())):
        owner, _, last = _module(name).rpartition(".")
        if last.startswith("_") and not last.startswith("__"):
            assert owner == folder, f"{name} is private to {owner}"


COMPILED_IN = (
    "taut.binding.batch_call",
    "taut.collision._distances",
    "taut.linalg._atomics",
    "taut.linalg._cycle",
    "taut.linalg.elimination",
    "taut.linalg._multigrid_arrays",
    "taut.linalg.ordered_sums",
    "taut.linalg._smoother",
    "taut.linalg._worksharing",
    "taut.linalg.simd",
    "taut.step._stage_arrays",
    "taut.step._stage_model",
    "taut.step._stage_objective",
    "taut.step._stage_relaxation",
    "taut.system.negative_parts",
    "taut.system.relaxing",
)


@by_path
def test_compiled_loops_call_nothing_compiled_elsewhere(path):
    """Numba does not detect edits in other files.

    Kernels are keyed on their source and on that of the few files they may import.
    """
    text = path.read_text()
    if re.search(r"^@(njit|cfunc|intrinsic|compiled|entry_point)", text, re.MULTILINE):
        assert path.name.endswith("_kernels.py") or path.name in (
            "runtime.py",
            "simd.py",
            "_atomics.py",
            "_worksharing.py",
            "_smoother.py",
            "_cycle.py",
            "batch_call.py",
            "_distances.py",
            "elimination.py",
            "ordered_sums.py",
            "_stage_arrays.py",
            "_stage_model.py",
            "_stage_objective.py",
            "_stage_relaxation.py",
            "negative_parts.py",
            "relaxing.py",
        )
        assert {name.rpartition(".")[0] for name in _imports(ast.parse(text))} <= set(COMPILED_IN)


def test_kernels_are_recompiled_when_their_imports_change(monkeypatch):
    from taut.jit import compile as compiling

    keys = []
    monkeypatch.setattr(compiling, "load", lambda source: keys.append(source.digest))
    real = compiling._read_text
    for changed in ("", *COMPILED_IN):
        monkeypatch.setattr(
            compiling,
            "_read_text",
            lambda name, changed=changed: real(name) + "#" * (name == changed),
        )
        compiling.kernels.__wrapped__("taut.linalg._multigrid_kernels")
        compiling.kernels.__wrapped__("taut.system.relaxation_kernels")
        compiling.kernels.__wrapped__("taut.collision.distance_kernels")
        compiling.kernels.__wrapped__("taut.step._stage_kernels")
    found = set(zip(keys[::4], keys[1::4], keys[2::4], keys[3::4], strict=True))
    assert len(found) == 1 + len(COMPILED_IN)


def test_every_module_has_a_docstring():
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path} has no docstring"


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.name == "__init__.py"],
    ids=lambda path: str(path.parent.relative_to(SOURCE)),
)
def test_docstring_of_a_folder_names_all_its_modules(path):
    """The docstring of a folder is its map; `laws` is no exception, as it lists its laws there."""
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    names = [file.stem for file in path.parent.glob("*.py") if file != path]
    names += [file.parent.name for file in path.parent.glob("*/__init__.py")]
    missing = [name for name in names if not re.search(rf"\b{name}\b", docstring)]
    assert missing == [], f"{path} must name each module and subfolder"


def test_public_names_resolve_and_are_documented():
    for name in taut.__all__:
        thing = getattr(taut, name)
        if name != "__version__":
            assert thing.__doc__, name
    with pytest.raises(AttributeError, match="did you mean 'System'"):
        taut.Sytem  # noqa: B018
    assert set(taut.__all__) <= set(dir(taut))


def test_top_level_names():
    """About thirty names and the modules: a longer list is not read."""
    modules = [name for name in taut.__all__ if isinstance(getattr(taut, name), ModuleType)]
    assert modules == [
        "bridge",
        "constraints",
        "errors",
        "formula",
        "inverse",
        "laws",
        "materials",
        "mesh",
        "obstacles",
        "plot",
        "scene",
        "step",
        "study",
    ]
    assert len(set(taut.__all__) - {*modules, "__version__"}) <= 50


def test_public_names_have_one_path():
    """No name of a module is also at the top level, and none is in two modules."""
    modules = {
        name: getattr(taut, name)
        for name in taut.__all__
        if isinstance(getattr(taut, name), ModuleType)
    }
    things = [(id(getattr(taut, name)), f"taut.{name}") for name in taut.__all__]
    things += [
        (id(getattr(module, name)), f"taut.{place}.{name}")
        for place, module in modules.items()
        for name in module.__all__
    ]
    paths: dict[int, list[str]] = {}
    for key, path in things:
        paths.setdefault(key, []).append(path)
    assert [found for found in paths.values() if len(found) > 1] == []


def test_public_functions_and_classes_have_a_doctest():
    for name in taut.__all__:
        thing = getattr(taut, name)
        if (
            callable(thing)
            and not (isinstance(thing, type) and issubclass(thing, Exception))
            and name != "Report"
        ):
            text = (thing.__doc__ or "") + "".join(
                (getattr(v, "__doc__", "") or "") for v in vars(thing).values()
            )
            assert ">>>" in text, f"taut.{name} has no doctest"


@pytest.mark.parametrize(
    "statement", ["import taut", "import taut.cli", "from taut import laws; laws.spring"]
)
def test_nothing_heavy_is_imported_early(statement):
    heavy = {"numba", "scipy", "sympy", "qdldl"}
    code = f"import sys; {statement}; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


def test_info_command():
    run = subprocess.run(
        [sys.executable, "-m", "taut.cli", "info"], capture_output=True, text=True, check=True
    )
    for word in (taut.__version__, "numba", "threads", "kernel cache", "solvers"):
        assert word in run.stdout


def test_taut_error_is_one_line_and_exit_code_2(tmp_path):
    tmp_path.chmod(0o777)
    run = subprocess.run(
        [sys.executable, "-m", "taut.cli", "info"],
        capture_output=True,
        text=True,
        env={"PATH": "", "TAUT_CACHE_DIR": str(tmp_path)},
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr.startswith("taut: the kernel cache")
    assert "Traceback" not in run.stderr


def test_control_characters_are_escaped_in_the_log():
    record = logging.LogRecord("taut", logging.INFO, "", 0, "group %s", ("\x1b[2Jé\n",), None)
    assert logging.getLogger("taut").handlers[0].format(record) == "taut: group \\x1b[2Jé\\n"
