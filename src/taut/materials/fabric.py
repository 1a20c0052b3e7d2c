"""A named fabric on a mesh: the parameters of its laws, and its masses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float
from taut.errors import ModelError, did_you_mean
from taut.materials._arguments import check_mesh
from taut.materials._warp import find_warp
from taut.materials.bending import bending
from taut.materials.fabric_table import FABRICS, FabricSample
from taut.mesh.measure import measures, share_among_corners
from taut.mesh.mesh import Mesh
from taut.tables import format_table


@dataclass(frozen=True, eq=False)
class Fabric:
    """A fabric on a mesh. Printed, it shows the properties and which of them were measured.

    sample : the fabric of the table
    membrane : keywords of `laws.orthotropic_membrane(mesh.triangles, **fabric.membrane)`; the
        modulus stands for its product with the thickness, which is 1
    bending : c of `laws.shell_bending(mesh.hinges, c=fabric.bending)` [J]; 0 where no two faces
        share an edge
    barrier : k of `laws.area_barrier(mesh.triangles, k=fabric.barrier)` [N/m], which keeps
        triangles from collapsing under their hinges
    mass : of the particles [kg], (n,)
    warp : unit vectors along the warp, one per triangle, (t, 3)
    """

    sample: FabricSample
    membrane: Mapping[str, Any]
    bending: float
    barrier: float
    mass: Float
    warp: Float

    def __repr__(self) -> str:
        return f"Fabric({self.sample.name}, {self.mass.sum():.4g} kg)"

    def __str__(self) -> str:
        return describe_fabric(self.sample)


def fabric(name: str, mesh: Mesh, *, warp: ArrayLike | str | None = None) -> Fabric:
    """Return a fabric of the table on the faces of a mesh.

    name : cotton, denim, silk, wool, jersey, leather, paper, rubber or felt
    mesh : with faces, which are cut into triangles
    warp : direction of the warp, a vector (3,), one per triangle (t, 3), or the name of a vector
        map of the points, or of three maps that end in _x, _y and _z; its part in the plane of each
        triangle counts (default: v of the texture coordinates). Leather, paper, rubber and felt
        need none

    >>> import taut
    >>> from taut import laws
    >>> sheet = taut.mesh.sheet(12, 12, size=0.3)
    >>> denim = fabric("denim", sheet, warp=(0, 1, 0))
    >>> denim
    Fabric(denim, 0.02916 kg)
    >>> cloth = taut.System(
    ...     sheet.points,
    ...     mass=denim.mass,
    ...     fixed=sheet.corners("top"),
    ...     energies=[
    ...         laws.orthotropic_membrane(sheet.triangles, **denim.membrane),
    ...         laws.shell_bending(sheet.hinges, c=denim.bending),
    ...         laws.area_barrier(sheet.triangles, k=denim.barrier),
    ...         laws.gravity(),
    ...     ],
    ... )
    """
    sample = find_fabric(name)
    if not len(check_mesh(mesh).triangles):
        raise ModelError("a fabric needs faces, and the mesh has none")
    if warp is None and mesh.uv is None and sample.is_isotropic:
        # No direction differs from another, but the law needs one: along the first edge.
        first, second = mesh.positions[mesh.triangles[:, :2]].transpose(1, 0, 2)
        warp = second - first
    directions = find_warp(mesh, warp)
    directions.setflags(write=False)
    mass = np.zeros(mesh.n)
    for kind, faces in mesh.blocks(2):
        area = measures(mesh.positions, faces, kind)
        mass += share_among_corners(sample.areal_density * area, faces, mesh.n)
    mass.setflags(write=False)
    return Fabric(
        sample,
        {
            "warp_young": sample.membrane[0],
            "weft_young": sample.membrane[1],
            "poisson": sample.poisson,
            "shear": sample.shear,
            "thickness": 1.0,
            "warp": directions,
        },
        bending(mesh, sample.rigidity) if len(mesh.hinges) else 0.0,
        float(np.sqrt(sample.membrane[0] * sample.membrane[1])),
        mass,
        directions,
    )


def find_fabric(name: str) -> FabricSample:
    """Return the fabric of this name; raise ModelError if the table has none."""
    if not isinstance(name, str) or name not in FABRICS:
        raise ModelError(
            f"the table has no fabric '{name}'{did_you_mean(str(name), FABRICS)}; "
            f"it has {', '.join(FABRICS)}"
        )
    return FABRICS[name]


def describe_fabric(sample: FabricSample) -> str:
    """Return a table of the properties of a fabric, and which of them were measured."""
    properties = [
        ("weight [g/m²]", "areal_density", 1e3 * sample.areal_density),
        ("modulus × thickness, warp [N/m]", "membrane", sample.membrane[0]),
        ("modulus × thickness, weft [N/m]", "membrane", sample.membrane[1]),
        ("shear modulus × thickness [N/m]", "shear", sample.shear),
        ("Poisson's ratio", "poisson", sample.poisson),
        ("bending rigidity [µJ]", "rigidity", 1e6 * sample.rigidity),
        ("bending length [mm]", "rigidity", 1e3 * sample.bending_length),
    ]
    if sample.thickness is not None:
        properties.append(("thickness [mm]", "thickness", 1e3 * sample.thickness))
    rows = [
        (what, f"{value:.4g}", "measured" if key in sample.measured else "estimate")
        for what, key, value in properties
    ]
    if sample.drape is not None:
        low, high = sample.drape
        rows.append(("drape coefficient [%]", f"{100 * low:.4g} to {100 * high:.4g}", "published"))
    lines = format_table([f"{sample.name}: {sample.what}", "", ""], rows)
    return "\n".join([lines, *(f"source: {source}" for source in sample.sources)])
