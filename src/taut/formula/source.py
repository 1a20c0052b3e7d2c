"""The Python source of a law's compiled loops.

A module evaluates one form of one law for a batch of its elements; `taut.formula.kernel` runs it over all of them, in parallel:

    gradient:    E[i] = V,  G[i] = ∂V/∂(stored vectors)
    hessian:     the same, and H[i] = 3×3 blocks of ∂²V, projected on request if there is a closed form for it (CLOSED_FORM);
                 else taut.formula.project does it afterwards
    parameters:  A[i, j] = ∂V/∂p_j,  B[i, v, k, j] = ∂²V/∂(vector v, component k)∂p_j

and returns the first element whose results are not finite (or -1).

A batch is a plain function of addresses, as C has them: the loop over batches is compiled once for all laws, so that each law takes
half the time. It reads its elements into rows on the stack, one row for each number of the formula; the formula runs along the
rows, and what it gave is handed to the outputs. Nothing else can lie where the rows are, and they have no gaps: so the compiler
makes vector instructions of plain arithmetic. These round as single ones do, and results do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from taut.formula.differentiate import gradient
from taut.formula.emit import body
from taut.formula.expression import Expr, reachable
from taut.formula.graph import FUNCTIONS
from taut.formula.structure import Derivatives, derive

BATCH, FEWEST = 64, 4  # elements whose numbers lie side by side on the stack at a time: at most, and at least
STACK = 2048  # numbers, 16 kB: what a batch may hold, well within the first cache
KINDS = ("gradient", "hessian", "parameters")


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
        return _module(form, d, kind, _by_parameters(form, d))
    outputs = [_Output("E", (), [d.value]), _Output("G", (len(d.gradient), 3), [e for vector in d.gradient for e in vector])]
    if kind == "hessian":
        entries = [e for block in d.hessian for row in block for e in row]
        outputs.append(_Output("H", (len(d.hessian), 3, 3), entries))
    return _module(form, d, kind, outputs)


def _by_parameters(form: Form, d: Derivatives) -> list[_Output]:
    graph = form.root.graph
    used = [n for n in reachable([d.value]) if n.op == "symbol" and n.value[0] == "p"]

    def by_column(value: Expr) -> list[Expr]:
        found = {p.value[3]: e for p, e in zip(used, gradient(value, used), strict=True)}
        return [found.get(j, graph.const(0.0)) for j in range(form.width)]

    mixed = [e for vector in d.gradient for component in vector for e in by_column(component)]
    return [_Output("A", (form.width,), by_column(d.value)), _Output("B", (len(d.gradient), 3, form.width), mixed)]


@dataclass(frozen=True)
class _Output:
    """What a kernel writes for each element: the array, the shape of its part of it, and the entries in row-major order."""

    name: str
    shape: tuple[int, ...]
    entries: list[Expr]

    def loops(self, lines: Callable[[str, str], list[str]]) -> list[str]:
        """Lines on each entry of element i, given its place in the array and its number, in a loop over all of them."""
        size = prod(self.shape)
        return [f"for e in range({size}):", *("    " + line for line in lines(f"{self.name}[{size} * i + e]", "e"))]


def _module(form: Form, d: Derivatives, kind: str, outputs: list[_Output]) -> str:
    meta = {
        "PAIR": d.pair,
        "VECTORS": len(d.gradient),
        "BLOCKS": 0 if d.hessian_kind == "zero" else len(d.hessian),
        "HESSIAN": d.hessian_kind,
        "CLOSED_FORM": d.closed_form,
    }
    results = [e for output in outputs for e in output.entries]
    symbols = _symbols(form, d, results)
    rows = len(symbols) + len(results)
    size = max(FEWEST, min(BATCH, STACK // rows // FEWEST * FEWEST))
    written = [output.name for output in outputs]
    functions = sorted(FUNCTIONS)
    lines = [
        f'"""{form.title}: {kind}. Written by taut; edits are lost."""',
        f"from math import atan2, isfinite, {', '.join(functions)}",
        "from numba import carray, cfunc",
        "from taut.formula.runtime import BATCH, inv0, root, stack",
        "",
        *(f"{name} = {value!r}" for name, value in meta.items()),
        f"SIZE = {size}",
        "",
        "",
        '@cfunc(BATCH, cache=True, error_model="numpy")',
        f"def batch(first, count, x, y, h, elements, P, project, {', '.join([*written, *['_'] * (3 - len(written))])}):",
        f"    s = carray(stack({rows * size}), {rows * size})",
        "    for j in range(count):",
        "        i = first + j",
        *(f"        n{p} = 3 * elements[{form.particles} * i + {p}]" for p in range(form.particles)),
        *(f"        s[j + {size * k}] = {text}" for k, (_, text) in enumerate(symbols)),
        "    for j in range(count):",
        *(f"        {name} = s[j + {size * k}]" for k, (name, _) in enumerate(symbols)),
        *(
            "        " + line
            for line in body([(f"s[j + {size * (len(symbols) + k)}]", e) for k, e in enumerate(results)], _identifier)
        ),
        "    wrong = -1",
        "    for j in range(count):",
        "        i = first + j",
        "        total = 0.0  # finite exactly if every result is, short of overflow of the sum",
        *("        " + line for line in _handed(outputs, len(symbols), size)),
        "        if wrong < 0 and not isfinite(total):",
        "            wrong = first + j",
        "    return wrong",
        "",
    ]
    return "\n".join(lines)


def _handed(outputs: list[_Output], row: int, size: int) -> list[str]:
    """Lines that hand the results of element i over from rows of the stack, the first at `row`, and add them up."""
    lines = []
    for output in outputs:
        lines += output.loops(_hand(size, row))
        row += len(output.entries)
    return lines


def _hand(size: int, row: int) -> Callable[[str, str], list[str]]:
    return lambda entry, number: [f"r = s[j + {size} * ({row} + {number})]", f"{entry} = r", "total += r"]


def _symbols(form: Form, d: Derivatives, outputs: list[Expr]) -> list[tuple[str, str]]:
    """The symbols in use that differ between elements, and how they are read from the kernel's arrays."""
    used = [n for n in reachable(outputs) if n.op == "symbol"]
    found = []
    for node in used:
        kind, *rest = node.value
        if kind in ("x", "y"):
            found.append((_identifier(node), f"{kind}[n{rest[0]} + {rest[1]}]"))
        elif kind == "w":
            assert d.pair is not None
            terms = [(c, f"x[n{p} + {rest[1]}]") for p, c in enumerate(d.pair) if c]
            terms.sort(key=lambda t: t[0] != 1.0)  # the particle with coefficient 1 first
            found.append((_identifier(node), "".join(_signed(c, t, first=j == 0) for j, (c, t) in enumerate(terms))))
        elif kind == "p":
            found.append((_identifier(node), f"P[{form.width} * i + {rest[2]}]"))
    return found


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
