"""What the scripts share: the extension installed from its zip, and a scene with a cape.

Each script runs in a Blender of its own; its arguments are the zip, the Python of taut, a folder.
"""

import json
import math
import os
import sys
from pathlib import Path

import bpy
import numpy as np

ZIP, PROGRAM, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])


def install():
    """Install the extension in an empty file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.extensions.package_install_files(
        filepath=ZIP, repo="user_default", enable_on_install=True
    )
    addon = bpy.context.preferences.addons["bl_ext.user_default.taut"]
    addon.preferences.program = PROGRAM
    bpy.context.scene.taut.folder = str(FOLDER)


def tell(**found):
    """Hand findings to the test, and end: bpy 4.2 may crash when Python clears its modules."""
    (FOLDER / "found.json").write_text(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)


def grid(name, cells, size, location, vertical=True):
    """Return a square of quads, in the xz plane or lying."""
    turn = (math.pi / 2, 0, 0) if vertical else (0, 0, 0)
    bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=cells, y_subdivisions=cells, size=size, location=location, rotation=turn
    )
    item = bpy.context.object
    item.name = name
    return item


def add_group(item, name, weigh):
    """Give an object a vertex group; weigh : from local coordinates to the weight."""
    group = item.vertex_groups.new(name=name)
    for vertex in item.data.vertices:
        group.add([vertex.index], weigh(vertex.co), "REPLACE")
    return group


def mark(item, kind):
    """Mark one object."""
    bpy.ops.object.select_all(action="DESELECT")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    assert bpy.ops.taut.mark(kind=kind) == {"FINISHED"}


def positions(item):
    """Return the points of an object as Blender shows them in this frame, in the world."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    x = np.array([vertex.co for vertex in mesh.vertices], dtype=np.float64)
    evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    return x @ matrix[:3, :3].T + matrix[:3, 3]


def walk(*items):
    """Return the points of objects in each frame of the scene, (frames, n, 3)."""
    scene = bpy.context.scene
    found = [[] for _ in items]
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for own, item in zip(found, items, strict=True):
            own.append(positions(item))
    return [np.array(own) for own in found]


def make_cape():
    """Build a cape on an animated armature, and a ball that swings into it."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 8
    scene.taut.substeps = 2
    bpy.ops.object.armature_add(location=(0.2, -0.1, 1.5))
    rig = bpy.context.object
    bone = rig.pose.bones["Bone"]
    bone.rotation_mode = "XYZ"
    for frame, angle, shift in ((3, 0.0, 0.0), (8, 0.5, 0.1)):
        bone.rotation_euler = (angle, 0.2 * angle, 0.0)
        bone.location = (shift, 0.0, 0.5 * shift)
        bone.keyframe_insert("rotation_euler", frame=frame)
        bone.keyframe_insert("location", frame=frame)

    cape = grid("Red cape", 6, 0.8, (0.0, 0.0, 1.0))
    add_group(cape, "Bone", lambda co: 1.0)
    add_group(cape, "Shoulder pins", lambda co: 1.0 if co.y > 0.39 else 0.2)
    add_group(cape, "stiff hem", lambda co: max(0.0, -co.y / 0.4))
    deform = cape.modifiers.new("Armature", "ARMATURE")
    deform.object = rig
    smooth = cape.modifiers.new("Subdivision", "SUBSURF")
    smooth.show_viewport = False
    bpy.context.view_layer.update()
    cape.parent, cape.matrix_parent_inverse = rig, rig.matrix_world.inverted()

    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.15, location=(0, 0.4, 0.9))
    ball = bpy.context.object
    ball.name = "Ball.001"
    ball.modifiers.new("Wave", "SIMPLE_DEFORM").angle = 0.1
    for frame, y in ((3, 0.3), (8, 0.1)):
        ball.location.y = y
        ball.keyframe_insert("location", frame=frame)

    mark(cape, "CLOTH")
    cape.taut.pin_group = "Shoulder pins"
    assert bpy.ops.taut.add_map() == {"FINISHED"}
    entry = cape.taut.maps[0]
    entry.quantity, entry.group, entry.low, entry.high = "STRETCH", "stiff hem", 0.0, 2000.0
    mark(ball, "OBSTACLE")
    ball.taut.contact_thickness = 0.004
    return cape, ball
