"""What an energy's formula says about its element Hessian, found in the expression graph.

*Pair.* If the positions enter only through one combination w = Σ_p c_p x_p (a spring: x₁ - x₀; anything on one particle: x₀),
the element Hessian is (c cᵀ) ⊗ B with one 3×3 block B = ∂²V/∂w². Kernels then store one vector and one block per element.

*Central.* If w in turn enters only through n = |w + b|, V = F(n), then with u = (w + b)/n
    B = F''·u uᵀ + (F'/n)·(I - u uᵀ),
whose eigenvalues are F'' and F'/n (twice): clamping them at zero is the exact projection onto the positive semi-definite
matrices. For a Hookean spring that is the clamp of 1 - l₀/l. At n = 0 the block is F''(0)·I.
"""

from __future__ import annotations

from dataclasses import dataclass

from taut.formula.differentiate import gradient
from taut.formula.expression import Expr, reachable, symbols

Linear = dict[tuple[int, int], float]  # (particle, component) → coefficient


@dataclass(frozen=True)
class Derivatives:
    """An energy and its first two derivatives by stored vectors (see `pair`), as expressions."""

    value: Expr
    gradient: list[list[Expr]]  # [vector][component]
    hessian: list[list[list[Expr]]]  # [block][row][column]; the blocks of the upper triangle, row by row
    pair: tuple[float, ...] | None  # c_p, or None: one vector per particle
    closed_form: bool  # whether the expressions carry their own projection (by the flag "project")

    @property
    def hessian_kind(self) -> str:
        """`zero`, `constant` or `varying` (with the position)."""
        entries = [e for block in self.hessian for row in block for e in row]
        if all(e.op == "const" and e.value == 0.0 for e in entries):
            return "zero"
        moving = any(n.op == "symbol" and n.value[0] in ("x", "w") for n in reachable(entries))
        return "varying" if moving else "constant"


def is_linear(value: Expr) -> bool:
    """Whether the gradient by the positions is the same everywhere, as that of gravity: there is no Hessian then.

    >>> from taut.formula.graph import Graph
    >>> g = Graph()
    >>> x, mass = g.symbol("x", 0, 1), g.symbol("p", "m", 0, 0)
    >>> is_linear(mass * x), is_linear(mass * x * x)
    (True, False)
    """
    return not any(symbols(slope, "x") for slope in gradient(value, symbols(value, "x")))


def derive(value: Expr, particles: int) -> Derivatives:
    """Differentiate an energy twice by the positions of its particles, using what structure there is."""
    pair = _pair(value, particles)
    if pair is None:
        return _general(value, particles)
    reduced = _in_terms_of_w(value, pair)
    central = _central(reduced)
    return _from_central(reduced, pair, *central) if central else _from_pair(reduced, pair)


def _pair(value: Expr, particles: int) -> tuple[float, ...] | None:
    """The coefficients c if every maximal linear subexpression is a multiple of one component of Σ c_p x_p, plus a constant."""
    linear = _linear_parts(value, "x")
    leaves, stack, seen = [], [value], set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        parts = linear[node]
        if parts:
            leaves.append(parts)
        elif parts is None:
            stack.extend(node.args)
    if not leaves:
        return None
    rows = []
    for parts in leaves:
        if len({k for _, k in parts}) != 1:
            return None
        rows.append([next((v for (p, _), v in parts.items() if p == particle), 0.0) for particle in range(particles)])
    pivot = next((p for p, c in enumerate(rows[0]) if c == 1.0), next(p for p, c in enumerate(rows[0]) if c))
    scaled = {tuple(c / row[pivot] for c in row) if row[pivot] else None for row in rows}
    return scaled.pop() if len(scaled) == 1 and None not in scaled else None


def _linear_parts(value: Expr, kind: str) -> dict[Expr, Linear | None]:
    """For each node: its coefficients if it is linear (plus a constant) in symbols of this kind, with numbers as coefficients.

    An empty dictionary means independent of them, None means not linear.
    """
    found: dict[Expr, Linear | None] = {}
    for node in reachable([value]):
        args = [found[a] for a in node.args]
        if node.op == "symbol" and node.value[0] == kind:
            found[node] = {node.value[1:]: 1.0}
        elif all(a == {} for a in args):
            found[node] = {}
        elif any(a is None for a in args):
            found[node] = None
        elif node.op in ("add", "sub"):
            sign = 1.0 if node.op == "add" else -1.0
            total = dict(args[0] or {})
            for key, v in (args[1] or {}).items():
                total[key] = total.get(key, 0.0) + sign * v
            found[node] = {key: v for key, v in total.items() if v}
        elif node.op == "neg":
            found[node] = {key: -v for key, v in (args[0] or {}).items()}
        elif node.op == "mul" and any(a.op == "const" for a in node.args):
            c, other = (0, 1) if node.args[0].op == "const" else (1, 0)
            found[node] = {key: node.args[c].value * v for key, v in (args[other] or {}).items()}
        elif node.op == "div" and node.args[1].op == "const":
            found[node] = {key: v / node.args[1].value for key, v in (args[0] or {}).items()}
        else:
            found[node] = None
    return found


def _in_terms_of_w(value: Expr, pair: tuple[float, ...]) -> Expr:
    """The energy as a function of w: put w on the particle whose coefficient is 1 and zero on the others."""
    g = value.graph
    pivot = pair.index(1.0)
    replace = {g.symbol("x", p, k): g.symbol("w", 0, k) if p == pivot else g.const(0.0) for p in range(len(pair)) for k in range(3)}
    return g.substitute(value, replace)


def _central(value: Expr) -> tuple[Expr, list[float]] | None:
    """The node n = |w + b| through which alone w enters, and the signs of w in its arguments."""
    linear = _linear_parts(value, "w")
    for node in reachable([value]):
        if node.op != "norm" or len(node.args) != 3:
            continue
        parts = [linear[a] for a in node.args]
        if any(p is None or list(p) != [(0, k)] for k, p in enumerate(parts)):
            continue
        signs = [p[0, k] for k, p in enumerate(parts) if p]
        if {abs(s) for s in signs} != {1.0}:
            continue
        outside = reachable([value], stop=[node])
        if not any(n.op == "symbol" and n.value[0] == "w" for n in outside):
            return node, signs
    return None


def _from_central(value: Expr, pair: tuple[float, ...], n: Expr, signs: list[float]) -> Derivatives:
    g = value.graph
    zero = g.const(0.0)
    f1 = gradient(value, [n], last=False)[0]
    f2 = gradient(f1, [n])[0]
    across = g.ratio(f1, n, f2)
    u = [g.mul(g.const(signs[k]), g.mul(n.args[k], g.inv0(n))) for k in range(3)]
    force = [[g.mul(f1, u[k]) for k in range(3)]]
    project = g.flag("project")
    along, across = (g.where(project, g.where(g.combine("lt", e, zero), zero, e), e) for e in (f2, across))
    excess = g.sub(along, across)
    block = [[g.mul(excess, g.mul(u[i], u[j])) for j in range(3)] for i in range(3)]
    for k in range(3):
        block[k][k] = g.add(across, block[k][k])
    return Derivatives(value, force, [block], pair, closed_form=True)


def _from_pair(value: Expr, pair: tuple[float, ...]) -> Derivatives:
    w = [value.graph.symbol("w", 0, k) for k in range(3)]
    return Derivatives(value, [gradient(value, w)], _blocks(value, w), pair, closed_form=False)


def _general(value: Expr, particles: int) -> Derivatives:
    x = [value.graph.symbol("x", p, k) for p in range(particles) for k in range(3)]
    first = gradient(value, x)
    vectors = [first[3 * p : 3 * p + 3] for p in range(particles)]
    return Derivatives(value, vectors, _blocks(value, x), None, closed_form=False)


def _blocks(value: Expr, variables: list[Expr]) -> list[list[list[Expr]]]:
    """The Hessian's upper triangle in 3×3 blocks; each entry is derived once and mirrored, so symmetry is exact."""
    size = len(variables)
    first = gradient(value, variables, last=False)
    entry: dict[tuple[int, int], Expr] = {}
    for i in range(size):
        for j, e in zip(range(i, size), gradient(first[i], variables[i:]), strict=True):
            entry[i, j] = entry[j, i] = e
    corners = [(p, q) for p in range(0, size, 3) for q in range(p, size, 3)]
    return [[[entry[p + i, q + j] for j in range(3)] for i in range(3)] for p, q in corners]
