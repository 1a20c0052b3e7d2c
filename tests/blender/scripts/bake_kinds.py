"""Bake objects of every kind in one simulation, in centimetres, with wind and sewing."""

import math

import bpy
import numpy as np
from stage import FOLDER, add_group, grid, install, mark, tell, walk


def mesh(name, points, edges, faces, location=(0, 0, 0)):
    """Add a mesh of given points."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(points, edges, faces)
    item = bpy.data.objects.new(name, data)
    item.location = location
    bpy.context.scene.collection.objects.link(item)
    return item


install()
scene = bpy.context.scene
scene.unit_settings.scale_length = 0.01
scene.render.fps, scene.render.fps_base = 24, 1.001
scene.frame_start, scene.frame_end = 1, 7

# A rope in the air, which falls freely: what its edges do not have takes no part.
rope = mesh(
    "Rope",
    [*((10.0 * i, 0, 500) for i in range(4)), (0, 0, 600)],
    [(0, 1), (1, 2), (2, 3)],
    [],
)
mark(rope, "ROPE")

# Two squares side by side, sewn together by their loose edges; the left one is pinned.
squares = mesh(
    "Seam",
    [(x, y, 200) for x in (-30, -10, 10, 30) for y in (0, 20)],
    [(2, 4), (3, 5)],
    [(0, 1, 3, 2), (4, 5, 7, 6)],
)
add_group(squares, "Left", lambda co: 1.0 if co.x < -20 else 0.0)
mark(squares, "CLOTH")
squares.taut.sewing_stiffness, squares.taut.pin_group = 500.0, "Left"

# A banner in the wind, which turns; its pins are at the top.
banner = grid("Banner", 4, 40.0, (200.0, 0.0, 100.0))
add_group(banner, "Top", lambda co: 1.0 if co.y > 19 else 0.0)
mark(banner, "SHELL")
banner.taut.pin_group, banner.taut.thickness = "Top", 1e-4
heat = banner.data.attributes.new("heat map", "FLOAT", "POINT")
heat.data.foreach_set("value", [vertex.co.y for vertex in banner.data.vertices])
banner.taut.laws = bpy.data.texts.new("laws")
banner.taut.laws.from_string(
    "[[body.law]]\nlaw = 'spring'\nname = 'own'\non = 'edges'\nk = 'abs(heat_map)'\n"
)
bpy.ops.object.effector_add(type="WIND", rotation=(math.pi / 2, 0, 0))  # along -y
fan = bpy.context.object
fan.field.strength = 10.0
fan.keyframe_insert("rotation_euler", frame=1)
fan.rotation_euler = (math.pi / 2, 0, 0.2)
fan.keyframe_insert("rotation_euler", frame=7)

# A block of jelly, of which one side is carried upwards.
bpy.ops.mesh.primitive_cube_add(size=20.0, location=(0.0, 200.0, 50.0))
block = bpy.context.object
block.name = "Jelly"
add_group(block, "Grip", lambda co: 1.0 if co.x < 0 else 0.0)
for frame, z in ((1, 50.0), (7, 56.0)):
    block.location.z = z
    block.keyframe_insert("location", frame=frame)
mark(block, "SOFT")
block.taut.pin_group, block.taut.young, block.taut.spacing = "Grip", 2e5, 0.08
scene.taut.contact = False

assert bpy.ops.taut.bake() == {"FINISHED"}
items = (banner, block, rope, squares)
shown = walk(*items)
bpy.ops.taut.clear()
animated = walk(*items)
names = [item.name for item in items]
np.savez(
    FOLDER / "kinds.npz",
    **dict(zip(names, shown, strict=True)),
    **{f"{name} animated": x for name, x in zip(names, animated, strict=True)},
)
tell(message=scene.taut.message)
