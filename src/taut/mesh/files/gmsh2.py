"""Nodes and elements of Gmsh's MSH 2.x.

Nodes are `tag x y z`. Elements in text are `tag type k (k tags) nodes…`, of which the first tag is the physical group, or 0, and
the second the entity; in binary they come in blocks with a head `type count k`. An element of several physical groups stands there
several times in succession, each time with a number of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.gmsh_ascii import Ascii, Fields
from taut.mesh.files.gmsh_bytes import Bytes
from taut.mesh.files.gmsh_sections import Section
from taut.mesh.files.gmsh_types import DIMENSIONS, KINDS, SIZES, Block, Int, Nodes, Raw, refusal
from taut.mesh.ranges import ranges

NODE: Fields = (("int", 1), ("double", 3))


def read_nodes(raw: Raw, section: Section, types: dict[str, str] | None) -> None:
    """Add the nodes; `types` tell how numbers are stored, None that they are text."""
    count, start = section.whole(section.start, "a number of nodes")
    stream = Ascii(section, start) if types is None else Bytes(section, types, start)
    at = stream.at
    tags, points = stream.records(count, NODE, "node")
    stride = (stream.at - at) // max(count, 1)
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise stream.error("a coordinate is not finite", int(stream.where(count, NODE)[bad[0]]), f"point {bad[0]}")
    stream.finish()
    raw.nodes.append(Nodes(tags[:, 0], points, stream, at, stride))


def read_elements(raw: Raw, section: Section, types: dict[str, str] | None) -> None:
    """Add the elements."""
    count, start = section.whole(section.start, "a number of elements")
    if types is None:
        text = Ascii(section, start)
        found = text.take("int", len(text.values), "number")
        _add(raw, found, *_from_text(text, found, count), text, np.arange(len(found)), 3)
    else:
        stream = Bytes(section, types, start)
        found = stream.take("int", (section.end - start) // 4, "number")
        stream.at = start
        _add(raw, found, *_from_blocks(stream, found, count), stream, start + 4 * np.arange(len(found)), 1)


def _from_text(stream: Ascii, found: Int, count: int) -> tuple[Int, Int, Int]:
    """Type, number of tags and first word of each element, shape (count,) each; an element is a line."""
    starts, widths = stream.lines()
    short = np.flatnonzero(widths < 3)
    upto = int(short[0]) if len(short) else len(starts)
    codes, depths = found[starts[:upto] + 1], found[starts[:upto] + 2]
    sizes = _sizes(codes)
    wrong = np.flatnonzero((sizes < 0) | (widths[:upto] != 3 + depths + sizes) | (depths < 0))
    if len(wrong) or len(short):
        i = int(wrong[0]) if len(wrong) else upto
        higher = len(wrong) and sizes[i] < 0
        due = f"not {3 + depths[i] + sizes[i]}" if len(wrong) else "but at least 3"
        reason = refusal(int(codes[i])) if higher else f"it has {widths[i]} numbers, {due}"
        raise stream.error(reason, int(starts[i]), f"element {found[starts[i]]}")
    if len(starts) < count:
        raise stream.error(f"the section ends after {len(starts)} of {count} elements", len(found))
    if len(starts) > count:
        raise stream.error("the section holds more than it announces", int(starts[count]))
    return codes, depths, starts


def _sizes(codes: Int) -> Int:
    """The number of nodes for each type, -1 for one that is not read."""
    table = np.array([SIZES.get(code, -1) for code in range(max(SIZES) + 2)])
    return table[np.where((codes < 0) | (codes > max(SIZES)), max(SIZES) + 1, codes)]


def _from_blocks(stream: Bytes, found: Int, count: int) -> tuple[Int, Int, Int]:
    """Type, number of tags and first integer of each element, shape (count,) each."""
    numbers = found.data
    codes, depths, starts, sizes = [], [], [], []
    at, done, end = 0, 0, len(found)
    while done < count:
        if at + 3 > end:
            raise stream.error(f"the section ends after {done} of {count} elements", stream.section.end)
        code, many, depth = numbers[at], numbers[at + 1], numbers[at + 2]
        size = SIZES.get(code)
        here = stream.at + 4 * at
        if size is None:
            raise stream.error(refusal(code), here, f"element block after {done} elements")
        if not (0 < many <= count - done and depth >= 0):
            raise stream.error(f"a block of {many} elements with {depth} tags cannot be; {count - done} are left", here)
        if at + 3 + many * (1 + depth + size) > end:
            raise stream.error(f"the section ends within a block of {many} {KINDS[code]}s", here)
        codes.append(code)
        depths.append(depth)
        starts.append(at + 3)
        sizes.append(many)
        at += 3 + many * (1 + depth + size)
        done += many
    stream.at += 4 * at
    stream.finish()
    code_of, depth_of, first, each = (np.array(listed, np.int64) for listed in (codes, depths, starts, sizes))
    strides = 1 + depth_of + _sizes(code_of)
    return np.repeat(code_of, each), np.repeat(depth_of, each), ranges(first, each, strides)


def _add(raw: Raw, found: Int, codes: Int, depths: Int, starts: Int, stream: Ascii | Bytes, places: Int, before: int) -> None:
    """Sort elements by type; their tags begin `before` numbers after their start."""
    for code in np.unique(codes).tolist():
        of = codes == code
        first, depth = starts[of], depths[of]
        nodes = found[(first + before + depth)[:, None] + np.arange(SIZES[code])]
        physical = np.abs(np.where(depth > 0, found[first + before], 0))  # negative: turned round
        # a node's number stands where an entity's would, if there is one tag only
        entity = np.where(depth > 1, found[np.minimum(first + before + 1, len(found) - 1)], 0)
        groups, which = np.unique(physical, return_inverse=True)
        numbers = np.array([raw.part(((DIMENSIONS[code], p),) if p else ()) for p in groups.tolist()], np.int64)
        raw.blocks.append(
            Block(code, found[first], nodes, numbers[which], _repeats(nodes, entity, physical), stream, places[first])
        )


def _repeats(nodes: Int, entity: Int, physical: Int) -> NDArray[np.bool_]:
    """Which elements are the one before once more, in another physical group."""
    repeats = np.zeros(len(nodes), bool)
    same = (nodes[1:] == nodes[:-1]).all(axis=1) & (entity[1:] == entity[:-1])
    repeats[1:] = same & (physical[1:] != physical[:-1]) & (physical[1:] != 0) & (physical[:-1] != 0)
    return repeats
