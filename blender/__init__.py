"""The Blender extension of taut: marks objects, bakes them in a process of its own, plays them.

preferences      which taut is started
properties       what is set on objects and scenes
marking          operators that mark objects and add maps
panels           the sidebar
geometry, ply    evaluated meshes as arrays, and as files
point_cache      PC2 files
sampling         the scene frame by frame: pins, obstacles, wind
tables           objects and settings as the tables of a scene of taut
materials        fabrics and moduli; units: numbers and vectors in the units and axes of taut
toml             tables as text
exporting        the folder of a scene: all of the above
process          the run: started, watched, cancelled
playback         frames of the run as caches that Mesh Cache modifiers play
baking           operators: bake, resume, cancel, export, clear

taut itself is not imported: it is a program that is started, with a folder as its input.
"""

from . import baking, marking, panels, preferences, properties

_MODULES = (preferences, properties, marking, baking, panels)


def register():
    for module in _MODULES:
        module.register()


def unregister():
    for module in reversed(_MODULES):
        module.unregister()
