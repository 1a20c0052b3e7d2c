"""A run as files for other programs: USD, glTF, VTKHDF, OBJ and PLY sequences, PC2 point caches.

    taut.show.export.export("runs/cloth-1", "cloth.usdc")

_formats.py       `export`: chooses the format by the suffix, writes atomically
_animation.py     the frames of a run that are written, and the bodies in them
_bodies.py        faces, colours, velocities and 32-bit positions of a body
_normals.py       smooth normals by kind of face
_tearing.py       cells that are torn
_growing_cache.py  PC2 files that grow while a run is recorded
_usd.py, _glb.py, _vtkhdf.py, _sequence.py (OBJ, PLY), _point_cache.py (PC2)    the formats
_usd_prims.py, _usd_materials.py    bodies of USD, and their colours
"""

from taut.show.export._formats import Exported, export
from taut.show.export._growing_cache import GrowingPointCache

__all__ = ["Exported", "GrowingPointCache", "export"]
