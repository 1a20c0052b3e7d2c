"""Small runs to draw."""

from taut.scene import load, read_text

HANGING = """
title = "Hanging"
[time]
h = 0.02
duration = 0.4
[[body]]
name = "cloth"
mesh = { shape = "sheet", nx = 6, ny = 6, size = 1.0 }
density = 0.2
[[body.law]]
law = "spring"
on = "edges"
k = 12.0
[[body.hold]]
where = "y == max"
[[law]]
law = "gravity"
"""


def record_scene(folder, scene):
    """Record a scene into a folder."""
    scene.record(folder)
    return folder


def hanging(folder, text=HANGING):
    """Twenty steps of a sheet held at its upper edge, in the plane z = 0."""
    return record_scene(folder, read_text(text))


def tearing(folder):
    """A small sheet that tears in two."""
    changes = [
        ("body.cloth.mesh.nx", 12),
        ("body.cloth.mesh.ny", 6),
        ("time.duration", 1.0),
        ("output.every", 4),
    ]
    return record_scene(folder, load("tear", overrides=changes))
