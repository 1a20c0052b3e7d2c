"""Symbolic derivatives of an expression, by reverse accumulation.

Two kinds of node need care.

`where(c, a, b)`: its derivative is where(c, da, db), built from each side alone, so that nothing of the side not taken leaks
out of the branch.

`n = norm(w)`: with F the adjoint of n, dV/dw = (F/n)·w. At n = 0 the ratio F/n has the limit ∂F/∂n where V is smooth in w,
and ∂F/∂n serves as the definition where it is not. So the first pass writes ratio(F, n, ∂F/∂n)·w; a second pass, whose results
are not differentiated again, needs no limit and uses w·inv0(n).
"""

from __future__ import annotations

from collections.abc import Sequence

from taut.formula.graph import Expr, Graph, reachable


def gradient(root: Expr, variables: Sequence[Expr], *, last: bool = True) -> list[Expr]:
    """∂root/∂variable for each variable (any nodes, treated as independent).

    `last=False` promises that the result will be differentiated once more.
    """
    graph = root.graph
    zero = graph.const(0.0)
    if all(root is not v for v in variables) and not _depends(root, variables):
        return [zero] * len(variables)
    nodes = reachable([root], stop=[*variables, *_opaque(root, variables)])
    active = _active(nodes, variables)
    adjoint: dict[Expr, Expr] = {root: graph.const(1.0)}

    def add(node: Expr, term: Expr) -> None:
        if node in active:
            adjoint[node] = graph.add(adjoint[node], term) if node in adjoint else term

    own = set(variables)
    for node in reversed(nodes):
        if node not in active or node not in adjoint or node in own:
            continue
        a = adjoint[node]
        if node.op == "where":
            condition, yes, no = node.args
            sides = zip(gradient(yes, variables, last=last), gradient(no, variables, last=last), strict=True)
            for variable, (dy, dn) in zip(variables, sides, strict=True):
                adjoint[variable] = graph.add(adjoint.get(variable, zero), graph.mul(a, graph.where(condition, dy, dn)))
        elif node.op == "norm":
            scale = graph.mul(a, graph.inv0(node)) if last else graph.ratio(a, node, gradient(a, [node])[0])
            for arg in node.args:
                add(arg, graph.mul(scale, arg))
        else:
            for arg, partial in zip(node.args, _partials(graph, node), strict=False):
                if arg in active:
                    add(arg, graph.mul(a, partial))
    return [adjoint.get(v, zero) for v in variables]


def _depends(root: Expr, variables: Sequence[Expr]) -> bool:
    own = set(variables)
    return any(n in own for n in reachable([root], stop=variables))


def _opaque(root: Expr, variables: Sequence[Expr]) -> list[Expr]:
    """The outermost `where` nodes: their sides are differentiated on their own."""
    found, stack, seen, own = [], [root], set(), set(variables)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "where" and node not in own:
            found.append(node)
        elif node not in own:
            stack.extend(node.args)
    return found


def _active(nodes: Sequence[Expr], variables: Sequence[Expr]) -> set[Expr]:
    """The nodes among these (arguments first) that depend on a variable."""
    active = set(variables)
    for node in nodes:
        if node.op == "where":
            if _depends(node, variables):
                active.add(node)
        elif any(a in active for a in node.args):
            active.add(node)
    return active


def _partials(g: Graph, node: Expr) -> tuple[Expr, ...]:
    """Derivative of a node by each of its arguments (those left out are zero)."""
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
        case "ratio":
            scale = g.inv0(node.args[1])
            return scale, g.neg(g.mul(node, scale))
    raise AssertionError(f"no derivative is known for '{node.op}'")
