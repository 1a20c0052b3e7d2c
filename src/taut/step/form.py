"""Form finding: the shape that tension gives to nets and membranes between fixed points.

A net of force densities d [N/m], force over length, is in equilibrium where Σ_j d_ij (x_j - x_i) + p_i = 0 (Schek 1974): a linear
problem, that of springs of rest length zero. A membrane of uniform stress s [N/m] has the energy s·A, and without load it is a
minimal surface: linear problems with the triangles' own force densities lead near it, and Newton's method ends it, with points that
only triangles hold moving along the normal of the surface (`step/membrane.py` says why).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError
from taut.laws.force import force
from taut.laws.surface_tension import surface_tension
from taut.laws.zero_length_spring import zero_length_spring
from taut.solve.tolerance import Tolerance, decisive
from taut.step.balance import Balance
from taut.step.finding import Finding
from taut.step.membrane import areas
from taut.system.system import System

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Form(Balance):
    """A form in equilibrium, with its certificate.

    points : positions [m], (n, 3); edges : (m, 2); forces : their tensions [N], (m,); triangles : (k, 3)
    reactions : force of the fixed points on the net or membrane [N], (n, 3), zero elsewhere
    slip : the largest force along the surface on a point that only triangles hold [N], which is not balanced: it falls with h²
    outcome, particle, residual, tolerance, floor, iterations : as of an `Equilibrium`

    >>> import taut
    >>> form = taut.form_finding([[0, 0, 0], [1, 5, 0], [4, 0, 0]], fixed=[0, 2], edges=[[0, 1], [1, 2]], density=[3.0, 1.0])
    >>> form.points[1].round(6) + 0.0, form.forces.round(6)
    (array([1., 0., 0.]), array([3., 3.]))
    """

    points: Float
    edges: Int
    forces: Float
    triangles: Int
    reactions: Float
    slip: float

    @property
    def lengths(self) -> Float:
        """Of the edges [m], (m,)."""
        return np.linalg.norm(self.points[self.edges[:, 1]] - self.points[self.edges[:, 0]], axis=1)

    @property
    def areas(self) -> Float:
        """Of the triangles [m²], (k,)."""
        return areas(self.points, self.triangles)

    def __str__(self) -> str:
        pulled = f"; tensions from {self.forces.min():.6g} to {self.forces.max():.6g} N" if len(self.forces) else ""
        covered = f"; area {self.areas.sum():.6g} m², slip {self.slip:.2e} N" if len(self.triangles) else ""
        return (
            f"{len(self.points)} points, {len(self.edges)} edges, {len(self.triangles)} triangles{pulled}{covered}\n"
            f"{self.certificate}"
        )


def form_finding(
    points: ArrayLike,
    *,
    fixed: Any,
    edges: ArrayLike | None = None,
    density: ArrayLike | None = None,
    triangles: ArrayLike | None = None,
    stress: ArrayLike | None = None,
    loads: ArrayLike | None = None,
    tolerance: Tolerance | None = None,
) -> Form:
    """The equilibrium form of a net, a membrane, or a membrane with cables in it.

    points : positions to begin with [m], (n, 3); fixed : those that stay
    edges, density : (m, 2) and force densities [N/m], one number or (m,)
    triangles, stress : (k, 3) and membrane stress [N/m], one number or (k,)
    loads : given forces [N], (n, 3), or (3,) for each point alike

    Points that only triangles hold balance across the surface, all others in every direction; `Form.slip` tells what is left along
    the surface, where a uniform stress carries no load: a load that is more than a tenth along it is refused. Triangles that share
    an edge must be turned alike, so that they run along it in opposite ways.
    Everything is in tension: a density or stress that is not positive is refused, and so is a form that collapses.

    >>> import numpy as np, taut
    >>> net = taut.mesh.net(4, 4)
    >>> points = np.array(net.points)
    >>> corners = net.corners()
    >>> points[corners[[0, 3]], 2] = 0.5
    >>> form = taut.form_finding(points, fixed=corners, edges=net.edges, density=1.0)
    >>> form.outcome, form.points[12].round(6)
    ('converged', array([0.5 , 0.5 , 0.25]))
    """
    if tolerance is not None and not isinstance(tolerance, Tolerance):
        raise ModelError(f"form_finding: tolerance is a taut.Tolerance, not {tolerance!r}")
    if (edges is None) != (density is None) or (triangles is None) != (stress is None):
        raise ModelError("form_finding: edges go with density, and triangles with stress")
    net: Any = None
    film: Any = None
    given: Any = None
    if edges is not None:
        net = zero_length_spring(_elements(edges, 2, "edges"), k=_tension(density, "edge", "density"))
    if triangles is not None:
        film = surface_tension(_elements(triangles, 3, "triangles"), stress=_tension(stress, "triangle", "stress"))
    if net is None and film is None:
        raise ModelError("form_finding: give edges and density, or triangles and stress, or both")
    if loads is not None:
        given = force(f=loads)
    system = System(points, mass=1.0, energies=[law for law in (net, film, given) if law is not None], fixed=fixed)
    placed = {id(p.bound): p for p in system.placed.values()}
    search = Finding(system, placed.get(id(net)), placed.get(id(film)), Tolerance() if tolerance is None else tolerance)
    record, q = search.found()
    if given is not None:
        search.refuse_loads_along(q, placed[id(given)].packed(0.0))
    search.objective.factor = 1.0
    gradient = search.objective.gradient(q)[1]
    held = np.zeros_like(q)
    held[system.fixed] = gradient[system.fixed]
    slip = gradient[search.sliding] - record.point.gradient[search.sliding]
    return Form(
        points=q,
        edges=search.edges,
        forces=search.density * np.linalg.norm(q[search.edges[:, 1]] - q[search.edges[:, 0]], axis=1),
        triangles=search.triangles,
        reactions=held,
        slip=float(np.linalg.norm(slip, axis=1).max(initial=0.0)),
        outcome=record.outcome,
        **decisive(record.point.residuals, record.targets, record.floors),
        iterations=search.iterations,
    )


def _elements(value: ArrayLike, width: int, what: str) -> Int:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ModelError(f"form_finding: {what} are rows of {width} particle indices, not {value!r}") from error
    if array.ndim != 2 or array.shape[1] != width or not len(array) or not np.issubdtype(array.dtype, np.integer):
        raise ModelError(
            f"form_finding: {what} are rows of {width} particle indices, at least one, not {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.int64)


def _tension(value: ArrayLike | None, what: str, word: str) -> Float:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"form_finding: the {word} is not made of numbers: {value!r}") from error
    bad = np.flatnonzero(~(np.atleast_1d(array) > 0.0))
    if len(bad):
        where = f" of {what} {bad[0]}" if array.ndim else ""
        raise ModelError(f"form_finding: the {word}{where} is {np.atleast_1d(array)[bad[0]]:g} N/m; it must be positive, a tension")
    return array
