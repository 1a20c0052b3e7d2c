"""What holds particles, or leads them: each may end at a time, `until` [s]. A system takes them as `constraints=[…]`."""

from taut.constraints.held import fixed, scripted
from taut.constraints.rigid import handle
from taut.constraints.sliding import on_line, on_plane

__all__ = ["fixed", "handle", "on_line", "on_plane", "scripted"]
