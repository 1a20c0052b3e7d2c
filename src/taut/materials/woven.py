"""Warp and weft before all else: the last step of a fit for cloth.

A fit of all tensors shares its error among the moduli along the warp, along the weft and in shear. The first two come first.
Springs with angle φ to the warp are multiplied by exp(α cos²φ + β sin²φ), which is positive whatever α and β, and these are found
by Newton's method for the two moduli that a stretch test measures. Its slopes cost nothing: dS_aa = -Σ dk (D u_a)²/V.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.materials.balance import TIGHT
from taut.materials.stretch import Stretch

Float = NDArray[np.float64]
CLOSE = 1e-7  # relative error of the moduli that is good enough
STEPS = 30  # of Newton's method
FARTHEST = 1.0  # α and β in one step
APART = 1e-9  # determinant of the slopes below which warp and weft cannot be told apart


def turned_to(test: Stretch, k: Float, direction: Float, moduli: tuple[float, float], start: Float) -> Float:
    """Stiffnesses (m,) with these moduli along the two axes; if none are found the nearest that were."""
    part = direction**2
    wanted = -np.log(moduli)
    u, best, least = start, k, np.inf
    for _ in range(STEPS):
        u = test.relaxed(k, u, TIGHT)
        s = np.diag(test.compliance(u))[:2]
        miss = wanted - np.log(s)
        error = float(np.abs(miss).max())
        if error < least:
            best, least = k, error
        if error < CLOSE:
            break
        energy = k[:, None] * (test.elongation @ u[:, :2]) ** 2 / (test.volume * s)
        slope = -np.array([[(energy[:, a] * part[:, i]).sum() for i in range(2)] for a in range(2)])
        if not abs(np.linalg.det(slope)) > APART:
            break
        step = np.linalg.solve(slope, miss)
        step *= min(1.0, FARTHEST / float(np.abs(step).max()))
        k = k * np.exp(part[:, 0] * step[0] + part[:, 1] * step[1])
    return best
