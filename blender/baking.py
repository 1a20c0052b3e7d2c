"""The operators of the simulation: bake, resume, cancel, export and clear.

A bake goes on while the user works: a timer takes the frames that have arrived. Without a window,
and with `wait`, the operator returns when the run has ended.
"""

import atexit
import json
import time

import bpy

from . import playback, process
from .exporting import INDEX, export_scene, get_folder
from .preferences import TautError, find_program

_SECONDS = 0.25  # between two looks at the frames
_bakes = {}  # by the name of the scene


class Bake:
    """A process and the playback of its frames."""

    def __init__(self, context, *, resume):
        scene = context.scene
        program = find_program(context)
        folder = _find_folder(scene) if resume else _export(context)
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        self.scene_name = scene.name
        self.playback = playback.Playback(scene, folder, index)
        self.process = process.start(program, folder, index, resume=resume)
        self.message = ""
        _bakes[scene.name] = self
        self._tell("the first frame is being solved")

    def update(self):
        """Take the frames that have arrived; return whether the run goes on."""
        is_running = self.process.is_running  # before the frames: its last ones must not be missed
        done, total = self.playback.update(), self.process.index["frames"]
        scene = bpy.data.scenes.get(self.scene_name)
        if scene is not None:
            scene.taut.progress = done / total
        if is_running:
            if done:
                self._tell(f"frame {self.process.index['first'] + done - 1}, {done} of {total}")
            return True
        reason = self.process.explain()
        if reason == "cancelled":
            reason = f"cancelled after {done} of {total} frames; Resume goes on from there"
        elif reason:
            reason = f"{reason}\n{done} of {total} frames are there"
        self.end(reason or f"done: {total} frames")
        return False

    def end(self, message):
        """Forget this bake, of which only its files are left."""
        self._tell(message)
        _bakes.pop(self.scene_name, None)

    def _tell(self, message):
        self.message = message
        scene = bpy.data.scenes.get(self.scene_name)
        if scene is not None:
            scene.taut.message = message

    @property
    def has_failed(self):
        """Whether it ended by an error."""
        return self.process.child.poll() not in (None, 0, 130)


def find_bake(scene):
    """Return the bake of a scene that is running, or None."""
    return _bakes.get(scene.name)


def has_unfinished_run(scene):
    """Return whether there is a run to resume."""
    try:
        return (_find_folder(scene) / process.RUN / "run.sqlite").exists()
    except TautError:
        return False


def _find_folder(scene):
    folder = get_folder(scene)
    if not (folder / INDEX).exists():
        raise TautError("there is no run to resume")
    return folder


def _export(context):
    manager = context.window_manager
    manager.progress_begin(0, 100)
    try:
        return export_scene(context, lambda part: manager.progress_update(100 * part))
    finally:
        manager.progress_end()


def _poll():
    """Update all bakes; called by a timer, which ends when none is left."""
    for bake in list(_bakes.values()):
        try:
            bake.update()
        except OSError as error:  # the disk is full, or the folder is gone
            bake.process.cancel()
            bake.end(f"the frames cannot be read or written: {error}")
    return _SECONDS if _bakes else None


def _interrupt_all():
    """End the runs when Blender is closed; they can be resumed."""
    for bake in _bakes.values():
        if bake.process.is_running:
            bake.process.interrupt()


class _StartOperator(bpy.types.Operator):
    """What bake and resume share."""

    resumes = False
    wait: bpy.props.BoolProperty(
        name="Wait", description="Return when the run has ended", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context):
        """Return whether it can be started."""
        return context.mode == "OBJECT" and find_bake(context.scene) is None

    def execute(self, context):
        """Start taut."""
        try:
            bake = Bake(context, resume=self.resumes)
        except (TautError, OSError) as error:
            context.scene.taut.message = str(error)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not self.wait and not bpy.app.background:
            if not bpy.app.timers.is_registered(_poll):
                bpy.app.timers.register(_poll, first_interval=_SECONDS)
            return {"FINISHED"}
        while bake.update():
            time.sleep(_SECONDS)
        if bake.has_failed:
            self.report({"ERROR"}, bake.message)
            return {"CANCELLED"}
        self.report({"INFO"}, bake.message)
        return {"FINISHED"}


class BakeScene(_StartOperator):
    """Simulate the frames of the scene in a process of its own; the old result is replaced"""

    bl_idname = "taut.bake"
    bl_label = "Bake"


class ResumeBake(_StartOperator):
    """Go on with a bake that was cancelled, to the same result as if it had not been"""

    bl_idname = "taut.resume"
    bl_label = "Resume"
    resumes = True


class CancelBake(bpy.types.Operator):
    """End the bake after the step under way; the frames so far stay"""

    bl_idname = "taut.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context):
        """Return whether a bake is running."""
        return find_bake(context.scene) is not None

    def execute(self, context):
        """Cancel the bake."""
        bake = find_bake(context.scene)
        bake.process.cancel()
        bake.update()
        self.report({"INFO"}, bake.message)
        return {"FINISHED"}


class ExportScene(bpy.types.Operator):
    """Write the scene as a folder for `taut run`, without running it"""

    bl_idname = "taut.export"
    bl_label = "Export Only"

    @classmethod
    def poll(cls, context):
        """Return whether nothing is being baked."""
        return context.mode == "OBJECT" and find_bake(context.scene) is None

    def execute(self, context):
        """Write the folder."""
        try:
            folder = _export(context)
        except (TautError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.scene.taut.message = f"taut run {folder / 'scene.toml'}"
        self.report({"INFO"}, f"exported: {context.scene.taut.message}")
        return {"FINISHED"}


class ClearResult(bpy.types.Operator):
    """Show the objects as they are without the result; its files stay"""

    bl_idname = "taut.clear"
    bl_label = "Hide Result"

    def execute(self, context):
        """Switch the modifiers off that play the result."""
        for item in context.scene.objects:
            playback.hide(item)
        return {"FINISHED"}


_CLASSES = (BakeScene, ResumeBake, CancelBake, ExportScene, ClearResult)


def register():
    for kind in _CLASSES:
        bpy.utils.register_class(kind)
    atexit.register(_interrupt_all)


def unregister():
    atexit.unregister(_interrupt_all)
    for bake in list(_bakes.values()):
        bake.process.cancel()
    _bakes.clear()
    if bpy.app.timers.is_registered(_poll):
        bpy.app.timers.unregister(_poll)
    for kind in reversed(_CLASSES):
        bpy.utils.unregister_class(kind)
