"""PC2 point caches: written sample by sample, and read while they grow."""

import struct

import numpy as np

_HEADER = struct.Struct("<12siiffi")
_WORD = b"POINTCACHE2\0"
_COUNT = struct.Struct("<i")  # the last number of the header


class Writer:
    """Writes a cache; the header counts a sample only when all of it is there."""

    def __init__(self, path, points):
        self.path, self.points, self.samples = path, points, 0
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            file.write(_HEADER.pack(_WORD, 1, points, 0.0, 1.0, 0))

    def add(self, *samples):
        """Add positions, (points, 3) each."""
        with open(self.path, "r+b") as file:
            file.seek(0, 2)
            for x in samples:
                file.write(np.ascontiguousarray(x, dtype="<f4").tobytes())
            file.flush()
            self.samples += len(samples)
            file.seek(_HEADER.size - _COUNT.size)
            file.write(_COUNT.pack(self.samples))


def count_samples(path):
    """Return how many samples a cache has; 0 if it does not exist yet."""
    try:
        with open(path, "rb") as file:
            header = file.read(_HEADER.size)
    except FileNotFoundError:
        return 0
    return _HEADER.unpack(header)[5] if len(header) == _HEADER.size else 0


def read_samples(path, first, last):
    """Return samples from `first` up to `last`, (last - first, points, 3)."""
    with open(path, "rb") as file:
        points = _HEADER.unpack(file.read(_HEADER.size))[2]
        file.seek(_HEADER.size + first * points * 12)
        data = file.read((last - first) * points * 12)
    return np.frombuffer(data, "<f4").reshape(last - first, points, 3)
