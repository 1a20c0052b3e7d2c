"""Small valid scenes: the built-in ones, and one that uses most keys, with the files it names."""

from __future__ import annotations

import tomllib
from pathlib import Path

from taut import scene
from taut.scene.toml import format_toml

SMALL = {  # sizes with which a scene is built in a few hundredths of a second
    "cloth": {"nx": 4, "ny": 4},
    "flag": {"nx": 4, "ny": 4},
    "curtain": {"nx": 30, "ny": 18},
    "sheet": {"nx": 4, "ny": 4},
    "beam": {"nx": 3, "ny": 2, "nz": 2},
    "balloon": {"n": 2},
    "snap": {"rings": 3},
    "bridge": {"nx": 6},
    "net": {"nx": 4, "ny": 4},
    "tower": {"nx": 1, "ny": 3, "nz": 1},
    "jelly": {"nx": 4, "ny": 4},
    "tear": {"nx": 6, "ny": 4},
}
RICH = """
title = "Everything"
[time]
h = 0.01
duration = 1.0
[integrator]
method = "BDF2"
tolerance = 1e-6
force = 1e-9
solver = "direct"
minimiser = "newton"
adaptive = { error = 1e-4, halvings = 5 }
[[body]]
name = "left"
mesh = { shape = "sheet", nx = 3, ny = 3, triangulate = true, groups = { edge = "x == max" } }
density = "0.2 + 0.1*u"
pose = { scale = [1, 1, 1], rotate = [0, 0.1, 0], translate = [0, 0, 0.1], displace = ["0.1*y", 0, 0] }
velocity = { linear = [0, 0, "0.1*x"], angular = [0, 1, 0] }
[[body.law]]
law = "spring"
on = "edges"
k = { file = "k.csv", per = "points" }
breaking_strain = 0.5
[[body.law]]
law = "pin"
on = "points"
where = "points(0, 1)"
k = { times = [0, 1], values = [0, 10] }
target = [[0, 0, 0], [1, 0, 0]]
[[body.hold]]
where = "x == min"
follow = { file = "path.csv" }
until = 0.5
[[body]]
name = "right"
mesh = { file = "tile.obj", scale = 0.5, up = "z", clean = { weld = 1e-9, degenerate = true }, translate = [1, 0, 0] }
mass = 0.1
total_mass = 2.0
[[body.law]]
law = "spring"
on = "edges"
k = [1.0, 2.0, 3.0, 4.0, 5.0]
[[body.hold]]
where = [0]
rotate = { axis = [0, 1, 0], rate = 1.0 }
[[body]]
name = "box"
mesh = { shape = "block", nx = 2, ny = 1, nz = 1, cells = "tet", rotate = [0, 0, 0.1] }
material = { name = "rubber", damping = 1e-3 }
[[body.hold]]
where = "y == min"
on_plane = [0, 1, 0]
through = [0, 0, 0]
[[stitch]]
bodies = ["left", "right"]
where = ["edge", "all"]
pair = "nearest"
k = 100.0
[[attach]]
bodies = ["left", "box"]
where = "corners(top)"
k = 50.0
[[law]]
law = "gravity"
[[law]]
law = "rayleigh"
alpha = 0.1
beta = 0.01
[[law]]
law = "force"
f = [0, "sin(3*t)*x", 0]
"""
FILES = {
    "k.csv": "k\n" + "\n".join(str(100.0 + i) for i in range(16)),
    "path.csv": "t, x, y, z\n0, 0, 0, 0\n1, 0, 1, 0\n",
    "tile.obj": "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n",
}


def samples() -> list[str]:
    """Return the scenes as text.

    >>> "Everything" in samples()[0]
    True
    """
    found = [RICH]
    for name in scene.names():
        if name in ("bunny", "blanket"):
            continue  # building a bunny takes a second
        tables = tomllib.loads(scene.new(name))
        tables["body"][0]["mesh"] |= SMALL.get(name, {})
        found.append(format_toml(tables))
    return found


def write_files(folder: Path) -> None:
    """Write the files that the scenes name."""
    for name, content in FILES.items():
        (folder / name).write_text(content)
