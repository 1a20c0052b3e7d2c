"""Bake a cape at 24, 25 and 30 frames per second; save what Blender shows, and what it held."""

import bpy
import numpy as np
from stage import FOLDER, install, make_cape, tell, walk

install()
scene = bpy.context.scene
cape, ball = make_cape()
messages = {}
for fps in (24, 25, 30):
    scene.render.fps = fps
    scene.taut.folder = str(FOLDER / str(fps))
    assert bpy.ops.taut.bake() == {"FINISHED"}
    messages[fps] = scene.taut.message
    shown, obstacle = walk(cape, ball)
    assert bpy.ops.taut.clear() == {"FINISHED"}
    animated, _ = walk(cape, ball)
    np.savez(FOLDER / f"{fps}.npz", shown=shown, obstacle=obstacle, animated=animated)
tell(messages=messages, modifiers=[modifier.name for modifier in cape.modifiers])
