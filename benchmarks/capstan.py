"""Capstan: ratios of tensions of a rope that slides over a cylinder, and their convergence.

    python -m benchmarks.capstan

Error of T₂/T₁ against e^{μφ} for three coefficients, four angles and three lengths of edges.
"""

from __future__ import annotations

import numpy as np

from taut.validate._capstan import pull_over_cylinder


def main() -> None:
    """Print a table."""
    print(f"{'μ':>5}{'φ/90°':>7}  " + "".join(f"{n:>4} edges/90°" for n in (6, 12, 24)))
    for mu in (0.1, 0.2, 0.4):
        for quarters in (1, 2, 3, 4):
            angle = quarters * np.pi / 2
            errors = [
                pull_over_cylinder(mu, angle, n * quarters) / np.exp(mu * angle) - 1.0
                for n in (6, 12, 24)
            ]
            print(f"{mu:5}{quarters:7}  " + "".join(f"{100 * e:>12.3f} %" for e in errors))


if __name__ == "__main__":
    main()
