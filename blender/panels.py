"""The tab taut of the 3D view's sidebar."""

import textwrap

import bpy

from .baking import find_bake, has_unfinished_run
from .playback import find_modifier
from .properties import KINDS

_WIDTH = 44  # characters of a line in the sidebar
_MAX_LINES = 12


class _Panel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "taut"


class ObjectPanel(_Panel, bpy.types.Panel):
    """What the active object is."""

    bl_idname = "TAUT_PT_object"
    bl_label = "Object"

    @classmethod
    def poll(cls, context):
        """Return whether there is a mesh."""
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context):
        """Draw the kind of the object and its material."""
        layout, settings = self.layout, context.object.taut
        layout.use_property_split = True
        grid = layout.grid_flow(columns=2, align=True)
        for kind, label, _ in KINDS:
            button = grid.operator("taut.mark", text=label, depress=settings.kind == kind)
            button.kind = kind
        if settings.kind in ("NONE", "OBSTACLE"):
            return
        column = layout.column()
        if settings.kind == "CLOTH":
            column.prop(settings, "fabric")
        if settings.kind == "CLOTH" and settings.fabric:
            column.prop(settings, "warp")
            column.prop(settings, "strain_limit")
        else:
            for name in _list_numbers(settings.kind):
                column.prop(settings, name)
        if find_modifier(context.object) is None:
            layout.label(text="Press the kind again: its modifier is gone", icon="ERROR")


def _list_numbers(kind):
    if kind == "SOFT":
        return ("young", "density", "poisson", "spacing", "damping")
    own = ("diameter",) if kind == "ROPE" else ("thickness", "poisson")
    return ("young", "density", *own, "damping", "breaking_strain")


class PinsPanel(_Panel, bpy.types.Panel):
    """Pins, seams and maps of the active object."""

    bl_idname = "TAUT_PT_pins"
    bl_label = "Pins, Seams, Maps"

    @classmethod
    def poll(cls, context):
        """Return whether the object is simulated."""
        item = context.object
        return item is not None and item.taut.kind not in ("NONE", "OBSTACLE")

    def draw(self, context):
        """Draw vertex groups and what they do."""
        layout, item = self.layout, context.object
        layout.use_property_split = True
        layout.prop_search(item.taut, "pin_group", item, "vertex_groups")
        layout.prop(item.taut, "pin_threshold")
        if item.taut.kind in ("CLOTH", "SHELL"):
            layout.prop(item.taut, "sewing")
            row = layout.row()
            row.active = item.taut.sewing
            row.prop(item.taut, "sewing_stiffness")
        for number, entry in enumerate(item.taut.maps):
            box = layout.box()
            row = box.row()
            row.prop(entry, "quantity", text="")
            row.operator("taut.remove_map", text="", icon="X").number = number
            box.prop_search(entry, "group", item, "vertex_groups")
            box.prop(entry, "low")
            box.prop(entry, "high")
        layout.operator("taut.add_map", icon="ADD")
        layout.prop(item.taut, "laws")


class ContactPanel(_Panel, bpy.types.Panel):
    """What touches what."""

    bl_idname = "TAUT_PT_contact"
    bl_label = "Contact and Air"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        """Draw the settings of the scene and the active object."""
        layout, settings, item = self.layout, context.scene.taut, context.object
        layout.use_property_split = True
        layout.prop(settings, "contact")
        column = layout.column()
        column.active = settings.contact
        column.prop(settings, "friction")
        column.prop(settings, "contact_range")
        if item is not None and item.taut.kind != "NONE":
            column.separator()
            column.label(text=item.name)
            column.prop(item.taut, "touches")
            column.prop(item.taut, "contact_thickness")
        layout.prop(settings, "air")


class BakePanel(_Panel, bpy.types.Panel):
    """The bake."""

    bl_idname = "TAUT_PT_bake"
    bl_label = "Bake"

    def draw(self, context):
        """Draw time, folder and buttons."""
        layout, scene = self.layout, context.scene
        settings, bake = scene.taut, find_bake(scene)
        layout.use_property_split = True
        fps = scene.render.fps / scene.render.fps_base
        layout.label(text=f"Frames {scene.frame_start} to {scene.frame_end}, {fps:g} per second")
        gravity = f"{-scene.gravity[2]:.3g} m/s²" if scene.use_gravity else "none"
        layout.label(text=f"Gravity downwards: {gravity}")
        column = layout.column()
        column.active = bake is None
        column.prop(settings, "substeps")
        column.prop(settings, "folder")
        if bake is not None:
            layout.progress(factor=settings.progress, text=settings.message)
            layout.operator("taut.cancel", icon="CANCEL")
            return
        layout.operator("taut.bake", icon="PLAY")
        row = layout.row(align=True)
        row.active = has_unfinished_run(scene)
        row.operator("taut.resume")
        row = layout.row(align=True)
        row.operator("taut.export")
        row.operator("taut.clear")
        lines = [part for line in settings.message.split("\n") for part in _wrap(line)]
        for line in lines[:_MAX_LINES]:
            layout.label(text=line)


def _wrap(line):
    return textwrap.wrap(line, _WIDTH) or [""]


_CLASSES = (ObjectPanel, PinsPanel, ContactPanel, BakePanel)


def register():
    for kind in _CLASSES:
        bpy.utils.register_class(kind)


def unregister():
    for kind in reversed(_CLASSES):
        bpy.utils.unregister_class(kind)
