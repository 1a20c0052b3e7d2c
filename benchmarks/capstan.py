"""Capstan: ratios of tensions of ropes and cloth that slide over a cylinder; their convergence.

    python -m benchmarks.capstan

Error of T₂/T₁ against e^{μφ} for three coefficients, four angles and three lengths of edges, and of
a strip of cloth for three angles.
"""

from __future__ import annotations

import numpy as np

from taut.validate._capstan import pull_cloth_over_cylinder, pull_over_cylinder


def main() -> None:
    """Print a table for a rope, and one for cloth."""
    # A whole turn of cloth would lie on itself.
    for name, pull, turns in (
        ("rope", pull_over_cylinder, (1, 2, 3, 4)),
        ("cloth", pull_cloth_over_cylinder, (1, 2, 3)),
    ):
        print(
            f"{name:>5}\n{'μ':>5}{'φ/90°':>7}  " + "".join(f"{n:>4} edges/90°" for n in (6, 12, 24))
        )
        for mu in (0.1, 0.2, 0.4):
            for quarters in turns:
                angle = quarters * np.pi / 2
                errors = [
                    pull(mu, angle, n * quarters) / np.exp(mu * angle) - 1.0 for n in (6, 12, 24)
                ]
                print(f"{mu:5}{quarters:7}  " + "".join(f"{100 * e:>12.3f} %" for e in errors))


if __name__ == "__main__":
    main()
