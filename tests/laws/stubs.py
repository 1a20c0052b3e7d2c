"""Types of the catalogue for editors and type checkers, made from the signatures of the laws.

    python -m tests.laws.stubs

writes `src/taut/laws/__init__.pyi`; `test_stubs.py` compares it. A stub is needed because a type
checker sees a law as the result of a decorator, whose parameters it cannot know.
"""

import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import taut
from taut import laws
from taut.binding.law import Law

STUB = Path(taut.__file__).parent / "laws" / "__init__.pyi"
HEAD = '''"""The catalogue of laws. Written by `python -m tests.laws.stubs`: do not edit."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from taut.arrays import Float, Numbers
from taut.binding.law import Damping, Energy, Law, Load
{imports}

_Parameter = Numbers | Callable[[float], Any]
_LoadParameter = _Parameter | Callable[[Float, float], Any]
'''
WIDTH = 91  # of docstrings, which are indented by eight columns and begin with three quotes


def describe_law(law: Law) -> str:
    """Return the class of one law, with a `__call__` of its own."""
    signature = inspect.signature(law)
    kind = signature.return_annotation.__name__
    value = "_LoadParameter" if kind == "Load" else "_Parameter"
    lines = []
    for name in law.parameters:
        default = signature.parameters[name].default
        optional = " | None" if default is None else ""
        given = "" if default is inspect.Parameter.empty else f" = {default!r}"
        lines.append(f"        {name}: {value}{optional}{given},")
    doc = [law.__doc__.strip().splitlines()[0], ""]
    for name, text in law.parameter_docs.items():
        doc += textwrap.wrap(f"{name} : {text}", WIDTH, subsequent_indent="    ")
    return "\n".join(
        [
            f"class {class_name(law.name)}(Law[{kind}]):",
            "    def __call__(  # type: ignore[override]",
            "        self,",
            "        elements: ArrayLike | None = None,",
            "        *,",
            *lines,
            "        name: str | None = None,",
            "        breaking_strain: Numbers | None = None,",
            f"    ) -> {kind}:",
            textwrap.indent('"""' + "\n".join(doc) + '\n"""', "        "),
            "",
            f"{law.name}: {class_name(law.name)}",
        ]
    )


def class_name(law: str) -> str:
    return "_" + law.title().replace("_", "")


def generate() -> str:
    """Return the stub."""
    found = {name: getattr(laws, name) for name in laws.__all__}
    functions = [name for name, law in found.items() if not isinstance(law, Law)]
    imports = [f"from {found[name].__module__} import {name} as {name}" for name in functions]
    bodies = [describe_law(law) for law in found.values() if isinstance(law, Law)]
    exported = f"__all__ = {laws.__all__!r}"
    text = "\n\n".join([HEAD.format(imports="\n".join(imports)), exported, *bodies]) + "\n"
    return subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


if __name__ == "__main__":
    STUB.write_text(generate())
