"""Mesh files: one module or folder per format, and the table of file name extensions.

| module | format |
|---|---|
| `obj/` `ply/` `off` `stl` `glb/` | surfaces: Wavefront OBJ, Stanford PLY, OFF, STL, binary glTF |
| `gmsh/` `vtk/` `vtu/` `medit` `tetgen` | volumes: Gmsh MSH, legacy VTK, VTK XML, Medit, TetGen |
| `meshlane` | formats that the package meshlane reads (Abaqus, Nastran, …) |
| `text_reader` | lines or words of a text file, with the line number for errors |
| `numbers` | numbers in text and in bytes: parse, format, `ByteReader` |
| `cells_and_groups` | cells, groups and data: by kind in a Mesh, in one list in a file |

To add a format, write a module here with

- `read(path, data)`, which makes a `Mesh` of the bytes of a file (raise `MeshError` with path, line
  and element; log what a Mesh cannot hold; repair nothing),
- `write(mesh)`, which returns the bytes of a file, or {extension: bytes} for several,
- `NAME`, what messages call the format; `CELLS`, the kinds of cell that it can hold ("polygon" for
  polygons of any size); `KEEPS`, which of "groups", "point_data", "cell_data", "uv" it keeps
  (patterns such as "point_data.color" are possible), or a function `find_kept_parts(mesh)`,

then add its extension to `FORMATS` and the first bytes of its files to `SIGNATURES` below. `off.py`
is a short example. `taut.mesh.read` and `taut.mesh.write` call the rest.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from taut.errors import MeshError, did_you_mean

# Extension → module of this folder.
FORMATS = {
    ".obj": "obj",
    ".ply": "ply",
    ".stl": "stl",
    ".off": "off",
    ".vtk": "vtk",
    ".vtu": "vtu",
    ".msh": "gmsh",
    ".mesh": "medit",
    ".node": "tetgen",
    ".ele": "tetgen",
    ".glb": "glb",
}
# fmt: off
MESHLANE_EXTENSIONS = (
    ".inp", ".cdb", ".bdf", ".nas", ".fem", ".med", ".xdmf", ".xmf", ".e", ".exo",
    ".ex2", ".cgns", ".su2", ".ugrid", ".avs", ".vol", ".mdpa", ".f3grid", ".meshb", ".tec",
)
# fmt: on
EXTENSIONS = (*FORMATS, *MESHLANE_EXTENSIONS)
# First bytes of a file → extension: a hint for files with a wrong extension.
SIGNATURES = {
    b"ply\n": ".ply",
    b"ply\r": ".ply",
    b"solid ": ".stl",
    b"OFF": ".off",
    b"COFF": ".off",
    b"NOFF": ".off",
    b"# vtk DataFile": ".vtk",
    b"<VTKFile": ".vtu",
    b"<?xml": ".vtu",
    b"$MeshFormat": ".msh",
    b"MeshVersionFormatted": ".mesh",
    b"glTF": ".glb",
}


def load_format(file: Path) -> ModuleType:
    """Import the module that reads and writes files with this extension."""
    extension = file.suffix.lower()
    if extension in MESHLANE_EXTENSIONS:
        return import_module("taut.mesh.files.meshlane")
    if extension not in FORMATS:
        known = ", ".join(EXTENSIONS)
        hint = did_you_mean(extension, FORMATS)
        raise MeshError(
            f"the extension must be one of {known}, got '{file.suffix}'{hint}", path=file
        )
    return import_module(f"taut.mesh.files.{FORMATS[extension]}")
