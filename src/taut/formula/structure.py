"""What an energy's formula says about its element Hessian, found in the expression graph.

*Pair.* If the positions enter only through one combination w = Σ_p c_p x_p (a spring: x₁ - x₀;
anything on one particle: x₀), the element Hessian is (c cᵀ) ⊗ B with one 3×3 block B = ∂²V/∂w².
Kernels then store one vector and one block per element.

*Central.* If w in turn enters only through n = |w + b|, V = F(n), then with u = (w + b)/n
    B = F''·u uᵀ + (F'/n)·(I - u uᵀ),
whose eigenvalues are F'' and F'/n (twice): clamping them at zero is the exact projection onto the
positive semi-definite matrices. For a Hookean spring that is the clamp of 1 - l₀/l. At n = 0 the
block is F''(0)·I.

In a Newton iteration the force F' of a stiff spring, which the last step has stretched a little
sideways, is far from what it will be after the next one, and F'/n with it. So where the flag
"predict" is set, the block takes F' at the length n̂ = u₀·(w + b), with the direction u₀ at the
positions y of the iteration before: the force that its linear model has predicted. (Mixed
integration points, Magisano et al. 2017.) With "hold" it is the force at y itself. The error of n̂
is of second order in the last step, so that convergence stays quadratic.

*Measures.* Any other law of a few measures, such as an angle, has a second form of its Hessian that
is positive semi-definite, the metric: see `taut.formula.measures`. The metric of a central law is
its projection. A law may also state its metric as the Hessian of another function, in which
`frozen` parts are constants.
"""

from __future__ import annotations

from dataclasses import dataclass

from taut.formula.differentiate import gradient
from taut.formula.expression import Expr, reachable, substitute, symbols
from taut.formula.measures import Entries, derive_metric

Coefficients = dict[tuple[int, int], float]  # by (particle, component)


@dataclass(frozen=True)
class Derivatives:
    """An energy and its first two derivatives by the stored vectors, as expressions.

    gradient : [vector][component]
    hessian : [block][row][column], the blocks of the upper triangle row by row
    pair : coefficients c_p if w is the one stored vector, or None: one vector per particle
    closed_form : whether the expressions project themselves, where the flag "project" is set, and
        take predicted forces where "predict" or "hold" is
    metric : a cheap positive semi-definite form of the Hessian, in the same blocks, or None
    """

    value: Expr
    gradient: list[list[Expr]]
    hessian: list[list[list[Expr]]]
    pair: tuple[float, ...] | None
    closed_form: bool
    metric: list[list[list[Expr]]] | None = None

    @property
    def has_metric(self) -> bool:
        """Whether there is a metric: the projection in closed form, or `metric`."""
        return self.closed_form or self.metric is not None

    @property
    def hessian_kind(self) -> str:
        """`zero`, `constant` or `varying` (with the position)."""
        entries = [e for block in self.hessian for row in block for e in row]
        if all(e.op == "const" and e.value == 0.0 for e in entries):
            return "zero"
        depends = any(n.op == "symbol" and n.value[0] in ("x", "w") for n in reachable(entries))
        return "varying" if depends else "constant"


def is_linear(value: Expr) -> bool:
    """Whether the gradient by the positions is the same everywhere, as that of gravity.

    >>> from taut.formula.graph import Graph
    >>> g = Graph()
    >>> x, mass = g.symbol("x", 0, 1), g.symbol("p", "m", 0, 0)
    >>> is_linear(mass * x), is_linear(mass * x * x)
    (True, False)
    """
    return not any(symbols(slope, "x") for slope in gradient(value, symbols(value, "x")))


def derive(value: Expr, particles: int, metric: Expr | None = None) -> Derivatives:
    """Differentiate an energy twice by the positions, using what structure there is.

    metric : a function whose Hessian is the metric, if the law has one of its own
    """
    if metric is not None:
        return _derive_general(value, particles, metric)
    pair = _find_pair(value, particles)
    if pair is None:
        return _derive_general(value, particles)
    reduced = _express_by_w(value, pair)
    central = _find_central(reduced)
    if central is None:
        return _derive_pair(reduced, pair)
    norm, signs = central
    return _derive_central(reduced, pair, norm, signs)


def _find_pair(value: Expr, particles: int) -> tuple[float, ...] | None:
    """Return the coefficients c if positions enter only through Σ c_p x_p, else None.

    They do if every maximal linear subexpression is a multiple of one component of Σ c_p x_p, plus
    a constant.
    """
    linear = _find_linear(value, "x")
    maximal: list[Coefficients] = []
    stack, seen = [value], set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        coefficients = linear[node]
        if coefficients:
            maximal.append(coefficients)
        elif coefficients is None:
            stack.extend(node.args)
    if not maximal:
        return None
    rows = []
    for coefficients in maximal:
        if len({k for _, k in coefficients}) != 1:
            return None  # it mixes components
        row = [0.0] * particles
        for (p, _), c in coefficients.items():
            row[p] = c
        rows.append(row)
    # A particle with coefficient 1, if there is one: then no rounding is needed to scale by it.
    pivot = next(p for p, c in enumerate(rows[0]) if c)
    if 1.0 in rows[0]:
        pivot = rows[0].index(1.0)
    if any(row[pivot] == 0.0 for row in rows):
        return None
    scaled = {tuple(c / row[pivot] for c in row) for row in rows}
    return scaled.pop() if len(scaled) == 1 else None


def _find_linear(value: Expr, kind: str) -> dict[Expr, Coefficients | None]:
    """Return the coefficients of every node that is linear in symbols of a kind, plus a constant.

    No coefficients mean independent of the symbols; None means not linear, or linear with
    coefficients that are not numbers.
    """
    found: dict[Expr, Coefficients | None] = {}
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


def _express_by_w(value: Expr, pair: tuple[float, ...]) -> Expr:
    """Write the energy as a function of w: x = w at the particle of coefficient 1, else x = 0."""
    g = value.graph
    pivot = pair.index(1.0)
    replacements: dict[Expr, Expr] = {}
    for p in range(len(pair)):
        for k in range(3):
            position = g.symbol("x", p, k)
            replacements[position] = g.symbol("w", 0, k) if p == pivot else g.const(0.0)
    return substitute(value, replacements)


def _find_central(value: Expr) -> tuple[Expr, list[float]] | None:
    """Return the node n = |w + b| if w enters only through it, and the signs of w in its parts."""
    linear = _find_linear(value, "w")
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


def _derive_central(
    value: Expr, pair: tuple[float, ...], n: Expr, signs: list[float]
) -> Derivatives:
    g = value.graph
    zero = g.const(0.0)
    f1 = gradient(value, [n], last=False)[0]
    f2 = gradient(f1, [n])[0]
    f1_over_n = g.ratio(_predict_force(value, n, f1), n, f2)
    u = [g.mul(g.const(signs[k]), g.mul(n.args[k], g.inv0(n))) for k in range(3)]
    slope = [[g.mul(f1, u[k]) for k in range(3)]]
    project = g.flag("project")

    def clamp(eigenvalue: Expr) -> Expr:
        positive = g.where(g.combine("lt", eigenvalue, zero), zero, eigenvalue)
        return g.where(project, positive, eigenvalue)

    along, across = clamp(f2), clamp(f1_over_n)
    excess = g.sub(along, across)
    block = [[g.mul(excess, g.mul(u[i], u[j])) for j in range(3)] for i in range(3)]
    for k in range(3):
        block[k][k] = g.add(across, block[k][k])
    return Derivatives(value, slope, [block], pair, closed_form=True)


def _predict_force(value: Expr, n: Expr, f1: Expr) -> Expr:
    """Return F' as the flags "predict" and "hold" want it, from n = |w + b|."""
    g = value.graph
    before = {g.symbol("w", 0, k): g.symbol("wy", 0, k) for k in range(3)}
    vector, vector_before = n.args, [substitute(part, before) for part in n.args]
    norm_before = g.norm(vector_before)
    projected = g.const(0.0)
    for now, then in zip(vector, vector_before, strict=True):
        projected = g.add(projected, g.mul(now, g.mul(then, g.inv0(norm_before))))
    # An element that has turned by more than 60° is not what it was: its true force is better.
    turned = g.combine("lt", projected, g.mul(g.const(0.5), n))
    length = g.where(turned, n, projected)
    predicted = substitute(f1, {n: length})
    held = substitute(f1, {n: norm_before})
    return g.where(g.flag("hold"), held, g.where(g.flag("predict"), predicted, f1))


def _derive_pair(value: Expr, pair: tuple[float, ...]) -> Derivatives:
    w = [value.graph.symbol("w", 0, k) for k in range(3)]
    slope, hessian = [gradient(value, w)], _blocks(value, w)
    return Derivatives(value, slope, hessian, pair, closed_form=False, metric=_metric(value, w))


def _derive_general(value: Expr, particles: int, own_metric: Expr | None = None) -> Derivatives:
    x = [value.graph.symbol("x", p, k) for p in range(particles) for k in range(3)]
    first = gradient(value, x)
    vectors = [first[3 * p : 3 * p + 3] for p in range(particles)]
    hessian = _blocks(value, x)
    metric = _metric(value, x) if own_metric is None else _blocks(own_metric, x)
    return Derivatives(value, vectors, hessian, None, closed_form=False, metric=metric)


def _metric(value: Expr, variables: list[Expr]) -> list[list[list[Expr]]] | None:
    """Return the metric's upper triangle in 3×3 blocks, if there is one.

    It is derived after the Hessian, whose terms then have the same order with and without it.
    """
    entries = derive_metric(value, variables)
    return None if entries is None else _arrange(entries, len(variables))


def _blocks(value: Expr, variables: list[Expr]) -> list[list[list[Expr]]]:
    """Return the Hessian's upper triangle in 3×3 blocks."""
    size = len(variables)
    first = gradient(value, variables, last=False)
    entries: Entries = {}
    for i in range(size):
        for j, e in zip(range(i, size), gradient(first[i], variables[i:]), strict=True):
            entries[i, j] = e
    return _arrange(entries, size)


def _arrange(entries: Entries, size: int) -> list[list[list[Expr]]]:
    """Return an upper triangle in 3×3 blocks, each entry mirrored so that symmetry is exact."""
    entry = {**entries, **{(j, i): e for (i, j), e in entries.items()}}
    corners = [(p, q) for p in range(0, size, 3) for q in range(p, size, 3)]
    return [[[entry[p + i, q + j] for j in range(3)] for i in range(3)] for p, q in corners]
