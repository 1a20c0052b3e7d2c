"""Which primitives are near each other, how near, when they meet, and whether they intersect.

box_tree, _box_tree_kernels     bounding boxes, and those that meet
intersections, _orientation_kernels     edges that pass through triangles, decided exactly
"""
