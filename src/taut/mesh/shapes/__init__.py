"""Meshes made from numbers: lines, surfaces, boxes and stuffed solids.

nets        lines: rope, ring, net, lattice, truss
surfaces    sheet, disc, cylinder, sphere, torus
solids      block, ball, bunny
"""
