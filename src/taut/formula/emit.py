"""Print expressions as readable straight-line source, with a real branch for every `where`.

Every node is evaluated in the outermost branch in which it is needed for certain, and nowhere else: a node needed only on one
side of a `where` is printed inside that side. Short nodes used once are printed in place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from taut.errors import LawError
from taut.formula.expression import Expr, reachable
from taut.formula.graph import FUNCTIONS

Context = tuple[tuple[Expr, bool], ...]  # the conditions, outermost first, under which a node is needed
LEAVES = ("symbol", "const", "flag")
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "lt": "<", "le": "<=", "eq": "==", "and": "and", "or": "or"}
REPEATS = 64  # unrelated branches that may each compute a shared node for themselves
INLINE = 48  # characters up to which a node used once is printed in place


def body(outputs: Sequence[tuple[str, Expr]], name: Callable[[Expr], str]) -> list[str]:
    """Lines that assign each output expression to its target. `name` gives the identifier of symbols and flags."""
    roots = _lowered([e for _, e in outputs])
    printer = _Printer(roots, name)
    printer.block(printer.nodes, (), 0)
    return [*printer.output, *(f"{target} = {printer.read(e)}" for (target, _), e in zip(outputs, roots, strict=True))]


def _lowered(roots: Sequence[Expr]) -> list[Expr]:
    """The same expressions with every ratio(a, n, limit) spelt out as where(0 < n, a/n, limit)."""
    done: dict[Expr, Expr] = {}
    for node in reachable(roots):
        args = tuple(done[a] for a in node.args)
        if node.op == "ratio":
            a, n, limit, positive = args
            done[node] = node.graph.where(positive, node.graph.div(a, n), limit)
        else:
            done[node] = node.graph.rebuild(node, args)
    return [done[r] for r in roots]


class _Printer:
    def __init__(self, roots: Sequence[Expr], name: Callable[[Expr], str]) -> None:
        self.nodes = reachable(roots)
        self.contexts = _contexts(roots, self.nodes)
        self.uses: dict[Expr, int] = defaultdict(int)
        for node in [*roots, *(a for n in self.nodes for a in n.args)]:
            self.uses[node] += 1
        leaves = {n: repr(n.value) if n.op == "const" else name(n) for n in self.nodes if n.op in LEAVES}
        self.text: dict[Expr, str] = leaves  # how to write a node that has been printed
        self.output: list[str] = []

    def block(self, nodes: Sequence[Expr], context: Context, depth: int) -> None:
        """Print those of the nodes that belong to this context, in order; a branch opens where its result is first needed."""
        mine = [n for n in nodes if context in self.contexts[n]]
        for i, node in enumerate(mine):
            if node in self.text:
                continue
            if node.op != "where":
                self._assign(node, self._expression(node), depth)
            elif node.args[0] in dict(context):
                self.text[node] = self.text[_side(node, dict(context)[node.args[0]])]
            else:
                same = [m for m in mine[i + 1 :] if m.op == "where" and m.args[0] is node.args[0] and self._ready(m, context)]
                self._branch([node, *(m for m in same if m not in self.text)], context, depth)

    def _ready(self, node: Expr, context: Context) -> bool:
        """Whether everything this branch takes from outside has been printed."""
        outer = {context[:i] for i in range(len(context) + 1)}
        inside = reachable(node.args)
        return all(n in self.text or not (self.contexts[n] & outer) for n in inside)

    def _branch(self, nodes: list[Expr], context: Context, depth: int) -> None:
        condition = nodes[0].args[0]
        for side, word in ((True, f"if {self.read(condition)}:"), (False, "else:")):
            outside = dict(self.text)
            self._line(word, depth)
            results = [_side(n, side) for n in nodes]
            self.block(reachable(results, stop=self.text), (*context, (condition, side)), depth + 1)
            for node, result in zip(nodes, results, strict=True):
                self._line(f"t{node.id} = {self.read(result)}", depth + 1)
            self.text = outside
        self.text.update({n: f"t{n.id}" for n in nodes})

    def _assign(self, node: Expr, text: str, depth: int) -> None:
        if self.uses[node] == 1 and len(text) <= INLINE:
            self.text[node] = f"({text})" if " " in text or text.startswith("-") else text
        else:
            self._line(f"t{node.id} = {text}", depth)
            self.text[node] = f"t{node.id}"

    def _line(self, text: str, depth: int) -> None:
        self.output.append("    " * depth + text)

    def read(self, node: Expr) -> str:
        return _bare(self.text[node])

    def _expression(self, node: Expr) -> str:
        a = [self.text[arg] for arg in node.args]
        if node.op in INFIX:
            return f"{a[0]} {INFIX[node.op]} {a[1]}"
        if node.op in ("neg", "not"):
            return f"-{a[0]}" if node.op == "neg" else f"not {a[0]}"
        if node.op == "norm":
            return "root(" + " + ".join(f"{p} * {p}" for p in a) + ")"
        if node.op in ("atan2", "inv0", *FUNCTIONS):
            return f"{node.op}({', '.join(_bare(p) for p in a)})"
        raise AssertionError(f"no source is known for '{node.op}'")


def _contexts(roots: Sequence[Expr], nodes: Sequence[Expr]) -> dict[Expr, set[Context]]:
    """For each node the outermost contexts that need it (none of them inside another)."""
    need: dict[Expr, set[Context]] = defaultdict(set)
    for root in roots:
        need[root].add(())
    for node in reversed(nodes):
        need[node] = _outermost(need[node])
        if len(need[node]) > REPEATS:
            raise LawError(
                f"one quantity of the formula is needed in more than {REPEATS} unrelated branches: compute it outside of where"
            )
        for context in need[node]:
            if node.op != "where":
                for arg in node.args:
                    need[arg].add(context)
                continue
            condition = node.args[0]
            need[condition].add(context)
            known = dict(context).get(condition)
            for side in (True, False) if known is None else (known,):
                need[_side(node, side)].add((*context, (condition, side)) if known is None else context)
    return need


def _outermost(contexts: set[Context]) -> set[Context]:
    """The same need in the fewest contexts: both sides of a condition make its surroundings, which include what lies within."""
    contexts = set(contexts)
    for c in sorted(contexts, key=len, reverse=True):
        if c and c in contexts and (*c[:-1], (c[-1][0], not c[-1][1])) in contexts:
            contexts.add(c[:-1])
        contexts = {d for d in contexts if not any(d[:i] in contexts for i in range(len(d)))}
    return contexts


def _side(where: Expr, side: bool) -> Expr:
    return where.args[1 if side else 2]


def _bare(text: str) -> str:
    """Without a pair of parentheses around the whole."""
    if text.startswith("("):
        depth = 0
        for i, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0:
                return text[1:-1] if i == len(text) - 1 else text
    return text
