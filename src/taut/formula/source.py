"""The Python source of a law's compiled loops.

A module evaluates one form of one law over all its elements, in fixed chunks, in parallel:

    gradient:    E[i] = V,  G[i] = ∂V/∂(stored vectors)
    hessian:     the same, and H[i] = 3×3 blocks of ∂²V, projected on request if there is a closed form for it (CLOSED_FORM);
                 else taut.formula.project does it afterwards
    parameters:  A[i, j] = ∂V/∂p_j,  B[i, v, k, j] = ∂²V/∂(vector v, component k)∂p_j

and writes into `bad` the first element of each chunk whose results are not finite (or -1).

A batch of elements is read into rows on the stack, one row for each number of the formula; the formula runs along the rows, and
what it gave is handed to the outputs. Nothing else can lie where the rows are, and they have no gaps: so the compiler makes vector
instructions of plain arithmetic. These round as single ones do, and results do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from taut.formula.differentiate import gradient
from taut.formula.emit import body
from taut.formula.expression import Expr, reachable
from taut.formula.graph import FUNCTIONS
from taut.formula.structure import Derivatives, derive

CHUNK = 256  # elements a thread takes at a time
BATCH, FEWEST = 64, 4  # elements whose numbers lie side by side on the stack at a time: at most, and at least
STACK = 2048  # numbers, 16 kB: what a batch may hold, well within the first cache

ARGUMENTS = {
    "x": "POSITIONS", "y": "POSITIONS", "h": "types.f8", "elements": "types.i8[:, ::1]", "P": "types.f8[:, ::1]",
    "project": "types.b1", "E": "types.f8[::1]", "G": "types.f8[:, :, ::1]", "H": "types.f8[:, :, :, ::1]",
    "A": "types.f8[:, ::1]", "B": "types.f8[:, :, :, ::1]", "bad": "types.i8[::1]",
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
    outputs = [_Output("E", (), [d.value]), _Output("G", (len(d.gradient), 3), [e for vector in d.gradient for e in vector])]
    if kind == "hessian":
        entries = [e for block in d.hessian for row in block for e in row]
        outputs.append(_Output("H", (len(d.hessian), 3, 3), entries))
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

    def by_column(value: Expr) -> list[Expr]:
        found = {p.value[3]: e for p, e in zip(used, gradient(value, used), strict=True)}
        return [found.get(j, graph.const(0.0)) for j in range(form.width)]

    mixed = [e for vector in d.gradient for component in vector for e in by_column(component)]
    outputs = [_Output("A", (form.width,), by_column(d.value)), _Output("B", (len(d.gradient), 3, form.width), mixed)]
    return _module(form, d, "parameters", outputs, {"PAIR": d.pair, "VECTORS": len(d.gradient)})


@dataclass(frozen=True)
class _Output:
    """What a kernel writes for each element: the array, the shape of its part of it, and the entries in row-major order."""

    name: str
    shape: tuple[int, ...]
    entries: list[Expr]

    def loops(self, i: str, lines: Callable[[str, str], list[str]]) -> list[str]:
        """Lines on each entry of element i, given its place in the array and its number, in loops over all of them."""
        letters = "abc"[: len(self.shape)]
        strides = [prod(self.shape[k + 1 :]) for k in range(len(self.shape))]
        number = " + ".join(f"{n} * {a}" for n, a in zip(strides, letters, strict=True)) or "0"
        inner = lines(f"{self.name}[{', '.join([i, *letters])}]", number)
        heads = [f"{'    ' * k}for {a} in range({n}):" for k, (a, n) in enumerate(zip(letters, self.shape, strict=True))]
        return [*heads, *("    " * len(letters) + line for line in inner)]


def _module(form: Form, d: Derivatives, kind: str, outputs: list[_Output], meta: Mapping[str, object]) -> str:
    names = (*INPUTS, *OUTPUTS[kind], "bad")
    results = [e for output in outputs for e in output.entries]
    symbols = _symbols(form, d, results)
    rows = len(symbols) + len(results)
    size = max(FEWEST, min(BATCH, STACK // rows // FEWEST * FEWEST))
    given = ", ".join(names[:-1])
    functions = sorted(FUNCTIONS)
    lines = [
        f'"""{form.title}: {kind}. Written by taut; edits are lost."""',
        f"from math import atan2, isfinite, {', '.join(functions)}",
        "from numba import carray, int64, njit, prange, types, uint64",
        "from taut.formula.runtime import POSITIONS, inv0, root, stack",
        "",
        *(f"{name} = {value!r}" for name, value in meta.items()),
        "",
        "",
        '@njit(error_model="numpy")',
        f"def batch(first, count, {given}):",
        f"    s = carray(stack({rows * size}), {rows * size})",
        "    for j in range(count):",
        "        i = uint64(first + j)",
        *(f"        n{p} = uint64(elements[i, {p}])" for p in range(form.particles)),
        *(f"        s[j + {size * k}] = {text}" for k, (_, text) in enumerate(symbols)),
        "    for j in range(count):",
        *(f"        {name} = s[j + {size * k}]" for k, (name, _) in enumerate(symbols)),
        *(
            "        " + line
            for line in body([(f"s[j + {size * (len(symbols) + k)}]", e) for k, e in enumerate(results)], _identifier)
        ),
        "    wrong = 0",
        "    for j in range(count):",
        "        i = uint64(first + j)",
        "        total = 0.0  # finite exactly if every result is, short of overflow of the sum",
        *("        " + line for line in _handed(outputs, len(symbols), size)),
        "        wrong += not isfinite(total)",
        "    return wrong",
        "",
        "",
        '@njit(error_model="numpy")',
        f"def search(i, {', '.join(o.name for o in outputs)}):",
        '    """The first element from i on whose results are not finite."""',
        "    while True:",
        "        total = 0.0",
        *("        " + line for output in outputs for line in output.loops("i", lambda entry, _: [f"total += {entry}"])),
        "        if not isfinite(total):",
        "            return i",
        "        i += 1",
        "",
        "",
        f'@njit(types.void({", ".join(ARGUMENTS[n] for n in names)}), parallel=True, cache=True, error_model="numpy", nogil=True)',
        f"def evaluate({', '.join(names)}):",
        "    m = elements.shape[0]",
        f"    for chunk in prange((m + {CHUNK - 1}) // {CHUNK}):",
        f"        last = min(m, {CHUNK} * chunk + {CHUNK})",
        "        bad[chunk] = -1",
        f"        for i in range({CHUNK} * chunk, last, {size}):",
        f"            if batch(int64(i), int64(min({size}, last - i)), {given}) and bad[chunk] < 0:",
        f"                bad[chunk] = search(int64(i), {', '.join(o.name for o in outputs)})",
        "",
    ]
    return "\n".join(lines)


def _handed(outputs: list[_Output], row: int, size: int) -> list[str]:
    """Lines that hand the results of element i over from rows of the stack, the first at `row`, and add them up."""
    lines = []
    for output in outputs:
        lines += output.loops("i", _hand(size, row))
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
            found.append((_identifier(node), f"{kind}[n{rest[0]}, {rest[1]}]"))
        elif kind == "w":
            assert d.pair is not None
            terms = [(c, f"x[n{p}, {rest[1]}]") for p, c in enumerate(d.pair) if c]
            terms.sort(key=lambda t: t[0] != 1.0)  # the particle with coefficient 1 first
            found.append((_identifier(node), "".join(_signed(c, t, first=j == 0) for j, (c, t) in enumerate(terms))))
        elif kind == "p":
            found.append((_identifier(node), f"P[i, {rest[2]}]"))
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
