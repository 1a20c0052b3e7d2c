"""`taut clean`: mend a mesh file, and say what was wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taut.errors import escape_unprintable


def clean(
    mesh: Annotated[Path, typer.Argument(metavar="MESH", help="A mesh file of any format.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the mesh to this file, which must not exist."),
    ] = None,
    weld: Annotated[
        float, typer.Option(help="Merge points this close together [m]; 0: those that coincide.")
    ] = 0.0,
    largest: Annotated[
        bool, typer.Option("--largest", help="Keep only the part with the most cells.")
    ] = False,
    orient: Annotated[
        bool, typer.Option("--orient", help="Turn faces so that neighbours agree.")
    ] = False,
    fill: Annotated[
        float | None,
        typer.Option(metavar="LENGTH", help="Fill with tetrahedra of this size [m]."),
    ] = None,
    scale: Annotated[float, typer.Option(help="Metres per unit of the file.")] = 1.0,
) -> None:
    """Mend a mesh file, and say what was wrong with it.

    Points are welded, cells without extent and unused points dropped, inverted solids reversed.
    Without --output it only says what is unusual about the mesh and what would be done.
    """
    from taut import mesh as meshes
    from taut.errors import MeshError
    from taut.mesh.diagnosis import diagnose

    original = meshes.read(mesh, scale=scale)
    done = meshes.clean(
        original, weld=weld, degenerate=True, inverted=True, largest=largest, unused=True
    )
    cleaned = meshes.oriented(done.mesh) if orient else done.mesh
    if fill is not None:
        cleaned = meshes.fill(cleaned, fill)
    print(f"{escape_unprintable(mesh.name)}: {original!r}")
    for name, mended in (("before", original), ("after", cleaned)):
        print(f"  {name}: {diagnose(mended)}")
    print(f"{done} -> {cleaned!r}")
    if output is None:
        return
    if output.exists():
        raise MeshError(f"{output}: the file already exists and is not changed; choose a new name")
    meshes.write(cleaned, output)
    print(f"wrote {output}")
