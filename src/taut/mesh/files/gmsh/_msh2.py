"""Nodes and elements of MSH 2.x.

Nodes are `tag x y z`. Elements in text are `tag type k (k tags) nodes…`, of which the first tag is
the physical group, or 0, and the second the entity; in binary they come in blocks with a head
`type count k`. An element of several physical groups is repeated, each time with another tag.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Int, Mask
from taut.mesh.files.gmsh._sections import (
    DIMENSIONS,
    KINDS,
    SIZES,
    Block,
    Nodes,
    Records,
    Section,
    explain_unknown_type,
)
from taut.mesh.files.gmsh._streams import ByteStream, Fields, TextStream
from taut.mesh.topology import ranges

_NODE: Fields = (("int", 1), ("double", 3))


def read_nodes(records: Records, section: Section, types: dict[str, str] | None) -> None:
    """Add the nodes of a section of MSH 2.

    types : how numbers are stored, as of `ByteStream`; None for text
    """
    count, start = section.read_count(section.start, "the number of nodes")
    stream = TextStream(section, start) if types is None else ByteStream(section, types, start)
    at = stream.at
    tags, points = stream.take_records(count, _NODE, "node")
    stride = (stream.at - at) // max(count, 1)
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        place = int(stream.find_places(count, _NODE)[bad[0]])
        raise stream.error("coordinates must be finite", place, f"point {bad[0]}")
    stream.check_end()
    records.nodes.append(Nodes(tags[:, 0], points, stream, at, stride))


def read_elements(records: Records, section: Section, types: dict[str, str] | None) -> None:
    """Add the elements of a section of MSH 2; types as of `read_nodes`."""
    count, start = section.read_count(section.start, "the number of elements")
    if types is None:
        text = TextStream(section, start)
        found = text.take("int", len(text.values), "number")
        _add(records, found, *_from_text(text, found, count), text, np.arange(len(found)), 3)
    else:
        stream = ByteStream(section, types, start)
        found = stream.take("int", (section.end - start) // 4, "number")
        stream.at = start
        _add(
            records,
            found,
            *_from_blocks(stream, found, count),
            stream,
            start + 4 * np.arange(len(found)),
            1,
        )


def _from_text(stream: TextStream, found: Int, count: int) -> tuple[Int, Int, Int]:
    """Return type, number of tags and first word of each element (a line), shape (count,)."""
    starts, widths = stream.find_lines()
    short = np.flatnonzero(widths < 3)
    upto = int(short[0]) if len(short) else len(starts)
    codes, depths = found[starts[:upto] + 1], found[starts[:upto] + 2]
    sizes = _sizes(codes)
    wrong = np.flatnonzero((sizes < 0) | (widths[:upto] != 3 + depths + sizes) | (depths < 0))
    if len(wrong) or len(short):
        i = int(wrong[0]) if len(wrong) else upto
        if len(wrong) and sizes[i] < 0:
            message = explain_unknown_type(int(codes[i]))
        elif len(wrong):
            message = f"must have {3 + depths[i] + sizes[i]} numbers, got {widths[i]}"
        else:
            message = f"must have at least 3 numbers, got {widths[i]}"
        raise stream.error(message, int(starts[i]), f"element {found[starts[i]]}")
    if len(starts) < count:
        raise stream.error(f"the section ends after {len(starts)} of {count} elements", len(found))
    if len(starts) > count:
        raise stream.error(
            f"the section must end after its {count} elements, got more", int(starts[count])
        )
    return codes, depths, starts


def _sizes(codes: Int) -> Int:
    """Return the number of nodes for each type, -1 for one that is not read."""
    table = np.array([SIZES.get(code, -1) for code in range(max(SIZES) + 2)])
    return table[np.where((codes < 0) | (codes > max(SIZES)), max(SIZES) + 1, codes)]


def _from_blocks(stream: ByteStream, found: Int, count: int) -> tuple[Int, Int, Int]:
    """Return type, number of tags and first integer of each element, shape (count,)."""
    numbers = found.data
    codes, depths, starts, sizes = [], [], [], []
    at, done, end = 0, 0, len(found)
    while done < count:
        if at + 3 > end:
            raise stream.error(
                f"the section ends after {done} of {count} elements", stream.section.end
            )
        code, many, depth = numbers[at], numbers[at + 1], numbers[at + 2]
        size = SIZES.get(code)
        here = stream.at + 4 * at
        if size is None:
            raise stream.error(
                explain_unknown_type(code), here, f"element block after {done} elements"
            )
        if not (0 < many <= count - done and depth >= 0):
            raise stream.error(
                f"a block must have 1 to {count - done} elements, got {many} with {depth} tags",
                here,
            )
        if at + 3 + many * (1 + depth + size) > end:
            raise stream.error(f"the section ends in a block of {many} {KINDS[code]}s", here)
        codes.append(code)
        depths.append(depth)
        starts.append(at + 3)
        sizes.append(many)
        at += 3 + many * (1 + depth + size)
        done += many
    stream.at += 4 * at
    stream.check_end()
    code_of, depth_of, first, each = (
        np.array(listed, np.int64) for listed in (codes, depths, starts, sizes)
    )
    strides = 1 + depth_of + _sizes(code_of)
    return np.repeat(code_of, each), np.repeat(depth_of, each), ranges(first, each, strides)


def _add(
    records: Records,
    found: Int,
    codes: Int,
    depths: Int,
    starts: Int,
    stream: TextStream | ByteStream,
    places: Int,
    before: int,
) -> None:
    """Add elements by type; their tags begin `before` numbers after their start."""
    for code in np.unique(codes).tolist():
        of = codes == code
        first, depth = starts[of], depths[of]
        nodes = found[(first + before + depth)[:, None] + np.arange(SIZES[code])]
        physical = np.abs(np.where(depth > 0, found[first + before], 0))  # negative: reversed
        # With one tag only, a node follows where the entity would be.
        entity = np.where(depth > 1, found[np.minimum(first + before + 1, len(found) - 1)], 0)
        groups, which = np.unique(physical, return_inverse=True)
        numbers = np.array(
            [
                records.number_group_set(((DIMENSIONS[code], p),) if p else ())
                for p in groups.tolist()
            ],
            np.int64,
        )
        records.blocks.append(
            Block(
                code,
                found[first],
                nodes,
                numbers[which],
                _repeats(nodes, entity, physical),
                stream,
                places[first],
            )
        )


def _repeats(nodes: Int, entity: Int, physical: Int) -> Mask:
    """Return which elements repeat the one before, in another physical group."""
    repeats = np.zeros(len(nodes), bool)
    same = (nodes[1:] == nodes[:-1]).all(axis=1) & (entity[1:] == entity[:-1])
    repeats[1:] = (
        same & (physical[1:] != physical[:-1]) & (physical[1:] != 0) & (physical[:-1] != 0)
    )
    return repeats
