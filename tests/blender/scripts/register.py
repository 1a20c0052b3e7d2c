"""Enable the extension twice, save and read its properties, draw its panels."""

import sys
from types import SimpleNamespace

import bpy
from stage import FOLDER, add_group, grid, install, mark, tell

NAME = "bl_ext.user_default.taut"
OPERATORS = ("bake", "resume", "cancel", "export", "clear", "mark", "add_map", "remove_map")


class Layout:
    """Takes the place of a layout, and checks that what is drawn exists."""

    def __init__(self):
        self.drawn, self.labels = [], []

    def prop(self, data, name, **options):
        assert name in data.bl_rna.properties, name
        self.drawn.append(name)

    def prop_search(self, data, name, where, what):
        assert hasattr(where, what)
        self.prop(data, name)

    def operator(self, name, **options):
        folder, _, operator = name.partition(".")
        assert name not in self.drawn or options
        getattr(getattr(bpy.ops, folder), operator).get_rna_type()
        self.drawn.append(name)
        return SimpleNamespace()

    def label(self, text, **options):
        self.labels.append(text)

    def progress(self, **options):
        pass

    def separator(self):
        pass

    def column(self, **options):
        return self

    row = box = grid_flow = column


def draw(panel):
    """Draw a panel; return what it shows."""
    kind = getattr(bpy.types, panel)
    if not getattr(kind, "poll", lambda context: True)(bpy.context):
        return None
    layout = Layout()
    kind.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn + layout.labels


install()
registered = []
for _ in range(2):
    bpy.ops.preferences.addon_disable(module=NAME)
    registered.append(hasattr(bpy.types.Object, "taut") or hasattr(bpy.types, "TAUT_PT_bake"))
    bpy.ops.preferences.addon_enable(module=NAME)
    registered.append(hasattr(bpy.types.Object, "taut") and hasattr(bpy.types, "TAUT_PT_bake"))
addon = bpy.context.preferences.addons[NAME]
addon.preferences.program = sys.argv[2]
assert bpy.ops.taut.check_program() == {"FINISHED"}
for operator in OPERATORS:
    getattr(bpy.ops.taut, operator).get_rna_type()

flag = grid("Flag", 2, 1.0, (0, 0, 0))
add_group(flag, "Pole", lambda co: 1.0)
panels = ("object", "pins", "contact", "bake")
before = [draw(f"TAUT_PT_{name}") for name in panels]
mark(flag, "SHELL")
shell = [draw(f"TAUT_PT_{name}") for name in panels]
mark(flag, "CLOTH")
flag.taut.fabric, flag.taut.pin_group, flag.taut.damping = "denim", "Pole", 0.25
bpy.ops.taut.add_map()
flag.taut.maps[0].high = 7.0
bpy.context.scene.taut.substeps = 9
cloth = [draw(f"TAUT_PT_{name}") for name in panels]
bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "flag.blend"))
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.preferences.addon_enable(module=NAME)
bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "flag.blend"))
settings = bpy.data.objects["Flag"].taut
tell(
    registered=registered,
    before=before,
    shell=shell,
    cloth=cloth,
    fabrics=sys.modules[f"{NAME}.preferences"].suggest_fabrics(bpy.context),
    kept=[settings.kind, settings.fabric, settings.pin_group, settings.damping],
    map=[settings.maps[0].group, settings.maps[0].high],
    substeps=bpy.context.scene.taut.substeps,
)
