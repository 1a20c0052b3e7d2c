"""Form finding: the shape that given forces give to nets and membranes between fixed points.

A net of force densities d [N/m], force over length, is in equilibrium where

    Σ_j d_ij (x_j - x_i) + p_i = 0    (Schek 1974):

a linear problem, that of springs of rest length zero. A membrane of uniform stress s [N/m] has the
energy s·A: without load it is a minimal surface, and under a pressure p one of the constant mean
curvature p/s (1/R₁ + 1/R₂). Goals are further energies. `statics/_form_search.py` says how the form
is found with good triangles from any start, `statics/_form_accuracy.py` how far off it can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.binding.law import Energy
from taut.errors import ModelError
from taut.laws.force import force
from taut.laws.force_density import force_density
from taut.laws.membrane_pressure import membrane_pressure
from taut.laws.surface_tension import surface_tension
from taut.optimise.descent import Descent
from taut.optimise.tolerance import Tolerance, find_worst_particle
from taut.statics._certificate import StaticCertificate
from taut.statics._form_arguments import (
    check_accuracy,
    check_density,
    check_elements,
    check_given,
    check_goals,
    check_loads,
    check_stress,
)
from taut.statics._form_search import FormSearch
from taut.statics._membrane import triangle_areas, triangle_qualities
from taut.statics._static_objective import check_tolerance
from taut.system.building import join
from taut.system.contact import Contact
from taut.system.obstacles import Obstacle
from taut.system.system import System


@dataclass(frozen=True, eq=False)
class Form(StaticCertificate):
    """A form in equilibrium, with its certificate.

    points : positions [m], (n, 3)
    edges, forces : (m, 2) and their tensions [N], (m,)
    triangles : (k, 3)
    sliding : points that belong to triangles only and balance across the surface, (s,)
    reactions : force of the fixed points on the net or membrane [N], (n, 3), zero elsewhere
    slip : largest force along the surface on a point that belongs to triangles only [N]. It is not
        balanced; it falls with h², the square of the size of the triangles
    solver_error : bound on the distance of each point from the equilibrium of this mesh [m], the
        norm of the residuals over the smallest eigenvalue of the stiffness; infinite where goals
        leave a motion free
    mesh_error : estimate of the largest distance of a point from the smooth surface [m], 0 for
        nets, infinite where the bound above is
    energies : of each law [J], the goals among them, by name
    system : its laws on the points from which the search began
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
    sliding: Int
    reactions: Float
    slip: float
    solver_error: float
    mesh_error: float
    energies: dict[str, float]
    system: System

    @property
    def lengths(self) -> Float:
        """Of the edges [m], (m,)."""
        return np.linalg.norm(self.points[self.edges[:, 1]] - self.points[self.edges[:, 0]], axis=1)

    @property
    def areas(self) -> Float:
        """Of the triangles [m²], (k,)."""
        return triangle_areas(self.points, self.triangles)

    @property
    def qualities(self) -> Float:
        """Of the triangles, 4√3 area/Σ side², (k,): 1 if equilateral, 0 if it is a line."""
        return triangle_qualities(self.points, self.triangles)

    def __str__(self) -> str:
        text = (
            f"{len(self.points)} points, {len(self.edges)} edges, {len(self.triangles)} triangles"
        )
        if len(self.forces):
            text += f"; tensions from {self.forces.min():.6g} to {self.forces.max():.6g} N"
        if len(self.triangles):
            text += (
                f"; area {self.areas.sum():.6g} m², worst quality {self.qualities.min():.3f}, "
                f"slip {self.slip:.2e} N"
            )
        distance = f"within {self.solver_error:.1e} m of the equilibrium of this mesh"
        if not np.isfinite(self.solver_error):
            distance = "one form of many: the goals leave a motion free"
        elif len(self.triangles):
            distance += f", about {self.mesh_error:.1e} m off the smooth surface"
        return f"{text}\n{self.certificate}\n{distance}"


def form_finding(
    points: ArrayLike,
    *,
    fixed: Any,
    edges: ArrayLike | None = None,
    density: ArrayLike | None = None,
    triangles: ArrayLike | None = None,
    stress: ArrayLike | None = None,
    pressure: float | None = None,
    loads: ArrayLike | None = None,
    goals: Iterable[Energy] = (),
    contact: Contact | None = None,
    obstacles: Iterable[Obstacle] = (),
    accuracy: float | None = None,
    tolerance: Tolerance | None = None,
) -> Form:
    """Find the equilibrium form of a net, a membrane, or a membrane with cables in it.

    points : positions to start from [m], (n, 3)
    fixed : the points that stay
    edges, density : (m, 2) and force densities [N/m], one number or (m,); negative ones are struts
    triangles, stress : (k, 3) and membrane stress [N/m], one number or (k,), positive
    pressure : on the membrane, along its normals [Pa]; its rim must be fixed, or it has none
    loads : given forces [N], (n, 3), or (3,) for every point
    goals : energies that the form shall lower too, bound laws such as `laws.spring` with a target
        length, `laws.tension` or `laws.planarity`, with weights that say how strongly
    contact : what touches, without friction (see `taut.contact`); the points must start apart
    obstacles : over which the form is stretched (see `taut.obstacles`); they need a contact
    accuracy : what `solver_error` and `mesh_error` may add up to [m] (default: 1% of the size)
    tolerance : on the unbalanced force of each point (default: `Tolerance(relative=1e-8)`)

    Points that belong to triangles only balance across the surface, all others in every direction.
    `Form.slip` is the force that is left along the surface, where a uniform stress carries no load:
    a load with more than a tenth along it is an error. Triangles that share an edge must be
    oriented consistently, so that they run along it in opposite directions. `NotConverged` is
    raised for a form that is unstable, whose triangles degenerate, or that is not accurate enough;
    `ModelError` for one that collapses and for struts that leave a point undetermined.

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
    accuracy = check_accuracy(accuracy)
    wishes = check_goals(goals)
    check_given(edges, density, triangles, stress, pressure)
    net: Any = None
    membrane: Any = None
    inflation: Any = None
    given: Any = None
    if edges is not None:
        net = force_density(check_elements(edges, 2, "edges"), d=check_density(density))
    if triangles is not None:
        cells = check_elements(triangles, 3, "triangles")
        membrane = surface_tension(cells, stress=check_stress(stress))
        if pressure is not None:
            if np.shape(points)[-1:] == (2,):
                raise ModelError("form_finding: pressure needs points in space, (n, 3)")
            inflation = membrane_pressure(cells, p=pressure)
    if loads is not None:
        given = force(f=check_loads(loads))
    energies = [law for law in (net, membrane, inflation, given) if law is not None]
    system = System(points, mass=1.0, energies=[*energies, *wishes], fixed=fixed, contact=contact)
    n, shapes = system.n, list(obstacles)
    if system._has_friction:
        raise ModelError(
            "form_finding: friction of contacts depends on the way; use contact without"
        )
    if system.contact is not None and density is not None and np.min(density) < 0.0:
        raise ModelError("form_finding: a net with struts has no minimum that contact could stop")
    if shapes:
        system = join(system, *shapes)
    # In the order in which they were given: joining binds them anew.
    every = list(system._placed_energies.values())
    placed = {id(law): p for law, p in zip([*energies, *wishes], every, strict=True)}
    touched = [placed[id(goal)].elements.ravel() for goal in wishes]
    search = FormSearch(
        system,
        placed.get(id(net)),
        placed.get(id(membrane)),
        placed.get(id(inflation)),
        np.concatenate([np.empty(0, dtype=np.int64), *touched]),
        tolerance,
    )
    descent, q = search.find()
    if given is not None:
        search.reject_tangential_loads(q, placed[id(given)].parameters.pack(0.0))
    errors = search.certify(descent, q, accuracy)
    return _make_form(system, search, descent, q, errors, n)


def _make_form(
    system: System,
    search: FormSearch,
    descent: Descent,
    q: Float,
    errors: tuple[float, float],
    n: int,
) -> Form:
    """Return the form with its forces and certificate.

    q : positions [m], of the n points of the form and of obstacles
    """
    gradient = search.gradient(q)
    reactions = np.zeros_like(q)
    reactions[system.fixed] = gradient[system.fixed]
    slip = gradient[search.sliding] - descent.point.gradient[search.sliding]
    lengths = np.linalg.norm(q[search.edges[:, 1]] - q[search.edges[:, 0]], axis=1)
    return Form(
        points=q[:n],
        edges=search.edges,
        forces=search.density * lengths,
        triangles=search.triangles,
        sliding=search.sliding,
        reactions=reactions[:n],
        slip=float(np.linalg.norm(slip, axis=1).max(initial=0.0)),
        solver_error=errors[0],
        mesh_error=errors[1],
        energies=system.V_by_law(system.initial_state().with_(q=q)),
        system=system,
        outcome=descent.outcome,
        **find_worst_particle(descent.point.residuals, descent.targets, descent.rounding_floors),
        iterations=search.iterations,
    )
