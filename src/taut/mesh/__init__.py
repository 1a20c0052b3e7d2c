"""Geometry in: the Mesh, its generators, readers, writers and selections."""

from taut.mesh.mesh import Mesh
from taut.mesh.orient import oriented
from taut.mesh.parts import UV
from taut.mesh.read import read
from taut.mesh.write import write

__all__ = ["UV", "Mesh", "oriented", "read", "write"]
