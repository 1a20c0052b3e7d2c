"""Moduli in, springs out: stiffness and mass of springs for a material on a mesh, and a short table of materials."""

from taut.materials.bending import bending
from taut.materials.moduli import Moduli, moduli
from taut.materials.springs import Springs, springs
from taut.materials.table import MATERIALS, Material, material

__all__ = ["MATERIALS", "Material", "Moduli", "Springs", "bending", "material", "moduli", "springs"]
