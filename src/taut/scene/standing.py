"""What still stands of a scene in which something is wrong, so that the rest can be looked at in the same go.

Whatever holds a mistake is left out: an entry of a list (a law, a hold, a body…), else an optional table. Joints of a body that
was left out go with it, and so do the laws of the whole scene, whose elements it may have had.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from taut.scene.model import LISTS
from taut.scene.places import Place

DEFAULTS: dict[str, Any] = {"time": {"h": 0.01, "duration": 1.0}}  # of tables that a scene must have
Kept = dict[Place, list[int]]  # of a list that was shortened: the numbers its entries had


def standing(data: dict[str, Any], wrong: Iterable[Place]) -> tuple[dict[str, Any], Callable[[Place], Place]]:
    """The tables without what is wrong, and what gives a place in them the numbers it has in the file.

    >>> tables, place = standing({"body": [{"hold": [{"where": 1}, {"where": "top"}]}]}, [("body", 0, "hold", 0, "where")])
    >>> tables, place(("body", 0, "hold", 0))
    ({'body': [{'hold': [{'where': 'top'}]}]}, ('body', 0, 'hold', 1))
    """
    rest, gone = copy.deepcopy(data), {_unit(place) for place in wrong}
    bodies = [place for place in gone if place[:1] == ("body",) and len(place) == 2]
    if bodies:
        names = {str(entry.get("name")) for entry in (_at(data, place) for place in bodies) if isinstance(entry, dict)}
        gone = {place for place in gone if place[0] != "law"} | {("law",)}
        for key in ("stitch", "attach"):
            for i, entry in enumerate(_list(data, key)):
                if isinstance(entry, dict) and isinstance(entry.get("bodies"), list) and names & set(map(str, entry["bodies"])):
                    gone.add((key, i))
    kept: Kept = {}
    for place in sorted(gone, key=lambda p: (len(p), repr(p)), reverse=True):  # what is deeper first
        if isinstance(place[-1], int):
            several = _at(rest, place[:-1])
            known = kept.setdefault(place[:-1], list(range(len(several))))
            position = known.index(place[-1])
            del several[position], known[position]
        elif len(place) == 1 and place[0] in DEFAULTS:
            rest[place[0]] = DEFAULTS[place[0]]
        else:
            _at(rest, place[:-1]).pop(place[-1], None)
    return rest, lambda place: _numbered(place, kept)


def _unit(place: Place) -> Place:
    """What to leave out for a mistake at a place: the innermost entry of a list of tables, or a key that need not be there."""
    for end in range(len(place), 1, -1):
        if isinstance(place[end - 1], int) and place[end - 2] in LISTS:
            inside = place[end:]
            optional = place[end - 2] == "body" and inside[:1] in (("render",), ("pose",), ("velocity",))
            return place[: end + 1] if optional else place[:end]
    return place[:1]


def _at(tables: Any, place: Place) -> Any:
    for part in place:
        tables = tables[part]
    return tables if isinstance(tables, (dict, list)) else {}


def _list(data: dict[str, Any], key: str) -> list[Any]:
    found = data.get(key)
    return found if isinstance(found, list) else []


def _numbered(place: Place, kept: Kept) -> Place:
    found: Place = ()
    for part in place:
        numbers = kept.get(found) if isinstance(part, int) else None
        found = (*found, part if numbers is None or not isinstance(part, int) else numbers[part])
    return found
