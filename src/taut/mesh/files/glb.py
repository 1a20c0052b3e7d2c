"""Binary glTF 2.0: the triangles and lines of a scene.

All meshes of the scene are placed where their nodes stand and become one mesh; nothing is welded. The names of meshes and of their
nodes become groups, COLOR_0 becomes the point data "color", and an attribute "_NAME" the point data "name". Texture coordinates
count upwards from the bottom, as in other formats, where glTF counts downwards. Faces of a mirrored node are turned, so that they
still face outwards. Normals and materials are left out. Skins, animations, morph targets and other attributes are left out with a
line on the log, so that a mesh has the shape it was stored with. glTF stores floats of 32 bits: positions and data keep 7 digits.
"""

from __future__ import annotations

import logging
from pathlib import Path

from taut.mesh.files.glb_build import Builder
from taut.mesh.files.glb_document import Document
from taut.mesh.files.glb_nodes import placed
from taut.mesh.files.glb_topology import KINDS
from taut.mesh.files.glb_write import packed
from taut.mesh.mesh import Mesh

NAME = "GLB"
CELLS = KINDS
KEEPS = frozenset({"groups", "point_data", "uv"})

_log = logging.getLogger("taut")
_SHOWN = 20  # names on the log


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a file.

    >>> made = write(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], {"triangle": [[0, 1, 2]], "line": [[0, 1]]}))
    >>> read(Path("made.glb"), made)
    Mesh(3 points, 1 line, 1 triangle)
    """
    document = Document(path, data)
    builder = Builder(document)
    for mesh in placed(document):
        builder.add(mesh)
    if builder.left_out:
        names, more = [name[:40] for name in builder.left_out], len(builder.left_out) - _SHOWN
        _log.info("%s: left out: %s%s", path, ", ".join(names[:_SHOWN]), f" and {more} more" if more > 0 else "")
    return builder.mesh()


def write(mesh: Mesh) -> bytes:
    """The mesh as GLB, with floats of 32 bits. Points in the plane get z = 0.

    glTF has one texture coordinate per point: where corners of one point disagree the point is split. The points keep their order,
    and the copies follow after them, with their data and groups. A corner without texture coordinate takes that of another corner
    of its point, or (0, 0). Groups are noted under "extras", which other programs pass over. Data that are not finite everywhere
    are left out, since glTF forbids them, and named on the log.

    >>> from taut.mesh.parts import UV
    >>> seam = UV([[0, 0], [1, 0], [0, 1], [1, 1]], {"triangle": [[0, 1, 2], [3, 2, 1]]})
    >>> square = Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2], [0, 2, 1]]}, uv=seam)
    >>> read(Path("seam.glb"), write(square)).cells["triangle"].tolist()
    [[0, 1, 2], [3, 2, 1]]
    """
    return packed(mesh)
