"""Pictures and videos of a run, without a screen."""

from taut.show.render.drawing import Rendered, render

__all__ = ["Rendered", "render"]
