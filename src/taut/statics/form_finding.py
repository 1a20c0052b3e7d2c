"""Form finding: the shape that tension gives to nets and membranes between fixed points.

A net of force densities d [N/m], force over length, is in equilibrium where

    Σ_j d_ij (x_j - x_i) + p_i = 0    (Schek 1974):

a linear problem, that of springs of rest length zero. A membrane of uniform stress s [N/m] has the
energy s·A, and without load it is a minimal surface. Linear problems with the triangles' own force
densities lead near it, and Newton's method ends the search, with points that belong to triangles
only moving along the surface normal (`statics/_form_search.py` says why).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, describe, to_floats
from taut.errors import ModelError
from taut.laws.force import force
from taut.laws.surface_tension import surface_tension
from taut.laws.zero_length_spring import zero_length_spring
from taut.optimise.descent import Descent
from taut.optimise.tolerance import Tolerance, find_worst_particle
from taut.statics._certificate import StaticCertificate
from taut.statics._form_search import FormSearch, triangle_areas
from taut.statics._static_objective import check_tolerance
from taut.system.system import System


@dataclass(frozen=True, eq=False)
class Form(StaticCertificate):
    """A form in equilibrium, with its certificate.

    points : positions [m], (n, 3)
    edges, forces : (m, 2) and their tensions [N], (m,)
    triangles : (k, 3)
    reactions : force of the fixed points on the net or membrane [N], (n, 3), zero elsewhere
    slip : largest force along the surface on a point that belongs to triangles only [N]. It is not
        balanced; it falls with h², the square of the size of the triangles
    outcome, particle, residual, tolerance, floor, iterations : as in `Equilibrium`

    >>> import taut
    >>> form = taut.form_finding(
    ...     [[0, 0, 0], [1, 5, 0], [4, 0, 0]],
    ...     fixed=[0, 2],
    ...     edges=[[0, 1], [1, 2]],
    ...     density=[3.0, 1.0],
    ... )
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
        return triangle_areas(self.points, self.triangles)

    def __str__(self) -> str:
        text = (
            f"{len(self.points)} points, {len(self.edges)} edges, {len(self.triangles)} triangles"
        )
        if len(self.forces):
            text += f"; tensions from {self.forces.min():.6g} to {self.forces.max():.6g} N"
        if len(self.triangles):
            text += f"; area {self.areas.sum():.6g} m², slip {self.slip:.2e} N"
        return f"{text}\n{self.certificate}"


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
    """Find the equilibrium form of a net, a membrane, or a membrane with cables in it.

    points : positions to start from [m], (n, 3)
    fixed : the points that stay
    edges, density : (m, 2) and force densities [N/m], one number or (m,)
    triangles, stress : (k, 3) and membrane stress [N/m], one number or (k,)
    loads : given forces [N], (n, 3), or (3,) for every point
    tolerance : on the unbalanced force of each point (default: `Tolerance(relative=1e-8)`)

    Points that belong to triangles only balance across the surface, all others in every direction.
    `Form.slip` is the force that is left along the surface, where a uniform stress carries no load:
    a load with more than a tenth along it is an error. Triangles that share an edge must be
    oriented consistently, so that they run along it in opposite directions. Everything is in
    tension: a density or stress that is not positive is an error, and so is a form that collapses.

    >>> import numpy as np, taut
    >>> net = taut.mesh.net(4, 4)
    >>> points = np.array(net.points)
    >>> corners = net.corners()
    >>> points[corners[[0, 3]], 2] = 0.5
    >>> form = taut.form_finding(points, fixed=corners, edges=net.edges, density=1.0)
    >>> form.outcome, form.points[12].round(6)
    ('converged', array([0.5 , 0.5 , 0.25]))
    """
    tolerance = check_tolerance(tolerance, "form_finding")
    _check_given(edges, density, triangles, stress)
    net: Any = None
    membrane: Any = None
    given: Any = None
    if edges is not None:
        net = zero_length_spring(
            _check_elements(edges, 2, "edges"), k=_check_tension(density, "edge", "density")
        )
    if triangles is not None:
        membrane = surface_tension(
            _check_elements(triangles, 3, "triangles"),
            stress=_check_tension(stress, "triangle", "stress"),
        )
    if loads is not None:
        given = force(f=_check_loads(loads))
    energies = [law for law in (net, membrane, given) if law is not None]
    system = System(points, mass=1.0, energies=energies, fixed=fixed)
    placed = {id(p.bound): p for p in system._placed_energies.values()}
    search = FormSearch(system, placed.get(id(net)), placed.get(id(membrane)), tolerance)
    descent, q = search.find()
    if given is not None:
        search.reject_tangential_loads(q, placed[id(given)].parameters.pack(0.0))
    return _make_form(system, search, descent, q)


def _make_form(system: System, search: FormSearch, descent: Descent, q: Float) -> Form:
    """Return the form with its forces and certificate; q : positions [m], (n, 3)."""
    search.objective.load_factor = 1.0
    gradient = search.objective.potential(q).gradient
    reactions = np.zeros_like(q)
    reactions[system.fixed] = gradient[system.fixed]
    slip = gradient[search.sliding] - descent.point.gradient[search.sliding]
    lengths = np.linalg.norm(q[search.edges[:, 1]] - q[search.edges[:, 0]], axis=1)
    return Form(
        points=q,
        edges=search.edges,
        forces=search.density * lengths,
        triangles=search.triangles,
        reactions=reactions,
        slip=float(np.linalg.norm(slip, axis=1).max(initial=0.0)),
        outcome=descent.outcome,
        **find_worst_particle(descent.point.residuals, descent.targets, descent.rounding_floors),
        iterations=search.iterations,
    )


def _check_given(
    edges: ArrayLike | None,
    density: ArrayLike | None,
    triangles: ArrayLike | None,
    stress: ArrayLike | None,
) -> None:
    """Raise unless a net, a membrane or both are given completely."""
    if (edges is None) != (density is None):
        raise ModelError("form_finding: edges and density must be given together")
    if (triangles is None) != (stress is None):
        raise ModelError("form_finding: triangles and stress must be given together")
    if edges is None and triangles is None:
        raise ModelError("form_finding: give edges and density, or triangles and stress, or both")


def _check_elements(value: ArrayLike, width: int, name: str) -> Int:
    required = f"form_finding: {name} must be rows of {width} particle indices, at least one"
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ModelError(f"{required}, got {value!r}") from error
    is_table = array.ndim == 2 and array.shape[1] == width and len(array) > 0
    if not is_table or not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"{required}, got {array.dtype} of shape {array.shape}")
    return array.astype(np.int64)


def _check_loads(value: ArrayLike) -> Float:
    required = "form_finding: loads must be forces [N], shape (n, 3), or (3,) for every point"
    try:
        array = to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{required}, got {value!r}") from error
    if array.ndim not in (1, 2) or array.shape[-1] != 3:
        raise ModelError(f"{required}, got {describe(value)}")
    return array


def _check_tension(value: ArrayLike | None, element: str, name: str) -> Float:
    try:
        array = to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"form_finding: {name} must be numbers, got {value!r}") from error
    flat = np.atleast_1d(array)
    bad = np.flatnonzero(~(flat > 0.0))
    if len(bad):
        where = f" of {element} {bad[0]}" if array.ndim else ""
        raise ModelError(
            f"form_finding: the {name}{where} must be positive, a tension, got {flat[bad[0]]:g} N/m"
        )
    return array
