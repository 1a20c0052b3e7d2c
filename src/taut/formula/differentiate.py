"""Symbolic derivatives of an expression, by reverse accumulation.

Two kinds of node need care.

`where(c, a, b)` passes its adjoint F to its sides as where(c, F, 0) and where(c, 0, F). Products
with these move into the branch (see `graph`), so that nothing of the side not taken is evaluated.

`n = norm(w)`: with F the adjoint of n, dV/dw = (F/n)·w. At n = 0 the ratio F/n has the limit ∂F/∂n
where V is smooth in w, and ∂F/∂n serves as the definition where it is not. So an expression that
will be differentiated again has ratio(F, n, ∂F/∂n)·w; the last derivative needs no limit and uses
w·inv0(n), which is zero at n = 0. A norm that enters only through its inverse (a unit vector) needs
no limit either: its derivatives are zero there by definition.
"""

from __future__ import annotations

from collections.abc import Sequence

from taut.formula.expression import Expr, reachable
from taut.formula.graph import Graph


def gradient(root: Expr, variables: Sequence[Expr], *, last: bool = True) -> list[Expr]:
    """Return ∂root/∂variable for each variable (any nodes, treated as independent).

    last : False if the result will be differentiated once more
    """
    graph = root.graph
    zero = graph.const(0.0)
    independent = set(variables)
    nodes = reachable([root], stop=variables)
    active = set(independent)  # nodes that depend on a variable
    users: dict[Expr, set[str]] = {}  # operations that a node is an operand of
    for node in nodes:
        if any(a in active for a in node.args):
            active.add(node)
        for arg in node.args:
            users.setdefault(arg, set()).add(node.op)
    adjoint: dict[Expr, Expr] = {root: graph.const(1.0)}
    for node in reversed(nodes):
        if node not in active or node not in adjoint or node in independent:
            continue
        with_limit = not last and users.get(node) != {"inv0"}
        for arg, term in _adjoint_terms(graph, node, adjoint[node], with_limit=with_limit):
            if arg in active:
                adjoint[arg] = graph.add(adjoint[arg], term) if arg in adjoint else term
    return [adjoint.get(v, zero) for v in variables]


def _adjoint_terms(g: Graph, node: Expr, a: Expr, *, with_limit: bool) -> list[tuple[Expr, Expr]]:
    """Return what a node with adjoint a adds to the adjoints of its operands.

    with_limit : whether the ratio of a norm needs its limit at n = 0
    """
    if node.op == "where":
        condition, yes, no = node.args
        zero = g.const(0.0)
        return [(yes, g.where(condition, a, zero)), (no, g.where(condition, zero, a))]
    if node.op == "norm" and with_limit:
        scale = g.ratio(a, node, gradient(a, [node])[0])
        return [(arg, g.mul(scale, arg)) for arg in node.args]
    if node.op == "norm":
        scale = g.mul(a, g.inv0(node))
        return [(arg, g.mul(scale, arg)) for arg in node.args]
    # Not strict: operands without a partial derivative, such as exponents, are constants.
    partials = zip(node.args, _partials(g, node), strict=False)
    return [(arg, g.mul(a, partial)) for arg, partial in partials]


def _partials(g: Graph, node: Expr) -> tuple[Expr, ...]:
    """Return the derivative of a node by each of its operands; those left out are zero."""
    one = g.const(1.0)
    a = node.args[0]
    match node.op:
        case "add":
            return one, one
        case "sub":
            return one, g.const(-1.0)
        case "neg":
            return (g.const(-1.0),)
        case "mul":
            return node.args[1], a
        case "div":
            b = node.args[1]
            return g.div(one, b), g.neg(g.div(node, b))
        case "pow":
            n = node.args[1]
            return (g.mul(n, g.pow(a, g.const(n.value - 1.0))),)
        case "sqrt":
            return (g.div(g.const(0.5), node),)
        case "exp":
            return (node,)
        case "log":
            return (g.div(one, a),)
        case "sin":
            return (g.call("cos", a),)
        case "cos":
            return (g.neg(g.call("sin", a)),)
        case "tan":
            return (g.add(one, g.mul(node, node)),)
        case "tanh":
            return (g.sub(one, g.mul(node, node)),)
        case "asin":
            return (g.div(one, g.call("sqrt", g.sub(one, g.mul(a, a)))),)
        case "acos":
            return (g.div(g.const(-1.0), g.call("sqrt", g.sub(one, g.mul(a, a)))),)
        case "atan2":
            y, x = node.args
            scale = g.inv0(g.add(g.mul(x, x), g.mul(y, y)))
            return g.mul(x, scale), g.neg(g.mul(y, scale))
        case "inv0":
            return (g.neg(g.mul(node, node)),)
        case "frozen":
            return ()
        case "stretch_sum":
            # Of the root s of P = (s² - a)² - 4b - 8js, by implicit differentiation.
            a, b, j = node.args
            excess = g.sub(g.mul(node, node), a)
            gap = g.sub(g.mul(node, excess), g.mul(g.const(2.0), j))  # ∂P/∂s / 4
            by_j = g.div(g.mul(g.const(2.0), node), gap)
            return g.div(g.mul(g.const(0.5), excess), gap), g.div(one, gap), by_j
        case "ratio":
            scale = g.inv0(node.args[1])
            return scale, g.neg(g.mul(node, scale))
    raise AssertionError(f"no derivative is known for '{node.op}'")
