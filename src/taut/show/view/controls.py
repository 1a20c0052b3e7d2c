"""The controls of the panel: each made together with the check of the values that a browser may send for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taut.show.view.wire import Wire, number

Act = Callable[[Any], None]
Told = Callable[[Any, Any], None]  # of the client, and of the value


class Controls:
    """Makes the inputs of a viser panel. What one does is called with its value, in the thread of the server: it must not wait.

    gui : of a ViserServer; wire : which lets their values pass
    """

    def __init__(self, gui: Any, wire: Wire) -> None:
        self.gui, self._wire = gui, wire

    def button(self, label: str, act: Callable[[], None], **options: Any) -> Any:
        """A button."""
        return self._bound(self.gui.add_button(label, **options), lambda value: value is True, lambda client, value: act())

    def slider(self, label: str, low: float, high: float, step: float, value: float, act: Act, **options: Any) -> Any:
        """A slider for numbers from low to high."""
        made = self.gui.add_slider(label, min=low, max=high, step=step, initial_value=value, **options)
        near = 1e-6 * (high - low)  # browsers round

        def fits(value: Any) -> bool:
            return number(value) and made.min - near <= value <= made.max + near and not made.disabled

        return self._bound(made, fits, lambda client, value: act(min(max(value, made.min), made.max)))

    def checkbox(self, label: str, value: bool, act: Act, **options: Any) -> Any:
        """A box that is ticked or not."""
        made = self.gui.add_checkbox(label, value, **options)
        return self._bound(made, lambda value: isinstance(value, bool), lambda client, value: act(value))

    def choice(self, label: str, words: Sequence[str], told: Told, **options: Any) -> Any:
        """A row of buttons, of which one is pressed."""
        made = self.gui.add_button_group(label, tuple(words), **options)
        return self._bound(made, lambda value: isinstance(value, str) and value in words, told)

    def asked(self, label: str, told: Callable[[Any], None], **options: Any) -> Any:
        """A button that says who pressed it."""
        return self._bound(self.gui.add_button(label, **options), lambda value: value is True, lambda client, value: told(client))

    def _bound(self, made: Any, fits: Callable[[Any], bool], told: Told) -> Any:
        self._wire.allow(made._impl.uuid, fits)
        listen = made.on_click if hasattr(made, "on_click") else made.on_update

        async def heard(event: Any) -> None:
            if event.client is not None:  # else it was us who set the value
                told(event.client, made.value)

        listen(heard)
        return made
