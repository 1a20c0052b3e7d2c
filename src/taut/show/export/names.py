"""Names of bodies as names of prims, groups and files: letters, digits and underscores, each different from the others."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 64  # characters; file systems take 255 bytes, of which the rest of a file's name needs some
RESERVED = ("default",)  # what OBJ says for: no group


def distinct(names: Iterable[str]) -> list[str]:
    """A plain name for each, none twice, not even where upper and lower case are the same.

    >>> distinct(["cloth", "../x", "Cloth", "2nd flag", "布", "default"])
    ['cloth', '___x', 'Cloth_2', '_2nd_flag', '_', 'default_2']
    """
    taken = set(RESERVED)
    found = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:LONGEST] or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        number, candidate = 1, plain
        while candidate.lower() in taken:
            number += 1
            candidate = f"{plain}_{number}"
        taken.add(candidate.lower())
        found.append(candidate)
    return found
