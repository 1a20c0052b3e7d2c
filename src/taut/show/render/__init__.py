"""Pictures and videos of a run, without a screen."""

from taut.show.render.render import Rendered, render

__all__ = ["Rendered", "render"]
