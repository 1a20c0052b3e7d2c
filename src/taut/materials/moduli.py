"""The moduli of springs as they are: measured by a stretch test on the mesh itself.

From the compliance S (`stretch`) the modulus along a unit vector n is E(n) = 1/S_nnnn. The mean over all directions is that of 1/E,
S̄ = (S_iijj + 2 S_ijij)/(d(d+2)), and E = 1/S̄. The Poisson ratio is that of the same mean, ν = (S̄ - S_iijj/d)/((d-1) S̄).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError
from taut.materials.cells import cells_of, vectors_of
from taut.materials.plane import plane_of
from taut.materials.stretch import Stretch
from taut.materials.tensors import basis, inverse, isotropic, squares
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]
Int = NDArray[np.int64]
TIGHT = 1e-6  # residual of the stretch test, of the load


@dataclass(frozen=True)
class Moduli:
    """What a body of springs has: moduli in Pa, or in N/m (modulus × thickness) for a sheet measured without its thickness.

    young : Young's modulus, mean over directions
    poisson : Poisson's ratio, mean over directions
    softest, stiffest : Young's modulus in the direction where it is least, most
    compliance : strain for each stress in an orthonormal basis, shape (s, s), s = 3 for a sheet and 6 for a solid
    axes : the directions in space that this refers to, shape (d, 3)
    """

    young: float
    poisson: float
    softest: float
    stiffest: float
    compliance: Float
    axes: Float

    @property
    def anisotropy(self) -> float:
        """(stiffest - softest) / young: 0 if all directions are alike."""
        return (self.stiffest - self.softest) / self.young

    def times(self, factor: float) -> Moduli:
        """The moduli of springs that are stiffer by a factor."""
        scaled = (factor * value for value in (self.young, self.softest, self.stiffest))
        young, softest, stiffest = scaled
        return Moduli(young, self.poisson, softest, stiffest, self.compliance / factor, self.axes)

    def along(self, direction: ArrayLike) -> float:
        """Young's modulus in a direction, shape (3,), of the body; in a sheet its part in the plane counts.

        >>> import taut
        >>> sheet = taut.mesh.sheet(4, 4)
        >>> from taut.materials import springs
        >>> round(springs(sheet, membrane=(300.0, 100.0), warp=(1, 0, 0)).reached.along([0, 2, 0]), 4)
        100.0
        """
        n = np.asarray(direction, dtype=np.float64)
        if n.shape != (3,) or not np.linalg.norm(self.axes @ n) > 0:
            raise ModelError(f"a direction is a vector (3,) that does not stand on the sheet, not {direction!r}")
        n = self.axes @ n
        return float(_young(self.compliance, (n / np.linalg.norm(n))[None])[0])


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
    cells = cells_of(mesh)
    if cells.dimension == 1:
        raise ModelError("lines have no moduli of their own: a spring of stiffness k and length l is a bar with E·A = k·l")
    axes = plane_of(mesh, cells) if cells.dimension == 2 else np.eye(3)
    if axes is None:
        raise ModelError("the faces are not flat: the moduli of a curved sheet are measured by taut.materials.springs, in patches")
    pair = np.asarray(pairs, dtype=np.int64)
    along = (mesh.positions[pair[:, 1]] - mesh.positions[pair[:, 0]]) @ axes.T
    direction = along / np.linalg.norm(along, axis=1, keepdims=True)
    pull = vectors_of(mesh.positions, cells.blocks).pull(mesh.n) @ axes.T
    test = Stretch(mesh.positions @ axes.T, pair, direction, pull, float(cells.volume.sum()))
    stiffness = np.broadcast_to(np.asarray(k, dtype=np.float64), len(pair))
    guess = float((stiffness * (along**2).sum(axis=1)).sum() / test.volume) / (3 if cells.dimension == 2 else 6)
    u = test.relaxed(stiffness, test.affine(inverse(isotropic(guess, cells.dimension))), TIGHT)
    return described(test.compliance(u) * (1.0 if thickness is None else thickness), axes)


def described(compliance: Float, axes: Float) -> Moduli:
    """The moduli of a compliance."""
    d = len(axes)
    trace = np.einsum("aii->a", basis(d))
    both = float(trace @ compliance @ trace)
    mean = (both + 2 * float(np.trace(compliance))) / (d * (d + 2))
    young = _young(compliance, _directions(d))
    return Moduli(1 / mean, (mean - both / d) / ((d - 1) * mean), float(young.min()), float(young.max()), compliance, axes)


def _young(compliance: Float, n: Float) -> Float:
    """E along unit vectors (m, d)."""
    q = squares(n)
    return 1 / np.einsum("ma,ab,mb->m", q, compliance, q)


def _directions(d: int) -> Float:
    """Unit vectors all over the half circle or half sphere."""
    if d == 2:
        angle = np.linspace(0, np.pi, 360, endpoint=False)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    i = np.arange(2000)
    height, turn = (i + 0.5) / len(i), i * np.pi * (3 - np.sqrt(5))
    radius = np.sqrt(1 - height**2)
    return np.concatenate([np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1), np.eye(3)])
