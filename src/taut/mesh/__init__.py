"""Geometry in: the Mesh, its generators, readers, writers, cleaning, filling and embedding."""

from taut.mesh.cleaning import Cleaned, clean
from taut.mesh.directions import along
from taut.mesh.embedding.embed import Embedding, embed
from taut.mesh.faces import surface, triangulated
from taut.mesh.filling.fill import fill
from taut.mesh.filling.stuffing import stuff
from taut.mesh.mesh import Mesh
from taut.mesh.orient import oriented
from taut.mesh.parts import UV
from taut.mesh.reading import read
from taut.mesh.shapes.boxes import block
from taut.mesh.shapes.nets import lattice, net, ring, rope, truss
from taut.mesh.shapes.solids import ball, bunny
from taut.mesh.shapes.surfaces import cylinder, disc, sheet, sphere, torus
from taut.mesh.writing import write

__all__ = [
    "UV", "Cleaned", "Embedding", "Mesh", "along", "ball", "block", "bunny", "clean", "cylinder", "disc", "embed", "fill",
    "lattice", "net", "oriented", "read", "ring", "rope", "sheet", "sphere", "stuff", "surface", "torus", "triangulated",
    "truss", "write",
]  # fmt: skip
