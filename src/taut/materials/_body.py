"""A body of springs: a mesh, its lattice, and the axes that its tensors refer to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from taut.arrays import Float, Int
from taut.materials._cells import (
    Cells,
    CornerVectors,
    compute_corner_vectors,
    face_axes,
    find_plane,
    project_onto,
    to_axes,
)
from taut.materials._fit import FitResult, StretchTrial, fit_stiffness
from taut.materials._lattice import Lattice, build_lattice
from taut.materials._patches import build_patches, measure_patches
from taut.materials._stretch_test import TIGHT_TOLERANCE, StretchTest, match_warp_and_weft
from taut.materials._tensors import dyads, embed, invert
from taut.materials.moduli import Moduli, describe_body, describe_patches
from taut.mesh.mesh import Mesh

_ISOTROPIC_C_NNNN = {2: 9 / 8, 3: 6 / 5}  # of isotropic springs with E = 1
# Body diagonals of hexes are tried if the fit without them has a larger error than the first
# number, and kept if they lower the error below this fraction of it: they add many springs.
_MAX_ERROR_WITHOUT_DIAGONALS = 1e-3
_MAX_ERROR_RATIO_WITH_DIAGONALS = 0.9


@dataclass(frozen=True)
class Body:
    """Faces or solids with their springs.

    axes : (d, 3): space for solids, its plane for a flat sheet; None for a curved one
    faces : (c, 2, 3): the axes of each face of a curved sheet; None for others
    """

    mesh: Mesh
    cells: Cells
    lattice: Lattice
    warp: Float | None
    axes: Float | None
    faces: Float | None

    @staticmethod
    def build(mesh: Mesh, cells: Cells, warp: Float | None) -> Body:
        """Build the body of a mesh, its first axis along the warp."""
        axes: Float | None = np.eye(3)
        faces = None
        if cells.dimension == 2:
            axes = find_plane(mesh, cells, warp)
            if axes is None:
                faces = face_axes(mesh, cells, warp)
        return Body(mesh, cells, build_lattice(mesh, cells), warp, axes, faces)

    def guess_stiffness(self, tensor: Float) -> Float:
        """Return Van Gelder's stiffnesses [N/m] for a tensor (s, s) in the body's axes.

        C_nnnn along a spring takes the place of the isotropic one.
        """
        q = dyads(self._directions())
        along = np.einsum("ma,mab,mb->m", q, self._cell_tensors(tensor)[self._pick_cell()], q)
        return self.lattice.guess * along / _ISOTROPIC_C_NNNN[self.cells.dimension]

    def fit(self, tensor: Float) -> tuple[Body, FitResult]:
        """Fit stiffnesses [N/m] to a tensor (s, s) in the body's axes.

        The body that is returned may have more springs.
        """
        fitted = self._fit(tensor)
        has_diagonals = any(kind.body_diagonals for kind, _ in self.cells.blocks)
        if fitted.error < _MAX_ERROR_WITHOUT_DIAGONALS or not has_diagonals:
            return self, fitted
        lattice = build_lattice(self.mesh, self.cells, body_diagonals=True)
        extended = replace(self, lattice=lattice)
        better = extended._fit(tensor)
        if better.error < _MAX_ERROR_RATIO_WITH_DIAGONALS * fitted.error:
            return extended, better
        return self, fitted

    def _fit(self, tensor: Float) -> FitResult:
        trial = None
        if self.axes is not None:
            gradient = self._corner_vectors(self.axes).gradient(self.cells, self.mesh.n, self.axes)
            trial = StretchTrial(self._stretch_test(), gradient, tensor)
        return fit_stiffness(
            self.cells,
            self.lattice.share,
            self._directions(),
            self.lattice.length,
            self.guess_stiffness(tensor),
            self._cell_tensors(tensor),
            trial,
        )

    def match_warp_and_weft(
        self, k: Float, moduli: tuple[float, float], start: Float | None
    ) -> Float:
        """Return stiffnesses for which a flat sheet has these moduli along its axes, if it can.

        Those of a curved sheet are returned unchanged.
        """
        if self.axes is None or start is None:
            return k
        return match_warp_and_weft(self._stretch_test(), k, self._directions(), moduli, start)

    def measure(self, k: Float, tensor: Float, start: Float | None = None) -> Moduli:
        """Measure the moduli of stiffnesses k (m,): in Pa of a solid, in N/m of a sheet.

        start : displacements to start from (default: those of a continuum with the tensor)
        """
        if self.axes is None:
            patches = build_patches(self.mesh, self.cells, self.warp)
            measured = measure_patches(patches, self.cells, self.lattice, k)
            return describe_patches(measured.compliance, measured.weight, self.warp is not None)
        test = self._stretch_test()
        if start is None:
            start = test.affine_displacements(invert(tensor))
        u = test.relax(k, start, TIGHT_TOLERANCE)
        return describe_body(test.compliance(u), test.measure_held(k, TIGHT_TOLERANCE), self.axes)

    def _directions(self) -> Float:
        """Return the directions of the springs in the body's axes; in space for a curved sheet."""
        if self.axes is None:
            return self.lattice.direction
        along = to_axes(self.lattice.direction, self.axes)
        return along / np.linalg.norm(along, axis=1, keepdims=True)

    def _cell_tensors(self, tensor: Float) -> Float:
        """Return the tensor of each cell, (c, s, s)."""
        if self.faces is None:
            return np.broadcast_to(tensor, (self.cells.total, *tensor.shape))
        return embed(tensor, self.faces)

    def _pick_cell(self) -> Int:
        """Return a cell of each spring, (m,)."""
        by_spring = self.lattice.share.tocsc()
        return by_spring.indices[by_spring.indptr[:-1]].astype(np.int64)

    def _corner_vectors(self, axes: Float) -> CornerVectors:
        return compute_corner_vectors(project_onto(self.mesh.positions, axes), self.cells.blocks)

    def _stretch_test(self) -> StretchTest:
        assert self.axes is not None
        pull = to_axes(self._corner_vectors(self.axes).boundary_pull(self.mesh.n), self.axes)
        x = to_axes(self.mesh.positions, self.axes)
        volume = float(self.cells.volume.sum())
        return StretchTest(x, self.lattice.pairs, self._directions(), pull, volume)
