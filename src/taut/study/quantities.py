"""The quantities of a run that measures are made of, at one moment.

    x y z            positions of the particles [m]      x0 y0 z0    … at the beginning
    vx vy vz speed   velocities [m/s]                    mass        [kg]
    strain force     of the members: l/l0 - 1, and tension [N]
    length           … and their lengths [m]
    kinetic potential energy    T, V and T + V [J]
    stored('spring')            energy of one law, by its name in the system [J]
    t pi                        time [s], and 3.14159…

Members are the active elements of energies on two particles (`System.members`); those without a
rest length have no strain, and are left out of `strain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from taut.arrays import Float, Mask
from taut.system.members import Members
from taut.system.state import State
from taut.system.system import System

AXES = ("x", "y", "z")
NAMES = (
    *AXES,
    *(f"{axis}0" for axis in AXES),
    *(f"v{axis}" for axis in AXES),
    *("speed", "mass", "strain", "force", "length", "kinetic", "potential", "energy", "t", "pi"),
)


class Quantities:
    """The quantities of a system in a state; each is computed when it is first asked for.

    start : positions at the beginning [m], (n, 3)
    bodies : name → first particle and the one after the last
    parameters : name → value of the run's parameters that are numbers

    >>> import taut
    >>> ball = taut.System([[0, 10, 0]], mass=2.0, velocity=[[3, 0, 4]])
    >>> now = Quantities(ball, ball.initial_state(), ball.initial_state().q, {}, {})
    >>> now.look_up("speed").tolist(), float(now.look_up("kinetic"))
    ([5.0], 25.0)
    """

    def __init__(
        self,
        system: System,
        state: State,
        start: Float,
        bodies: Mapping[str, tuple[int, int]],
        parameters: Mapping[str, float],
    ) -> None:
        self.system, self.state, self.start = system, state, start
        self.bodies, self.parameters = bodies, parameters

    @cached_property
    def _members(self) -> Members:
        return self.system.members(self.state)

    @cached_property
    def stored(self) -> dict[str, float]:
        """The energy of each law [J], by its name."""
        return self.system.V_by_law(self.state)

    def look_up(self, name: str) -> Float:
        """Return a quantity, shape () or one value per particle or member."""
        state = self.state
        if name in AXES:
            return np.asarray(state.q[:, AXES.index(name)])
        if name[0] in AXES and name[1:] == "0":
            return self.start[:, AXES.index(name[0])]
        if name[0] == "v":
            return np.asarray(state.v[:, AXES.index(name[1:])])
        if name == "speed":
            return np.sqrt(np.einsum("ij,ij->i", state.v, state.v))
        if name == "mass":
            return np.asarray(self.system.mass)
        if name == "strain":
            strain = self._members.strain
            return strain[~np.isnan(strain)]
        if name in ("force", "length"):
            return np.asarray(getattr(self._members, name))
        return np.array(self._look_up_number(name))

    def _look_up_number(self, name: str) -> float:
        if name == "kinetic":
            return self.system.T(self.state)
        if name == "potential":
            return self.system.V(self.state)
        if name == "energy":
            return self.system.T(self.state) + self.system.V(self.state)
        return self.state.t if name == "t" else np.pi

    def mask_of_body(self, name: str) -> Mask | None:
        """Return which particles belong to a body, (n,); None if there is none of that name."""
        if name not in self.bodies:
            return None
        mask = np.zeros(self.system.n, dtype=bool)
        mask[slice(*self.bodies[name])] = True
        return mask
