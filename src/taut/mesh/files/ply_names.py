"""Names of groups and data as names of PLY properties, which are one word: what no word can hold becomes %XX, as in a URL."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from taut.errors import MeshError

_EMPTY = "%-"  # no escape of any text, so that it can stand for the empty name
_ESCAPED = re.compile(r"[\s%:\x00-\x1f\x7f-\x9f]")  # the colon, since it ends the prefixes "group:" and "only:"


def encode(name: str) -> str:
    """The name as one word.

    >>> encode("a b"), encode("100 %"), encode("größe"), encode("")
    ('a%20b', '100%20%25', 'größe', '%-')
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise MeshError(f"PLY cannot hold the name {name!r}: half a character; give the data or group another") from None
    return _ESCAPED.sub(lambda found: quote(found[0], safe=""), name) or _EMPTY


def decode(word: str) -> str:
    """The name that `encode` made this word of; any other word is a name as it stands.

    >>> decode("a%20b"), decode("50%"), decode("%41"), decode("%-")
    ('a b', '50%', '%41', '')
    """
    name = "" if word == _EMPTY else unquote(word)
    return name if "%" in word and encode(name) == word else word
