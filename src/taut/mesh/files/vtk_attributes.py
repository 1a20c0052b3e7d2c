"""What a legacy VTK file says of points and cells: SCALARS, VECTORS…, FIELD.

Each is an array with a name. Look-up tables, strings and fields of the whole data set are read past and named in `left_out`.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from taut.mesh.files.text import shown
from taut.mesh.files.vtk_arrays import MOST, Arrays
from taut.mesh.files.vtk_cursor import Cursor

# keyword → numbers for each point or cell
_WIDTH = {"VECTORS": 3, "NORMALS": 3, "TENSORS": 9, "TENSORS6": 6, "GLOBAL_IDS": 1, "PEDIGREE_IDS": 1, "EDGE_FLAGS": 1}
KEYWORDS = frozenset({*_WIDTH, "SCALARS", "COLOR_SCALARS", "LOOKUP_TABLE", "TEXTURE_COORDINATES", "FIELD"})


def attribute(cursor: Cursor, keyword: str, rows: int | None, what: str, arrays: Arrays, left_out: list[str]) -> None:
    """Read what follows a keyword into `arrays`; `rows` is the number of points or cells, None for the data set itself.

    >>> from pathlib import Path
    >>> found = {}
    >>> attribute(Cursor(Path("a.vtk"), b"T float\\nLOOKUP_TABLE default\\n1 2"), "SCALARS", 2, "point", found, [])
    >>> found
    {'T': array([1., 2.], dtype=float32)}
    """
    if keyword == "FIELD":
        _field(cursor, rows, what, arrays, left_out)
        return
    if rows is None:
        raise cursor.error(f"{keyword} stands before POINT_DATA or CELL_DATA")
    name = _name(cursor)
    if keyword == "LOOKUP_TABLE":
        cursor.numbers("float" if cursor.ascii else "unsigned_char", cursor.count("colours"), 4, "colour")
        left_out.append(f"look-up table '{name}'")
        return
    width = _WIDTH.get(keyword, 1)
    if keyword == "COLOR_SCALARS":
        width = _components(cursor, cursor.word("the number of components"))
        type_ = "float" if cursor.ascii else "unsigned_char"
    elif keyword == "TEXTURE_COORDINATES":
        width = _components(cursor, cursor.word("the number of components"))
        type_ = cursor.type()
    else:
        type_ = cursor.type()
    if keyword == "SCALARS":
        width = _components(cursor, (cursor.rest_of_line() or [b"1"])[0])
        cursor.keyword("LOOKUP_TABLE")
        cursor.word("the name of a look-up table")
    _array(cursor, name, type_, (rows, width), what, arrays, left_out)


def _field(cursor: Cursor, rows: int | None, what: str, arrays: Arrays, left_out: list[str]) -> None:
    """FIELD name k, then k times: name components rows type numbers."""
    cursor.word("the name of a field")
    for _ in range(cursor.count("arrays")):
        while cursor.peek() == "METADATA":
            cursor.skip_paragraph()
        name = _name(cursor)
        if name == "NULL_ARRAY":
            continue
        width, count = _components(cursor, cursor.word("the number of components")), cursor.count("rows")
        if rows is not None and count != rows:
            raise cursor.error(f"the array '{name}' has {count} rows; there are {rows} {what}s")
        _array(cursor, name, cursor.type(), (count, width), what if rows is not None else "row", arrays, left_out)
        if rows is None:
            left_out.append(f"field '{name}'")


def _array(cursor: Cursor, name: str, type_: str, shape: tuple[int, int], what: str, arrays: Arrays, left_out: list[str]) -> None:
    """Read rows × width numbers into `arrays`, or go past as many strings."""
    if type_ == "string":
        cursor.skip_strings(shape[0] * shape[1])
        left_out.append(f"strings '{name}'")
        return
    if name in arrays:
        raise cursor.error(f"there are two arrays called '{name}'")
    if len(arrays) == MOST:
        raise cursor.error(f"there are more than {MOST} arrays on {what}s; leave some out")
    values = cursor.numbers(type_, *shape, what).values
    arrays[name] = values if shape[1] == 1 else values.reshape(shape)


def _name(cursor: Cursor) -> str:
    """The next word as a name; characters that a word cannot have are written as %20."""
    return unquote_to_bytes(cursor.word("the name of an array")).decode("utf-8", "backslashreplace")


def _components(cursor: Cursor, word: bytes) -> int:
    """A word as a number of components, at least one."""
    width = cursor.as_count(word, "components")
    if not width:
        raise cursor.error(f"{shown(b'0')} is no number of components")
    return width
