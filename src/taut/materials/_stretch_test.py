"""The linear stretch test: the response of a lattice of springs to a uniform stress.

For small displacements u the springs have the energy ½ uᵀKu, K = DᵀkD with (Du)_e = n_e·(u_j -
u_i). A uniform stress B_a on the boundary loads the points with F_a = B_a g, g = Σ b the pull of
the boundary (`_cells`). With K u_a = F_a, all points free,

    S_ab = F_a · u_b / V

is the compliance of the body: its mean strain for each stress. A continuum gives its own
compliance, whatever its shape. K is singular, since the body may move, but F is balanced, so
conjugate gradients converge. They start from the affine displacements of a target: a lattice that
has this compliance is done at once.

Springs are not a continuum. If their boundary is held to the affine displacements of a strain
instead, the energy is that of a stiffer body. The two moduli bound those of other tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taut.arrays import Float, Int
from taut.errors import ModelError
from taut.materials._tensors import basis, matmul, symmetrise, transpose_product

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

TIGHT_TOLERANCE = 1e-6  # residual over load, for results that are reported
_MAX_INNER_PULL = 1e-9  # relative to the largest pull: points with less are inside
# Iterations of conjugate gradients: in exact arithmetic one for each unknown is enough; slender
# bodies need the most, small bodies need a few more.
_ITERATIONS_PER_UNKNOWN = 10
_ADDED_ITERATIONS = 1000
_MAX_RESIDUAL_GROWTH = 1e20  # of the squared residual; beyond it the iteration has diverged
# Matching warp and weft by Newton's method
_MATCHING_TOLERANCE = 1e-7  # relative error of the moduli
_MAX_MATCHING_STEPS = 30
_MAX_EXPONENT = 1.0  # of α and β in one step
_MIN_DETERMINANT = 1e-9  # of the derivatives: below, warp and weft cannot be told apart


class StretchTest:
    """The test of one body.

    x : points [m], (n, d); pull : g of the boundary, (n, d)
    pairs, direction : of the springs, (m, 2) and unit vectors (m, d)
    volume : that the springs fill [m^d]
    """

    def __init__(self, x: Float, pairs: Int, direction: Float, pull: Float, volume: float) -> None:
        self.n, self.d = x.shape
        self.volume = volume
        self.elongation = elongation_matrix(pairs, direction, self.n)
        self.loads: Float = np.stack([matmul(pull, b).ravel() for b in basis(self.d)], axis=1)
        centred = x - x.mean(axis=0)  # far coordinates would cost digits
        self._affine = np.stack([matmul(centred, b).ravel() for b in basis(self.d)], axis=1)
        size = (pull**2).sum(axis=1)
        self._on_boundary = np.repeat(size > _MAX_INNER_PULL**2 * size.max(), self.d)  # (n·d,)

    def affine_displacements(self, compliance: Float) -> Float:
        """Return the displacements x ↦ εx of a continuum under each stress, (n·d, s)."""
        return matmul(self._affine, compliance)

    def relax(self, k: Float, start: Float, tolerance: float) -> Float:
        """Return the displacements of springs k under each stress, (n·d, s).

        start : displacements to start from; tolerance : residual over load
        """
        return solve_balance(self.stiffness(k), self.loads, start, tolerance, self.d)

    def measure_held(self, k: Float, tolerance: float) -> Float:
        """Return C (s, s) with the boundary held to the affine displacements of a strain."""
        stiffness, u = self.stiffness(k), self._affine.copy()
        inside = np.flatnonzero(~self._on_boundary)
        if len(inside):
            force = (stiffness @ u)[inside]
            u[inside] -= solve_balance(
                stiffness[inside][:, inside].tocsr(), force, np.zeros_like(force), tolerance, self.d
            )
        return symmetrise(transpose_product(u, stiffness @ u) / self.volume)

    def stiffness(self, k: Float) -> csr_matrix:
        """Return K, (n·d, n·d)."""
        from scipy.sparse import diags

        return (self.elongation.T @ diags(k) @ self.elongation).tocsr()

    def compliance(self, u: Float) -> Float:
        """Return S, (s, s), from the displacements under each stress."""
        return symmetrise(transpose_product(self.loads, u) / self.volume)


def elongation_matrix(pairs: Int, direction: Float, n: int) -> csr_matrix:
    """Return D, (m, n·d), of springs with unit vectors (m, d) between n points."""
    from scipy.sparse import csr_matrix

    m, d = direction.shape
    column = (pairs[:, :, None] * d + np.arange(d)).reshape(m, -1)
    value = np.concatenate([-direction, direction], axis=1)
    return csr_matrix(
        (value.ravel(), (np.repeat(np.arange(m), 2 * d), column.ravel())), shape=(m, n * d)
    )


def solve_balance(
    stiffness: csr_matrix, force: Float, start: Float, tolerance: float, d: int
) -> Float:
    """Solve Ku = f for several right-hand sides (n·d, s) at once by conjugate gradients.

    All right-hand sides share one step length, as if they were one long vector, and the
    preconditioner of a point is the mean of the diagonal over its d coordinates. So the result does
    not depend on the axes that coordinates and stresses refer to, however early it stops. Sums run
    in a fixed order, without the linear algebra library: the same bits on any number of threads.

    tolerance : residual over load
    """
    diagonal = np.repeat(stiffness.diagonal().reshape(-1, d).mean(axis=1), d)
    scale = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1.0), 0.0)[:, None]
    x = start
    r = force - stiffness @ x
    p = z = scale * r
    rz = float((r * z).sum())
    diverged = _MAX_RESIDUAL_GROWTH * rz
    converged = tolerance**2 * float((force * scale * force).sum())
    for _ in range(_ITERATIONS_PER_UNKNOWN * len(force) + _ADDED_ITERATIONS):
        if rz <= converged:
            return x
        ap = stiffness @ p
        curvature = float((p * ap).sum())
        if not curvature > 0:
            break
        step = rz / curvature
        x = x + step * p
        r = r - step * ap
        z = scale * r
        before, rz = rz, float((r * z).sum())
        if rz > diverged:
            break
        p = z + rz / before * p
    raise ModelError("the stretch test did not converge: the springs do not hold the body together")


def match_warp_and_weft(
    test: StretchTest, k: Float, direction: Float, moduli: tuple[float, float], start: Float
) -> Float:
    """Return stiffnesses (m,) with these moduli along the two axes, or the nearest found.

    A fit of all tensors shares its error among the moduli along the warp, along the weft and in
    shear; the first two matter most. Springs at the angle φ to the warp are multiplied by
    exp(α cos²φ + β sin²φ), which is positive whatever α and β, and these are found by Newton's
    method. The derivatives cost nothing: dS_aa = -Σ dk (D u_a)²/V.

    direction : of the springs, unit vectors (m, 2); start : displacements to start from
    """
    part = direction**2
    wanted = -np.log(moduli)
    u, best, least = start, k, np.inf
    for _ in range(_MAX_MATCHING_STEPS):
        u = test.relax(k, u, TIGHT_TOLERANCE)
        s = np.diag(test.compliance(u))[:2]
        miss = wanted - np.log(s)
        error = float(np.abs(miss).max())
        if error < least:
            best, least = k, error
        if error < _MATCHING_TOLERANCE:
            break
        energy = k[:, None] * (test.elongation @ u[:, :2]) ** 2 / (test.volume * s)
        slope = -np.array([[(energy[:, a] * part[:, i]).sum() for i in range(2)] for a in range(2)])
        if not abs(np.linalg.det(slope)) > _MIN_DETERMINANT:
            break
        step = np.linalg.solve(slope, miss)
        step *= min(1.0, _MAX_EXPONENT / float(np.abs(step).max()))
        k = k * np.exp(part[:, 0] * step[0] + part[:, 1] * step[1])
    return best
