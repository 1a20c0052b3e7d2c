"""Selections: points of a mesh by index, mask, group or expression.

select      the entry: indices, masks, or text → point indices; corners of the bounding box
language    grammar: text → tree; nothing is executed
numbers     numeric expressions and comparisons
"""
