"""PC2 point caches: what is read, what is refused, and that they are complete after each sample."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest

from taut.errors import MeshError
from taut.mesh.point_cache import PointCacheWriter, read_point_cache

HERE = Path("x.pc2")


def pack(x, word=b"POINTCACHE2\0", version=1, start=0.0, sampling=1.0, samples=None):
    samples = len(x) if samples is None else samples
    return struct.pack("<12siiffi", word, version, x.shape[1], start, sampling, samples) + bytes(
        x.astype("<f4")
    )


def test_samples_and_their_frames():
    x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)
    cache = read_point_cache(HERE, pack(x, start=2.0, sampling=0.5))
    np.testing.assert_array_equal(cache.positions, x)
    assert cache.frames.tolist() == [2.0, 2.5, 3.0, 3.5]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "must begin with POINTCACHE2"),
        (b"POINTCACHE3\0", "must begin with POINTCACHE2"),
        (pack(np.ones((1, 2, 3)))[:20], "the file ends after"),
        (pack(np.ones((1, 2, 3)), version=2), "version of a point cache must be 1, got 2"),
        (pack(np.ones((1, 2, 3)), sampling=0.0), "sampling must be positive, got 0 from 0"),
        (pack(np.ones((1, 2, 3)), sampling=np.nan), "sampling must be positive"),
        (pack(np.ones((1, 0, 3))), "must have points and samples, got 0 and 1"),
        (pack(np.ones((1, 2, 3)), samples=-1), "must have points and samples, got 2 and -1"),
        (pack(np.ones((2, 2, 3)), samples=3), "the file ends after 12 of 18 coordinates"),
        (pack(np.array([[[1, 2, 3], [4, np.inf, 6]]])), "sample 0, point 1: positions must be"),
    ],
)
def test_damaged_files_are_refused(data, expected):
    with pytest.raises(MeshError, match=expected):
        read_point_cache(HERE, data)


def test_a_cache_is_complete_after_each_sample():
    stream, x = io.BytesIO(), np.arange(18, dtype=np.float32).reshape(2, 3, 3)
    writer = PointCacheWriter(stream, 3, 1.0)
    for i in range(2):
        writer.add(x[i])
        np.testing.assert_array_equal(
            read_point_cache(HERE, stream.getvalue()).positions, x[: i + 1]
        )
