"""Small scenes to look at."""

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
    """The scene."""
    return read_text(text)


def recorded(folder, text=CLOTH, every=2):
    """The scene, run into a folder, with a frame every so many steps."""
    read_text(text, overrides=[("output.every", every)]).record(folder)
    return folder
