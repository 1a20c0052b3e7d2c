"""Entities, nodes and elements of Gmsh's MSH 4.0 and 4.1.

Nodes and elements come in blocks, one for a geometric entity (a dimension and a number), and physical groups are made of
entities. 4.0 names an entity by number and dimension, 4.1 by dimension and number; 4.0 gives a node's number before its position,
4.1 the numbers of a block before its positions.
"""

from __future__ import annotations

import numpy as np

from taut.errors import MeshError
from taut.mesh.files.gmsh_ascii import Ascii, Fields
from taut.mesh.files.gmsh_bytes import Stream
from taut.mesh.files.gmsh_sections import Section
from taut.mesh.files.gmsh_types import KINDS, SIZES, Block, Nodes, Raw, refusal


def read_entities(raw: Raw, stream: Stream, *, old: bool, partitioned: bool) -> None:
    """Add which physical groups each entity is in; `old` is MSH 4.0, `partitioned` the section $PartitionedEntities."""
    if partitioned:
        stream.one("size", "the number of partitions")
        stream.skip("int", 2 * stream.one("size", "the number of ghost entities"), "the ghost entities")
    counts = [stream.one("size", "a number of entities") for _ in range(4)]
    for dimension, count in enumerate(counts):
        box = 3 if dimension == 0 and not old else 6
        for _ in range(count):
            tag = stream.one("int", "an entity")
            if partitioned:
                stream.skip("int", 2, "a parent")
                stream.skip("int", stream.one("size", "the number of partitions"), "the partitions of an entity")
            stream.skip("double", box, "a box")
            groups = stream.take("int", stream.one("size", "the number of groups"), "group").tolist()
            if dimension:
                stream.skip("int", stream.one("size", "the number of bounds"), "the bounds of an entity")
            # a negative number of a group tells that the entity is turned round in it
            raw.entities[dimension, tag] = tuple(dict.fromkeys((dimension, abs(p)) for p in groups if p))
    stream.finish()


def read_nodes(raw: Raw, stream: Stream, *, old: bool) -> None:
    """Add the nodes, without the parameters on curves and surfaces that some have."""
    blocks = _blocks(stream, old)
    done = 0
    for _ in range(blocks):
        first, second, parametric = (stream.one("int", "the head of a block") for _ in range(3))
        count = stream.one("size", "the number of nodes in a block")
        dimension = second if old else first
        if not 0 <= dimension <= 3:
            raise stream.error(f"an entity has dimension 0, 1, 2 or 3, not {dimension}")
        width = 3 + (dimension if parametric else 0)
        fields: Fields = (("int", 1), ("double", width)) if old else (("double", width),)
        if count == 0:
            continue
        at = stream.at
        tags = None if old else stream.take("size", count, "node")
        end_of_tags = stream.at
        *before, points = stream.records(count, fields, "node")
        stride = ((stream.at if old else end_of_tags) - at) // count
        finite = np.isfinite(points[:, :3])
        if not finite.all():
            i = int(np.flatnonzero(~finite.all(axis=1))[0])
            raise stream.error("a coordinate is not finite", int(stream.where(count, fields)[i]), f"point {done + i}")
        raw.nodes.append(Nodes(before[0][:, 0] if tags is None else tags, points[:, :3], stream, at, stride))
        done += count
    stream.finish()


def read_elements(raw: Raw, stream: Stream, *, old: bool) -> None:
    """Add the elements; there may be as many blocks as elements, so that only the heads are read one by one."""
    kind = "int" if old else "size"
    heads: list[tuple[int, int, int, int]] = []  # where the elements begin, their number, type and part
    try:
        for _ in range(_blocks(stream, old)):
            at = stream.at
            first, second, code = (stream.one("int", "the head of a block") for _ in range(3))
            count = stream.one("size", "the number of elements in a block")
            if code not in SIZES:
                raise stream.error(refusal(code), at, "element block")
            heads.append((stream.at, count, code, raw.part_of((second, first) if old else (first, second))))
            stream.skip(kind, count * (1 + SIZES[code]), f"{count} {KINDS[code]}s")
        stream.finish()
    except MeshError:
        _check(stream, heads)  # a number too few or too many before this place explains it better
        raise
    _check(stream, heads)
    starts, counts, codes, parts = np.array(heads, np.int64).reshape(-1, 4).T
    for code in np.unique(codes).tolist():
        of = codes == code
        rows, where = stream.gather(kind, starts[of], counts[of], 1 + SIZES[code])
        block = Block(code, rows[:, 0], rows[:, 1:], np.repeat(parts[of], counts[of]), np.zeros(len(rows), bool), stream, where)
        raw.blocks.append(block)


def _check(stream: Stream, heads: list[tuple[int, int, int, int]]) -> None:
    """In text, an element is a line."""
    if isinstance(stream, Ascii):
        starts, counts, codes, _ = np.array(heads, np.int64).reshape(-1, 4).T
        stream.check_lines(starts, counts, 1 + np.array([SIZES[code] for code in codes.tolist()], np.int64))


def _blocks(stream: Stream, old: bool) -> int:
    """How many blocks there are; how many nodes or elements in all, and from which number to which, is said again by these."""
    blocks = stream.one("size", "the number of blocks")
    stream.skip("size", 1 if old else 3, "the head")
    return blocks


def read_section(raw: Raw, section: Section, stream: Stream, *, old: bool) -> None:
    """Add what one of the sections that this module knows says."""
    if section.name == "Nodes":
        read_nodes(raw, stream, old=old)
    elif section.name == "Elements":
        read_elements(raw, stream, old=old)
    else:
        read_entities(raw, stream, old=old, partitioned=section.name == "PartitionedEntities")
