"""Cancel a bake after a few frames, then resume it; save what Blender shows before and after."""

import sys
import time

import bpy
import numpy as np
from stage import FOLDER, install, make_cape, tell, walk

install()
baking = sys.modules["bl_ext.user_default.taut.baking"]
scene = bpy.context.scene
cape, ball = make_cape()
scene.frame_end = 18
assert not bpy.ops.taut.cancel.poll()
bake = baking.Bake(bpy.context, resume=False)
assert bpy.ops.taut.cancel.poll()
assert not bpy.ops.taut.bake.poll()
while bake.playback.update() < 3:
    assert bake.process.is_running
    time.sleep(0.02)
partial = walk(cape)[0]  # while the run goes on
assert bpy.ops.taut.cancel() == {"FINISHED"}
first = scene.taut.message
assert not bpy.ops.taut.cancel.poll()
assert baking.has_unfinished_run(scene)
assert bpy.ops.taut.resume() == {"FINISHED"}
np.savez(FOLDER / "shown.npz", partial=partial, whole=walk(cape)[0])
tell(first=first, second=scene.taut.message)
