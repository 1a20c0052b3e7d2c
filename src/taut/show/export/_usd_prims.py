"""Prims of USD whose points, and where something tears whose cells, are set frame by frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int, Single
from taut.extras import import_extra
from taut.mesh.mesh import Mesh
from taut.show.export._bodies import list_polygons
from taut.show.export._tearing import TornCells, is_same
from taut.show.smooth_normals import SmoothNormals
from taut.show.visual_model import VisualBody

_RELATIVE_WIDTH = 0.005  # of lines and points, relative to the size of their body


@dataclass(frozen=True, eq=False)
class Usd:
    """The modules of USD that prims need."""

    geom: Any
    sdf: Any
    vt: Any

    @staticmethod
    def load() -> Usd:
        """Import them."""
        return Usd(*(import_extra("usd", f"pxr.{name}", "USD files") for name in _MODULES))

    def ints(self, values: NDArray[Any]) -> Any:
        """Return an array of 32-bit integers."""
        return self.vt.IntArray.FromNumpy(np.ascontiguousarray(values, dtype=np.int32))

    def vectors(self, values: NDArray[Any]) -> Any:
        """Return an array of vectors, (n, 3)."""
        return self.vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float32))


_MODULES = ("UsdGeom", "Sdf", "Vt")


class BodyPrim:
    """A prim with the points of a body.

    prim : of the class `kind` of UsdGeom; subset : its points among those of the body, or None for
        all; margin : of its extent around the points [m]
    """

    kind: str

    def __init__(self, usd: Usd, stage: Any, path: str, piece: VisualBody) -> None:
        self.usd, self.piece = usd, piece
        self.prim = getattr(usd.geom, self.kind).Define(stage, path)
        self.subset: Int | None = None
        self.margin = 0.0
        self._torn: TornCells | None = None
        self._points = self.prim.CreatePointsAttr()
        self._velocities = self.prim.CreateVelocitiesAttr()
        self._extent = self.prim.CreateExtentAttr()
        size = float(np.linalg.norm(np.ptp(piece.mesh.positions, axis=0)))
        self.width = _RELATIVE_WIDTH * (size or 1.0)

    def set_cells(self, torn: TornCells, code: Any) -> None:
        """Set the cells that are not torn at a time code, unless they are those of before."""
        if self._torn is None or not is_same(self._torn, torn):
            self._torn = torn
            self._write_cells(torn, code)

    def _write_cells(self, torn: TornCells, code: Any) -> None:
        """Set the cells at a time code."""

    def set_points(self, exact: Float, x: Single, v: Single, code: float) -> int:
        """Set points [m] and velocities [m/s] at a time code; return the number of bytes.

        exact : the points before rounding
        """
        own = x if self.subset is None else x[self.subset]
        bounds = np.stack([own.min(axis=0) - self.margin, own.max(axis=0) + self.margin])
        self._points.Set(self.usd.vectors(own), code)
        self._velocities.Set(self.usd.vectors(v if self.subset is None else v[self.subset]), code)
        self._extent.Set(self.usd.vectors(bounds), code)
        return 2 * own.nbytes


class Surface(BodyPrim):
    """Faces, with normals, texture coordinates and the faces of each material."""

    kind = "Mesh"

    def __init__(self, usd: Usd, stage: Any, path: str, piece: VisualBody) -> None:
        super().__init__(usd, stage, path, piece)
        self.polygons = found = list_polygons(piece)
        self._owner = np.repeat(np.arange(len(found.counts)), found.counts)
        self._whole = np.ones(len(found.counts), dtype=bool)
        self._normals = SmoothNormals(piece.mesh.positions, found.counts, found.corners)
        tokens = usd.geom.Tokens
        self.prim.CreateSubdivisionSchemeAttr(tokens.none)
        self.prim.CreateDoubleSidedAttr(True)
        self._normals_attr = self.prim.CreateNormalsAttr()
        self.prim.SetNormalsInterpolation(
            tokens.vertex if self._normals.is_smooth else tokens.faceVarying
        )
        self._texture = None
        if found.texture is not None and found.coordinates is not None:
            self._texture = usd.geom.PrimvarsAPI(self.prim).CreatePrimvar(
                "st", usd.sdf.ValueTypeNames.TexCoord2fArray, tokens.faceVarying
            )
            # the additional last row is for corners without texture coordinates
            coordinates = np.vstack([found.coordinates, np.zeros((1, 2))]).astype(np.float32)
            self._texture.Set(usd.vt.Vec2fArray.FromNumpy(coordinates))
        self.subsets: dict[str, Any] = {}
        for i, name in enumerate(found.materials):
            self.subsets[name] = usd.geom.Subset.CreateGeomSubset(
                self.prim, f"material_{i}", tokens.face, usd.ints(np.empty(0)), "materialBind"
            )

    def _write_cells(self, torn: TornCells, code: Any) -> None:
        found, usd = self.polygons, self.usd
        self._whole = whole = found.find_whole(torn)
        corner = whole[self._owner]
        self.prim.CreateFaceVertexCountsAttr().Set(usd.ints(found.counts[whole]), code)
        self.prim.CreateFaceVertexIndicesAttr().Set(usd.ints(found.corners[corner]), code)
        if self._texture is not None and found.texture is not None:
            assert found.coordinates is not None
            rows = np.where(found.texture >= 0, found.texture, len(found.coordinates))
            self._texture.SetIndices(usd.ints(rows[corner]), code)
        place = np.cumsum(whole) - 1
        for name, subset in self.subsets.items():
            rows = found.materials[name]
            subset.GetIndicesAttr().Set(usd.ints(place[rows[whole[rows]]]), code)

    def set_points(self, exact: Float, x: Single, v: Single, code: float) -> int:
        """Set points [m], velocities [m/s] and normals at a time code."""
        size = super().set_points(exact, x, v, code)
        found = self._normals.at(exact, self._whole)
        if self._normals.is_smooth:
            normals = np.tile(np.array([0.0, 1.0, 0.0]), (len(x), 1))  # of points without a face
            normals[self._normals.points] = found
        else:
            normals = found[self._normals.groups[self._whole[self._owner]]]
        self._normals_attr.Set(self.usd.vectors(normals), code)
        return size + 4 * normals.size


class Lines(BodyPrim):
    """Linear curves."""

    kind = "BasisCurves"

    def __init__(self, usd: Usd, stage: Any, path: str, piece: VisualBody) -> None:
        super().__init__(usd, stage, path, piece)
        curves, tokens = self.prim, usd.geom.Tokens
        curves.CreateTypeAttr(tokens.linear)
        curves.CreateWrapAttr(tokens.nonperiodic)
        curves.CreateWidthsAttr([self.width])
        curves.SetWidthsInterpolation(tokens.constant)
        self.margin = self.width / 2
        self._number = usd.geom.PrimvarsAPI(curves).CreatePrimvar(
            "point", usd.sdf.ValueTypeNames.IntArray, tokens.vertex
        )

    def _write_cells(self, torn: TornCells, code: Any) -> None:
        lines = self.piece.lines
        counts, self.subset = join_lines(lines[~torn["line"]] if "line" in torn else lines)
        self.prim.CreateCurveVertexCountsAttr().Set(self.usd.ints(counts), code)
        self._number.Set(self.usd.ints(self.subset), code)


class Points(BodyPrim):
    """A point for each particle."""

    kind = "Points"

    def __init__(self, usd: Usd, stage: Any, path: str, piece: VisualBody) -> None:
        super().__init__(usd, stage, path, piece)
        self.prim.CreateWidthsAttr([self.width] * piece.mesh.n)
        # one width per point: USD computes no extent of points that share a width
        self.prim.SetWidthsInterpolation(usd.geom.Tokens.vertex)
        self.margin = self.width / 2


class Solid(BodyPrim):
    """Tetrahedra and their boundary."""

    kind = "TetMesh"

    def _write_cells(self, torn: TornCells, code: Any) -> None:
        tets = self.piece.mesh.cells["tet"]
        if "tet" in torn:
            tets = tets[~torn["tet"]]
        skin = Mesh(self.piece.mesh.positions, {"tet": tets} if len(tets) else {}).boundary_faces
        faces = skin.get("triangle", np.empty((0, 3)))
        self.prim.CreateTetVertexIndicesAttr().Set(
            self.usd.vt.Vec4iArray.FromNumpy(tets.astype(np.int32)), code
        )
        self.prim.CreateSurfaceFaceVertexIndicesAttr().Set(
            self.usd.vt.Vec3iArray.FromNumpy(faces.astype(np.int32)), code
        )


def join_lines(lines: Int) -> tuple[Int, Int]:
    """Join lines (k, 2) to curves; return the number of points of each, and all points in order.

    A line that begins where the one before it ends continues its curve.

    >>> counts, points = join_lines(np.array([[0, 1], [1, 2], [5, 6]]))
    >>> counts.tolist(), points.tolist()
    ([3, 2], [0, 1, 2, 5, 6])
    """
    first = np.concatenate([[True], lines[1:, 0] != lines[:-1, 1]])[: len(lines)]
    counts = np.diff(np.append(np.flatnonzero(first), len(lines))) + 1
    return counts, lines[np.column_stack([first, np.ones_like(first)])]
