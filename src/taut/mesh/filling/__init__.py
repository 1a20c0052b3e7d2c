"""Closed shapes filled with tetrahedra.

fill        the entry: fill a closed surface, by isosurface stuffing or by fTetWild
stuffing    isosurface stuffing on a uniform lattice
bcc         the body-centred cubic lattice and its tetrahedra
winding     the winding number: which points are inside a closed surface
"""
