"""PC2 point caches: positions of the points of one mesh at equal intervals of frames.

    "POINTCACHE2\\0", int32 version = 1, int32 points, float32 start, float32 sampling, int32
    samples, float32 x, y, z of all points, sample after sample

little-endian. Sample i belongs to frame start + i · sampling.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from taut.arrays import Float, Single
from taut.errors import MeshError
from taut.mesh.files.numbers import ByteReader

HEADER = struct.Struct("<12siiffi")
_WORD = b"POINTCACHE2\0"
_SAMPLES = struct.Struct("<i")  # the last number of the header, which grows with the file


@dataclass(frozen=True, eq=False)
class PointCache:
    """The content of a point cache.

    frames : frame of each sample, (samples,)
    positions : in units of the file, (samples, points, 3)
    """

    frames: Float
    positions: Single


def read_point_cache(path: Path, data: bytes) -> PointCache:
    """Return the content of a PC2 file; MeshError if it is damaged.

    >>> x = np.zeros((2, 3, 3), "<f4")
    >>> data = HEADER.pack(b"POINTCACHE2\\0", 1, 3, 1.0, 0.5, 2) + x.tobytes()
    >>> cache = read_point_cache(Path("x.pc2"), data)
    >>> cache.frames.tolist(), cache.positions.shape
    ([1.0, 1.5], (2, 3, 3))
    """
    reader = ByteReader(path, data)
    if bytes(reader.take("u1", min(len(_WORD), len(data)), "bytes")) != _WORD:
        raise MeshError("a point cache must begin with POINTCACHE2", path=path)
    version = reader.take_int("<i4", "headers")
    if version != 1:
        raise reader.error(f"the version of a point cache must be 1, got {version}")
    n = reader.take_int("<i4", "headers")
    start, sampling = (float(number) for number in reader.take("<f4", 2, "headers"))
    samples = reader.take_int("<i4", "headers")
    if n < 1 or samples < 1:
        raise reader.error(f"a point cache must have points and samples, got {n} and {samples}")
    if not (np.isfinite(start) and np.isfinite(sampling) and sampling > 0.0):
        raise reader.error(f"the sampling must be positive, got {sampling:g} from {start:g}")
    positions = reader.take("<f4", samples * n * 3, "coordinates").reshape(samples, n, 3)
    bad = np.argwhere(~np.isfinite(positions))
    if len(bad):
        sample, point = bad[0][:2]
        raise MeshError(
            "positions must be finite", path=path, element=f"sample {sample}, point {point}"
        )
    return PointCache(start + sampling * np.arange(samples, dtype=np.float64), positions)


class PointCacheWriter:
    """Writes a point cache sample by sample; it is complete after each.

    stream : a new binary file
    n : number of points
    sampling : frames from one sample to the next
    """

    def __init__(self, stream: IO[bytes], n: int, sampling: float) -> None:
        self.stream, self.n, self.samples = stream, n, 0
        stream.write(HEADER.pack(_WORD, 1, n, 0.0, sampling, 0))

    def add(self, x: Single) -> None:
        """Add positions, (n, 3): first the sample and then their number, for those who read."""
        self.stream.write(np.ascontiguousarray(x, dtype="<f4").tobytes())
        self.stream.flush()
        self.samples += 1
        self.stream.seek(HEADER.size - _SAMPLES.size)
        self.stream.write(_SAMPLES.pack(self.samples))
        self.stream.flush()
        self.stream.seek(0, 2)
