"""Operators that mark objects, and add and remove maps."""

import bpy

from .playback import add_modifier, remove_modifier
from .properties import KINDS


class MarkObjects(bpy.types.Operator):
    """Mark the selected meshes as what they are in the simulation"""

    bl_idname = "taut.mark"
    bl_label = "Mark As"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    kind: bpy.props.EnumProperty(name="Kind", items=KINDS, default="CLOTH")

    @classmethod
    def poll(cls, context):
        """Return whether meshes are selected."""
        return any(item.type == "MESH" for item in context.selected_objects)

    def execute(self, context):
        """Set the kind of the selected meshes."""
        for item in context.selected_objects:
            if item.type != "MESH":
                continue
            item.taut.kind = self.kind
            if self.kind in ("NONE", "OBSTACLE"):
                remove_modifier(item)
            else:
                add_modifier(item)
        return {"FINISHED"}


class AddMap(bpy.types.Operator):
    """Let a vertex group change a quantity over the object"""

    bl_idname = "taut.add_map"
    bl_label = "Add Map"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        """Return whether there is an object."""
        return context.object is not None

    def execute(self, context):
        """Add a map with the active vertex group."""
        settings, group = context.object.taut, context.object.vertex_groups.active
        entry = settings.maps.add()
        entry.group = group.name if group else ""
        settings.active_map = len(settings.maps) - 1
        return {"FINISHED"}


class RemoveMap(bpy.types.Operator):
    """Remove a map"""

    bl_idname = "taut.remove_map"
    bl_label = "Remove Map"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    number: bpy.props.IntProperty(min=0)

    def execute(self, context):
        """Remove the map with this number."""
        context.object.taut.maps.remove(self.number)
        return {"FINISHED"}


_CLASSES = (MarkObjects, AddMap, RemoveMap)


def register():
    for kind in _CLASSES:
        bpy.utils.register_class(kind)


def unregister():
    for kind in reversed(_CLASSES):
        bpy.utils.unregister_class(kind)
