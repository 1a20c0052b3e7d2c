"""A cheap positive semi-definite form of an element Hessian: the metric, from measures.

An energy is V = F(m₁, m₂, …) of a few measures of the positions: the angle of a hinge, the volume
of a tetrahedron. If F is a sum of functions of one measure each, its Hessian is
    Σᵢ ∂²F/∂mᵢ² ∇mᵢ ∇mᵢᵀ + Σᵢ ∂F/∂mᵢ ∇²mᵢ.
The metric keeps the first sum, with the magnitudes of the curvatures ∂²F/∂mᵢ² (Gauss and Newton),
and leaves out the second, which has no sign and vanishes with the force. A hinge needs one product
for each entry of it; a projection by eigenvalues takes a hundred times as long as the Hessian.

*Norms.* The length n of a vector c(x) has no gradient at n = 0, where a straight rod is at rest:
its angle contains |a × b|. There the whole stiffness is in the part of the second sum that is due
to the norm itself, (∂V/∂n)/n · Jᵀ(I - u uᵀ)J with J = ∂c/∂x and u = c/n, as of a central law. The
metric has this part too, clamped at zero. It is also all there is of a surface tension: F = σA has
no curvature.

Curvatures enter by magnitude rather than clamped: a metric is the scale of a step, and where
∂²F/∂m² < 0 its magnitude still limits how far the step may go, while zero leaves the direction
free. To project the elements with ∂²F/∂m² < 0 by eigenvalues lost too: one takes as long as two
hundred others, and the metric would jump between two forms.
"""

from __future__ import annotations

from taut.formula.differentiate import gradient
from taut.formula.expression import Expr, is_const, reachable

Entries = dict[tuple[int, int], Expr]  # of an upper triangle, by row and column

# Measures of an energy with a metric: a hinge has one, an attachment three, an isotropic law of a
# 3×3 matrix nine. More would make the source longer than that of the Hessian.
_MAX_MEASURES = 9


def derive_metric(value: Expr, variables: list[Expr]) -> Entries | None:
    """Return the metric of an energy, or None if it is not a sum of functions of one measure each.

    variables : the symbols to differentiate by; other symbols are constants
    """
    measures = find_measures(value, variables)
    if measures is None or len(measures) > _MAX_MEASURES:
        return None
    slopes = gradient(value, measures, last=False)
    curvatures = []
    for i, slope in enumerate(slopes):
        row = gradient(slope, measures)
        if any(not is_const(e, 0.0) for j, e in enumerate(row) if j != i):
            return None  # F couples two measures
        curvatures.append(row[i])
    g = value.graph
    size = len(variables)
    entries = {(i, j): g.const(0.0) for i in range(size) for j in range(i, size)}
    for measure, curvature in zip(measures, curvatures, strict=True):
        _add_square(entries, g.magnitude(curvature), gradient(measure, variables))
    for norm in _find_isotropic_norms(value, measures, variables):
        _add_norm(entries, value, norm, variables)
    return entries


def find_measures(value: Expr, variables: list[Expr]) -> list[Expr] | None:
    """Return nodes through which alone the variables enter an energy, or None.

    The measure of a term is the node nearest to the variables through which every path to them
    leads, its last dominator. A term that is linear in it is split there into its addends, unless
    the node is a measure of another term: it is then linear in every other dominator as well.

    >>> from taut.formula.graph import Graph
    >>> g = Graph()
    >>> a, b, k = g.symbol("x", 0, 0), g.symbol("x", 0, 1), g.symbol("p", "k", 0, 0)
    >>> find_measures(k * (a * b - 1.0) ** 2, [a, b]) == [a * b]
    True
    >>> find_measures(k * (a**2 + (2 * b - 1) ** 2), [a, b]) == [a, b]
    True
    >>> find_measures(a * b, [a, b]) is None
    True
    """
    active = _find_active(value, variables)
    found: dict[Expr, None] = {}  # in the order of terms
    terms = [value] if value in active else []
    seen = set(terms)
    linear: list[Expr] = []  # the last dominators of linear terms
    while terms or linear:
        if terms:
            term = terms.pop(0)
            node = _find_last_dominator(term, active)
            if _has_curvature(term, node):
                found[node] = None
            else:
                linear.append(node)
            continue
        node = linear.pop(0)
        if node in found:
            continue
        if node.op == "symbol":
            found[node] = None
        elif node.op in ("add", "sub", "where"):
            terms = [a for a in _operands(node, active) if a not in seen]
            seen.update(terms)
        else:
            return None
    return list(found)


def _has_curvature(term: Expr, node: Expr) -> bool:
    """Whether a term is not linear in a node, or the node is a norm, which is curved itself."""
    if node.op == "norm":
        return True
    slope = gradient(term, [node], last=False)[0]
    return not is_const(gradient(slope, [node])[0], 0.0)


def _find_active(value: Expr, variables: list[Expr]) -> set[Expr]:
    """Return the nodes whose derivatives by the variables are not all zero."""
    active = set(variables)
    for node in reachable([value]):
        if _operands(node, active):
            active.add(node)
    return active


def _operands(node: Expr, active: set[Expr]) -> list[Expr]:
    """Return the operands that a node passes derivatives to: not the condition of a `where`."""
    return [a for a in node.args[node.op == "where" :] if a in active]


def _find_last_dominator(root: Expr, active: set[Expr]) -> Expr:
    """Return the node nearest to the variables through which every path from the root leads.

    Nodes are taken in the order of their users. One that is taken while no other is left is on all
    paths.
    """
    last = root
    left = {root}
    while left:
        node = max(left, key=lambda n: n.id)
        left.remove(node)
        if not left:
            last = node
        operands = _operands(node, active)
        if not operands:
            break  # a variable: the paths that remain do not meet the one that ends here
        left.update(operands)
    return last


def _find_isotropic_norms(value: Expr, measures: list[Expr], variables: list[Expr]) -> list[Expr]:
    """Return the norms in the measures whose vector enters the energy only through its norm.

    The curvature of any other norm is cancelled by what else depends on its vector: |e| in the
    angle of a hinge, which does not depend on the length of its edge e, or that of a unit vector.
    """
    active = _find_active(value, variables)
    users: dict[Expr, set[Expr]] = {}
    for node in reachable([value]):
        for operand in node.args:
            users.setdefault(operand, set()).add(node)
    return [
        node
        for node in reachable(measures)
        if node.op == "norm"
        and node in active
        and all(users[part] == {node} for part in node.args if part in active)
    ]


def _add_norm(entries: Entries, value: Expr, norm: Expr, variables: list[Expr]) -> None:
    """Add (∂V/∂n)/n · Jᵀ(I - u uᵀ)J, where it is positive, as a sum of three squares."""
    g = value.graph
    slope = gradient(value, [norm], last=False)[0]
    scale = g.positive_part(g.ratio(slope, norm, gradient(slope, [norm])[0]))
    along = gradient(norm, variables)  # Jᵀu
    for part in norm.args:
        u = g.mul(part, g.inv0(norm))
        rows = zip(gradient(part, variables), along, strict=True)
        _add_square(entries, scale, [g.sub(j, g.mul(u, a)) for j, a in rows])


def _add_square(entries: Entries, weight: Expr, vector: list[Expr]) -> None:
    """Add weight · vector vectorᵀ."""
    g = weight.graph
    for i, j in entries:
        product = g.mul(g.mul(weight, vector[i]), vector[j])
        entries[i, j] = g.add(entries[i, j], product)
