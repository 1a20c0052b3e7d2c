"""Bytes spoilt as files are.

Truncated, cut, doubled, shuffled, overwritten with other numbers and extreme words.
"""

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


def _span(rng: Rng, data: bytes) -> tuple[int, int]:
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
    a, b = _span(rng, data)
    return data[:a] + data[b:]


def _double(data: bytes, rng: Rng) -> bytes:
    a, b = _span(rng, data)
    return data[:b] + data[a:]


def _lines(data: bytes, rng: Rng) -> bytes:
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


def _number(data: bytes, rng: Rng) -> bytes:
    """Another number in the place of one."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    at = found[int(rng.integers(0, len(found)))]
    return data[: at.start()] + NUMBERS[int(rng.integers(0, len(NUMBERS)))] + data[at.end() :]


def _word(data: bytes, rng: Rng) -> bytes:
    """Four or eight bytes overwritten with an extreme value.

    As a count or an index in a binary file may be.
    """
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


def _garbage(data: bytes, rng: Rng) -> bytes:
    a, _ = _span(rng, data)
    return data[:a] + rng.bytes(int(rng.integers(1, 200))) + data[a:]


MUTATIONS: list[Callable[[bytes, Rng], bytes]] = [
    _truncate,
    _flip,
    _cut,
    _double,
    _lines,
    _number,
    _number,
    _word,
    _garbage,
]


def spoil(data: bytes, rng: Rng) -> bytes:
    """One to three mutations.

    >>> spoil(b"v 0 0 0", np.random.default_rng(6))
    b'v 0 0 0\\nv 0 0 0 0\\nv 0 0 0'
    """
    for _ in range(int(rng.integers(1, 4))):
        if data:
            data = MUTATIONS[int(rng.integers(0, len(MUTATIONS)))](data, rng)
    return data
