"""The built-in scenes, each a file with its title and one line of why."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from taut.errors import SceneError, did_you_mean

BUILTIN = Path(__file__).parent / "builtin"
ORDER = (
    "spring", "pendulum", "chain", "bridge", "cloth", "flag", "curtain", "sheet", "net", "tensegrity", "tower", "jelly", "beam",
    "bunny", "balloon", "tear", "snap",
)  # fmt: skip


@cache
def names() -> tuple[str, ...]:
    """The names of the built-in scenes, from the simplest on.

    >>> names()[:3]
    ('spring', 'pendulum', 'chain')
    """
    found = {path.stem for path in BUILTIN.glob("*.toml")}
    return (*(name for name in ORDER if name in found), *sorted(found - set(ORDER)))


def why(name: str) -> str:
    """What there is to see in a built-in scene, in one line.

    >>> why("pendulum")
    'its period grows with the swing: 1.18 times as long at 90° as at small ones'
    """
    return str(_read(name)["why"])


def new(name: str = "cloth") -> str:
    """A commented scene to begin with: the text of a built-in one.

    >>> new("spring").splitlines()[0]
    '# One spring: a weight that goes up and down.'
    """
    _read(name)
    return (BUILTIN / f"{name}.toml").read_text(encoding="utf-8")


def _read(name: str) -> dict[str, object]:
    if name not in names():
        raise SceneError([f"there is no built-in scene '{name}'{did_you_mean(name, names())}; there are {', '.join(names())}"])
    return tomllib.loads((BUILTIN / f"{name}.toml").read_text(encoding="utf-8"))
