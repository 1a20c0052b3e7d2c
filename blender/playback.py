"""The frames of a run as point caches that the modifier Mesh Cache plays.

taut writes positions in the world, in metres, with y up. Blender's caches have them in the axes of
the object as it is in each frame, so that objects with parents and keyframes stay where they are.
"""

import bpy
import numpy as np

from . import point_cache
from .geometry import MODIFIER, find_modifier, tag
from .process import list_raw_caches
from .sampling import to_local

_CACHE = "cache"
# What only refines or thickens a surface comes after the simulation.
_FINISHING = {"SUBSURF", "MULTIRES", "SOLIDIFY", "BEVEL", "WEIGHTED_NORMAL", "CORRECTIVE_SMOOTH"}


class Playback:
    """Turns the frames of a run into caches while they arrive.

    folder : of the scene; index : content of its blender.json
    """

    def __init__(self, scene, folder, index):
        self.scene, self.folder, self.index = scene, folder, index
        self._raw = list_raw_caches(folder, index)
        self._arrays, self._writers = {}, {}
        for name, entry in index["objects"].items():
            with np.load(folder / entry["arrays"]) as arrays:
                self._arrays[name] = dict(arrays)
            points = len(self._arrays[name]["used"]) + self._arrays[name]["rest"].shape[1]
            path = folder / _CACHE / f"{entry['body']}.pc2"
            self._writers[name] = point_cache.Writer(path, points)

    def update(self):
        """Add the frames that have arrived; return how many all objects have."""
        for name, writer in self._writers.items():
            there = point_cache.count_samples(self._raw[name])
            if there == writer.samples:
                continue
            is_first = writer.samples == 0
            raw = point_cache.read_samples(self._raw[name], writer.samples, there)
            numbers = range(writer.samples, there)
            writer.add(*(self._to_object(name, i, x) for i, x in zip(numbers, raw, strict=True)))
            item = self.scene.objects.get(name)
            if item is not None:
                if is_first:
                    show(item, writer.path, self.index["first"])
                tag(item)
        return min(writer.samples for writer in self._writers.values())

    def _to_object(self, name, frame, raw):
        """Return the points of an object in its own axes, those included that take no part."""
        arrays, x = self._arrays[name], raw.astype(np.float64) / self.index["scale"]
        world = np.column_stack([x[:, 0], -x[:, 2], x[:, 1]])
        others = arrays["rest"][frame]
        points = np.empty((len(world) + len(others), 3))
        is_used = np.zeros(len(points), dtype=bool)
        is_used[arrays["used"]] = True
        points[is_used] = to_local(world, arrays["matrices"][frame])
        points[~is_used] = others
        return points


def add_modifier(item):
    """Give an object the modifier that will play its result, if it has none."""
    modifier = find_modifier(item)
    if modifier is not None:
        return modifier
    modifier = item.modifiers.new(MODIFIER, "MESH_CACHE")
    modifier.show_viewport = modifier.show_render = False  # there is nothing to play yet
    modifier.cache_format = "PC2"
    modifier.deform_mode = "OVERWRITE"
    modifier.interpolation = "LINEAR"
    place = len(item.modifiers) - 1
    while place > 0 and item.modifiers[place - 1].type in _FINISHING:
        place -= 1
    item.modifiers.move(len(item.modifiers) - 1, place)
    return item.modifiers[place]


def show(item, path, first):
    """Let an object play a cache from a frame on."""
    modifier = add_modifier(item)
    relative = bpy.data.filepath and bpy.context.scene.taut.folder.startswith("//")
    modifier.filepath = bpy.path.relpath(str(path)) if relative else str(path)
    modifier.frame_start = first
    modifier.frame_scale = 1.0
    modifier.show_viewport = modifier.show_render = True


def hide(item):
    """Show an object as it is without its result."""
    modifier = find_modifier(item)
    if modifier is not None:
        modifier.show_viewport = modifier.show_render = False


def remove_modifier(item):
    """Take the modifier that plays results from an object."""
    modifier = find_modifier(item)
    if modifier is not None:
        item.modifiers.remove(modifier)
