"""Which messages of browsers are accepted: each is checked here before viser reads it.

Accepted are only the messages that the page of the viewer sends, with fields of the right types,
finite numbers and short names, and for controls only values that they can have. Everything else
does not come from that page.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

MAX_MESSAGE_BYTES = 16 * 1024
_MAX_NAME_LENGTH = 256
_MAX_MAGNITUDE = 1e9  # of coordinates [m, pixels] and indices
Check = Callable[[Any], bool]


def is_number(value: Any) -> bool:
    """Whether a value is a finite number of reasonable size.

    >>> is_number(1), is_number(0.5), is_number(True), is_number(float("nan")), is_number("1")
    (True, True, False, False, False)
    """
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and abs(value) <= _MAX_MAGNITUDE
    )


def _make_vector_check(length: int) -> Check:
    """Make a check for lists of numbers."""

    def check(value: Any) -> bool:
        is_list = isinstance(value, (list, tuple)) and len(value) == length
        return is_list and all(map(is_number, value))

    return check


def _make_choice_check(*allowed: str | None) -> Check:
    """Make a check for one of some words, or None."""

    def check(value: Any) -> bool:
        return (value is None or isinstance(value, str)) and value in allowed

    return check


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _MAX_NAME_LENGTH


def _is_optional_index(value: Any) -> bool:
    if value is None:
        return True
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return is_int and 0 <= value <= _MAX_MAGNITUDE


def _is_value_update(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["value"]


_KEYS = ("cmd/ctrl", "alt", "shift")
_KEY_PAIRS = ("cmd/ctrl+alt", "cmd/ctrl+shift", "alt+shift")
_is_modifier = _make_choice_check(None, *_KEYS, *_KEY_PAIRS, "cmd/ctrl+alt+shift")
_MESSAGES: dict[str, dict[str, Check]] = {
    "ViewerCameraMessage": {
        "wxyz": _make_vector_check(4),
        "position": _make_vector_check(3),
        "fov": is_number,
        "near": is_number,
        "far": is_number,
        "image_height": is_number,
        "image_width": is_number,
        "look_at": _make_vector_check(3),
        "up_direction": _make_vector_check(3),
    },
    "GuiUpdateMessage": {"uuid": _is_name, "updates": _is_value_update},
    "SceneNodeClickMessage": {
        "name": _is_name,
        "instance_index": _is_optional_index,
        "ray_origin": _make_vector_check(3),
        "ray_direction": _make_vector_check(3),
        "screen_pos": _make_vector_check(2),
        "modifier": _is_modifier,
        "owner": _is_name,
    },
    "SceneNodeDragMessage": {
        "phase": _make_choice_check("start", "update", "end"),
        "name": _is_name,
        "instance_index": _is_optional_index,
        "start_position": _make_vector_check(3),
        "start_screen_pos": _make_vector_check(2),
        "end_position": _make_vector_check(3),
        "end_screen_pos": _make_vector_check(2),
        "button": _make_choice_check("left", "middle", "right"),
        "modifier": _is_modifier,
        "owner": _is_name,
    },
}
"""Accepted message types, with the check of each field."""


class Protocol:
    """Checks decoded messages. `register_control` adds a control and the values it can have.

    >>> protocol = Protocol()
    >>> protocol.register_control("a1", lambda value: isinstance(value, bool))
    >>> protocol.check({"type": "GuiUpdateMessage", "uuid": "a1", "updates": {"value": True}})
    >>> protocol.check({"type": "GuiUpdateMessage", "uuid": "a1", "updates": {"value": 3}})
    'a value that its control cannot have'
    >>> protocol.check({"type": "ShareUrlRequest"})
    'unknown message type'
    """

    def __init__(self) -> None:
        self._controls: dict[str, Check] = {}

    def register_control(self, uuid: str, check: Check) -> None:
        """Accept values of a control that pass a check."""
        self._controls[uuid] = check

    def check(self, message: Any) -> str | None:
        """Return the reason to reject a decoded message, or None."""
        kind = message.get("type") if isinstance(message, dict) else None
        fields = _MESSAGES.get(kind) if isinstance(kind, str) else None
        if fields is None:
            return "unknown message type"
        if set(message) != {"type", *fields}:
            return f"{kind}: missing or unknown fields"
        for field, check in fields.items():
            if not check(message[field]):
                return f"{kind}: invalid '{field}'"
        if kind == "GuiUpdateMessage":
            is_possible = self._controls.get(message["uuid"])
            if is_possible is None:
                return "a value for an unknown control"
            if not is_possible(message["updates"]["value"]):
                return "a value that its control cannot have"
        return None
