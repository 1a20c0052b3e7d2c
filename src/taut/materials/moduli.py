"""The moduli of given springs, measured by a stretch test on the mesh itself.

From the compliance S (`_stretch_test`) the modulus along a unit vector n is E(n) = 1/S_nnnn. The
mean over all directions is that of 1/E, S̄ = (S_iijj + 2 S_ijij)/(d(d+2)), and E = 1/S̄. The Poisson
ratio is that of the same mean, ν = (S̄ - S_iijj/d)/((d-1) S̄).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, to_floats
from taut.errors import ModelError
from taut.materials._arguments import check_mesh, check_pairs, check_positive, check_stiffness
from taut.materials._cells import (
    collect_cells,
    compute_corner_vectors,
    find_plane,
    project_onto,
    to_axes,
)
from taut.materials._stretch_test import TIGHT_TOLERANCE, StretchTest
from taut.materials._tensors import (
    ISOTROPIC_TRACE,
    compliance_along,
    dimension,
    extreme_moduli,
    invert,
    isotropic_tensor,
    mean_compliance,
    volumetric_compliance,
)
from taut.mesh.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Moduli:
    """The moduli of a body of springs [Pa]; of a sheet without its thickness times that [N/m].

    young : Young's modulus, mean over directions, of the body pulled by a stress on its boundary
    poisson : Poisson's ratio, mean over directions
    held : Young's modulus if the boundary is held to the displacements of a strain instead; None
        for a curved sheet
    softest, stiffest : Young's modulus in the direction where it is least, most; of a curved sheet
        the mean of its patches
    compliance : strain for each stress in an orthonormal basis, shape (s, s), s = 3 for a sheet and
        6 for a solid
    axes : the directions in space that this refers to, shape (d, 3), the first that of a warp; None
        for a curved sheet
    """

    young: float
    poisson: float
    held: float | None
    softest: float
    stiffest: float
    compliance: Float
    axes: Float | None

    @property
    def dimension(self) -> int:
        """2 for a sheet, 3 for a solid."""
        return dimension(self.compliance)

    @property
    def anisotropy(self) -> float:
        """(stiffest - softest) / young: 0 if all directions are alike."""
        return (self.stiffest - self.softest) / self.young

    @property
    def warp(self) -> float:
        """Young's modulus along the first axis: along the warp, if there is one."""
        return float(1 / self.compliance[0, 0])

    @property
    def weft(self) -> float:
        """Young's modulus along the second axis."""
        return float(1 / self.compliance[1, 1])

    @property
    def shear(self) -> float:
        """The shear modulus between the first two axes."""
        return float(1 / (2 * self.compliance[self.dimension, self.dimension]))

    def times(self, factor: float) -> Moduli:
        """Return the moduli of springs that are stiffer by a factor."""
        return replace(
            self,
            young=factor * self.young,
            held=None if self.held is None else factor * self.held,
            softest=factor * self.softest,
            stiffest=factor * self.stiffest,
            compliance=self.compliance / factor,
        )

    def along(self, direction: ArrayLike) -> float:
        """Return Young's modulus in a direction (3,); of a flat sheet, along its part in the plane.

        >>> import taut
        >>> from taut.materials import springs
        >>> sheet = taut.mesh.sheet(4, 4)
        >>> cloth = springs(sheet, membrane=(300.0, 100.0), warp=(1, 0, 0))
        >>> round(cloth.reached.along([0, 2, 0]), 4)
        100.0
        """
        if self.axes is None:
            raise ModelError(
                "a curved sheet has no modulus along a direction in space; "
                "use warp, weft, softest or stiffest"
            )
        try:
            n = to_floats(direction)
        except (TypeError, ValueError):
            n = np.zeros(0)
        if n.shape != (3,) or not 0 < np.linalg.norm(self.axes @ n) < np.inf:
            raise ModelError(
                "direction must be a vector (3,) that is not perpendicular to the sheet, "
                f"got {direction!r}"
            )
        n = self.axes @ n
        return float(1 / compliance_along(self.compliance, (n / np.linalg.norm(n))[None])[0])


def moduli(mesh: Mesh, pairs: ArrayLike, k: ArrayLike, *, thickness: float | None = None) -> Moduli:
    """Measure the moduli of springs on the solids of a mesh, or on its faces, which must be flat.

    pairs : the particles that springs join, shape (m, 2)
    k : their stiffness [N/m], one or (m,)
    thickness : of a sheet [m]; without it moduli are those times the thickness [N/m]

    >>> import taut
    >>> triangle = taut.mesh.Mesh([[0, 0], [1, 0], [0.5, 0.75**0.5]], {"triangle": [[0, 1, 2]]})
    >>> found = moduli(triangle, triangle.edges, 1.0)  # E·t = 4k/√3 and ν = 1/3
    >>> round(found.young, 6), round(found.poisson, 6), found.anisotropy < 1e-9
    (2.309401, 0.333333, True)
    """
    cells = collect_cells(check_mesh(mesh))
    if cells.dimension == 1:
        raise ModelError(
            "lines have no moduli of their own: "
            "a spring of stiffness k and length l is a bar with E·A = k·l"
        )
    axes: Float | None = np.eye(3)
    divisor = 1.0
    if thickness is not None:
        if cells.dimension == 3:
            raise ModelError("thickness does not apply to solids")
        divisor = check_positive(thickness, "thickness", "m")
    if cells.dimension == 2:
        axes = find_plane(mesh, cells)
    if axes is None:
        raise ModelError(
            "the faces are not flat: taut.materials.springs measures the moduli of a curved sheet, "
            "in patches"
        )
    pair = check_pairs(pairs, mesh)
    stiffness = check_stiffness(k, len(pair))
    between = to_axes(mesh.positions[pair[:, 1]] - mesh.positions[pair[:, 0]], axes)
    direction = between / np.linalg.norm(between, axis=1, keepdims=True)
    vectors = compute_corner_vectors(project_onto(mesh.positions, axes), cells.blocks)
    pull = to_axes(vectors.boundary_pull(mesh.n), axes)
    x = to_axes(mesh.positions, axes)
    test = StretchTest(x, pair, direction, pull, float(cells.volume.sum()))
    trace = float((stiffness * (between**2).sum(axis=1)).sum() / test.volume)
    guess = trace / ISOTROPIC_TRACE[cells.dimension]
    if not guess > 0:
        raise ModelError("at least one stiffness must be positive, got only 0")
    start = test.affine_displacements(invert(isotropic_tensor(guess, cells.dimension)))
    u = test.relax(stiffness, start, TIGHT_TOLERANCE)
    held = test.measure_held(stiffness, TIGHT_TOLERANCE)
    return describe_body(test.compliance(u), held, axes).times(1 / divisor)


def describe_body(compliance: Float, held: Float, axes: Float) -> Moduli:
    """Return the moduli of a compliance (s, s) and of the tensor (s, s) with the boundary held."""
    young, poisson = _average(compliance)
    least, most = extreme_moduli(compliance[None])
    return Moduli(
        young=young,
        poisson=poisson,
        held=1 / float(mean_compliance(invert(held))),
        softest=float(least[0]),
        stiffest=float(most[0]),
        compliance=compliance,
        axes=axes,
    )


def describe_patches(compliance: Float, weight: Float, has_warp: bool) -> Moduli:
    """Return the mean moduli of patches, compliances (p, s, s) with weights (p,).

    Along a warp the patches have a direction in common, and the mean keeps it. Without one only the
    two numbers S_iijj and S_ijij are common to all axes; they make an isotropic mean.
    """
    mean = np.einsum("p,pab->ab", weight, compliance)
    young, poisson = _average(mean)
    least, most = extreme_moduli(compliance)
    if not has_warp:
        mean = invert(isotropic_tensor(young, 2, poisson))
    return Moduli(
        young=young,
        poisson=poisson,
        held=None,
        softest=float((weight * least).sum()),
        stiffest=float((weight * most).sum()),
        compliance=mean,
        axes=None,
    )


def _average(compliance: Float) -> tuple[float, float]:
    """Return Young's modulus and Poisson's ratio, mean over all directions."""
    d = dimension(compliance)
    mean, volumetric = float(mean_compliance(compliance)), float(volumetric_compliance(compliance))
    return 1 / mean, (mean - volumetric / d) / ((d - 1) * mean)
