"""A model of a disk: what a loss of power may leave of the calls that changed a folder.

A file has a content that is certain, as it was when it was last synchronised, and pending changes:
writes and truncations since then. Names are changed in memory too, and certain after the folder was
synchronised; pending changes of names reach the disk in their order, as in a journalling file
system. A loss of power leaves of every file its certain content with any of the pending changes, in
any order, each write whole, in part (of whole sectors) or not at all.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

SECTOR = 512  # bytes that a disk writes whole or not at all
_HEAD = struct.Struct("=cqqq")

Loss = Literal["nothing", "everything", "all but the last", "all but the first", "some"]
"""Which pending changes are lost; "some": at random, in random order, and torn."""


@dataclass(frozen=True)
class Call:
    """One recorded call: what it did, an offset, a size or a number, a path, and its data."""

    what: str
    number: int
    path: str
    data: bytes


def read_calls(record: Path) -> list[Call]:
    """Return the calls in a file that recorder.c has written."""
    stream, calls, at = record.read_bytes(), [], 0
    while at < len(stream):
        what, number, path, data = _HEAD.unpack_from(stream, at)
        at += _HEAD.size
        name = stream[at : at + path].decode()
        calls.append(Call(what.decode(), number, name, stream[at + path : at + path + data]))
        at += path + data
    return calls


@dataclass
class _File:
    """A file: what is certain of its content, and the changes since then."""

    certain: bytes = b""
    pending: list[Call] = field(default_factory=list)


class Disk:
    """The state of a folder's files after some calls."""

    def __init__(self) -> None:
        self._certain: dict[str, _File] = {}  # names that are on the disk
        self._names: dict[str, _File] = {}  # names as the program sees them
        self._changes: list[Call] = []  # of names, since the folder was synchronised
        self._seen: dict[str, _File] = {}  # the file that each pending creation made
        self.marked = -1  # the last number that the program has marked

    def apply(self, call: Call) -> None:
        """Apply one call."""
        match call.what:
            case "k":
                self.marked = call.number
            case "c":
                self._names[call.path] = self._seen[call.path] = _File()
                self._changes.append(call)
            case "r":
                target = call.data.decode()
                if call.path in self._names:
                    self._names[target] = self._names.pop(call.path)
                    self._changes.append(call)
            case "u":
                if self._names.pop(call.path, None) is not None:
                    self._changes.append(call)
            case "w" | "t":
                if call.path in self._names:  # else it was deleted while it was open
                    self._names[call.path].pending.append(call)
            case "s":
                self._synchronise(call.path)

    def _synchronise(self, path: str) -> None:
        file = self._names.get(path)
        if file is None:  # the folder
            self._certain, self._changes = dict(self._names), []
            return
        file.certain = _change(file.certain, file.pending)
        file.pending = []

    def leave(self, loss: Loss, rng: random.Random) -> dict[str, bytes]:
        """Return what a loss of power at this moment may leave: path → content."""
        names = dict(self._certain)
        kept = {"nothing": len(self._changes), "everything": 0}.get(
            loss, rng.randint(0, len(self._changes))
        )
        made: dict[str, _File] = {}
        for change in self._changes[:kept]:
            if change.what == "c":
                names[change.path] = made[change.path] = self._find_file(change.path)
            elif change.what == "r" and change.path in names:
                names[change.data.decode()] = names.pop(change.path)
            elif change.what == "u":
                names.pop(change.path, None)
        return {
            name: _change(file.certain, _lose(file.pending, loss, rng))
            for name, file in names.items()
        }

    def _find_file(self, path: str) -> _File:
        """Return the newest file that was created under a path."""
        return self._seen[path]


def _lose(pending: list[Call], loss: Loss, rng: random.Random) -> list[Call]:
    """Return the pending changes that reach the disk, in their order there."""
    match loss:
        case "nothing":
            return pending
        case "everything":
            return []
        case "all but the last":
            return pending[-1:]
        case "all but the first":
            return pending[:1]
    kept = [change for change in pending if rng.random() < 0.5]
    rng.shuffle(kept)
    return [_tear(change, rng) if rng.random() < 0.3 else change for change in kept]


def _tear(change: Call, rng: random.Random) -> Call:
    """Return a write of which only some sectors, from its start or its end, reach the disk."""
    if change.what != "w" or len(change.data) <= SECTOR:
        return change
    sectors = rng.randint(1, (len(change.data) - 1) // SECTOR)
    if rng.random() < 0.5:
        return Call("w", change.number, change.path, change.data[: sectors * SECTOR])
    cut = sectors * SECTOR
    return Call("w", change.number + cut, change.path, change.data[cut:])


def _change(content: bytes, changes: list[Call]) -> bytes:
    """Return a content after writes and truncations; gaps are filled with zeros."""
    if not changes:
        return content
    buffer = bytearray(content)
    for change in changes:
        if change.what == "t":
            del buffer[change.number :]
            buffer.extend(bytes(max(0, change.number - len(buffer))))
        else:
            buffer.extend(bytes(max(0, change.number - len(buffer))))
            buffer[change.number : change.number + len(change.data)] = change.data
    return bytes(buffer)
