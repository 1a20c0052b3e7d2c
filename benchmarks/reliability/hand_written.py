"""Small valid mesh files written by hand, in the variants that our own writers do not produce."""

from __future__ import annotations

import numpy as np

TEXT = {
    "negative.obj": """o thing
v 0 0 0 1 0 0
v 1 0 0 0 1 0
v 1 1 0 0 0 1
v 0 1 0 1 1 1
vt 0 0
vt 1 0
vt 1 1
g a b
usemtl red
f -4/1 -3/2 -2/3
s 1
g
f 1//1 3 \\
 4
l 1 2 3
f 1 2
p 1 4
vn 0 0 1
""",
    "text.stl": """solid a b
 facet normal 0 0 1
  outer loop
   vertex 0 0 0
   vertex 1 0 0
   vertex 0 1 0
  endloop
 endfacet
 facet normal 0 0 1
  outer loop
   vertex 1 0 0
   vertex 1 1e0 0
   vertex 0 1 0
  endloop
 endfacet
endsolid a b
""",
    "text.ply": """ply
format ascii 1.0
comment c
element vertex 4
property float x
property float y
property float z
property uchar red
property uchar green
property uchar blue
property float s
property float t
element face 2
property list uchar int vertex_indices
property float quality
element edge 1
property int vertex1
property int vertex2
end_header
0 0 0 255 0 0 0 0
1 0 0 0 255 0 1 0
1 1 0 0 0 255 1 1
0 1 0 9 9 9 0 1
3 0 1 2 0.5
4 0 1 2 3 0.25
0 2
""",
    "colours.off": """COFF
# four
4 2 0
0 0 0 255 0 0
1 0 0 0 255 0
1 1 0 0 0 255
0 1 0 1 2 3
3 0 1 2 0.1 0.2 0.3
4 0 1
2 3
""",
    "plane.mesh": """MeshVersionFormatted 2
Dimension 2
Vertices 4
0 0 1
1 0 1
1 1 2
0 1 0
Edges 1
1 2 7
Triangles
2
1 2 3 1
1 3 4 2
Corners 2
1 3
Ridges 1
1
Normals 1
0 1
End
""",
    "old.vtk": """# vtk DataFile Version 3.0
title
ASCII
DATASET POLYDATA
POINTS 4 float
0 0 0 1 0 0 1 1 0 0 1 0
POLYGONS 2 9
3 0 1 2
4 0 1 2 3
LINES 1 4
3 0 1 2
POINT_DATA 4
SCALARS w float 1
LOOKUP_TABLE default
0 1 2 3
""",
    "plain.vtu": """<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid>
<Piece NumberOfPoints="4" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0 1 0 0 0 1 0 0 0 1
</DataArray></Points>
<Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10</DataArray>
</Cells>
</Piece>
</UnstructuredGrid>
</VTKFile>
""",
    "two.msh": """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
2 1 "skin"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 0 1 0
7 0 0 1
$EndNodes
$Elements
3
1 2 2 1 1 1 2 3
2 4 2 5 1 1 2 3 7
3 1 2 0 1 1 2
$EndElements
""",
    "four.msh": """$MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
0 0 0 1
1 0 0 0 1 1 1 1 9 0
$EndEntities
$Nodes
1 4 1 4
3 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
1 1 1 1
3 1 4 1
1 1 2 3 4
$EndElements
""",
}
STRIPS = b"""ply
format binary_big_endian 1.0
element vertex 4
property float x
property float y
property float z
element tristrips 1
property list int int vertex_indices
end_header
"""
BY_HAND = {name: text.encode() for name, text in TEXT.items()} | {
    "strips.ply": STRIPS
    + np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], ">f4").tobytes()
    + np.array([6, 0, 1, 2, 3, -1, 0], ">i4").tobytes()
}
