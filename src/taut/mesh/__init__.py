"""Geometry: the Mesh, its generators, file formats, selections, cleaning, filling and embedding.

mesh, kinds, parts     the Mesh; kinds of cell; checks of what a mesh is built from
topology, measure      edges, hinges and boundaries; lengths, areas and volumes
inversion              tetrahedra at the corners of solids; solids turned inside out
bridging               pairs of points that join the parts of a mesh
diagnosis              holes, seams, duplicates, loose parts: counts of what is unusual
cleaning, orient       meshes repaired on request; faces and solids turned consistently
faces, triangulate     faces of solids, polygons cut into triangles
shapes/                generators: sheet, disc, sphere, block, ball, bunny, rope, net, truss, …
files/                 one reader and writer for each file format
reading, writing       any mesh file, by its extension
point_cache            PC2: positions of the points of a mesh over time
selection/             points by index, mask, name or expression
filling/               tetrahedra inside a closed surface
embedding/             fine points that follow a coarse mesh
arguments              checks of the arguments of generators
directions             angle between edges and a direction
sketch                 small SVG drawings for notebooks
isolated               calls in a child process, for libraries that may crash
"""

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
from taut.mesh.shapes.nets import lattice, net, ring, rope, truss
from taut.mesh.shapes.solids import ball, block, bunny
from taut.mesh.shapes.surfaces import cylinder, disc, sheet, sphere, torus
from taut.mesh.writing import write

__all__ = [
    "UV",
    "Cleaned",
    "Embedding",
    "Mesh",
    "along",
    "ball",
    "block",
    "bunny",
    "clean",
    "cylinder",
    "disc",
    "embed",
    "fill",
    "lattice",
    "net",
    "oriented",
    "read",
    "ring",
    "rope",
    "sheet",
    "sphere",
    "stuff",
    "surface",
    "torus",
    "triangulated",
    "truss",
    "write",
]
