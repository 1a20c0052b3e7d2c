"""USD: points that change with time, on meshes that do not.

    surface   Mesh: faces, or the boundary of solids; texture coordinates as the primvar `st`
    lines     BasisCurves, linear: lines end to end are one curve; the primvar `point` has the
              points of the body
    solid     TetMesh: tetrahedra
    points    Points: of a body without cells

A body with one of these is the prim /World/BODY; one with several has them as /World/BODY/surface
and so on. Metres, y up, time code = t · timeCodesPerSecond. Points are 32-bit floats, as USD
defines them. Surface and solid have all points of the body, in its order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Int, Single
from taut.extras import import_extra
from taut.mesh.mesh import Mesh
from taut.show.export._animation import Animation
from taut.show.export._bodies import list_polygons, to_float32
from taut.show.visual_model import VisualBody

MAX_PENDING = 1 << 24  # bytes of points in memory before they are written to the disk
_RELATIVE_WIDTH = 0.005  # of lines and points, relative to the size of their body


@dataclass(frozen=True)
class _MovingPrim:
    """A prim whose points are set in each frame.

    points, extent : its attributes
    subset : its points among those of the body, (k,), or None for all
    margin : of the extent around the points [m]
    """

    points: Any
    extent: Any
    subset: Int | None = None
    margin: float = 0.0

    def set_points(self, x: Single, code: float, array: Callable[[Single], Any]) -> int:
        """Set points [m] at a time code; return the number of bytes."""
        own = x if self.subset is None else x[self.subset]
        bounds = np.stack([own.min(axis=0) - self.margin, own.max(axis=0) + self.margin]).astype(
            np.float32
        )
        self.points.Set(array(np.ascontiguousarray(own)), code)
        self.extent.Set(array(bounds), code)
        return own.nbytes


def require() -> Any:
    """Import pxr.Usd of usd-core; MissingExtra if it is not installed."""
    return import_extra("usd", "pxr.Usd", "USD files")


def write(animation: Animation, folder: Path, name: str) -> None:
    """Write the file; .usda is exported from a temporary .usdc.

    Finished frames of .usdc and .usd are saved now and then, which frees their memory; USD cannot
    do that with text.
    """
    usd = require()
    tf = import_extra("usd", "pxr.Tf", "USD files")
    vt = import_extra("usd", "pxr.Vt", "USD files")
    is_text = name.lower().endswith(".usda")
    try:
        stage = usd.Stage.CreateNew(str(folder / (f"{name}.usdc" if is_text else name)))
        _fill(stage, animation, vt.Vec3fArray.FromNumpy)
        if is_text:
            _check_success(stage.GetRootLayer().Export(str(folder / name)))
    except tf.ErrorException as error:
        raise OSError(_describe_error(str(error))) from error


def _describe_error(text: str) -> str:
    """Return the message of a USD error without the place in USD's own sources."""
    match = re.search(r" : '([^'\n]+)", text)
    return f"USD reports: {match[1] if match else text.strip()}"


def _check_success(success: bool) -> None:
    if not success:
        raise OSError("USD could not write the file")


def _fill(stage: Any, animation: Animation, array: Callable[[Single], Any]) -> None:
    geom = import_extra("usd", "pxr.UsdGeom", "USD files")
    codes = animation.codes.tolist()
    geom.SetStageUpAxis(stage, geom.Tokens.y)
    geom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(animation.rate)
    stage.SetFramesPerSecond(animation.rate)
    stage.SetStartTimeCode(codes[0])
    stage.SetEndTimeCode(codes[-1])
    world = geom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    bodies = [
        _define_body(stage, geom, piece, f"/World/{name}")
        for piece, name in zip(animation.pieces, animation.names, strict=True)
    ]
    pending = 0
    for code, frame in zip(codes, animation, strict=True):
        for piece, prims in zip(animation.pieces, bodies, strict=True):
            x = to_float32(piece.positions(frame.q), f"{piece.name}, t = {frame.t:g} s")
            pending += sum(prim.set_points(x, code, array) for prim in prims)
        if pending > MAX_PENDING:
            _check_success(stage.GetRootLayer().Save())
            pending = 0
    _check_success(stage.GetRootLayer().Save())


def _define_body(stage: Any, geom: Any, piece: VisualBody, path: str) -> list[_MovingPrim]:
    """Define the prims of a body, without points."""
    size = float(np.linalg.norm(np.ptp(piece.mesh.positions, axis=0)))
    width = _RELATIVE_WIDTH * (size or 1.0)
    parts: dict[str, tuple[Any, Callable[[Any], _MovingPrim]]] = {}
    if piece.faces:
        parts["surface"] = geom.Mesh, lambda prim: _define_surface(prim, geom, piece)
    if len(piece.lines):
        parts["lines"] = geom.BasisCurves, lambda prim: _define_lines(prim, geom, piece, width)
    if "tet" in piece.mesh.cells:
        parts["solid"] = geom.TetMesh, lambda prim: _define_solid(prim, piece)
    if not parts:
        parts["points"] = geom.Points, lambda prim: _define_points(prim, geom, piece.mesh.n, width)
    if len(parts) > 1:
        geom.Xform.Define(stage, path)
    made = [
        fill(kind.Define(stage, f"{path}/{name}" if len(parts) > 1 else path))
        for name, (kind, fill) in parts.items()
    ]
    stage.GetPrimAtPath(path).SetDisplayName(piece.name)
    return made


def _make_moving(prim: Any, subset: Int | None = None, margin: float = 0.0) -> _MovingPrim:
    return _MovingPrim(prim.CreatePointsAttr(), prim.CreateExtentAttr(), subset, margin)


def _define_surface(mesh: Any, geom: Any, piece: VisualBody) -> _MovingPrim:
    sdf = import_extra("usd", "pxr.Sdf", "USD files")
    vt = import_extra("usd", "pxr.Vt", "USD files")
    found = list_polygons(piece)
    mesh.CreateFaceVertexCountsAttr(vt.IntArray.FromNumpy(found.counts.astype(np.int32)))
    mesh.CreateFaceVertexIndicesAttr(vt.IntArray.FromNumpy(found.corners.astype(np.int32)))
    mesh.CreateSubdivisionSchemeAttr(geom.Tokens.none)
    mesh.CreateDoubleSidedAttr(True)
    if found.texture is not None and found.coordinates is not None:
        # the additional last row is for corners without texture coordinates
        coordinates = np.vstack([found.coordinates, np.zeros((1, 2))]).astype(np.float32)
        where = np.where(found.texture >= 0, found.texture, len(found.coordinates)).astype(np.int32)
        st = geom.PrimvarsAPI(mesh).CreatePrimvar(
            "st", sdf.ValueTypeNames.TexCoord2fArray, geom.Tokens.faceVarying
        )
        st.Set(vt.Vec2fArray.FromNumpy(coordinates))
        st.SetIndices(vt.IntArray.FromNumpy(where))
    return _make_moving(mesh)


def _define_lines(curves: Any, geom: Any, piece: VisualBody, width: float) -> _MovingPrim:
    sdf = import_extra("usd", "pxr.Sdf", "USD files")
    vt = import_extra("usd", "pxr.Vt", "USD files")
    counts, points = join_lines(piece.lines)
    curves.CreateTypeAttr(geom.Tokens.linear)
    curves.CreateWrapAttr(geom.Tokens.nonperiodic)
    curves.CreateCurveVertexCountsAttr(vt.IntArray.FromNumpy(counts.astype(np.int32)))
    curves.CreateWidthsAttr([width])
    curves.SetWidthsInterpolation(geom.Tokens.constant)
    number = geom.PrimvarsAPI(curves).CreatePrimvar(
        "point", sdf.ValueTypeNames.IntArray, geom.Tokens.vertex
    )
    number.Set(vt.IntArray.FromNumpy(points.astype(np.int32)))
    return _make_moving(curves, points, width / 2)


def _define_points(cloud: Any, geom: Any, n: int, width: float) -> _MovingPrim:
    cloud.CreateWidthsAttr([width] * n)
    # one width per point: USD computes no extent of points that share a width
    cloud.SetWidthsInterpolation(geom.Tokens.vertex)
    return _make_moving(cloud, None, width / 2)


def _define_solid(tets: Any, piece: VisualBody) -> _MovingPrim:
    vt = import_extra("usd", "pxr.Vt", "USD files")
    tets.CreateTetVertexIndicesAttr(
        vt.Vec4iArray.FromNumpy(piece.mesh.cells["tet"].astype(np.int32))
    )
    skin = Mesh(piece.mesh.positions, {"tet": piece.mesh.cells["tet"]}).boundary_faces.get(
        "triangle", np.empty((0, 3))
    )
    tets.CreateSurfaceFaceVertexIndicesAttr(vt.Vec3iArray.FromNumpy(skin.astype(np.int32)))
    return _make_moving(tets)


def join_lines(lines: Int) -> tuple[Int, Int]:
    """Join lines (k, 2) to curves; return the number of points of each, and all points in order.

    A line that begins where the one before it ends continues its curve.

    >>> counts, points = join_lines(np.array([[0, 1], [1, 2], [5, 6]]))
    >>> counts.tolist(), points.tolist()
    ([3, 2], [0, 1, 2, 5, 6])
    """
    first = np.concatenate([[True], lines[1:, 0] != lines[:-1, 1]])
    counts = np.diff(np.append(np.flatnonzero(first), len(lines))) + 1
    return counts, lines[np.column_stack([first, np.ones_like(first)])]
