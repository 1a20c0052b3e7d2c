"""Problems gathered one after the other, so that a scene tells all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taut.errors import SceneError, TautError
from taut.scene.places import Place, Places
from taut.scene.problems import MOST, told


class Problems:
    """Errors of taut raised within `at(place)` are kept with that place; `refuse` raises them together."""

    def __init__(self, places: Places | None, path: Any) -> None:
        self.places, self.path = places, path
        self.found: list[str] = []

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
        self.found.append(told(place, message, self.places))

    def refuse(self) -> None:
        """Raise what was found, if anything was."""
        if self.found:
            more = [f"and {len(self.found) - MOST} more"] if len(self.found) > MOST else []
            raise SceneError([*self.found[:MOST], *more], path=self.path)
