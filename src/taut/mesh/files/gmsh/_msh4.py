"""Entities, nodes and elements of MSH 4.0 and 4.1.

Nodes and elements come in blocks, one for a geometric entity (a dimension and a number), and
physical groups consist of entities. 4.0 names an entity by number and dimension, 4.1 by dimension
and number; 4.0 has a node's tag before its position, 4.1 all tags of a block before its positions.
"""

from __future__ import annotations

import numpy as np

from taut.errors import MeshError
from taut.mesh.files.gmsh._sections import (
    KINDS,
    SIZES,
    Block,
    Nodes,
    Records,
    Section,
    explain_unknown_type,
)
from taut.mesh.files.gmsh._streams import Fields, Stream, TextStream


def _read_entities(records: Records, stream: Stream, *, old: bool, partitioned: bool) -> None:
    """Add the physical groups of each entity.

    old : MSH 4.0
    partitioned : the section is $PartitionedEntities
    """
    if partitioned:
        stream.take_int("size", "the number of partitions")
        stream.skip(
            "int", 2 * stream.take_int("size", "the number of ghost entities"), "the ghost entities"
        )
    counts = [stream.take_int("size", "a number of entities") for _ in range(4)]
    for dimension, count in enumerate(counts):
        box = 3 if dimension == 0 and not old else 6
        for _ in range(count):
            tag = stream.take_int("int", "an entity")
            if partitioned:
                stream.skip("int", 2, "a parent")
                stream.skip(
                    "int",
                    stream.take_int("size", "the number of partitions"),
                    "the partitions of an entity",
                )
            stream.skip("double", box, "a box")
            groups = stream.take(
                "int", stream.take_int("size", "the number of groups"), "group"
            ).tolist()
            if dimension:
                stream.skip(
                    "int",
                    stream.take_int("size", "the number of bounds"),
                    "the bounds of an entity",
                )
            # A negative number of a group means that the entity is reversed in it.
            records.entities[dimension, tag] = tuple(
                dict.fromkeys((dimension, abs(p)) for p in groups if p)
            )
    stream.check_end()


def _read_nodes(records: Records, stream: Stream, *, old: bool) -> None:
    """Add the nodes; parameters on curves and surfaces are not kept."""
    blocks = _take_block_count(stream, old)
    done = 0
    for _ in range(blocks):
        first, second, parametric = (
            stream.take_int("int", "the head of a block") for _ in range(3)
        )
        count = stream.take_int("size", "the number of nodes in a block")
        dimension = second if old else first
        if not 0 <= dimension <= 3:
            raise stream.error(f"the dimension of an entity must be 0, 1, 2 or 3, got {dimension}")
        width = 3 + (dimension if parametric else 0)
        fields: Fields = (("int", 1), ("double", width)) if old else (("double", width),)
        if count == 0:
            continue
        at = stream.at
        tags = None if old else stream.take("size", count, "node")
        end_of_tags = stream.at
        *before, points = stream.take_records(count, fields, "node")
        stride = ((stream.at if old else end_of_tags) - at) // count
        finite = np.isfinite(points[:, :3])
        if not finite.all():
            i = int(np.flatnonzero(~finite.all(axis=1))[0])
            raise stream.error(
                "coordinates must be finite",
                int(stream.find_places(count, fields)[i]),
                f"point {done + i}",
            )
        records.nodes.append(
            Nodes(before[0][:, 0] if tags is None else tags, points[:, :3], stream, at, stride)
        )
        done += count
    stream.check_end()


def _read_elements(records: Records, stream: Stream, *, old: bool) -> None:
    """Add the elements.

    A file may have as many blocks as elements: only their heads are read one by one.
    """
    kind = "int" if old else "size"
    # Where the elements of a block begin, their number, type and set of groups.
    heads: list[tuple[int, int, int, int]] = []
    try:
        for _ in range(_take_block_count(stream, old)):
            at = stream.at
            first, second, code = (stream.take_int("int", "the head of a block") for _ in range(3))
            count = stream.take_int("size", "the number of elements in a block")
            if code not in SIZES:
                raise stream.error(explain_unknown_type(code), at, "element block")
            heads.append(
                (
                    stream.at,
                    count,
                    code,
                    records.number_entity_groups((second, first) if old else (first, second)),
                )
            )
            stream.skip(kind, count * (1 + SIZES[code]), f"{count} {KINDS[code]}s")
        stream.check_end()
    except MeshError:
        _check_lines(stream, heads)  # a line with a number too few or too many explains it better
        raise
    _check_lines(stream, heads)
    starts, counts, codes, parts = np.array(heads, np.int64).reshape(-1, 4).T
    for code in np.unique(codes).tolist():
        of = codes == code
        rows, where = stream.gather(kind, starts[of], counts[of], 1 + SIZES[code])
        block = Block(
            code,
            rows[:, 0],
            rows[:, 1:],
            np.repeat(parts[of], counts[of]),
            np.zeros(len(rows), bool),
            stream,
            where,
        )
        records.blocks.append(block)


def _check_lines(stream: Stream, heads: list[tuple[int, int, int, int]]) -> None:
    """Raise for an element in text that is not a line."""
    if isinstance(stream, TextStream):
        starts, counts, codes, _ = np.array(heads, np.int64).reshape(-1, 4).T
        stream.check_lines(
            starts, counts, 1 + np.array([SIZES[code] for code in codes.tolist()], np.int64)
        )


def _take_block_count(stream: Stream, old: bool) -> int:
    """Return the number of blocks; totals and ranges of tags follow from the blocks themselves."""
    blocks = stream.take_int("size", "the number of blocks")
    stream.skip("size", 1 if old else 3, "the head")
    return blocks


def read_section(records: Records, section: Section, stream: Stream, *, old: bool) -> None:
    """Add the content of $Nodes, $Elements, $Entities or $PartitionedEntities of MSH 4."""
    if section.name == "Nodes":
        _read_nodes(records, stream, old=old)
    elif section.name == "Elements":
        _read_elements(records, stream, old=old)
    else:
        _read_entities(records, stream, old=old, partitioned=section.name == "PartitionedEntities")
