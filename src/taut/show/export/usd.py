"""USD: points that change with time, on meshes that do not.

    surface   Mesh: faces as they are, or the boundary of solids; texture coordinates as the primvar `st`
    lines     BasisCurves, linear: lines that follow each other are one curve; the primvar `point` numbers them in the body
    solid     TetMesh: tetrahedra
    points    Points: of a body without cells

A body that is one of these is the prim /World/BODY, one that is several has them as /World/BODY/surface and so on.
Metres, y up, time code = t · timeCodesPerSecond. Points are floats of 32 bits, as USD has it. Surface and solid have all points of
the body, in its order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.extras import extra
from taut.mesh.mesh import Mesh
from taut.show.export.clip import Clip
from taut.show.export.faces import polygons
from taut.show.export.single import Single, single
from taut.show.subject import Piece

Int = NDArray[np.int64]
PENDING = 1 << 24  # bytes of points in memory before they go to the disk
WIDTH = 0.005  # of lines and points, relative to the size of their body


@dataclass(frozen=True)
class Moving:
    """A prim whose points are set in each frame.

    points, extent : its attributes; margin : around them [m]
    among : the points of the body that are its own, (k,), or None for all
    """

    points: Any
    extent: Any
    among: Int | None = None
    margin: float = 0.0

    def put(self, x: Single, code: float, array: Callable[[Single], Any]) -> int:
        """Set points [m] at a time code; the number of bytes."""
        own = x if self.among is None else x[self.among]
        bounds = np.stack([own.min(axis=0) - self.margin, own.max(axis=0) + self.margin]).astype(np.float32)
        self.points.Set(array(np.ascontiguousarray(own)), code)
        self.extent.Set(array(bounds), code)
        return own.nbytes


def ready() -> Any:
    """The package pxr of usd-core."""
    return extra("usd", "pxr.Usd", "USD files")


def write(clip: Clip, folder: Path, name: str) -> None:
    """The file; of .usdc and .usd what is done leaves memory now and then, .usda is copied from one of them at the end."""
    usd, tf, vt = ready(), extra("usd", "pxr.Tf", "USD files"), extra("usd", "pxr.Vt", "USD files")
    text = name.lower().endswith(".usda")
    try:
        stage = usd.Stage.CreateNew(str(folder / (f"{name}.usdc" if text else name)))
        _fill(stage, clip, vt.Vec3fArray.FromNumpy)
        if text:
            _done(stage.GetRootLayer().Export(str(folder / name)))
    except tf.ErrorException as error:
        raise OSError(_reason(str(error))) from error


def _reason(text: str) -> str:
    """What USD says of an error, without where in its own sources."""
    said = re.search(r" : '([^'\n]+)", text)
    return f"USD says: {said[1] if said else text.strip()}"


def _done(well: bool) -> None:
    if not well:
        raise OSError("USD could not write the file")


def _fill(stage: Any, clip: Clip, array: Callable[[Single], Any]) -> None:
    geom = extra("usd", "pxr.UsdGeom", "USD files")
    codes = clip.codes.tolist()
    geom.SetStageUpAxis(stage, geom.Tokens.y)
    geom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(clip.rate)
    stage.SetFramesPerSecond(clip.rate)
    stage.SetStartTimeCode(codes[0])
    stage.SetEndTimeCode(codes[-1])
    world = geom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    bodies = [_body(stage, geom, piece, f"/World/{name}") for piece, name in zip(clip.pieces, clip.names, strict=True)]
    pending = 0
    for code, frame in zip(codes, clip, strict=True):
        for piece, prims in zip(clip.pieces, bodies, strict=True):
            x = single(piece.positions(frame.q), f"{piece.name}, t = {frame.t:g} s")
            pending += sum(prim.put(x, code, array) for prim in prims)
        if pending > PENDING:
            _done(stage.GetRootLayer().Save())
            pending = 0
    _done(stage.GetRootLayer().Save())


def _body(stage: Any, geom: Any, piece: Piece, path: str) -> list[Moving]:
    """The prims of a body, without points."""
    size = float(np.linalg.norm(np.ptp(piece.mesh.positions, axis=0)))
    width = WIDTH * (size or 1.0)
    parts: dict[str, tuple[Any, Callable[[Any], Moving]]] = {}
    if piece.faces:
        parts["surface"] = geom.Mesh, lambda prim: _surface(prim, geom, piece)
    if len(piece.lines):
        parts["lines"] = geom.BasisCurves, lambda prim: _lines(prim, geom, piece, width)
    if "tet" in piece.mesh.cells:
        parts["solid"] = geom.TetMesh, lambda prim: _solid(prim, piece)
    if not parts:
        parts["points"] = geom.Points, lambda prim: _points(prim, geom, piece.mesh.n, width)
    if len(parts) > 1:
        geom.Xform.Define(stage, path)
    made = [fill(kind.Define(stage, f"{path}/{name}" if len(parts) > 1 else path)) for name, (kind, fill) in parts.items()]
    stage.GetPrimAtPath(path).SetDisplayName(piece.name)
    return made


def _moving(prim: Any, among: Int | None = None, margin: float = 0.0) -> Moving:
    return Moving(prim.CreatePointsAttr(), prim.CreateExtentAttr(), among, margin)


def _surface(mesh: Any, geom: Any, piece: Piece) -> Moving:
    sdf = extra("usd", "pxr.Sdf", "USD files")
    vt = extra("usd", "pxr.Vt", "USD files")
    found = polygons(piece)
    mesh.CreateFaceVertexCountsAttr(vt.IntArray.FromNumpy(found.counts.astype(np.int32)))
    mesh.CreateFaceVertexIndicesAttr(vt.IntArray.FromNumpy(found.corners.astype(np.int32)))
    mesh.CreateSubdivisionSchemeAttr(geom.Tokens.none)
    mesh.CreateDoubleSidedAttr(True)
    if found.texture is not None and found.coordinates is not None:
        coordinates = np.vstack([found.coordinates, np.zeros((1, 2))]).astype(np.float32)  # the last is for corners without one
        where = np.where(found.texture >= 0, found.texture, len(found.coordinates)).astype(np.int32)
        st = geom.PrimvarsAPI(mesh).CreatePrimvar("st", sdf.ValueTypeNames.TexCoord2fArray, geom.Tokens.faceVarying)
        st.Set(vt.Vec2fArray.FromNumpy(coordinates))
        st.SetIndices(vt.IntArray.FromNumpy(where))
    return _moving(mesh)


def _lines(curves: Any, geom: Any, piece: Piece, width: float) -> Moving:
    sdf = extra("usd", "pxr.Sdf", "USD files")
    vt = extra("usd", "pxr.Vt", "USD files")
    counts, points = chains(piece.lines)
    curves.CreateTypeAttr(geom.Tokens.linear)
    curves.CreateWrapAttr(geom.Tokens.nonperiodic)
    curves.CreateCurveVertexCountsAttr(vt.IntArray.FromNumpy(counts.astype(np.int32)))
    curves.CreateWidthsAttr([width])
    curves.SetWidthsInterpolation(geom.Tokens.constant)
    number = geom.PrimvarsAPI(curves).CreatePrimvar("point", sdf.ValueTypeNames.IntArray, geom.Tokens.vertex)
    number.Set(vt.IntArray.FromNumpy(points.astype(np.int32)))
    return _moving(curves, points, width / 2)


def _points(cloud: Any, geom: Any, n: int, width: float) -> Moving:
    cloud.CreateWidthsAttr([width] * n)
    cloud.SetWidthsInterpolation(geom.Tokens.vertex)  # USD finds no extent of points that share a width
    return _moving(cloud, None, width / 2)


def _solid(tets: Any, piece: Piece) -> Moving:
    vt = extra("usd", "pxr.Vt", "USD files")
    tets.CreateTetVertexIndicesAttr(vt.Vec4iArray.FromNumpy(piece.mesh.cells["tet"].astype(np.int32)))
    skin = Mesh(piece.mesh.positions, {"tet": piece.mesh.cells["tet"]}).boundary_faces.get("triangle", np.empty((0, 3)))
    tets.CreateSurfaceFaceVertexIndicesAttr(vt.Vec3iArray.FromNumpy(skin.astype(np.int32)))
    return _moving(tets)


def chains(lines: Int) -> tuple[Int, Int]:
    """Lines (k, 2) as curves: the number of points of each, and the points, curve after curve.

    A line that begins where the one before it ended goes on with its curve.

    >>> counts, points = chains(np.array([[0, 1], [1, 2], [5, 6]]))
    >>> counts.tolist(), points.tolist()
    ([3, 2], [0, 1, 2, 5, 6])
    """
    first = np.concatenate([[True], lines[1:, 0] != lines[:-1, 1]])
    counts = np.diff(np.append(np.flatnonzero(first), len(lines))) + 1
    return counts, lines[np.column_stack([first, np.ones_like(first)])]
