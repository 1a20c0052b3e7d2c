"""Films on a rim: minimal surfaces, H = 0, from a flat start; caps under pressure, p = 2s/R."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import dblquad
from scipy.special import ellipk

from taut.arrays import Float
from taut.mesh.shapes.surfaces import disc, sheet
from taut.statics.form_finding import Form, form_finding
from taut.validate._bodies import extrapolate
from taut.validate.cases import Curve, Measurement, case

MESHES = (10, 20, 40)
SECOND_ORDER = (
    "extrapolation from 10, 20 and 40 rows leaves sixth order, about (1/10)⁶; points that lie up "
    "to a tenth of a side beside those of a similar mesh add a part of it"
)


def span(surface: Callable[[Float, Float], Float], n: int) -> Form:
    """Span a film of n by n cells over a rim on a surface, its inside flat at the start."""
    mesh = sheet(n, n, pattern="alternating")
    u, v = mesh.points[:, 0], mesh.points[:, 1]
    points, rim = surface(u, v), mesh.boundary
    inside = np.setdiff1d(np.arange(mesh.n), rim)
    plane = np.column_stack([np.ones(mesh.n), u, v])
    points[inside] = (plane @ np.linalg.lstsq(plane[rim], points[rim])[0])[inside]
    return form_finding(points, fixed=rim, triangles=mesh.triangles, stress=1.0)


def scherk(u: Float, v: Float) -> Float:
    x, y = 2 * u - 1, 2 * v - 1
    return np.column_stack([x, y, np.log(np.cos(y) / np.cos(x))])


def helicoid(u: Float, v: Float) -> Float:
    turn = 0.6 * np.pi * v
    return np.column_stack([u * np.cos(turn), u * np.sin(turn), turn / 2])


SCHWARZ_AREA = 16 / 24 * 3 * ellipk(1 / 4) / ellipk(3 / 4)
OCTAHEDRON = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, 0, 1]])


def quadrilateral(u: Float, v: Float) -> Float:
    weights = np.column_stack([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v])
    return np.asarray(weights @ OCTAHEDRON, dtype=np.float64)


@case(
    "minimal-scherk",
    formula="z = ln(cos y/cos x), |x|, |y| ≤ 1: area ∫√(1 + tan²x + tan²y) = 5.69751",
    source="Scherk, J. reine angew. Math. 13 (1835) 185; the integral by quadrature",
    unit="m²",
    expected=dblquad(lambda y, x: np.sqrt(1 + np.tan(x) ** 2 + np.tan(y) ** 2), -1, 1, -1, 1)[0],
    tolerance=5e-6,
    reason=SECOND_ORDER,
)
def measure_scherk() -> Measurement:
    """Area of a film whose rim lies on Scherk's surface.

    The plot shows all points: their height over that of the surface at the same place.
    """
    forms = [span(scherk, n) for n in MESHES]
    x, y, z = forms[0].points.T
    exact = np.log(np.cos(y) / np.cos(x))
    line = np.array([exact.min(), exact.max()])
    return Measurement(
        extrapolate([form.areas.sum() for form in forms]),
        Curve(exact, z, line, "ln(cos y/cos x) [m]", "z [m]", theory_x=line),
    )


@case(
    "minimal-helicoid",
    formula="x = (u cos θ, u sin θ, θ/2), θ ≤ 0.6π, u ≤ 1: area ∫√(u² + ¼) du dθ = 1.39387",
    source="Meusnier 1776",
    unit="m²",
    expected=0.6 * np.pi / 2 * (np.sqrt(1.25) + 0.25 * np.arcsinh(2.0)),
    tolerance=5e-6,
    reason=SECOND_ORDER,
)
def measure_helicoid() -> Measurement:
    """Area of a film whose rim lies on a helicoid.

    The plot shows all points away from the axis: their height over their angle.
    """
    forms = [span(helicoid, n) for n in MESHES]
    x, y, z = forms[0].points[np.hypot(*forms[0].points[:, :2].T) > 0.05].T
    angle = np.arctan2(y, x)
    line = np.array([0.0, 0.6 * np.pi])
    return Measurement(
        extrapolate([form.areas.sum() for form in forms]),
        Curve(angle, z, line / 2, "θ [rad]", "z [m]", theory_x=line),
    )


@case(
    "minimal-schwarz-p",
    formula="area of the cell 3 K(½)/K(√¾) a², a = 4 m, of which a quadrilateral is 1/24: 1.5634",
    source="Schwarz, Gesammelte mathematische Abhandlungen 1 (1890), the P surface",
    unit="m²",
    expected=SCHWARZ_AREA,
    tolerance=5e-6,
    reason=SECOND_ORDER,
)
def measure_schwarz_p() -> Measurement:
    """Area of a film on four edges of an octahedron of radius 1 m, a piece of Schwarz' P surface.

    The plot shows the area over the square of the mesh size.
    """
    areas = [float(span(quadrilateral, n).areas.sum()) for n in MESHES]
    squares = 1 / np.array(MESHES) ** 2.0
    slope = (areas[-1] - SCHWARZ_AREA) / squares[-1]
    line = np.array([0.0, squares[0]])
    return Measurement(
        extrapolate(areas),
        Curve(squares, areas, SCHWARZ_AREA + slope * line, "h²", "area [m²]", theory_x=line),
    )


HOLE, TENSION = 0.1, 0.05
RADII = np.array([0.2, 0.13, 0.105])


@case(
    "film-caps-on-a-rim",
    formula="p = 2s/R: height R - √(R² - a²)",
    source="Young 1805, Laplace 1806",
    unit="m",
    expected=RADII - np.sqrt(RADII**2 - HOLE**2),
    tolerance=2e-3,
    reason="extrapolation from 6 and 12 rings leaves h⁴, near the hemisphere about 16 (1/12)⁴",
)
def measure_caps_on_a_rim() -> Measurement:
    """Height of a film over a round hole, blown up to nearly a hemisphere.

    The plot shows the last one in section.
    """
    heights, section = [], np.zeros((0, 2))
    for radius in RADII.tolist():
        found = []
        for rings in (6, 12):
            mesh = disc(rings, radius=HOLE)
            form = form_finding(
                mesh.points,
                fixed=mesh.boundary,
                triangles=mesh.triangles,
                stress=TENSION,
                pressure=2 * TENSION / radius,
            )
            found.append(form.points[:, 2].max())
            section = np.column_stack([np.hypot(*form.points[:, :2].T), form.points[:, 2]])
        heights.append(extrapolate(found))
    angle = np.linspace(0, np.arcsin(HOLE / RADII[-1]), 60)
    drop = np.sqrt(RADII[-1] ** 2 - HOLE**2)
    theory = np.column_stack([RADII[-1] * np.sin(angle), RADII[-1] * np.cos(angle) - drop])
    return Measurement(heights, Curve.from_shapes(section, theory, "radius [m]", "height [m]"))
