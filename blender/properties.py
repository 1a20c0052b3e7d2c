"""What is set on objects and scenes; saved in the .blend file."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .preferences import suggest_fabrics

KINDS = (
    ("NONE", "None", "Takes no part"),
    ("CLOTH", "Cloth", "Fabric: hangs, folds and stretches a little"),
    ("SHELL", "Shell", "A thin, springy sheet that keeps its shape: paper, leather, plastic, tin"),
    ("ROPE", "Rope", "The edges of the mesh, as ropes, strings or nets"),
    ("SOFT", "Soft body", "The inside of a closed mesh, filled with rubber, jelly or flesh"),
    ("OBSTACLE", "Obstacle", "Moves as it is animated; others touch it"),
)
MAPS = (
    ("STRETCH", "Stiffness", "Extra stiffness of every spring [N/m]"),
    ("BENDING", "Bending", "Extra bending stiffness of every hinge [J]"),
    ("AIR", "Air", "Factor of the force of the air"),
)


def _search_fabrics(self, context, text):
    return [name for name in suggest_fabrics(context) if text.lower() in name.lower()]


class TautMap(bpy.types.PropertyGroup):
    """A quantity that a vertex group changes over the object."""

    quantity: EnumProperty(name="Quantity", items=MAPS)
    group: StringProperty(name="Vertex group")
    low: FloatProperty(name="At 0", description="Value where the weight is 0", min=0.0)
    high: FloatProperty(
        name="At 1", description="Value where the weight is 1", min=0.0, default=1.0
    )


class TautObject(bpy.types.PropertyGroup):
    """What an object is."""

    kind: EnumProperty(name="Kind", items=KINDS)
    fabric: StringProperty(
        name="Fabric",
        description="A fabric that taut knows by its name; empty: numbers of your own",
        default="cotton",
        search=_search_fabrics,
    )
    young: FloatProperty(
        name="Young's modulus", description="[Pa]", default=1e6, min=1e-3, max=1e13, soft_max=1e9
    )
    density: FloatProperty(name="Density", description="[kg/m³]", default=900.0, min=1e-3, max=3e4)
    thickness: FloatProperty(
        name="Thickness", description="[m]", default=1e-3, min=1e-6, max=1.0, precision=5
    )
    diameter: FloatProperty(
        name="Diameter", description="[m]", default=0.01, min=1e-6, max=10.0, precision=4
    )
    poisson: FloatProperty(name="Poisson's ratio", default=0.3, min=0.0, max=0.49)
    spacing: FloatProperty(
        name="Cell size",
        description="Length of the cells that fill the body [m]; 0: a thirtieth of its diagonal",
        default=0.0,
        min=0.0,
        precision=4,
    )
    warp: FloatVectorProperty(
        name="Warp",
        description="Direction of the fabric's warp, in the world; 0, 0, 0: v of the UV map, or "
        "without one downwards where the faces stand, along y where they lie",
        default=(0.0, 0.0, 0.0),
        subtype="XYZ",
    )
    damping: FloatProperty(
        name="Damping",
        description="Of stretching [s]: a spring of stiffness k has damping × k",
        default=0.005,
        min=0.0,
        max=1.0,
        precision=4,
    )
    breaking_strain: FloatProperty(
        name="Tears at",
        description="Strain at which springs break, 0.3 for 30 %; 0: never",
        default=0.0,
        min=0.0,
        max=100.0,
    )
    strain_limit: FloatProperty(
        name="Stretches at most",
        description="Strain that no edge of a fabric exceeds, 0.05 for 5 %; 0: no limit",
        default=0.0,
        min=0.0,
        max=10.0,
    )
    pin_group: StringProperty(
        name="Pins", description="Vertex group of points that follow the animation"
    )
    pin_threshold: FloatProperty(
        name="From weight", description="Points are pinned above it", default=0.5, min=0.0, max=1.0
    )
    sewing: BoolProperty(
        name="Sew loose edges",
        description="Edges without a face pull their ends together",
        default=True,
    )
    sewing_stiffness: FloatProperty(
        name="Thread", description="Stiffness of each seam edge [N/m]", default=50.0, min=1e-6
    )
    touches: BoolProperty(
        name="Touches", description="Takes part in contact, also with itself", default=True
    )
    contact_thickness: FloatProperty(
        name="Thickness in contact",
        description="[m]; of a rope 0 means its diameter",
        default=0.0,
        min=0.0,
        max=10.0,
        precision=4,
    )
    maps: CollectionProperty(type=TautMap)
    active_map: IntProperty()
    laws: PointerProperty(
        type=bpy.types.Text,
        name="Further laws",
        description="A text with [[body.law]] tables of taut; vertex groups are maps in them",
    )


class TautScene(bpy.types.PropertyGroup):
    """The settings of a simulation, and how far it is."""

    folder: StringProperty(
        name="Folder",
        description="Where scenes and caches are written",
        default="//taut",
        subtype="DIR_PATH",
    )
    substeps: IntProperty(
        name="Substeps", description="Steps of each frame", default=4, min=1, max=1000
    )
    contact: BoolProperty(
        name="Contact", description="Objects touch each other and themselves", default=True
    )
    contact_range: FloatProperty(
        name="Range",
        description="Distance at which contact begins [m]; 0: taut chooses it",
        default=0.0,
        min=0.0,
        precision=4,
    )
    friction: FloatProperty(name="Friction", default=0.3, min=0.0, max=10.0)
    air: BoolProperty(
        name="Air", description="Air resists motion, and wind fields blow", default=True
    )
    message: StringProperty(options={"SKIP_SAVE"})
    progress: FloatProperty(options={"SKIP_SAVE"}, min=0.0, max=1.0, subtype="FACTOR")


_CLASSES = (TautMap, TautObject, TautScene)


def register():
    for kind in _CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Object.taut = PointerProperty(type=TautObject)
    bpy.types.Scene.taut = PointerProperty(type=TautScene)


def unregister():
    del bpy.types.Scene.taut
    del bpy.types.Object.taut
    for kind in reversed(_CLASSES):
        bpy.utils.unregister_class(kind)
