"""Tests on request: what intersects in a state, and what has passed through something else."""

from __future__ import annotations

import numpy as np

from taut.errors import ModelError
from taut.system.contact_search import ContactSearch
from taut.system.state import State, require_state
from taut.system.system import System


def find_intersections(
    system: System, state: State | None = None, *, since: State | None = None
) -> list[str]:
    """Find bodies of a system with contact that are where they must not be.

    state : default: the initial one
    since : an earlier state: report also what has passed through something on straight ways from
        there, such as an edge through an edge

    Returns a sentence for each pair: an edge that passes through a triangle, decided exactly; else
    what is inside of a one-sided surface or beyond a plane; else what is nearer than its thickness.
    Obstacles may intersect each other. Nothing that `simulate` returns gives any, but with `since`:
    a step goes many short ways, and may have gone around what is in the one straight way.

    >>> import taut
    >>> x = [[-1, 0, 0], [1, 0, 0], [0, 0.1, -1], [0, 0.1, 1]]
    >>> ropes = taut.System(x, mass=1.0, contact=taut.contact([[0, 1], [2, 3]], range=0.01))
    >>> later = ropes.initial_state()
    >>> later = later.with_(q=later.q - [[0, 0, 0], [0, 0, 0], [0, 0.2, 0], [0, 0.2, 0]])
    >>> taut.find_intersections(ropes, later)
    []
    >>> taut.find_intersections(ropes, later, since=ropes.initial_state())
    ['edge (0, 1) and edge (2, 3) pass through each other']
    """
    if system.contact is None:
        raise ModelError("find_intersections: the system must have contact")
    states = [system.initial_state() if state is None else state]
    if since is not None:
        states.append(since)
    for given in states:
        require_state(given)
        system._check(given)
    search = ContactSearch(system.contact, np.logical_not(system._projector.is_fixed))
    x = np.array(states[0].q)
    problems = search.problems.describe(x)
    if since is not None:
        problems += search.problems.describe_crossings(np.array(since.q), x)
    return problems
