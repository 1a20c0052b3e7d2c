"""The Python source of a law's compiled loops.

A module evaluates one form of one law over all its elements, in fixed chunks, in parallel:

    gradient:    E[i] = V,  G[i] = ∂V/∂(stored vectors)
    hessian:     the same, and H[i] = 3×3 blocks of ∂²V, projected on request if there is a closed form for it (CLOSED_FORM);
                 else taut.formula.project does it afterwards
    parameters:  A[i, j] = ∂V/∂p_j,  B[i, v, k, j] = ∂²V/∂(vector v, component k)∂p_j

and writes into `bad` the first element of each chunk whose results are not finite (or -1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taut.formula.differentiate import gradient
from taut.formula.emit import body
from taut.formula.expression import Expr, reachable
from taut.formula.graph import FUNCTIONS
from taut.formula.structure import Derivatives, derive

CHUNK = 256  # elements a thread takes at a time

ARGUMENTS = {
    "x": "f8[:, ::1]", "y": "f8[:, ::1]", "h": "f8", "elements": "i8[:, ::1]", "P": "f8[:, ::1]", "project": "b1",
    "E": "f8[::1]", "G": "f8[:, :, ::1]", "H": "f8[:, :, :, ::1]", "A": "f8[:, ::1]", "B": "f8[:, :, :, ::1]", "bad": "i8[::1]",
}  # fmt: skip
INPUTS = ("x", "y", "h", "elements", "P")
OUTPUTS = {"gradient": ("E", "G"), "hessian": ("project", "E", "G", "H"), "parameters": ("A", "B")}


@dataclass(frozen=True)
class Form:
    """One scalar function of an element, ready to become kernels."""

    title: str
    root: Expr  # in symbols ("x", p, k), ("y", p, k), ("p", name, j, column of P) and ("h",)
    particles: int
    width: int  # columns of P


def module_source(form: Form, kind: str) -> str:
    """The source of one of the three modules."""
    d = derive(form.root, form.particles)
    if kind == "parameters":
        return _parameter_module(form, d)
    outputs = [("E[i]", d.value), *((f"G[i, {v}, {k}]", e) for v, vector in enumerate(d.gradient) for k, e in enumerate(vector))]
    if kind == "hessian":
        entries = ((b, i, j, e) for b, block in enumerate(d.hessian) for i, row in enumerate(block) for j, e in enumerate(row))
        outputs += [(f"H[i, {b}, {i}, {j}]", e) for b, i, j, e in entries]
    meta = {
        "PAIR": d.pair,
        "VECTORS": len(d.gradient),
        "BLOCKS": 0 if d.hessian_kind == "zero" else len(d.hessian),
        "HESSIAN": d.hessian_kind,
        "CLOSED_FORM": d.closed_form,
    }
    return _module(form, d, kind, outputs, meta)


def _parameter_module(form: Form, d: Derivatives) -> str:
    graph = form.root.graph
    used = [n for n in reachable([d.value]) if n.op == "symbol" and n.value[0] == "p"]
    column = {n: n.value[3] for n in used}
    zero = graph.const(0.0)
    by_p = dict(zip(used, gradient(d.value, used), strict=True))
    outputs = [(f"A[i, {j}]", zero) for j in range(form.width) if j not in column.values()]
    outputs += [(f"A[i, {column[p]}]", e) for p, e in by_p.items()]
    for v, vector in enumerate(d.gradient):
        for k, component in enumerate(vector):
            by_p = dict(zip(used, gradient(component, used), strict=True))
            outputs += [(f"B[i, {v}, {k}, {j}]", zero) for j in range(form.width) if j not in column.values()]
            outputs += [(f"B[i, {v}, {k}, {column[p]}]", e) for p, e in by_p.items()]
    return _module(form, d, "parameters", outputs, {"PAIR": d.pair, "VECTORS": len(d.gradient)})


def _module(form: Form, d: Derivatives, kind: str, outputs: list[tuple[str, Expr]], meta: Mapping[str, object]) -> str:
    names = (*INPUTS, *OUTPUTS[kind], "bad")
    loads = _loads(form, d, [e for _, e in outputs])
    element = ", ".join(("i", *names[:-1]))
    functions = sorted(FUNCTIONS)
    lines = [
        f'"""{form.title}: {kind}. Written by taut; edits are lost."""',
        f"from math import atan2, isfinite, {', '.join(functions)}",
        "from numba import njit, prange",
        "from taut.formula.runtime import inv0, root",
        "",
        *(f"{name} = {value!r}" for name, value in meta.items()),
        "",
        "",
        '@njit(error_model="numpy")',
        f"def element({element}):",
        *("    " + line for line in (*loads, *body(outputs, _identifier))),
        "",
        "",
        f'@njit("void({", ".join(ARGUMENTS[n] for n in names)})", parallel=True, cache=True, error_model="numpy", nogil=True)',
        f"def evaluate({', '.join(names)}):",
        "    m = elements.shape[0]",
        f"    for chunk in prange((m + {CHUNK - 1}) // {CHUNK}):",
        "        first = -1",
        f"        for i in range({CHUNK} * chunk, min(m, {CHUNK} * chunk + {CHUNK})):",
        f"            element({element})",
        *("            " + line for line in _check(kind, len(d.gradient), form.width)),
        "            if first < 0 and not isfinite(total):",
        "                first = i",
        "        bad[chunk] = first",
        "",
    ]
    return "\n".join(lines)


def _check(kind: str, vectors: int, width: int) -> list[str]:
    """Lines that make `total` finite exactly if every output of element i is (short of overflow of the sum)."""
    shapes = {"E": (), "G": (vectors, 3), "H": (vectors * (vectors + 1) // 2, 3, 3), "A": (width,), "B": (vectors, 3, width)}
    lines = ["total = 0.0"]
    for name in OUTPUTS[kind]:
        if name != "project":
            letters = "abc"[: len(shapes[name])]
            lines += [f"{'    ' * d}for {a} in range({n}):" for d, (a, n) in enumerate(zip(letters, shapes[name], strict=True))]
            lines.append(f"{'    ' * len(letters)}total += {name}[{', '.join(['i', *letters])}]")
    return lines


def _loads(form: Form, d: Derivatives, outputs: list[Expr]) -> list[str]:
    """Assignments of the symbols in use from the kernel's arrays."""
    used = [n for n in reachable(outputs) if n.op == "symbol"]
    lines = []
    for node in used:
        kind, *rest = node.value
        if kind in ("x", "y"):
            lines.append(f"{_identifier(node)} = {kind}[elements[i, {rest[0]}], {rest[1]}]")
        elif kind == "w":
            assert d.pair is not None
            terms = [(c, f"x[elements[i, {p}], {rest[1]}]") for p, c in enumerate(d.pair) if c]
            terms.sort(key=lambda t: t[0] != 1.0)  # the particle with coefficient 1 first
            text = "".join(_signed(c, t, first=j == 0) for j, (c, t) in enumerate(terms))
            lines.append(f"{_identifier(node)} = {text}")
        elif kind == "p":
            lines.append(f"{_identifier(node)} = P[i, {rest[2]}]")
    return lines


def _signed(c: float, term: str, *, first: bool) -> str:
    sign = ("" if c > 0 else "-") if first else (" + " if c > 0 else " - ")
    return f"{sign}{term}" if abs(c) == 1.0 else f"{sign}{abs(c)!r} * {term}"


def _identifier(node: Expr) -> str:
    if node.op == "flag":
        return str(node.value)
    kind, *rest = node.value
    if kind == "h":
        return "h"
    if kind == "p":
        column, name = rest[2], rest[0]
        return f"p{column}_{name}" if name.isascii() else f"p{column}"
    if kind == "w":
        return "w" + "xyz"[rest[1]]
    return f"{kind}{rest[0]}{'xyz'[rest[1]]}"
