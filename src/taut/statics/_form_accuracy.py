"""How far a form is from the one sought: what solver and mesh leave.

Of the solver: at a form with residual r [N], the displacement to the equilibrium of this mesh is u,
Ku = -r to first order, so |u| ≤ |r|/λ with λ the smallest eigenvalue of K. For a membrane K is the
second variation of its energy across the surface, along the normals.

Of the mesh: the triangles are flat and the surface is curved. Lift the midpoints of their sides
onto the smooth surface through the points, a midpoint by e·(n_j - n_i)/8, as the normals n at the
ends of a side e turn; cut each triangle in four. The forces of this finer surface, gathered at the
points of the coarse one, are not balanced: they are K times the displacement from this mesh to the
next finer one, three quarters of that to the limit where the error falls as h².
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.linalg.blocks import row_norms
from taut.linalg.linear import make_solver
from taut.mesh.measure import unit_normals
from taut.mesh.topology import keys
from taut.statics._curvature import find_spectrum
from taut.statics._membrane import corner_angles, sum_at, tension_gradient, to_unit
from taut.statics._static_objective import StaticObjective
from taut.statics.stability import estimate_zero

_TO_THE_LIMIT = 4 / 3  # 1/(1 - ¼): from the difference of two meshes, h and h/2, to the error at h


def bound_solver_error(objective: StaticObjective, q: Float) -> tuple[float, float]:
    """Return |r|/λ [m], infinite where λ counts as zero, and the smallest eigenvalue λ [N/m].

    λ is zero where it cannot be told from zero, and infinite where nothing is free to move.
    """
    potential = objective.potential(q)
    residual = objective.projector.project(potential.gradient)
    stiffness = objective.stiffness(q)
    zero = estimate_zero(
        objective.projector, q, potential.gradient, potential.gross, stiffness, np.ones(len(q))
    )
    values = find_spectrum(objective.projector, stiffness, 1, zero).values
    if not len(values):
        return 0.0, np.inf
    least = float(values[0])
    if abs(least) <= zero:
        return np.inf, 0.0
    return float(np.sqrt(np.sum(residual**2))) / abs(least), least


def estimate_mesh_error(
    objective: StaticObjective, q: Float, triangles: Int, stress: Float, pressure: Float
) -> float:
    """Return the largest distance [m] of a point from the smooth surface, estimated.

    objective : of the form, its points free along the normals or in every direction
    stress : [N/m], (k,); pressure : [Pa], (k,)
    """
    fine, parts, sides = lift_midpoints(q, triangles)
    forces = tension_gradient(fine, parts, np.tile(stress, 4), np.tile(pressure, 4))
    shares = forces[len(q) :] / 2
    gathered = forces[: len(q)] + sum_at(sides.T.ravel(), np.tile(shares, (2, 1)), len(q))
    unbalanced = gathered - tension_gradient(q, triangles, stress, pressure)
    solver = make_solver("direct")
    solver.factor(objective.hessian(q, None))
    residual = objective.projector.project(unbalanced)
    solution = solver.solve(-residual, 1e-6 * row_norms(residual))
    return _TO_THE_LIMIT * float(row_norms(solution.x).max(initial=0.0))


def lift_midpoints(q: Float, triangles: Int) -> tuple[Float, Int, Int]:
    """Cut triangles in four, with the midpoints of their sides on the smooth surface through q.

    Return all points (n + e, 3), the triangles (4k, 3) and the sides (e, 2) whose midpoints follow
    the n points.
    """
    n = len(q)
    pairs = np.concatenate([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]])
    found, which = np.unique(keys(pairs, n), return_inverse=True)
    i, j = found // n, found % n
    normals = smooth_normals(q, triangles)
    rise = np.einsum("ij,ij->i", q[j] - q[i], normals[j] - normals[i]) / 8
    lifted = (q[i] + q[j]) / 2 + rise[:, None] * to_unit(normals[i] + normals[j])
    a, b, c = triangles.T
    opposite_a, opposite_b, opposite_c = n + which.reshape(3, -1)
    corners = [
        (a, opposite_c, opposite_b),
        (b, opposite_a, opposite_c),
        (c, opposite_b, opposite_a),
        (opposite_a, opposite_b, opposite_c),
    ]
    parts = np.concatenate([np.column_stack(part) for part in corners])
    return np.concatenate([q, lifted]), parts, np.column_stack([i, j])


def smooth_normals(q: Float, triangles: Int) -> Float:
    """Return the normals of the smooth surface through the points, (n, 3), also at its rim.

    Weighted by the angles of the triangles: by areas a large triangle beside small ones would
    dictate the normal of all its corners, and hide how far it is from the surface. At the rim the
    triangles lie on one side, and their normal is that of half a triangle inwards; the neighbours
    inside extrapolate it to the rim.
    """
    n = len(q)
    weighted = corner_angles(q, triangles)[:, :, None] * unit_normals(q, triangles)[:, None]
    normals = to_unit(sum_at(triangles.ravel(), weighted.reshape(-1, 3), n))
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    sides, count = np.unique(keys(pairs, n), return_counts=True)
    i, j = sides // n, sides % n
    at_rim = np.zeros(n, dtype=bool)
    at_rim[np.concatenate([i[count == 1], j[count == 1]])] = True
    rim = np.concatenate([i, j])
    neighbour = np.concatenate([j, i])
    inwards = at_rim[rim] & ~at_rim[neighbour]
    inside = to_unit(sum_at(rim[inwards], normals[neighbour[inwards]], n))
    known = inside.any(axis=1)
    normals[known] = to_unit(2 * normals[known] - inside[known])
    return normals
