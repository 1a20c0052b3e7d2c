"""Small scenes to view."""

from taut.scene import read_text

CLOTH = """
title = "A small cloth"
[time]
h = 0.01
duration = 0.3
[[body]]
name = "cloth"
mesh = { shape = "sheet", nx = 8, ny = 8 }
density = 0.2
[[body.law]]
law = "spring"
on = "edges"
k = 40.0
[[body.law]]
law = "spring_damping"
on = "edges"
c = 0.05
[[body.hold]]
where = "y == max"
[[law]]
law = "gravity"
"""


def cloth(text=CLOTH):
    """The cloth scene."""
    return read_text(text)


def record_scene(folder, text=CLOTH, every=2):
    """Run the scene into a folder, with a frame every `every` steps."""
    read_text(text, overrides=[("output.every", every)]).record(folder)
    return folder
