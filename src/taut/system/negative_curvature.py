"""How negative the Hessian of a sum can be, from the Hessians of its elements alone.

Each element's metric is positive semi-definite, so its Hessian is at least -|metric - Hessian| on
its own particles, with the Frobenius norm. Added up at the particles, these are numbers s_i with

    Σ_e ∂²V_e/∂x² ≥ -diag(s),

and an energy of a total adds Φ'' ∇S ∇Sᵀ ≥ -|∇S|² where Φ'' is negative. Where all springs are taut,
s is zero. No matrix is assembled or factorised, so the bound costs about as much as one assembly
at any size; it is wider than the lowest eigenvalue where negative parts of one element lie where
another one is stiff. The signs of pivots tell more, where a factorisation is affordable. That
conjugate gradients have met no negative curvature proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taut.arrays import Float
from taut.system.any_assembly import AnyAssembly
from taut.system.terms import Inputs


def bound_negative_curvature(
    assembly: AnyAssembly, inputs: Sequence[Inputs], weights: Float
) -> float:
    """Return c ≥ 0 such that the Hessian of a sum is at least -c diag(weights).

    weights : [N/m], (n,); infinite for particles that may not move
    """
    bound = 0.0
    for part, own in assembly.parts(inputs):
        sums, slopes = part.negative_parts(own)
        bound += float((sums / weights).max(initial=0.0))
        for rank in slopes:
            squares = np.einsum("ij,ij->i", rank.vector, rank.vector)
            bound += abs(rank.weight) * float((squares / weights).sum())
    return bound
