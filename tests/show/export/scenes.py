"""A run with all features that can be exported.

Faces with texture coordinates and a seam, a rod, tetrahedra, loose points, a render mesh.
"""

import numpy as np

import taut
from taut.mesh import UV, Mesh
from taut.scene import read_text
from taut.show.visual_model import model_from_run

HEAD = """
title = "Everything"
[time]
h = 0.01
duration = 0.1
[output]
every = 2
[[law]]
law = "gravity"
"""
SPRING = '[[body.law]]\nlaw = "spring"\non = "edges"\nk = 50.0\n'
TURNING = "velocity = { linear = [0.1, 0.2, 0.3], angular = [1, 2, 3] }\n"
BODIES = f"""
[[body]]
name = "cloth"
mesh = {{ file = "cloth.obj" }}
mass = 0.01
{TURNING}{SPRING}
[[body]]
name = "../rod"
mesh = {{ shape = "rope", n = 5, end = [0, 0, 1] }}
mass = 0.01
{TURNING}{SPRING}
[[body]]
name = "Jelly cube"
mesh = {{ file = "jelly.vtk" }}
mass = 0.01
{TURNING}{SPRING}
[[body]]
name = "dust"
mesh = {{ points = [[3, 0, 0], [3, 1, 0], [3, 1, 1]] }}
mass = 0.01
{TURNING}
[[body]]
name = "jelly_cube"
mesh = {{ shape = "sheet", nx = 2, ny = 2, size = 0.5 }}
render = {{ file = "fine.obj" }}
mass = 0.01
{TURNING}{SPRING}
"""
PLAIN = ["cloth", "___rod", "Jelly_cube", "dust", "jelly_cube_2"]


def cloth():
    """Two quads and a pentagon, with a texture seam between the quads."""
    points = [[0, 0, 0], [1, 0, 0], [2, 0, 0.1], [0, 1, 0], [1, 1, 0.2], [2, 1, 0], [0.5, 2, 0.1]]
    cells = {"quad": [[0, 1, 4, 3], [1, 2, 5, 4]], "polygon5": [[3, 4, 5, 6, 0]]}
    coordinates = [
        [0, 0],
        [0.3, 0],
        [0.3, 0.7],
        [0, 0.7],
        [0.6, 0.1],
        [1, 0.1],
        [1, 0.9],
        [0.6, 0.9],
        [0.5, 0.5],
    ]
    return Mesh(
        points,
        cells,
        uv=UV(coordinates, {"quad": [[0, 1, 2, 3], [4, 5, 6, 7]], "polygon5": [[3, 7, 6, 8, 0]]}),
    )


def jelly():
    """Four tetrahedra around an inner point, which is the first point and belongs to no face."""
    corners = np.array([[0.3, 0.3, 0.3], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) + np.array(
        [0, 0, 5]
    )
    return Mesh(corners, {"tet": [[0, 2, 3, 4], [1, 0, 3, 4], [1, 2, 0, 4], [1, 2, 3, 0]]})


def fine():
    """A finer sheet than the simulated one, with texture coordinates."""
    sheet = taut.mesh.sheet(3, 3, size=0.5)
    return Mesh(
        sheet.positions + np.array([0, 0, 0.05]),
        sheet.cells,
        uv=UV(2 * sheet.points[:, :2], dict(sheet.cells)),
    )


def record_scene(folder, bodies=BODIES):
    """The folder of a run of this scene with six frames."""
    source = folder.with_name(f"{folder.name}-source")
    source.mkdir()
    for name, mesh in (("cloth.obj", cloth()), ("jelly.vtk", jelly()), ("fine.obj", fine())):
        taut.mesh.write(mesh, source / name)
    scene = read_text(HEAD + bodies, folder=source)
    scene.record(folder)
    return folder


def positions(folder):
    """Positions of the points of each body in each frame [m], as nested lists."""
    with taut.open_run(folder) as run:
        pieces = model_from_run(run).pieces
        return [[piece.positions(frame.q) for piece in pieces] for frame in run.frames]
