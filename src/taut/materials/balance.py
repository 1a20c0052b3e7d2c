"""Where forces balance: conjugate gradients for Ku = f with several right-hand sides at once.

All right-hand sides share one step length, as if they were one long vector, and the scale of a point is the mean of the diagonal
over its coordinates. So the result does not depend on the axes that coordinates and stresses refer to, however early it stops.
Sums run in a fixed order, without the linear algebra library: the same bits each time, on any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Float = NDArray[np.float64]
TIGHT = 1e-6  # residual of what is reported, of the load
STEPS = 10  # conjugate gradients for each unknown; in exact arithmetic 1 is enough, and slender bodies need most
SOME = 1000  # more of them, for small bodies
LOST = 1e20  # of the first residual, squared: no balance is found any more


def balanced(stiffness: csr_matrix, force: Float, start: Float, tolerance: float, d: int) -> Float:
    """The displacements u, shape (n·d, s), whose residual is `tolerance` of the force (n·d, s); d coordinates for each point."""
    diagonal = np.repeat(stiffness.diagonal().reshape(-1, d).mean(axis=1), d)
    scale = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1.0), 0.0)[:, None]
    x = start
    r = force - stiffness @ x
    p = z = scale * r
    rz = float((r * z).sum())
    lost = LOST * rz
    enough = tolerance**2 * float((force * scale * force).sum())
    for _ in range(STEPS * len(force) + SOME):
        if rz <= enough:
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
        if rz > lost:
            break
        p = z + rz / before * p
    raise ModelError("the stretch test found no balance: the springs do not hold the body together")
