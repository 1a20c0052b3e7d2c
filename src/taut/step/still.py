"""What statics begins with: a system that has an energy, and a state of it."""

from __future__ import annotations

from taut.errors import ModelError
from taut.system.members import state_of
from taut.system.state import State
from taut.system.system import System


def still_state(system: System, state: State | None, caller: str) -> State:
    """The state (default: the initial one), if these are a system without loads and a state of it; the error names the caller.

    >>> import taut
    >>> still_state(taut.System([[0, 0, 0]], mass=1.0), None, "modes").t
    0.0
    """
    if not isinstance(system, System):
        raise ModelError(f"{caller}: {system!r} is not a System")
    if system.loads:
        raise ModelError(f"{caller}: a load such as '{system.loads[0].name}' has no energy; simulate with damping until it rests")
    return state_of(system, state, caller)
