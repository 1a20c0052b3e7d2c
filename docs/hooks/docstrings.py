"""Docstrings as Markdown, and laws with the arguments that one calls them with.

In a docstring of taut a line `k : stiffness [N/m]` describes a parameter, or several with a
    semicolon between them, lines indented
below it go on, and `>>>` begins an example. A law is written as a function of positions, `spring(x,
k, l0)`, and called with elements and keywords, `spring(elements, *, k, l0=…)`.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

PAGE = re.compile(r"\bdocs/((?:theory|guide)/[\w-]+)\.md")
ENTRY = re.compile(r"^[\w*]+(, [\w*]+)* : ")
ANOTHER = re.compile(r"; (?=[\w*]+(?:, [\w*]+)* : )")
LAWS = {"energy", "dissipation", "load"}


class Docstrings(griffe.Extension):
    """Applied by mkdocstrings to everything it reads."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Give a law the signature that it has once it is decorated."""
        for decorator in func.decorators:
            text = str(decorator.value)
            if (
                text.partition("(")[0].rpartition(".")[2] in LAWS
                and len(func.parameters)
                and func.parameters[0].name == "x"
            ):
                measured = set(
                    re.findall(r"['\"](\w+)['\"]:", text.partition("rest={")[2].partition("}")[0])
                ) | {"mass"}
                func.parameters = called(func.parameters, measured)


def called(parameters: griffe.Parameters, measured: set[str]) -> griffe.Parameters:
    """`(elements, *, …)`; what is measured at rest, if it is not given, has the default …"""
    elements = griffe.Parameter("elements", kind=griffe.ParameterKind.positional_or_keyword)
    rest = [
        griffe.Parameter(
            p.name,
            kind=griffe.ParameterKind.keyword_only,
            default="..." if p.default is None and p.name in measured else p.default,
        )
        for p in list(parameters)[1:]
    ]
    return griffe.Parameters(elements, *rest)


def markdown(text: str) -> str:
    """The same docstring with lists for parameters, fenced blocks for examples and links to pages.

    As seen from a page in api/.
    """
    done: list[str] = []
    mode = "text"
    for line in PAGE.sub(r"[\1](../\1.md)", text).splitlines():
        if mode == "example":
            if line.strip():
                done.append(line)
                continue
            done += ["```", ""]
            mode = "text"
        if line.startswith(">>> "):
            done += ["", "```pycon", line]
            mode = "example"
        elif ENTRY.match(line):
            if mode != "list":
                done.append("")
            for entry in ANOTHER.split(line):
                names, _, meaning = entry.partition(" : ")
                done.append(f"- `{names}`: {meaning}")
            mode = "list"
        elif re.fullmatch(r"=+( +=+)+", line):  # the rules of a table in plain text
            done.append("```" if mode == "table" else "```text")
            mode = "text" if mode == "table" else "table"
        elif mode == "list" and not line.strip():
            done += ["", ""]
            mode = "text"
        else:
            done.append(line)
    if mode == "example":
        done.append("```")
    return "\n".join(done)
