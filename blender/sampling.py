"""The scene frame by frame: where pins and obstacles are in each step, and how the wind blows.

The walk through the frames writes point caches of what is held, in Blender's units and axes, one
sample for each step; what does not move is left out afterwards.
"""

from dataclasses import dataclass, field

import numpy as np

from . import point_cache
from .geometry import read_shape, read_topology, results_hidden
from .preferences import TautError
from .units import shorten


@dataclass
class Walk:
    """The frames that are simulated.

    first, last : frames of the scene; fps : how many of them a second has
    substeps : steps of each frame
    """

    first: int
    last: int
    fps: float
    substeps: int

    @property
    def rate(self):
        """Steps per second."""
        return self.fps * self.substeps

    @property
    def steps(self):
        """The number of steps."""
        return (self.last - self.first) * self.substeps


@dataclass
class Sampled:
    """What the walk found out about one object.

    used : points that are simulated, as indices of the evaluated mesh, (n,)
    start : where they start, in the world, (n, 3); scale : metres per Blender unit
    pinned : which of them are held, (n,); held : where these start, as `find_held` has them
    motion : the file of their path, or None
    matrices : from the object to the world, for each frame, (frames, 4, 4)
    rest : where the other points are in the object, for each frame, (frames, m, 3)
    """

    item: object
    topology: object
    used: np.ndarray
    start: np.ndarray
    pinned: np.ndarray
    scale: float
    held: np.ndarray = None
    motion: object = None
    matrices: list = field(default_factory=list)
    rest: list = field(default_factory=list)


def plan_walk(scene):
    """Return the frames to simulate: those of the scene."""
    first, last = scene.frame_start, scene.frame_end
    if last <= first:
        raise TautError(f"the scene must have several frames, got {first} to {last}")
    fps = scene.render.fps / shorten(scene.render.fps_base)
    return Walk(first, last, fps, scene.taut.substeps)


def sample_scene(context, objects, folder, tell):
    """Walk through the frames; return a Sampled for each object, and the wind of each step.

    folder : where motions are written, as motion_0.pc2, …
    tell : called with the part that is done, from 0 to 1
    """
    scene, walk = context.scene, plan_walk(context.scene)
    before = scene.frame_current, scene.frame_subframe
    blowing = []
    try:
        with results_hidden(context, objects):
            scene.frame_set(walk.first)
            sampled = [_begin(item, context, folder, i) for i, item in enumerate(objects)]
            for step in range(walk.steps + 1):
                frame, substep = divmod(step, walk.substeps)
                scene.frame_set(walk.first + frame, subframe=substep / walk.substeps)
                depsgraph = context.evaluated_depsgraph_get()
                for one in sampled:
                    _sample(one, depsgraph, is_frame=substep == 0)
                blowing.append(read_wind(context, depsgraph))
                tell(step / walk.steps)
    finally:
        scene.frame_set(before[0], subframe=before[1])
    for one in sampled:
        _drop_rest(one)
    return sampled, np.array(blowing)


def _begin(item, context, folder, number):
    """Return a Sampled at the first frame; what is held gets a file for its motion."""
    depsgraph = context.evaluated_depsgraph_get()
    topology, shape = read_topology(item, depsgraph), read_shape(item, depsgraph)
    settings, n = item.taut, len(shape.points)
    if settings.kind == "ROPE":
        if topology.faces:
            raise TautError(f"'{item.name}' is a rope and must have edges only, but it has faces")
        touched = topology.edges.ravel()
    else:
        touched = np.array([i for face in topology.faces for i in face], dtype=np.int64)
    used = np.unique(touched)
    if not len(used):
        what = "edges" if settings.kind == "ROPE" else "faces"
        raise TautError(f"'{item.name}' has no {what}")
    pinned = np.zeros(n, dtype=bool)
    if settings.kind == "OBSTACLE":
        pinned[:] = True
    elif settings.pin_group:
        if settings.pin_group not in topology.groups:
            raise TautError(
                f"'{item.name}' has no vertex group '{settings.pin_group}' for its pins"
            )
        pinned = topology.groups[settings.pin_group] > settings.pin_threshold
        if not pinned[used].any():
            raise TautError(
                f"no point of '{item.name}' has a weight above {settings.pin_threshold:g} in the "
                f"vertex group '{settings.pin_group}'"
            )
    pinned = pinned[used]
    scale = context.scene.unit_settings.scale_length
    one = Sampled(item, topology, used, shape.points[used], pinned, scale)
    if pinned.any():
        path = folder / f"motion_{number}.pc2"
        one.motion = point_cache.Writer(path, int(pinned.sum()))
        one.held = find_held(one, shape.points)
    return one


def find_held(one, points):
    """Return where the held points are, as scenes have them, float32.

    Scenes read motions with the units and axes of the body's mesh file. The pins of a soft body are
    a body without a file: theirs are in metres, with y up.
    """
    held = points[one.used][one.pinned]
    if one.item.taut.kind != "SOFT":
        return held
    scale = shorten(one.scale)
    return (held[:, [0, 2, 1]] * np.array([scale, scale, -scale])).astype(np.float32)


def _sample(one, depsgraph, *, is_frame):
    if one.motion is None and not is_frame:
        return
    shape = read_shape(one.item, depsgraph)
    if len(shape.points) <= one.used[-1]:
        raise TautError(
            f"the number of points of '{one.item.name}' changes with time: it must not before the "
            "modifier that plays the result"
        )
    if one.motion is not None:
        one.motion.add(find_held(one, shape.points))
    if is_frame and one.item.taut.kind != "OBSTACLE":
        one.matrices.append(shape.matrix)
        others = np.delete(shape.points, one.used, axis=0).astype(np.float64)
        one.rest.append(to_local(others, shape.matrix))


def _drop_rest(one):
    """Delete the motion of what does not move."""
    if one.motion is None:
        return
    for sample in range(one.motion.samples):
        if (point_cache.read_samples(one.motion.path, sample, sample + 1)[0] != one.held).any():
            return
    one.motion.path.unlink()
    one.motion = None


def to_local(points, matrix):
    """Return points of the world, (…, 3), in the axes of an object; float64."""
    return (points - matrix[:3, 3]) @ np.linalg.inv(matrix[:3, :3]).T


def read_wind(context, depsgraph):
    """Return the sum of all wind fields, along their z axes, in the axes of the world [m/s]."""
    total = np.zeros(3)
    for item in context.view_layer.objects:
        if item.field is None or item.field.type != "WIND":
            continue
        evaluated = item.evaluated_get(depsgraph)
        axis = np.array(evaluated.matrix_world, dtype=np.float64)[:3, 2]
        total += evaluated.field.strength * axis / np.linalg.norm(axis)
    return total
