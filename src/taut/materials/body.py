"""A body of springs: the mesh, its lattice, and the directions in which they are looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.materials.cells import Cells, vectors_of
from taut.materials.fit import Test, fit
from taut.materials.lattice import Lattice, lattice_of
from taut.materials.moduli import TIGHT, Moduli, described
from taut.materials.patches import Surface, patch_compliance
from taut.materials.plane import face_axes, plane_of
from taut.materials.stretch import Stretch
from taut.materials.tensors import embedded, inverse, squares
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]
Int = NDArray[np.int64]
C_NNNN = {2: 9 / 8, 3: 6 / 5}  # of isotropic springs with E = 1


@dataclass(frozen=True)
class Body:
    """Faces or solids with their springs."""

    mesh: Mesh
    cells: Cells
    lattice: Lattice
    axes: Float | None  # (d, 3): space for solids, its plane for a flat sheet; None for a curved one
    faces: Float | None  # (c, 2, 3): the axes of each face of a curved sheet

    @staticmethod
    def of(mesh: Mesh, cells: Cells, warp: Float | None) -> Body:
        """The body of a mesh, its first axis along the warp."""
        axes = plane_of(mesh, cells, warp) if cells.dimension == 2 else np.eye(3)
        faces = face_axes(mesh, cells, warp) if axes is None else None
        return Body(mesh, cells, lattice_of(mesh, cells), axes, faces)

    def guess(self, tensor: Float) -> Float:
        """Van Gelder's stiffnesses [N/m] for a tensor (s, s) in the body's axes: along a spring, C_nnnn stands for that of E."""
        q = squares(self._directions())
        along = np.einsum("ma,mab,mb->m", q, self._targets(tensor)[self._some_cell()], q, optimize=True)
        return self.lattice.guess * along / C_NNNN[self.cells.dimension]

    def fitted(self, guess: Float, tensor: Float) -> tuple[Float, Float | None]:
        """Stiffnesses [N/m] near a guess, for a tensor (s, s) in the body's axes, and displacements to begin a measurement with."""
        test = None
        if self.axes is not None:
            gradient = vectors_of(self.mesh.positions, self.cells.blocks).gradient(self.cells, self.mesh.n, self.axes)
            test = Test(self._stretch(), gradient, tensor)
        return fit(self.cells, self.lattice.share, self._directions(), self.lattice.length, guess, self._targets(tensor), test)

    def _directions(self) -> Float:
        """Of the springs, in the body's axes; in space for a curved sheet."""
        return self.lattice.direction if self.axes is None else self.lattice.direction @ self.axes.T

    def _targets(self, tensor: Float) -> Float:
        """The tensor of each cell, shape (c, s, s)."""
        return np.broadcast_to(tensor, (self.cells.many, *tensor.shape)) if self.faces is None else embedded(tensor, self.faces)

    def _some_cell(self) -> Int:
        """A cell of each spring, shape (m,)."""
        by_spring = self.lattice.share.tocsc()
        return by_spring.indices[by_spring.indptr[:-1]].astype(np.int64)

    def measured(self, k: Float, tensor: Float, start: Float | None = None) -> Moduli:
        """The moduli of these stiffnesses, in Pa for a solid and N/m for a sheet; begun at `start`, or where `tensor` would be."""
        ideal = inverse(tensor)
        if self.axes is None:
            assert self.faces is not None
            surface = Surface(self.mesh.positions, self.cells, self.lattice, self.faces)
            return described(patch_compliance(surface, k, ideal), self.faces[0])
        test = self._stretch()
        return described(test.compliance(test.relaxed(k, test.affine(ideal) if start is None else start, TIGHT)), self.axes)

    def _stretch(self) -> Stretch:
        assert self.axes is not None
        pull = vectors_of(self.mesh.positions, self.cells.blocks).pull(self.mesh.n) @ self.axes.T
        x = self.mesh.positions @ self.axes.T
        return Stretch(x, self.lattice.pairs, self._directions(), pull, float(self.cells.volume.sum()))
