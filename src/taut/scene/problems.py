"""Problems gathered one after the other, so that a scene tells all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from taut.errors import SceneError, TautError
from taut.scene.places import Place, Places
from taut.scene.wording import told


class Problems:
    """Errors of taut raised within `at(place)` are kept with that place; `refuse` raises them together."""

    def __init__(self, places: Places | None, path: Any) -> None:
        self.places, self.path = places, path
        self.found: list[tuple[int, str]] = []  # line, or 0, and text
        self.number: Callable[[Place], Place] = lambda place: place  # gives a place the numbers it has in the file

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        """Keep an error of taut, and go on after the block."""
        try:
            yield
        except SceneError as error:
            for text in error.problems:
                self.add(place, text)
        except TautError as error:
            self.add(place, str(error))

    def add(self, place: Place, message: str) -> None:
        """Keep a problem."""
        place = self.number(place)
        line = None if self.places is None else self.places.line(place)
        self.found.append((line or 0, told(place, message, self.places)))

    def refuse(self) -> None:
        """Raise what was found, if anything was, in the order of the file as far as lines are known."""
        if self.found:
            raise SceneError(dict.fromkeys(text for _, text in sorted(self.found, key=lambda pair: pair[0])), path=self.path)
