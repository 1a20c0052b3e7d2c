"""Which primitives are near each other, how near, when they meet, and whether they intersect.

box_tree, _box_tree_kernels             bounding boxes, and those that meet
proximity                               pairs that may come near on a way, listed while particles
                                        keep to it
distance_kernels, _distances            distances and closest features; how far a pair can move
intersections, _orientation_kernels     edges that pass through triangles, decided exactly
crossings                               what meets on the way from one state to another

Arrays of positions are checked where a search begins: a NaN meets nothing, and would pass as "no
contact".
"""
