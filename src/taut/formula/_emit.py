"""Print expressions as readable straight-line source, with a real branch for every `where`.

Every node is evaluated in the outermost branch in which it is needed for certain, and nowhere else:
a node needed only on one side of a `where` is printed inside that side. Short nodes used once are
printed in place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from taut.errors import LawError
from taut.formula.expression import FUNCTIONS, Expr, reachable, rebuild

# The conditions, outermost first, under which a node is needed, and whether each must hold.
Context = tuple[tuple[Expr, bool], ...]

_LEAVES = ("symbol", "const", "flag")
_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "and": "and",
    "or": "or",
}
# A shared node is computed again in each unrelated branch that needs it. More branches than this
# mean that source grows exponentially with the depth of nesting.
_MAX_CONTEXTS = 64
_MAX_INLINE = 48  # characters up to which a node used once is printed in place


def print_body(outputs: Sequence[tuple[str, Expr]], name: Callable[[Expr], str]) -> list[str]:
    """Return lines that assign each output expression to its target.

    outputs : (target, expression)
    name : returns the identifier of a symbol or flag
    """
    roots = _expand_ratios([e for _, e in outputs])
    printer = _Printer(roots, name)
    printer.print_block(printer.nodes, (), 0)
    results = [
        f"{target} = {printer.read(e)}" for (target, _), e in zip(outputs, roots, strict=True)
    ]
    return [*printer.lines, *results]


def _expand_ratios(roots: Sequence[Expr]) -> list[Expr]:
    """Write every ratio(a, n, limit) as where(0 < n, a/n, limit)."""
    done: dict[Expr, Expr] = {}
    for node in reachable(roots):
        args = tuple(done[a] for a in node.args)
        if node.op == "ratio":
            a, n, limit, positive = args
            done[node] = node.graph.where(positive, node.graph.div(a, n), limit)
        else:
            done[node] = rebuild(node, args)
    return [done[r] for r in roots]


class _Printer:
    """Prints nodes once each; `text` is how to write a node that has been printed."""

    def __init__(self, roots: Sequence[Expr], name: Callable[[Expr], str]) -> None:
        self.nodes = reachable(roots)
        self.contexts = _find_contexts(roots, self.nodes)
        self.use_counts: dict[Expr, int] = defaultdict(int)
        for node in [*roots, *(a for n in self.nodes for a in n.args)]:
            self.use_counts[node] += 1
        self.text: dict[Expr, str] = {}
        for node in self.nodes:
            if node.op in _LEAVES:
                self.text[node] = repr(node.value) if node.op == "const" else name(node)
        self.lines: list[str] = []

    def print_block(self, nodes: Sequence[Expr], context: Context, depth: int) -> None:
        """Print those of the nodes that belong to a context, in order.

        A branch opens where its result is first needed.
        """
        here = [n for n in nodes if context in self.contexts[n]]
        for i, node in enumerate(here):
            if node in self.text:
                continue
            if node.op != "where":
                self._assign(node, self._expression(node), depth)
            elif node.args[0] in dict(context):
                self.text[node] = self.text[_side(node, dict(context)[node.args[0]])]
            else:
                same_condition = [
                    n
                    for n in here[i + 1 :]
                    if n.op == "where" and n.args[0] is node.args[0] and self._is_ready(n, context)
                ]
                unprinted = [n for n in same_condition if n not in self.text]
                self._print_branch([node, *unprinted], context, depth)

    def _is_ready(self, node: Expr, context: Context) -> bool:
        """Whether everything that a branch needs from outside has been printed."""
        outer = {context[:i] for i in range(len(context) + 1)}
        return all(n in self.text or not (self.contexts[n] & outer) for n in reachable(node.args))

    def _print_branch(self, nodes: list[Expr], context: Context, depth: int) -> None:
        """Print one `if` with all these nodes, which have the same condition."""
        condition = nodes[0].args[0]
        for side, line in ((True, f"if {self.read(condition)}:"), (False, "else:")):
            text_outside = dict(self.text)
            self._print(line, depth)
            results = [_side(n, side) for n in nodes]
            inside = (*context, (condition, side))
            self.print_block(reachable(results, stop=self.text), inside, depth + 1)
            for node, result in zip(nodes, results, strict=True):
                self._print(f"t{node.id} = {self.read(result)}", depth + 1)
            self.text = text_outside
        self.text.update({n: f"t{n.id}" for n in nodes})

    def _assign(self, node: Expr, text: str, depth: int) -> None:
        if self.use_counts[node] == 1 and len(text) <= _MAX_INLINE:
            needs_parentheses = " " in text or text.startswith("-")
            self.text[node] = f"({text})" if needs_parentheses else text
        else:
            self._print(f"t{node.id} = {text}", depth)
            self.text[node] = f"t{node.id}"

    def _print(self, text: str, depth: int) -> None:
        self.lines.append("    " * depth + text)

    def read(self, node: Expr) -> str:
        """Return how to write a printed node where it needs no parentheses."""
        return _strip_parentheses(self.text[node])

    def _expression(self, node: Expr) -> str:
        a = [self.text[arg] for arg in node.args]
        if node.op in _INFIX:
            return f"{a[0]} {_INFIX[node.op]} {a[1]}"
        if node.op == "neg":
            return f"-{a[0]}"
        if node.op == "not":
            return f"not {a[0]}"
        if node.op == "norm":
            return "root(" + " + ".join(f"{p} * {p}" for p in a) + ")"
        if node.op == "frozen":
            return a[0]
        if node.op in ("atan2", "inv0", "stretch_sum", *FUNCTIONS):
            return f"{node.op}({', '.join(_strip_parentheses(p) for p in a)})"
        raise AssertionError(f"no source is known for '{node.op}'")


def _find_contexts(roots: Sequence[Expr], nodes: Sequence[Expr]) -> dict[Expr, set[Context]]:
    """Return for each node the outermost contexts that need it, none of them inside another."""
    contexts: dict[Expr, set[Context]] = defaultdict(set)
    for root in roots:
        contexts[root].add(())
    for node in reversed(nodes):
        contexts[node] = _merge(contexts[node])
        if len(contexts[node]) > _MAX_CONTEXTS:
            raise LawError(
                f"one quantity of the formula is needed in more than {_MAX_CONTEXTS} unrelated "
                "branches: compute it outside of where"
            )
        for context in contexts[node]:
            if node.op != "where":
                for arg in node.args:
                    contexts[arg].add(context)
                continue
            condition = node.args[0]
            contexts[condition].add(context)
            known = dict(context).get(condition)
            if known is None:
                for side in (True, False):
                    contexts[_side(node, side)].add((*context, (condition, side)))
            else:  # inside of a branch on the same condition
                contexts[_side(node, known)].add(context)
    return contexts


def _merge(contexts: set[Context]) -> set[Context]:
    """Return the fewest contexts with the same need.

    Both sides of a condition become the context around it, and contexts inside of another go.
    """
    contexts = set(contexts)
    for c in sorted(contexts, key=len, reverse=True):
        if c and c in contexts:
            condition, side = c[-1]
            if (*c[:-1], (condition, not side)) in contexts:
                contexts.add(c[:-1])
        contexts = {d for d in contexts if not any(d[:i] in contexts for i in range(len(d)))}
    return contexts


def _side(where: Expr, side: bool) -> Expr:
    return where.args[1 if side else 2]


def _strip_parentheses(text: str) -> str:
    """Remove a pair of parentheses around the whole text."""
    if text.startswith("("):
        depth = 0
        for i, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0:
                return text[1:-1] if i == len(text) - 1 else text
    return text
