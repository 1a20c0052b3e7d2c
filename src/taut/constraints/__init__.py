"""Constraints on single particles; a System takes them as `constraints=[…]`.

constraint : the Constraint, particle indices, paths as functions of time
prescribed : `fixed`, `scripted` and `handle`, particles whose motion is prescribed
sliding    : `on_line` and `on_plane`

Each may end at a time, `until` [s]. `taut.system.projector` combines those of a system.
"""

from taut.constraints.prescribed import fixed, handle, scripted
from taut.constraints.sliding import on_line, on_plane

__all__ = ["fixed", "handle", "on_line", "on_plane", "scripted"]
