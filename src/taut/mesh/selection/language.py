"""The grammar of selections: a string becomes a tree, and nothing is executed.

From the weakest binding to the strongest:

    or    and    not    < <= > >= == !=    + -    * /    -a    ^ (or **)
    name  'name'  number  word(a, b…)  ( … )

Comparisons may be chained, ^ is right-associative, and the arguments of a word may include ranges
a:b. `select` and `numbers` resolve names to points and numbers. Operators of equal precedence make
one node with all their operands, so that the depth of a tree is bounded by `MAX_NESTING` however
long the text is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from taut.errors import MeshError

MAX_CHARACTERS = 10_000
MAX_NESTING = 30
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
PRECEDENCE = (
    {"or": 0, "and": 1}
    | dict.fromkeys(COMPARISONS, 3)
    | {"+": 4, "-": 4, "*": 5, "/": 5, "^": 7, "**": 7}
)
NOT, MINUS = 2, 6  # precedence of the two prefixes
_MAX_QUOTED = 60  # characters of a selection, or of a name in it, that an error quotes
_TOKEN = re.compile(
    r"""(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<quoted>'[^']*'|"[^"]*")
    | (?P<sign>\*\*|[<>=!]=|[-+*/^()<>,:])""",
    re.VERBOSE,
)
_INSTEAD = {"&": "and", "|": "or", "!": "not", "~": "not", "=": "=="}


@dataclass(frozen=True)
class Node:
    """A piece of the text, from the character `start` up to `end`."""

    start: int
    end: int


@dataclass(frozen=True)
class Number(Node):
    """A number as written."""

    value: float


@dataclass(frozen=True)
class Name(Node):
    """A bare word, or a quoted name without its quotes."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class Call(Node):
    """A word with arguments in parentheses."""

    word: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Operation(Node):
    """Operands joined by operators of equal precedence.

    A prefix has one operand. ":" is a range.
    """

    operators: tuple[str, ...]
    operands: tuple[Node, ...]


def parse(text: str) -> Node:
    """Parse a selection into a tree; MeshError names the column of a syntax error.

    >>> parse("not left").operators
    ('not',)
    >>> parse("y >")
    Traceback (most recent call last):
    taut.errors.MeshError: selection 'y >': at column 4: expected a name or a number, got the end
    """
    if len(text) > MAX_CHARACTERS:
        raise MeshError(
            f"selection {quote(text)}: must have at most {MAX_CHARACTERS} characters, "
            f"got {len(text)}"
        )
    return _Parser(text).parse_all()


def make_error(text: str, at: int, message: str) -> MeshError:
    """Return an error at the character `at` of a selection."""
    return MeshError(f"selection {quote(text)}: at column {at + 1}: {message}")


def quote(text: str) -> str:
    """Quote a text for an error message, shortened."""
    return repr(text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "…")


def iterate_nodes(node: Node) -> Iterator[Node]:
    """Yield the node and all nodes below it, from left to right."""
    yield node
    children: tuple[Node, ...] = ()
    if isinstance(node, Operation):
        children = node.operands
    elif isinstance(node, Call):
        children = node.arguments
    for child in children:
        yield from iterate_nodes(child)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def _tokenise(text: str) -> Iterator[_Token]:
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            break
        found = _TOKEN.match(text, at)
        if found is None:
            if text[at] in "'\"":
                raise make_error(text, at, "the closing quote is missing")
            use = f"; use {_INSTEAD[text[at]]}" if text[at] in _INSTEAD else ""
            raise make_error(text, at, f"unexpected character {text[at]!r}{use}")
        assert found.lastgroup is not None
        yield _Token(found.lastgroup, found[0], at, found.end())
        at = found.end()
    yield _Token("end", "", at, at)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokenise(text))
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *texts: str) -> bool:
        found = self.token.text in texts
        self.at += found
        return found

    def make_missing_error(self, what: str) -> MeshError:
        """Return the error that `what` was expected here."""
        token = self.token
        if token.kind == "end":
            return make_error(self.text, token.start, f"expected {what}, got the end")
        return make_error(self.text, token.start, f"expected {what}, got {quote(token.text)}")

    @property
    def end(self) -> int:
        """Where the last token taken ends."""
        return self.tokens[self.at - 1].end

    def parse_all(self) -> Node:
        node = self.parse_operation(0)
        if self.token.kind != "end":
            raise self.make_missing_error("an operator")
        return node

    def parse_operation(self, weakest: int) -> Node:
        """Parse operands joined by operators that bind at least as strongly as `weakest`."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise make_error(
                self.text, self.token.start, f"must be nested at most {MAX_NESTING} deep"
            )
        start = self.token.start
        node = self.parse_prefixed()
        while (precedence := PRECEDENCE.get(self.token.text, -1)) >= weakest:
            operators, operands = [], [node]
            while PRECEDENCE.get(self.token.text) == precedence:
                operators.append(self.take().text.replace("**", "^"))
                operands.append(self.parse_operation(precedence + 1))
            node = Operation(start, self.end, tuple(operators), tuple(operands))
        self.depth -= 1
        return node

    def parse_prefixed(self) -> Node:
        """Parse an atom, or `not` or a sign and what it applies to."""
        start = self.token.start
        if self.token.text in ("-", "+", "not"):
            sign = self.take().text
            operand = self.parse_operation(NOT if sign == "not" else MINUS)
            return operand if sign == "+" else Operation(start, self.end, (sign,), (operand,))
        return self.parse_atom()

    def parse_atom(self) -> Node:
        token = self.token
        if token.kind == "number":
            self.at += 1
            if not math.isfinite(float(token.text)):
                raise make_error(self.text, token.start, f"{quote(token.text)} is too large")
            return Number(token.start, token.end, float(token.text))
        if token.kind == "quoted":
            self.at += 1
            return Name(token.start, token.end, token.text[1:-1], True)
        if token.kind == "word" and token.text not in PRECEDENCE:
            self.at += 1
            if self.accept("("):
                arguments = self.parse_arguments()
                return Call(token.start, self.end, token.text, arguments)
            return Name(token.start, token.end, token.text, False)
        if self.accept("("):
            node = self.parse_operation(0)
            if not self.accept(")"):
                raise self.make_missing_error("an operator or ')'")
            return node
        raise self.make_missing_error("a name or a number")

    def parse_arguments(self) -> tuple[Node, ...]:
        """Parse the arguments of a word, through the closing parenthesis."""
        found: list[Node] = []
        while not (not found and self.accept(")")):
            start = self.token.start
            node = self.parse_operation(0)
            if self.accept(":"):
                last = self.parse_operation(0)
                node = Operation(start, self.end, (":",), (node, last))
            found.append(node)
            if self.accept(")"):
                break
            if not self.accept(","):
                raise self.make_missing_error("',' or ')'")
        return tuple(found)
