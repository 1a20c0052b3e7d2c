"""The moduli of springs as they are: measured by a stretch test on the mesh itself.

From the compliance S (`stretch`) the modulus along a unit vector n is E(n) = 1/S_nnnn. The mean over all directions is that of 1/E,
S̄ = (S_iijj + 2 S_ijij)/(d(d+2)), and E = 1/S̄. The Poisson ratio is that of the same mean, ν = (S̄ - S_iijj/d)/((d-1) S̄).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError
from taut.materials.arguments import a_mesh, pairs_of, positive, stiffnesses
from taut.materials.balance import TIGHT
from taut.materials.cells import cells_of, vectors_of
from taut.materials.directions import along, dimension, extremes, mean_along, volumetric
from taut.materials.plane import laid, plane_of, pressed
from taut.materials.stretch import Stretch
from taut.materials.tensors import TRACE, inverse, isotropic
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moduli:
    """What a body of springs has: moduli in Pa, or in N/m (modulus × thickness) for a sheet measured without its thickness.

    young : Young's modulus, mean over directions, of the body pulled by a stress on its boundary
    poisson : Poisson's ratio, mean over directions
    held : Young's modulus if the boundary is held to the displacements of a strain instead; None for a curved sheet
    softest, stiffest : Young's modulus in the direction where it is least, most; of a curved sheet the mean of its patches
    compliance : strain for each stress in an orthonormal basis, shape (s, s), s = 3 for a sheet and 6 for a solid
    axes : the directions in space that this refers to, shape (d, 3), the first that of a warp; None for a curved sheet
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
        """The moduli of springs that are stiffer by a factor."""
        return replace(
            self,
            young=factor * self.young,
            held=None if self.held is None else factor * self.held,
            softest=factor * self.softest,
            stiffest=factor * self.stiffest,
            compliance=self.compliance / factor,
        )

    def along(self, direction: ArrayLike) -> float:
        """Young's modulus in a direction, shape (3,), of the body; in a flat sheet its part in the plane counts.

        >>> import taut
        >>> sheet = taut.mesh.sheet(4, 4)
        >>> from taut.materials import springs
        >>> round(springs(sheet, membrane=(300.0, 100.0), warp=(1, 0, 0)).reached.along([0, 2, 0]), 4)
        100.0
        """
        if self.axes is None:
            raise ModelError("a direction in space is none in a curved sheet; it has warp and weft, softest and stiffest")
        try:
            n = np.asarray(direction, dtype=np.float64)
        except (TypeError, ValueError):
            n = np.zeros(0)
        if n.shape != (3,) or not 0 < np.linalg.norm(self.axes @ n) < np.inf:
            raise ModelError(f"a direction is a vector (3,) that does not stand on the sheet, not {direction!r}")
        n = self.axes @ n
        return float(1 / along(self.compliance, (n / np.linalg.norm(n))[None])[0])


def moduli(mesh: Mesh, pairs: ArrayLike, k: ArrayLike, *, thickness: float | None = None) -> Moduli:
    """The moduli of springs on the solids of a mesh, or on its faces, which must be flat.

    pairs : the particles that springs join, shape (m, 2)
    k : their stiffness [N/m], one or (m,)
    thickness : of a sheet [m]; without it moduli are those times the thickness [N/m]

    >>> import taut
    >>> triangle = taut.mesh.Mesh([[0, 0], [1, 0], [0.5, 0.75**0.5]], {"triangle": [[0, 1, 2]]})
    >>> found = moduli(triangle, triangle.edges, 1.0)  # E·t = 4k/√3 and ν = 1/3
    >>> round(found.young, 6), round(found.poisson, 6), found.anisotropy < 1e-9
    (2.309401, 0.333333, True)
    """
    cells = cells_of(a_mesh(mesh))
    if cells.dimension == 1:
        raise ModelError("lines have no moduli of their own: a spring of stiffness k and length l is a bar with E·A = k·l")
    if cells.dimension == 3 and thickness is not None:
        raise ModelError("thickness says nothing about solids")
    times = 1.0 if thickness is None else positive(thickness, "thickness", "m")
    axes = plane_of(mesh, cells) if cells.dimension == 2 else np.eye(3)
    if axes is None:
        raise ModelError("the faces are not flat: the moduli of a curved sheet are measured by taut.materials.springs, in patches")
    pair = pairs_of(pairs, mesh)
    stiffness = stiffnesses(k, len(pair))
    between = laid(mesh.positions[pair[:, 1]] - mesh.positions[pair[:, 0]], axes)
    direction = between / np.linalg.norm(between, axis=1, keepdims=True)
    pull = laid(vectors_of(pressed(mesh.positions, axes), cells.blocks).pull(mesh.n), axes)
    test = Stretch(laid(mesh.positions, axes), pair, direction, pull, float(cells.volume.sum()))
    guess = float((stiffness * (between**2).sum(axis=1)).sum() / test.volume) / TRACE[cells.dimension]
    if not guess > 0:
        raise ModelError("all stiffnesses are 0: there is nothing to stretch")
    u = test.relaxed(stiffness, test.affine(inverse(isotropic(guess, cells.dimension))), TIGHT)
    return described(test.compliance(u), test.held(stiffness, TIGHT), axes).times(1 / times)


def described(compliance: Float, held: Float, axes: Float) -> Moduli:
    """The moduli of a compliance (s, s), and of the tensor (s, s) with the boundary held."""
    young, poisson = _means(compliance)
    least, most = extremes(compliance[None])
    return Moduli(young, poisson, 1 / float(mean_along(inverse(held))), float(least[0]), float(most[0]), compliance, axes)


def in_patches(compliance: Float, weight: Float, warp: bool) -> Moduli:
    """The moduli of patches (p, s, s) with weights (p,): of their mean along a common warp, or of their isotropic mean."""
    mean = np.einsum("p,pab->ab", weight, compliance)
    young, poisson = _means(mean)
    least, most = extremes(compliance)
    kept = mean if warp else inverse(isotropic(young, 2, poisson))
    return Moduli(young, poisson, None, float((weight * least).sum()), float((weight * most).sum()), kept, None)


def _means(compliance: Float) -> tuple[float, float]:
    """Young's modulus and Poisson's ratio, mean over all directions."""
    d = dimension(compliance)
    mean, both = float(mean_along(compliance)), float(volumetric(compliance))
    return 1 / mean, (mean - both / d) / ((d - 1) * mean)
