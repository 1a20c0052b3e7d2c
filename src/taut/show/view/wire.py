"""What browsers may say: every message is checked here before the viewer library reads it.

Only the messages that our page sends are taken, with fields of the right types, finite numbers and short names; values of sliders,
buttons and boxes must be ones that these can have. Anything else is from something that is not our page.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

MOST_BYTES = 16 * 1024  # of a message
LONGEST_NAME = 256
FARTHEST = 1e9  # metres, pixels
Check = Callable[[Any], bool]


def number(value: Any) -> bool:
    """Whether a value is a finite number of reasonable size.

    >>> number(1), number(0.5), number(True), number(float("nan")), number("1")
    (True, True, False, False, False)
    """
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and abs(value) <= FARTHEST


def vector(length: int) -> Check:
    """A check for lists of so many numbers."""
    return lambda value: isinstance(value, (list, tuple)) and len(value) == length and all(map(number, value))


def word(*allowed: str | None) -> Check:
    """A check for one of some words (None: for none)."""
    return lambda value: (value is None or isinstance(value, str)) and value in allowed


def name(value: Any) -> bool:
    """Whether a value is a short name."""
    return isinstance(value, str) and len(value) <= LONGEST_NAME


def index(value: Any) -> bool:
    """Whether a value is the number of an instance, or None."""
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= FARTHEST)


def _changes(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["value"]


_MODIFIER = word(None, "cmd/ctrl", "alt", "shift", "cmd/ctrl+alt", "cmd/ctrl+shift", "alt+shift", "cmd/ctrl+alt+shift")
MESSAGES: dict[str, dict[str, Check]] = {
    "ViewerCameraMessage": {
        "wxyz": vector(4), "position": vector(3), "fov": number, "near": number, "far": number, "image_height": number,
        "image_width": number, "look_at": vector(3), "up_direction": vector(3),
    },
    "GuiUpdateMessage": {"uuid": name, "updates": _changes},
    "SceneNodeClickMessage": {
        "name": name, "instance_index": index, "ray_origin": vector(3), "ray_direction": vector(3), "screen_pos": vector(2),
        "modifier": _MODIFIER, "owner": name,
    },
    "SceneNodeDragMessage": {
        "phase": word("start", "update", "end"), "name": name, "instance_index": index, "start_position": vector(3),
        "start_screen_pos": vector(2), "end_position": vector(3), "end_screen_pos": vector(2),
        "button": word("left", "middle", "right"), "modifier": _MODIFIER, "owner": name,
    },
}  # fmt: skip
"""The messages that are taken, and the check of each field."""


class Wire:
    """The check of messages. `allow` adds a control and the values that it can have.

    >>> wire = Wire()
    >>> wire.allow("a1", lambda value: isinstance(value, bool))
    >>> wire.fault({"type": "GuiUpdateMessage", "uuid": "a1", "updates": {"value": True}})
    >>> wire.fault({"type": "GuiUpdateMessage", "uuid": "a1", "updates": {"value": 3}})
    'a value that its control cannot have'
    >>> wire.fault({"type": "ShareUrlRequest"})
    'a message that no page of ours sends'
    """

    def __init__(self) -> None:
        self._controls: dict[str, Check] = {}

    def allow(self, uuid: str, check: Check) -> None:
        """Take values of a control that pass a check."""
        self._controls[uuid] = check

    def fault(self, message: Any) -> str | None:
        """What is wrong with a decoded message, or None."""
        kind = message.get("type") if isinstance(message, dict) else None
        fields = MESSAGES.get(kind) if isinstance(kind, str) else None
        if fields is None:
            return "a message that no page of ours sends"
        if set(message) != {"type", *fields}:
            return f"{kind} with other fields than it has"
        for field, check in fields.items():
            if not check(message[field]):
                return f"{kind} with a bad '{field}'"
        if kind == "GuiUpdateMessage":
            control = self._controls.get(message["uuid"])
            if control is None:
                return "a value for no control of ours"
            if not control(message["updates"]["value"]):
                return "a value that its control cannot have"
        return None
