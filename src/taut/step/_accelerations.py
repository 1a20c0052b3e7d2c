"""The accelerations at work in a step, to which tolerances are relative, and what residuals do.

The accelerations at work are √(a² + g²) [m/s²]: a of the step itself, y/γ², and g of loads that do
not depend on the positions, such as gravity. Both are root mean squares over the system, weighted
with the masses. So a system that swings and one that hangs at rest, in millimetres or in
kilometres, with and without gravity, are solved equally well.

Unbalanced forces r change the velocities by δv with

    c |δv|_M ≤ γ |r|_{M⁻¹}

if the Hessian of Φ is at least c M/γ², c > 0. c is 1 where the Hessian without inertia is positive
semi-definite, and may be far from it where springs are compressed.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from taut.arrays import Float
from taut.system.any_assembly import AnyAssembly
from taut.system.projector import ConstraintProjector
from taut.system.system import System

# As in _stage_arrays. The c that a factorisation is asked to show: in 30 steps of a falling cloth
# of 169 particles the largest possible ones are between 0.37 and 1.03.
FACTORED_PART = 0.25
# Least c that is used: in a smaller one there is rounding, and the bound says little.
_MIN_DEFINITE_PART = 0.01


class Accelerations:
    """Measures accelerations of one stage.

    assembly : of the energies; evaluated before the first call of a method
    h : γ [s], see `taut.step._objective`
    """

    def __init__(self, system: System, assembly: AnyAssembly, h: float) -> None:
        self._mass, self._projector, self._h = system.mass, system._projector, h
        self._assembly = assembly

    @cached_property
    def _free_mass(self) -> float:
        return find_free_mass(self._mass, self._projector)

    @cached_property
    def _load_squares(self) -> float:
        """Σ |f|²/m of the forces that do not depend on the positions [N²/kg]."""
        loads = self._projector.project(self._assembly.constant_gradient())
        return float(np.einsum("i,ij,ij->", 1.0 / self._mass, loads, loads))

    def at_work(self, y: Float) -> float:
        """Return √(a² + g²) [m/s²] for the displacement y (n, 3) [m] from the prediction."""
        if self._free_mass == 0.0:
            return 0.0
        squares = float(np.einsum("i,ij,ij->", self._mass, y, y)) / self._h**4
        return float(np.sqrt((squares + self._load_squares) / self._free_mass))

    def forces_at_work(self, y: Float) -> Float:
        """Return each particle's mass times the accelerations at work [N], (n,)."""
        return self._mass * self.at_work(y)

    @property
    def has_loads(self) -> bool:
        """Whether constant loads act, so that the accelerations at work are not all rounding."""
        return self._load_squares > 0.0

    @cached_property
    def mobile_mass(self) -> Float:
        """The mass of each particle [kg], (n,), infinite where it may not move."""
        mass, c = self._mass.copy(), self._projector.constrained_particles
        directions = np.einsum("nii->n", self._projector.free_directions[c])
        mass[c[directions == 0.0]] = np.inf
        return mass

    def bound_velocity_error(self, residuals: Float, definite_part: float) -> float:
        """Return γ|r|_{M⁻¹}/(c √Σm) [m/s], for the lengths of unbalanced forces r [N], (n,).

        definite_part : a c ≤ 1 for which the Hessian of Φ is at least c M/γ²; where it is not
            positive there is no bound, and nan is returned
        """
        if self._free_mass == 0.0:
            return 0.0
        if not definite_part >= _MIN_DEFINITE_PART:
            return math.nan
        squares = float(np.einsum("i,i->", residuals**2, 1.0 / self._mass))
        return self._h * float(np.sqrt(squares / self._free_mass)) / definite_part


def find_free_mass(mass: Float, projector: ConstraintProjector) -> float:
    """Return the mass that can move [kg]; with one free direction of three, a third counts."""
    shares = np.ones(len(mass))
    c = projector.constrained_particles
    shares[c] = np.einsum("nii->n", projector.constrained_projectors) / 3.0
    return float(np.einsum("i,i->", shares, mass))
