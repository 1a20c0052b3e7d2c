"""Corrupt the bytes of a file: truncate, cut, repeat, shuffle, or overwrite them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Rng = np.random.Generator
NUMBERS = [
    b"nan",
    b"inf",
    b"-1",
    b"0",
    b"1e999",
    b"99999999999999999999",
    b"2147483648",
    b"4294967295",
    b"0x10",
    b"x",
    b"",
    b"1" * 5000,
]
_NUMBER = re.compile(rb"[-+]?\d[\d.eE+-]*")


def _choose_span(rng: Rng, data: bytes) -> tuple[int, int]:
    a, b = sorted(rng.integers(0, len(data) + 1, 2).tolist())
    return a, b


def _truncate(data: bytes, rng: Rng) -> bytes:
    return data[: int(rng.integers(0, len(data) + 1))]


def _flip(data: bytes, rng: Rng) -> bytes:
    array = np.frombuffer(data, np.uint8).copy()
    where = rng.integers(0, len(array), int(rng.integers(1, 6)))
    array[where] = rng.integers(0, 256, len(where))
    return array.tobytes()


def _cut(data: bytes, rng: Rng) -> bytes:
    a, b = _choose_span(rng, data)
    return data[:a] + data[b:]


def _double(data: bytes, rng: Rng) -> bytes:
    a, b = _choose_span(rng, data)
    return data[:b] + data[a:]


def _change_lines(data: bytes, rng: Rng) -> bytes:
    """Drop, double or swap lines."""
    lines = data.split(b"\n")
    i, j = rng.integers(0, len(lines), 2).tolist()
    what = rng.integers(0, 3)
    if what == 0:
        del lines[i]
    elif what == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _replace_number(data: bytes, rng: Rng) -> bytes:
    """Replace a number by one of `NUMBERS`."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    at = found[int(rng.integers(0, len(found)))]
    return data[: at.start()] + NUMBERS[int(rng.integers(0, len(NUMBERS)))] + data[at.end() :]


def _overwrite_word(data: bytes, rng: Rng) -> bytes:
    """Overwrite four or eight bytes, such as a count in a binary file, with an extreme value."""
    extreme = [
        b"\xff" * 4,
        b"\xff\xff\xff\x7f",
        b"\x00" * 4,
        b"\x00\x00\x00\x80",
        b"\x00\x00\xc0\x7f",
        b"\xff" * 8,
        b"\x00" * 7 + b"\x10",
    ]
    new = extreme[int(rng.integers(0, len(extreme)))]
    at = int(rng.integers(0, max(len(data) - len(new), 0) + 1))
    return data[:at] + new + data[at + len(new) :]


def _insert_garbage(data: bytes, rng: Rng) -> bytes:
    a, _ = _choose_span(rng, data)
    return data[:a] + rng.bytes(int(rng.integers(1, 200))) + data[a:]


MUTATIONS: list[Callable[[bytes, Rng], bytes]] = [
    _truncate,
    _flip,
    _cut,
    _double,
    _change_lines,
    _replace_number,
    _replace_number,
    _overwrite_word,
    _insert_garbage,
]


def spoil(data: bytes, rng: Rng) -> bytes:
    """Apply one to three random mutations.

    >>> spoil(b"v 0 0 0", np.random.default_rng(6))
    b'v 0 0 0\\nv 0 0 0 0\\nv 0 0 0'
    """
    for _ in range(int(rng.integers(1, 4))):
        if data:
            data = MUTATIONS[int(rng.integers(0, len(MUTATIONS)))](data, rng)
    return data
