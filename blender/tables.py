"""Objects and settings as the tables of a scene of taut.

Files keep Blender's units and axes: scenes read them with `scale` and up = "z". What stands in the
tables themselves is in metres with y up: (x, y, z) of Blender is (x, z, -y).
"""

import numpy as np

from .materials import make_fabric, make_material
from .ply import name_maps
from .preferences import TautError
from .units import shorten, to_y_up

PINS = "taut_pins"  # the map that is 1 where a point is held
_MAX_SOFT_PINS = 5_000  # their positions are in the scene file
_MAX_PAIRS = 20_000  # of a seam: scene files have a limit
_ATTACHMENT = 10.0  # stiffness of soft bodies' pins, relative to Young's modulus × cell size


def list_maps(one):
    """Return the maps of an object as they are in its file: name → value of each point."""
    names = name_maps(one.topology.groups)
    maps = {names[name]: values[one.used] for name, values in one.topology.groups.items()}
    if one.pinned.any():
        maps[PINS] = one.pinned.astype(np.float64)
    return maps


class SceneTables:
    """Collects the tables of a scene.

    walk : the frames; scale : metres per Blender unit; wind : table for the velocity of the air
    """

    def __init__(self, scene, walk, wind):
        self.scene, self.walk, self.wind = scene, walk, wind
        self.scale = shorten(scene.unit_settings.scale_length)
        self.bodies, self.stitches, self.attachments = [], [], []
        self.thickness, self.touching = {}, []

    def add(self, one, name, mesh_file):
        """Add an object under the name of its body; mesh_file : its mesh."""
        settings = one.item.taut
        mesh = {"file": mesh_file, "scale": self.scale, "up": "z"}
        body = {"name": name, "mesh": mesh}
        if settings.kind == "OBSTACLE":
            body |= {"mass": 1.0, "hold": [self._make_hold("all", one)]}
        elif settings.kind == "SOFT":
            self._add_soft(body, one, mesh_file)
        else:
            self._add_sheet_or_rope(body, one)
        self.bodies.append(body)
        if settings.touches:
            self.touching.append(name)
            thickness = settings.contact_thickness
            if settings.kind == "ROPE":
                thickness = thickness or settings.diameter
            if thickness:
                self.thickness[name] = shorten(thickness)

    def _add_sheet_or_rope(self, body, one):
        settings = one.item.taut
        if settings.kind != "ROPE" and needs_triangles(one):
            body["mesh"]["triangulate"] = True
        if settings.kind == "CLOTH" and settings.fabric:
            body["fabric"] = make_fabric(one)
        else:
            body["material"] = make_material(one)
        body["law"] = [*self._make_map_laws(one), *self._make_air(one, "triangles")]
        if one.pinned.any():
            body["hold"] = [self._make_hold(f"{PINS} > 0.5", one)]
        self._add_seam(body["name"], one)

    def _add_soft(self, body, one, mesh_file):
        """Add a body filled with cells; its pins are a body of their own, which holds them."""
        settings, size = one.item.taut, np.linalg.norm(np.ptp(one.start, axis=0)) * self.scale
        spacing = shorten(settings.spacing or size / 30)
        body["mesh"] |= {"orient": True, "fill": {"spacing": spacing}}
        body["render"] = {"file": mesh_file, "scale": self.scale, "up": "z"}
        young = shorten(settings.young)
        body["density"] = shorten(settings.density)
        law = {"law": "neo_hookean_solid", "on": "tet", "young": young}
        damping = shorten(settings.damping) * young * spacing
        body["law"] = [
            law | {"poisson": shorten(min(settings.poisson, 0.45))},
            {"law": "spring_damping", "on": "edges", "c": damping},
            *self._make_air(one, "boundary_triangles"),
        ]
        if not one.pinned.any():
            return
        if one.pinned.sum() > _MAX_SOFT_PINS:
            raise TautError(
                f"'{one.item.name}' has {one.pinned.sum()} pins; a soft body may have "
                f"{_MAX_SOFT_PINS}: weight fewer points of '{settings.pin_group}'"
            )
        name = f"{body['name']}_pins"
        points = one.held.astype(np.float64).tolist()
        hold = self._make_hold("all", one)
        self.bodies.append({"name": name, "mesh": {"points": points}, "mass": 1.0, "hold": [hold]})
        k = _ATTACHMENT * young * spacing
        self.attachments.append({"bodies": [name, body["name"]], "where": "all", "k": k})

    def _make_hold(self, where, one):
        hold = {"where": where}
        if one.motion is not None:
            file = one.motion.path.name
            hold["follow"] = {"file": file, "rate": self.walk.rate}
        return hold

    def _make_map_laws(self, one):
        """Return laws whose parameters vertex groups change."""
        laws = {
            "STRETCH": {"law": "spring", "name": "stiffness map", "on": "edges"},
            "BENDING": {"law": "shell_bending", "name": "bending map", "on": "hinges"},
        }
        found = []
        for entry in one.item.taut.maps:
            if entry.quantity in laws:
                key = "k" if entry.quantity == "STRETCH" else "c"
                number = len(found) + 1
                law = dict(laws[entry.quantity])
                law["name"] = f"{one.item.name} {law['name']} {number}"
                found.append(law | {key: make_expression(one, entry)})
        return found

    def _make_air(self, one, elements):
        if not self.scene.taut.air or one.item.taut.kind == "ROPE":
            return []
        law = {"law": "wind", "on": elements, "velocity": self.wind}
        factors = [entry for entry in one.item.taut.maps if entry.quantity == "AIR"]
        if factors:
            product = "*".join(f"({make_expression(one, entry)})" for entry in factors)
            law |= {"drag": product, "lift": f"0.5*{product}"}
        return [law]

    def _add_seam(self, name, one):
        """Add stitches for edges without a face; both ends must be points of faces."""
        settings = one.item.taut
        if settings.kind == "ROPE" or not settings.sewing or not len(one.topology.loose):
            return
        place = np.full(one.used[-1] + 1, -1)
        place[one.used] = np.arange(len(one.used))
        loose = one.topology.loose
        inside = (loose <= one.used[-1]).all(axis=1)
        pairs = place[np.where(inside[:, None], loose, one.used[0])]
        bad = ~inside | (pairs < 0).any(axis=1)
        if bad.any():
            raise TautError(
                f"the loose edge {loose[bad][0].tolist()} of '{one.item.name}' cannot be sewn: "
                "both of its ends must belong to faces"
            )
        if len(pairs) > _MAX_PAIRS:
            raise TautError(
                f"'{one.item.name}' has {len(pairs)} loose edges to sew; the limit is {_MAX_PAIRS}"
            )
        stitch = {"bodies": [name, name], "pairs": pairs.tolist(), "name": f"{name} seam"}
        self.stitches.append(stitch | {"k": shorten(settings.sewing_stiffness)})

    def finish(self):
        """Return the tables of the whole scene."""
        settings, walk = self.scene.taut, self.walk
        tables = {
            "title": self.scene.name,
            "time": {
                "fps": walk.fps,
                "frames": [walk.first, walk.last],
                "substeps": walk.substeps,
            },
            "integrator": {"method": "ImplicitEuler", "adaptive": {"halvings": 6}},
        }
        if settings.contact and self.touching:
            contact = {"bodies": self.touching, "friction": shorten(settings.friction)}
            if settings.contact_range:
                contact["range"] = shorten(settings.contact_range)
            if self.thickness:
                contact["thickness"] = self.thickness
            tables["contact"] = contact
        tables["body"] = self.bodies
        tables |= {"stitch": self.stitches} if self.stitches else {}
        tables |= {"attach": self.attachments} if self.attachments else {}
        if self.scene.use_gravity and any(self.scene.gravity):
            tables["law"] = [{"law": "gravity", "g": to_y_up(self.scene.gravity)}]
        return tables


def make_expression(one, entry):
    """Return the value of a map at each point as an expression of taut."""
    if entry.group not in one.topology.groups:
        raise TautError(f"'{one.item.name}' has no vertex group '{entry.group}' for its map")
    name = name_maps(one.topology.groups)[entry.group]
    low, high = shorten(entry.low), shorten(entry.high)
    return f"{low!r} + {shorten(high - low)!r}*'{name}'"


def needs_triangles(one):
    """Return whether faces have more than four corners, or corners that point inwards."""
    if any(len(face) > 4 for face in one.topology.faces):
        return True
    quads = np.array([face for face in one.topology.faces if len(face) == 4], dtype=np.int64)
    if not len(quads):
        return False
    places = np.searchsorted(one.used, quads)
    x = one.start.astype(np.float64)[places]
    edges = np.roll(x, -1, axis=1) - x
    corners = np.cross(np.roll(edges, 1, axis=1), edges)
    normals = np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
    return bool(((corners * normals[:, None]).sum(axis=2) <= 0.0).any())
