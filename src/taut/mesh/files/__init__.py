"""Mesh files: one small module per format, each with `read(path, data)` and, where it makes sense, `write(mesh)`."""
