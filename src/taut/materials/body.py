"""A body of springs: the mesh, its lattice, and the directions in which they are looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from taut.materials.balance import TIGHT
from taut.materials.cells import Cells, Vectors, vectors_of
from taut.materials.curved import patch_compliances
from taut.materials.fit import Fitted, Trial, fit
from taut.materials.lattice import Lattice, lattice_of
from taut.materials.moduli import Moduli, described, in_patches
from taut.materials.patches import patches_of
from taut.materials.plane import face_axes, laid, plane_of, pressed
from taut.materials.stretch import Stretch
from taut.materials.tensors import embedded, inverse, squares
from taut.materials.woven import turned_to
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]
Int = NDArray[np.int64]
C_NNNN = {2: 9 / 8, 3: 6 / 5}  # of isotropic springs with E = 1
BETTER = 0.9  # of the error: what the diagonals through hexes must gain to be worth their number
NO_CUBES = 1e-3  # error of the fit beyond which they are tried


@dataclass(frozen=True)
class Body:
    """Faces or solids with their springs."""

    mesh: Mesh
    cells: Cells
    lattice: Lattice
    warp: Float | None
    axes: Float | None  # (d, 3): space for solids, its plane for a flat sheet; None for a curved one
    faces: Float | None  # (c, 2, 3): the axes of each face of a curved sheet

    @staticmethod
    def of(mesh: Mesh, cells: Cells, warp: Float | None) -> Body:
        """The body of a mesh, its first axis along the warp."""
        axes = plane_of(mesh, cells, warp) if cells.dimension == 2 else np.eye(3)
        faces = face_axes(mesh, cells, warp) if axes is None else None
        return Body(mesh, cells, lattice_of(mesh, cells), warp, axes, faces)

    def guess(self, tensor: Float) -> Float:
        """Van Gelder's stiffnesses [N/m] for a tensor (s, s) in the body's axes: along a spring, C_nnnn stands for that of E."""
        q = squares(self._directions())
        along = np.einsum("ma,mab,mb->m", q, self._targets(tensor)[self._some_cell()], q)
        return self.lattice.guess * along / C_NNNN[self.cells.dimension]

    def fitted(self, tensor: Float) -> tuple[Body, Fitted]:
        """Stiffnesses [N/m] for a tensor (s, s) in the body's axes, and the body itself, which may have more springs now."""
        found = self._fit(tensor)
        if found.error < NO_CUBES or not any(kind.body_diagonals for kind, _ in self.cells.blocks):
            return self, found
        more = replace(self, lattice=lattice_of(self.mesh, self.cells, body=True))
        better = more._fit(tensor)
        return (more, better) if better.error < BETTER * found.error else (self, found)

    def _fit(self, tensor: Float) -> Fitted:
        trial = None
        if self.axes is not None:
            gradient = self._vectors(self.axes).gradient(self.cells, self.mesh.n, self.axes)
            trial = Trial(self._stretch(), gradient, tensor)
        lattice, target = self.lattice, self._targets(tensor)
        return fit(self.cells, lattice.share, self._directions(), lattice.length, self.guess(tensor), target, trial)

    def turned_to(self, k: Float, moduli: tuple[float, float], start: Float | None) -> Float:
        """Stiffnesses for which a flat sheet has these moduli along its axes, if it can; those of a curved one as they are."""
        if self.axes is None or start is None:
            return k
        return turned_to(self._stretch(), k, self._directions(), moduli, start)

    def _directions(self) -> Float:
        """Of the springs, in the body's axes; in space for a curved sheet."""
        if self.axes is None:
            return self.lattice.direction
        along = laid(self.lattice.direction, self.axes)
        return along / np.linalg.norm(along, axis=1, keepdims=True)

    def _targets(self, tensor: Float) -> Float:
        """The tensor of each cell, shape (c, s, s)."""
        return np.broadcast_to(tensor, (self.cells.many, *tensor.shape)) if self.faces is None else embedded(tensor, self.faces)

    def _some_cell(self) -> Int:
        """A cell of each spring, shape (m,)."""
        by_spring = self.lattice.share.tocsc()
        return by_spring.indices[by_spring.indptr[:-1]].astype(np.int64)

    def measured(self, k: Float, tensor: Float, start: Float | None = None) -> Moduli:
        """The moduli of these stiffnesses, in Pa for a solid and N/m for a sheet; begun at `start`, or where `tensor` would be."""
        if self.axes is None:
            patches = patches_of(self.mesh, self.cells, self.warp)
            local = patch_compliances(patches, self.cells, self.lattice, k)
            return in_patches(local.compliance, local.weight, self.warp is not None)
        test = self._stretch()
        u = test.relaxed(k, test.affine(inverse(tensor)) if start is None else start, TIGHT)
        return described(test.compliance(u), test.held(k, TIGHT), self.axes)

    def _vectors(self, axes: Float) -> Vectors:
        return vectors_of(pressed(self.mesh.positions, axes), self.cells.blocks)

    def _stretch(self) -> Stretch:
        assert self.axes is not None
        pull = laid(self._vectors(self.axes).pull(self.mesh.n), self.axes)
        x = laid(self.mesh.positions, self.axes)
        return Stretch(x, self.lattice.pairs, self._directions(), pull, float(self.cells.volume.sum()))
