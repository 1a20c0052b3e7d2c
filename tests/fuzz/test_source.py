"""The package must not unpickle, evaluate, import by a name from a file, or start a shell.

The exceptions are listed here; SECURITY.md says why they are safe.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import taut

SOURCE = Path(taut.__file__).parent
MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "yaml",
    "runpy",
    "code",
    "pty",
    "xml.etree",
    "xml.dom",
    "xml.sax",
}
BUILTINS = {"eval", "exec", "compile", "__import__"}
OF_OS = {
    "system",
    "popen",
    "execv",
    "execve",
    "execvp",
    "spawnv",
    "spawnl",
    "fork",
    "forkpty",
    "startfile",
}
METHODS = {
    "exec_module",
    "load_module",
    "spec_from_file_location",
    "import_module",
    "enable_load_extension",
    "load_extension",
    "CDLL",
    "executescript",
    "read_pickle",
    "Popen",
    "check_output",
    "check_call",
    "getoutput",
    "urlopen",
}
ALLOWED = {
    "__init__.py import_module": "names of the package's own modules, from a table in it",
    "bench/checkout.py import_module": "benchmarks of the source checkout, by names in the code",
    "bench/processes.py subprocess.run": "this Python, with code of the package",
    "bench/baseline.py subprocess.run": "the program that was built from the package's source",
    "bench/cholmod.py Popen": "the same",
    "bench/cpp_program.py subprocess.run": "the C++ compiler on the package's own source",
    "extras.py import_module": "packages named in the code of the package",
    "jit/background_compile.py Popen": "this Python, with code of the package; nothing "
    "from the current folder",
    "jit/compile.py exec_module": "kernels from the cache, whose folder must be this user's alone",
    "jit/_numba_patches.py import_module": "modules of numba, by names in the code",
    "jit/compile.py spec_from_file_location": "the same",
    "mesh/files/vtu/__init__.py xml.sax.saxutils.quoteattr": "writes XML; what is read "
    "goes through expat, without document types",
    "mesh/filling/fill.py import_module": "pytetwild, in the child process",
    "mesh/isolated.py import_module": "functions named in the code of the package, in "
    "the child process",
    "mesh/isolated.py subprocess.run": "this Python, with code of the package, for the "
    "libraries of others",
    "mesh/files/__init__.py import_module": "the package's own readers, by a table of extensions",
    "scene/_law.py exec_module": "laws in Python files that a scene names, only with --allow-code",
    "scene/_law.py spec_from_file_location": "the same",
    "show/render/_opengl.py CDLL": "the system's own OpenGL libraries, by names in the code",
    "threads.py CDLL": "the library of the tbb package",
    "threads.py import_module": "numba's threading layers",
    "validate/cases.py import_module": "the package's own modules",
}


def find_forbidden(path: Path, source: Path = SOURCE) -> Iterator[str]:
    """Forbidden imports and calls of a file, as "file what"."""
    place = path.relative_to(source).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (f"{place} {alias.name}" for alias in node.names if _forbidden(alias.name))
        elif isinstance(node, ast.ImportFrom):
            yield from (
                f"{place} {node.module}.{a.name}"
                for a in node.names
                if _forbidden(f"{node.module}.{a.name}")
            )
        elif isinstance(node, ast.Call):
            yield from (f"{place} {what}" for what in _called(node))


def _forbidden(module: str) -> bool:
    return any(f"{module}.".startswith(f"{name}.") for name in MODULES)


def _called(node: ast.Call) -> Iterator[str]:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    owner = getattr(node.func.value, "id", "") if isinstance(node.func, ast.Attribute) else ""
    if (
        name in METHODS
        or (name in BUILTINS and isinstance(node.func, ast.Name))
        or (owner == "os" and name in OF_OS)
    ):
        yield name
    if owner == "subprocess" and name == "run":
        yield "subprocess.run"
    given = {k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}
    if owner in ("np", "numpy") and name == "load" and given.get("allow_pickle") is not False:
        yield "np.load"
    if given.get("shell") or given.get("allow_pickle"):
        yield "shell or allow_pickle"


def test_package_uses_no_pickle_eval_or_shell():
    found = {what for path in SOURCE.rglob("*.py") for what in find_forbidden(path)}
    assert sorted(found - set(ALLOWED)) == []
    assert sorted(set(ALLOWED) - found) == [], (
        "these exceptions are unused: remove them from ALLOWED"
    )


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from yaml import load",
        "eval('1')",
        "os.system('x')",
        "call('x', shell=True)",
        "np.load('x')",
        "np.load('x', allow_pickle=True)",
        "from xml.etree import ElementTree",
        "from xml import sax",
        "__import__('os')",
        "connection.enable_load_extension(True)",
    ],
)
def test_search_detects_forbidden_calls(text, tmp_path):
    (tmp_path / "x.py").write_text(text)
    assert list(find_forbidden(tmp_path / "x.py", tmp_path))
