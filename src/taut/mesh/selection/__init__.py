"""Points of a mesh by index, by mask, by name or in words."""
