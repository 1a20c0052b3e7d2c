"""Embedding: fine points that follow a coarse mesh.

embed      barycentric weights of points in solids, on faces or on lines
nearest    nearest triangle, segment or containing tetrahedron, by a tree of boxes
"""
