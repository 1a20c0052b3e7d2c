"""Geometry in: the Mesh, its generators, readers, writers, cleaning and filling."""

from taut.mesh.boxes import block
from taut.mesh.cleaning import Cleaned, clean
from taut.mesh.mesh import Mesh
from taut.mesh.nets import lattice, net, ring, rope, truss
from taut.mesh.orient import oriented
from taut.mesh.parts import UV
from taut.mesh.reading import read
from taut.mesh.surfaces import cylinder, disc, sheet, sphere, torus
from taut.mesh.writing import write

__all__ = [
    "UV", "Cleaned", "Mesh", "block", "clean", "cylinder", "disc", "lattice", "net", "oriented", "read", "ring", "rope", "sheet",
    "sphere", "torus", "truss", "write",
]  # fmt: skip
