"""Several bodies in one system."""

from __future__ import annotations

import numpy as np

from taut.constraints.constraint import Constraint
from taut.errors import LawError, ModelError
from taut.formula.bound import Damping, Energy, Load
from taut.system.system import System


def join(*systems: System) -> System:
    """Several bodies in one system, in order: particles of the second follow those of the first, and so on.

    >>> import taut
    >>> from taut import laws
    >>> one = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0)])
    >>> two = taut.join(one, one.with_(pose=[[0, 1, 0], [1, 1, 0]]))
    >>> two.n, two.energies[1].elements.tolist()
    (4, [[2, 3]])
    """
    if not systems:
        raise ModelError("join needs at least one system")
    if len({s.flat for s in systems}) > 1:
        raise ModelError("join: systems in the plane and in space do not mix")
    if any(s.rayleigh is not None for s in systems):
        raise LawError("join: Rayleigh damping belongs to a whole system; give it to the joined one with with_(damping=…)")
    energies: list[Energy] = []
    damping: list[Damping] = []
    loads: list[Load] = []
    constraints: list[Constraint] = []
    held: list[int] = []
    start = 0
    for s in systems:
        energies += [p.shifted(start) for p in s.placed.values()]
        damping += [p.shifted(start) for p in s.placed_damping.values()]
        loads += [p.shifted(start) for p in s.placed_loads.values()]
        constraints += [c.shifted(start, s.n) for c in s.constraints]
        held += (s.fixed + start).tolist()
        start += s.n
    points = np.concatenate([s.rest for s in systems])
    return System(
        points[:, :2] if systems[0].flat else points,
        mass=np.concatenate([s.mass for s in systems]),
        energies=energies,
        damping=damping,
        loads=loads,
        fixed=held,
        constraints=constraints,
        pose=np.concatenate([s.pose for s in systems]),
        velocity=np.concatenate([s.velocity for s in systems]),
    )
