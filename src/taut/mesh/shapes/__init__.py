"""Meshes made from numbers: lines, surfaces, boxes and stuffed solids."""
