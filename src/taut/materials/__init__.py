"""Moduli in, springs out: springs and masses that represent a material on a mesh.

springs : stiffness, mass and bending for a material, fitted on the mesh itself
moduli : Young's modulus and Poisson's ratio of given springs
bending : stiffness of hinges for a rigidity of the sheet
fabric : a named fabric on a mesh, as parameters of laws
table : published numbers of a few real materials
gusts : turbulent air, as a formula of place and time
fabric_table : fabrics by name: what was measured, what is an estimate

_arguments : checks of all keywords
_warp : the direction of the warp on each triangle
_cells : cells of the mesh with their volumes, axes and mean gradients
_lattice : which points springs join, and a first guess of their stiffness
_fit : the fit of stiffness to the material's tensor
_stretch_test : the compliance of springs under a uniform stress
_patches : flat patches of a curved surface
_body : mesh, lattice and axes together
_tensors : elasticity tensors as matrices
_report : what was asked for and what was reached, in words
"""

from taut.materials.bending import bending
from taut.materials.fabric import Fabric, fabric
from taut.materials.fabric_table import FABRICS, FabricSample
from taut.materials.gusts import Gusts
from taut.materials.moduli import Moduli, moduli
from taut.materials.springs import Springs, springs
from taut.materials.table import MATERIALS, Material, material

__all__ = [
    "FABRICS",
    "MATERIALS",
    "Fabric",
    "FabricSample",
    "Gusts",
    "Material",
    "Moduli",
    "Springs",
    "bending",
    "fabric",
    "material",
    "moduli",
    "springs",
]
