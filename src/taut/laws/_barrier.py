"""The energy of a gap, which laws of contact share."""

from typing import Any

from taut.formula import log, where


def barrier(gap: Any, k: Any, range: Any) -> Any:
    """Energy of a gap [J]: V = -k (g - d)² ln(g/d) below the range d, zero beyond [Li et al. 2020].

    Value, force and stiffness are continuous at g = d. The force grows without bound as the gap
    closes: half of the range carries 1.19 k d.
    """
    ratio = gap / range
    return where(gap < range, -k * (gap - range) ** 2 * log(ratio), 0.0)
