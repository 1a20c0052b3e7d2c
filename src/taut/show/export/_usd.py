"""USD: points that change with time, with their velocities.

    surface   Mesh: faces, or the boundary of solids; normals, texture coordinates as the primvar
              `st`, materials of the mesh as subsets
    lines     BasisCurves, linear: lines end to end are one curve; the primvar `point` has the
              points of the body
    solid     TetMesh: tetrahedra
    points    Points: of a body without cells

A body with one of these is the prim /World/BODY; one with several has them as /World/BODY/surface
and so on. Metres, y up, one time code per frame of the shot. Points are 32-bit floats, as USD
defines them. Surface and solid have all points of the body, in its order. Where cells tear, faces,
curves and tetrahedra have a time sample at each frame in which they change.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from taut.extras import import_extra
from taut.mesh.parts import Cells
from taut.run.open_run import Frame
from taut.show.export._animation import Animation
from taut.show.export._bodies import point_velocities, surface_mesh, to_float32
from taut.show.export._tearing import find_torn_cells
from taut.show.export._usd_materials import Materials
from taut.show.export._usd_prims import BodyPrim, Lines, Points, Solid, Surface, Usd
from taut.show.visual_model import VisualBody

MAX_PENDING = 1 << 24  # bytes of points in memory before they are written to the disk


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
    is_text = name.lower().endswith(".usda")
    try:
        stage = usd.Stage.CreateNew(str(folder / (f"{name}.usdc" if is_text else name)))
        _fill(stage, animation)
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


def _fill(stage: Any, animation: Animation) -> None:
    usd = Usd.load()
    codes = animation.codes.tolist()
    usd.geom.SetStageUpAxis(stage, usd.geom.Tokens.y)
    usd.geom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(animation.shot.fps)
    stage.SetFramesPerSecond(animation.shot.fps)
    stage.SetStartTimeCode(codes[0])
    stage.SetEndTimeCode(codes[-1])
    world = usd.geom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    materials = Materials(stage)
    cells = [list_cells(piece) for piece in animation.pieces]
    tears = [
        bool(find_torn_cells(piece, own, animation.torn_at_the_end))
        for piece, own in zip(animation.pieces, cells, strict=True)
    ]
    default = require().TimeCode.Default()
    bodies = []
    for i, (piece, name) in enumerate(zip(animation.pieces, animation.names, strict=True)):
        prims = _define_body(stage, usd, piece, f"/World/{name}")
        materials.paint(piece, i, stage.GetPrimAtPath(f"/World/{name}"), prims)
        bodies.append(prims)
    pending = 0
    for code, frame in zip(codes, animation, strict=True):
        torn = animation.model.torn_pairs(frame)
        for i, (piece, prims) in enumerate(zip(animation.pieces, bodies, strict=True)):
            found = find_torn_cells(piece, cells[i], torn)
            for prim in prims:
                # without a time code if they never change
                prim.set_cells(found, code if tears[i] else default)
            pending += _set_points(usd, piece, prims, frame, code)
        if pending > MAX_PENDING:
            _check_success(stage.GetRootLayer().Save())
            pending = 0
    _check_success(stage.GetRootLayer().Save())


def list_cells(piece: VisualBody) -> Cells:
    """Return the cells of all prims of a body."""
    cells = dict(surface_mesh(piece).cells)
    if "tet" in piece.mesh.cells:
        cells["tet"] = piece.mesh.cells["tet"]
    return cells


def _set_points(
    usd: Usd, piece: VisualBody, prims: list[BodyPrim], frame: Frame, code: float
) -> int:
    """Set positions and velocities of a body at a time code; return the number of bytes."""
    where = f"{piece.name}, t = {frame.t:g} s"
    exact = piece.positions(frame.q)
    x = to_float32(exact, where)
    v = to_float32(point_velocities(piece, frame.q, frame.v), where)
    return sum(prim.set_points(exact, x, v, code) for prim in prims)


def _define_body(stage: Any, usd: Usd, piece: VisualBody, path: str) -> list[BodyPrim]:
    """Define the prims of a body, without points."""
    kinds: dict[str, type[BodyPrim]] = {}
    if piece.faces:
        kinds["surface"] = Surface
    if len(piece.lines):
        kinds["lines"] = Lines
    if "tet" in piece.mesh.cells:
        kinds["solid"] = Solid
    if not kinds:
        kinds["points"] = Points
    if len(kinds) > 1:
        usd.geom.Xform.Define(stage, path)
    made = [
        kind(usd, stage, f"{path}/{name}" if len(kinds) > 1 else path, piece)
        for name, kind in kinds.items()
    ]
    stage.GetPrimAtPath(path).SetDisplayName(piece.name)
    return made
