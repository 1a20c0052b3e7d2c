"""Closed shapes filled with tetrahedra."""
