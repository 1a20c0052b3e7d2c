"""Selections: points of a mesh by index, mask, group or expression.

select      the entry: indices, masks, or text → point indices
language    grammar: text → tree; nothing is executed
numbers     numeric expressions and comparisons
corners     points nearest to the corners of the bounding box
"""
