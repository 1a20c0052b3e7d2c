"""Proofs that the equations of a step have a solution next to the computed one.

prove              `taut.prove`, and `Proof`
interval_forces    bounds of forces and stiffnesses over boxes of positions
eigenvalue_bound   a verified lower bound of a matrix's smallest eigenvalue
interval_formula   bounds of formulas; `intervals`: arithmetic with outward rounding
"""

from taut.proof.prove import Proof

__all__ = ["Proof"]
