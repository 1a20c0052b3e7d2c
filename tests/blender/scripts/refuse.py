"""Bakes that cannot begin, and what the user is told."""

import bpy
from stage import FOLDER, add_group, grid, install, mark, tell

install()
scene = bpy.context.scene
scene.frame_end = 3
found = {}


def bake(name):
    """Try to bake; keep the message."""
    try:
        bpy.ops.taut.bake()
        found[name] = "no error"
    except RuntimeError as error:
        found[name] = str(error)
    assert scene.taut.message.split("\n")[0] in found[name]


flag = grid("Flag.001", 4, 1.0, (0, 0, 0))
bake("nothing is marked")
mark(flag, "CLOTH")
scene.taut.folder = "//taut"
bake("not saved")
scene.taut.folder = str(FOLDER)
flag.taut.pin_group = "Pole"
bake("unknown group")
add_group(flag, "Pole", lambda co: 0.0)
bake("empty group")
flag.taut.pin_group = ""
flag.taut.kind = "ROPE"
bake("rope with faces")
flag.taut.kind = "CLOTH"
flag.taut.fabric = "denimm"
bake("unknown fabric")
flag.taut.fabric = "denim"
bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=6, radius=0.3)
bpy.context.object.name = "Die Kugel"
mark(bpy.context.object, "OBSTACLE")
bake("intersection")
bpy.context.object.taut.touches = False
assert bpy.ops.taut.export() == {"FINISHED"}
try:
    bpy.ops.taut.resume()
except RuntimeError as error:
    found["resumed after a change"] = str(error)
bpy.context.preferences.addons["bl_ext.user_default.taut"].preferences.program = "/no/such/taut"
bake("no program")
tell(**found)
