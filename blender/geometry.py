"""Evaluated meshes as arrays, in the positions of the world.

A simulated object takes part as it is below its modifier `taut`, which plays the result; modifiers
above it in the stack, such as an armature, move its pins, and those after it act on the result.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from .preferences import TautError

MODIFIER = "taut"


@dataclass
class Shape:
    """A mesh at one moment.

    matrix : from the object to the world, (4, 4)
    points : in the world, float32 [Blender units], (n, 3)
    """

    matrix: np.ndarray
    points: np.ndarray


@dataclass
class Topology:
    """What does not change from frame to frame.

    faces : points of each face; texture : (u, v) at the corners of each face, or None
    edges : (k, 2), those of faces included; loose : those of no face
    groups : name → weights of the points, 0 where the group has none
    """

    faces: list
    texture: list | None
    edges: np.ndarray
    loose: np.ndarray
    groups: dict


@contextmanager
def results_hidden(context, objects):
    """Switch the modifiers that play results off, and those after them."""
    hidden = []
    for item in objects:
        names = [modifier.name for modifier in item.modifiers]
        if MODIFIER not in names:
            continue
        for modifier in list(item.modifiers)[names.index(MODIFIER) :]:
            hidden.append((modifier, modifier.show_viewport))
            modifier.show_viewport = False
    context.view_layer.update()
    try:
        yield
    finally:
        for modifier, shown in hidden:
            modifier.show_viewport = shown
        context.view_layer.update()


def read_shape(item, depsgraph):
    """Return where the points of an object are now."""
    evaluated = item.evaluated_get(depsgraph)
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    mesh = evaluated.to_mesh()
    x = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", x)
    evaluated.to_mesh_clear()
    local = x.reshape(-1, 3).astype(np.float64)
    world = local @ matrix[:3, :3].T + matrix[:3, 3]
    if not np.isfinite(world).all():
        raise TautError(f"'{item.name}' has points that are not finite")
    return Shape(matrix, world.astype(np.float32))


def read_topology(item, depsgraph):
    """Return faces, edges and vertex groups of an object."""
    evaluated = item.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh(preserve_all_data_layers=True, depsgraph=depsgraph)
    faces = [list(polygon.vertices) for polygon in mesh.polygons]
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    edges = edges.reshape(-1, 2)
    loose = np.array([edge.is_loose for edge in mesh.edges], dtype=bool)
    topology = Topology(faces, _read_texture(mesh), edges, edges[loose], _read_maps(item, mesh))
    evaluated.to_mesh_clear()
    return topology


def _read_texture(mesh):
    layer = mesh.uv_layers.active
    if layer is None:
        return None
    uv = np.empty(2 * len(mesh.loops), dtype=np.float32)
    layer.uv.foreach_get("vector", uv)
    uv = uv.reshape(-1, 2)
    return [uv[p.loop_start : p.loop_start + p.loop_total] for p in mesh.polygons]


def _read_maps(item, mesh):
    """Return vertex groups, and attributes of points with one number each."""
    maps = {group.name: np.zeros(len(mesh.vertices)) for group in item.vertex_groups}
    names = [group.name for group in item.vertex_groups]
    if names:
        for vertex in mesh.vertices:
            for entry in vertex.groups:
                if entry.group < len(names):
                    maps[names[entry.group]][vertex.index] = entry.weight
    for attribute in mesh.attributes:
        is_map = attribute.domain == "POINT" and attribute.data_type == "FLOAT"
        if is_map and not attribute.is_internal and attribute.name not in maps:
            values = np.empty(len(mesh.vertices), dtype=np.float32)
            attribute.data.foreach_get("value", values)
            maps[attribute.name] = values.astype(np.float64)
    return maps


def find_modifier(item):
    """Return the modifier that plays the result of an object, or None."""
    return item.modifiers.get(MODIFIER)


def get_objects(context):
    """Return the marked objects of a scene, in the order of their names."""
    marked = [item for item in context.scene.objects if item.taut.kind != "NONE"]
    for item in marked:
        if item.type != "MESH":
            raise TautError(f"'{item.name}' is no mesh: Object › Convert › Mesh makes it one")
    return sorted(marked, key=lambda item: item.name)


def tag(item):
    """Let Blender evaluate an object again."""
    item.update_tag(refresh={"DATA"})
    for window in getattr(bpy.context.window_manager, "windows", ()):
        for area in window.screen.areas:
            area.tag_redraw()
