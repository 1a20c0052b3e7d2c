"""The preferences: which taut is started."""

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import bpy

_SECONDS = 60  # to start taut for the first time
FALLBACK_FABRICS = ("cotton", "denim", "silk", "wool")


class TautError(Exception):
    """Something that the user has to know; the message is shown as it is."""


class TautPreferences(bpy.types.AddonPreferences):
    """Preferences › Add-ons › taut."""

    bl_idname = __package__

    program: bpy.props.StringProperty(
        name="taut",
        description="The program taut, or the Python in which taut is installed; empty: the "
        "taut that a terminal would start",
        subtype="FILE_PATH",
    )

    def draw(self, context):
        """Draw the preferences."""
        self.layout.prop(self, "program")
        self.layout.operator("taut.check_program")


class CheckProgram(bpy.types.Operator):
    """Start taut and show which one it is"""

    bl_idname = "taut.check_program"
    bl_label = "Check"

    def execute(self, context):
        """Start taut."""
        try:
            text = ask(find_program(context), "info")
        except TautError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, text.strip().splitlines()[0])
        return {"FINISHED"}


def find_program(context):
    """Return the words that start taut; TautError if there is none."""
    addon = context.preferences.addons.get(__package__)
    program = bpy.path.abspath(addon.preferences.program) if addon else ""
    if not program:
        program = shutil.which("taut") or ""
    if not program or not os.path.isfile(program):
        raise TautError(
            f"taut was not found at '{program}': name the program taut, or the Python in which it "
            "is installed, in Preferences › Add-ons › taut"
        )
    is_python = Path(program).name.lower().startswith("python")
    return (program, "-m", "taut.cli") if is_python else (program,)


def ask(program, *words):
    """Return what taut prints for some words; TautError if it fails."""
    try:
        done = subprocess.run(
            [*program, *words], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TautError(f"{program[0]} cannot be started: {error}") from error
    if done.returncode:
        raise TautError(f"{' '.join([*program, *words])} failed: {done.stderr.strip()}")
    return done.stdout


@cache
def list_fabrics(program):
    """Return the names of the fabrics that a taut knows."""
    tables = json.loads(ask(program, "schema"))["$defs"]
    return tuple(tables["FabricTable"]["properties"]["name"]["examples"])


def suggest_fabrics(context):
    """Return names for the list below the field; a few if taut cannot be asked."""
    try:
        return list_fabrics(find_program(context))
    except TautError:
        return FALLBACK_FABRICS


_CLASSES = (TautPreferences, CheckProgram)


def register():
    for kind in _CLASSES:
        bpy.utils.register_class(kind)


def unregister():
    for kind in reversed(_CLASSES):
        bpy.utils.unregister_class(kind)
