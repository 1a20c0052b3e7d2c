"""The energy of a gap, which the laws of contact share."""

from typing import Any

from taut.formula import log, where

# Of the parameters that all of them have
CONTACT_LIMITS = {"k": ">= 0", "thickness": ">= 0", "range": "> 0"}


def barrier(distance: Any, k: Any, thickness: Any, range: Any) -> Any:
    """Energy [J] of a gap g = distance - thickness: -k (g - d)² ln(g/d) within the range d, else 0.

    Value, force and stiffness are continuous at g = d. The force grows without bound as the gap
    closes; half of the range carries 1.19 k d (Li et al. 2020).
    """
    gap = distance - thickness
    return where(gap < range, -k * (gap - range) ** 2 * log(gap / range), 0.0)
