"""Numbers and vectors of Blender, in the units and axes of taut."""


def to_y_up(vector):
    """Return a vector of Blender in the axes of taut."""
    x, y, z = (shorten(v) for v in vector)
    return [x, z, -y + 0.0]


def shorten(value):
    """Return a number without the digits that 32 bits add: Blender holds 0.1 as 0.100000001."""
    return float(f"{value:.7g}")
