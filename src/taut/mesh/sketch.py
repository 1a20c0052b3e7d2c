"""Small SVG drawings for notebooks, with numpy alone, in parallel projection.

Seen from the azimuth 35° and the elevation 22°, a point x is drawn at (r·x, -u·x), r to the right
and u upwards. Faces are drawn from the farthest to the nearest, each lighter the more it faces the
light: 0.55 + 0.45 |n·l|. Where there are more of them than a drawing needs, points that share a
cell of a coarse grid become one, and faces that lose a corner are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, Mask
from taut.errors import escape_unprintable
from taut.mesh.measure import unit_normals

WIDTH, HEIGHT, MARGIN = 320, 240, 8  # pixels
SPARK_HEIGHT = 48  # pixels
# Limits on what is drawn, so that a drawing stays below 100 kB.
MAX_FACES, MAX_LINES, MAX_POINTS, MAX_MARKS = 900, 1200, 900, 200
BODY_COLOUR, MARK_COLOUR, LINE_COLOUR = (74, 127, 181), "#b3261e", "#3f5f80"
_AZIMUTH, _ELEVATION = np.radians(35.0), np.radians(22.0)
TOWARDS = np.array(
    [
        np.sin(_AZIMUTH) * np.cos(_ELEVATION),
        np.sin(_ELEVATION),
        np.cos(_AZIMUTH) * np.cos(_ELEVATION),
    ]
)
RIGHT = np.array([np.cos(_AZIMUTH), 0.0, -np.sin(_AZIMUTH)])
UP = np.cross(TOWARDS, RIGHT)
LIGHT = np.array([-0.3, 0.8, 0.52])


def project(points: Float) -> Float:
    """Project points (n, 3) [m] to the plane of the drawing, (right, up) [m], (n, 2).

    Points in a plane z = const. are seen from the front.

    >>> project(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))[:, 0].tolist()
    [0.0, 0.0]
    """
    if len(points) and np.ptp(points[:, 2]) == 0.0:
        return points[:, :2]
    return points @ np.column_stack([RIGHT, UP])


def sketch(
    points: ArrayLike,
    *,
    faces: ArrayLike = (),
    outside: ArrayLike = (),
    lines: ArrayLike = (),
    marks: ArrayLike = (),
) -> str:
    """An SVG drawing, less than 100 kB.

    points : positions [m], (n, 3); faces : triangles, (k, 3); outside : those around solids, facing
        outwards, (k, 3)
    lines : (k, 2); marks : points to be marked, (k,)
    Points alone are drawn where there are neither faces nor lines.

    >>> sketch([[0, 0, 0], [1, 0, 0]], lines=[[0, 1]], marks=[0]).count("<circle")
    1
    """
    x = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    finite = np.asarray(np.isfinite(x).all(axis=1))
    open_, closed = (
        _finite_cells(np.asarray(given, dtype=np.int64).reshape(-1, 3), finite)
        for given in (faces, outside)
    )
    triangles = np.concatenate(
        [open_, closed[unit_normals(x, closed) @ TOWARDS > 0]]
    )  # of a solid what faces us hides the rest
    pairs = _finite_cells(np.asarray(lines, dtype=np.int64).reshape(-1, 2), finite)
    held = _thin_out(
        _finite_cells(np.asarray(marks, dtype=np.int64).reshape(-1, 1), finite), MAX_MARKS
    )[:, 0]
    flat = project(np.where(finite[:, None], x, 0.0))
    at = _fit_to_frame(flat, finite)
    body = [_draw_faces(x, at, triangles), _draw_lines(at, pairs)]
    if not len(triangles) and not len(pairs):
        body += _draw_dots(
            at[_thin_out(np.flatnonzero(finite)[:, None], MAX_POINTS)[:, 0]],
            2.0,
            "rgb({},{},{})".format(*BODY_COLOUR),
        )
    body += _draw_dots(at[held], 3.0, MARK_COLOUR)
    frame = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>{"".join(body)}</svg>'


def spark(values: ArrayLike) -> str:
    """A sparkline of numbers (n,) as a small SVG, without those that are not finite.

    >>> spark([0.0, 1.0]).count("<polyline")
    1
    """
    y = np.asarray(values, dtype=np.float64)
    y = y[np.isfinite(y)]
    y = (
        y[np.unique(np.linspace(0, max(len(y) - 1, 0), 2 * WIDTH).round().astype(int))]
        if len(y)
        else np.zeros(1)
    )
    low, size = y.min(), np.ptp(y) or 1.0
    x = np.linspace(2, WIDTH - 2, len(y))
    places = " ".join(
        f"{a:.1f},{b:.1f}"
        for a, b in zip(x, SPARK_HEIGHT - 3 - (y - low) / size * (SPARK_HEIGHT - 6), strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{SPARK_HEIGHT}">'
        f'<polyline points="{places}" fill="none" stroke="{LINE_COLOUR}" stroke-width="1.2"/></svg>'
    )


def card(title: str, facts: Iterable[tuple[str, object]], pictures: Sequence[str]) -> str:
    """HTML with a title, a table of facts and drawings; texts are escaped.

    >>> "<b>" in card("<b>", [("name", "<i>")], [])
    False
    """
    rows = "".join(
        f'<tr><td style="text-align:left">{_escape(name)}</td>'
        f'<td style="text-align:left">{_escape(value)}</td></tr>'
        for name, value in facts
    )
    drawn = "".join(f"<div>{picture}</div>" for picture in pictures)
    return (
        '<div style="display:flex;gap:1em;align-items:flex-start"><div>'
        f'<div style="font-weight:600">{_escape(title)}</div>'
        f"<table>{rows}</table></div><div>{drawn}</div></div>"
    )


def _escape(value: object) -> str:
    return escape(escape_unprintable(str(value)))


def _finite_cells(cells: Int, finite: Mask) -> Int:
    """Cells whose points are all finite."""
    return cells[finite[cells].all(axis=1)]


def _thin_out(rows: Int, most: int) -> Int:
    """At most `most` rows, evenly spaced."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).round().astype(int)]


def _fit_to_frame(flat: Float, finite: Mask) -> Float:
    """Pixels (n, 2) of positions in the plane, scaled to the frame."""
    seen = flat[finite] if finite.any() else np.zeros((1, 2))
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    size = high - low
    scale = float(np.min(np.divide(room, size, out=np.full(2, np.inf), where=size > 0)))
    at = (flat - (low + high) / 2) * (scale if np.isfinite(scale) else 1.0)
    return np.clip(at * [1, -1] + np.array([WIDTH, HEIGHT]) / 2, 0, [WIDTH, HEIGHT])


def _draw_faces(x: Float, at: Float, triangles: Int) -> str:
    kept = _simplify(x, triangles)
    facing = np.abs(unit_normals(x, kept) @ LIGHT)
    order = np.argsort(x[kept].sum(axis=1) @ TOWARDS, kind="stable")
    shades = (np.array(BODY_COLOUR) * (0.55 + 0.45 * np.rint(facing * 16) / 16)[:, None]).astype(
        int
    )
    drawn = []
    for i in order:
        (x0, y0), (x1, y1), (x2, y2) = at[kept[i]]
        fill = "#{:02x}{:02x}{:02x}".format(*shades[i])
        drawn.append(
            f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f} {x2:.1f} {y2:.1f}z" '
            f'fill="{fill}" stroke="{fill}"/>'
        )
    return f'<g stroke-width=".6" stroke-linejoin="round">{"".join(drawn)}</g>' if drawn else ""


def _simplify(x: Float, triangles: Int) -> Int:
    """Replace too many triangles by fewer, larger ones: vertices merge on a coarse grid."""
    kept, cells = triangles, 48
    while len(kept) > MAX_FACES:
        corner = x[np.unique(triangles)]
        size = float(np.ptp(corner, axis=0).max()) or 1.0
        place = np.floor((x - corner.min(axis=0)) / size * cells).astype(np.int64) @ np.array(
            [1, 1 << 20, 1 << 40]
        )
        _, first, cell = np.unique(place, return_index=True, return_inverse=True)
        coarse = first[cell[triangles]]
        distinct = (
            (coarse[:, 0] != coarse[:, 1])
            & (coarse[:, 1] != coarse[:, 2])
            & (coarse[:, 2] != coarse[:, 0])
        )
        _, one = np.unique(np.sort(coarse[distinct], axis=1), axis=0, return_index=True)
        kept, cells = coarse[distinct][one], int(cells * 0.8)
    return kept


def _draw_lines(at: Float, pairs: Int) -> str:
    if not len(pairs):
        return ""
    places = at[_thin_out(pairs, MAX_LINES)]
    path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in places.reshape(-1, 4))
    return f'<path d="{path}" fill="none" stroke="{LINE_COLOUR}" stroke-width="1"/>'


def _draw_dots(at: Float, r: float, colour: str) -> list[str]:
    return [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{r:g}" fill="{colour}"/>' for a, b in at]
