"""States as bytes: exact round trips, and rejection of anything else."""

import math
import struct

import numpy as np
import pytest

import taut
from taut.run.encoding import (
    MAGIC,
    checksum,
    masks_from_bytes,
    masks_to_bytes,
    state_from_bytes,
    state_to_bytes,
    to_sql_real,
)
from tests.run.recordings import bits, net


@pytest.mark.parametrize(
    "make", [taut.BDF2, lambda: taut.Adaptive(taut.BDF2(), error=1e-3), taut.ImplicitEuler]
)
def test_state_round_trip_is_bit_identical(make):
    """With the history of BDF2, the step size of Adaptive, and torn elements."""
    *_, (state, _) = taut.simulate(net(), make(), h=0.02, until=0.3)
    assert not state.active["spring"].all(), "some elements must be torn"
    again = state_from_bytes(state_to_bytes(state))
    assert bits(again) == bits(state)
    assert list(again.active) == list(state.active)
    assert list(again.history) == list(state.history)


def test_unusual_numbers_and_names_round_trip():
    values = np.array([-0.0, 5e-324, 1.7976931348623157e308, -math.pi, np.nextafter(1.0, 2.0), 0.1])
    history = {
        "a/b": values,
        "": np.zeros((0, 3)),
        "ü": np.array(2.0),
        "nan": np.array([np.nan, np.inf]),
    }
    state = taut.State(
        -1.0 / 3.0,
        values.reshape(2, 3),
        -values.reshape(2, 3),
        {"spring 2": np.array([True, False])},
        history,
    )
    assert bits(state_from_bytes(state_to_bytes(state))) == bits(state)


def test_layout_is_as_documented():
    state = taut.State(0.5, [[1, 2, 3]], [[4, 5, 6]])
    expected = MAGIC + struct.pack("<I", 3)
    expected += struct.pack("<H", 1) + b"t" + b"d" + b"\0" + struct.pack("<d", 0.5)
    for name, row in ((b"q", (1, 2, 3)), (b"v", (4, 5, 6))):
        expected += (
            struct.pack("<H", 1)
            + name
            + b"d"
            + struct.pack("<BQQ", 2, 1, 3)
            + struct.pack("<3d", *row)
        )
    assert state_to_bytes(state) == expected


def test_reject_truncated_or_extended_bytes():
    state = taut.State(0.5, [[1, 2, 3]], [[4, 5, 6]], {"spring": np.array([True])}, {"h": 0.1})
    data = state_to_bytes(state)
    for length in range(len(data)):
        with pytest.raises(taut.errors.RunError):
            state_from_bytes(data[:length])
    with pytest.raises(taut.errors.RunError, match="1 bytes too many"):
        state_from_bytes(data + b"\0")


def test_mutated_bytes_give_a_state_or_a_run_error():
    """Never another exception, and no memory beyond the bytes given."""
    data = bytearray(
        state_to_bytes(
            taut.State(0.5, [[1, 2, 3]], [[4, 5, 6]], {"spring": np.array([True])}, {"h": 0.1})
        )
    )
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(3000):
        mutant = data.copy()
        for place in rng.integers(len(MAGIC), len(data), rng.integers(1, 4)):
            mutant[place] = rng.integers(256)
        try:
            state_from_bytes(bytes(mutant))
        except taut.errors.RunError:
            refused += 1
    assert refused > 1000


def test_checksum_depends_on_values_types_and_order():
    rows = [
        ("a", 1),
        ("a", 1.0),
        ("a", "1"),
        ("a", b"1"),
        ("a", None),
        ("a", 1, None),
        ("b", 1),
        ("a", "", "1"),
        ("a", "1", ""),
        ("a", b"1", b""),
        ("a", b"", b"1"),
        ("a", 0.0),
        ("a", -0.0),
    ]
    assert len({checksum(*row) for row in rows}) == len(rows)
    assert to_sql_real(math.nan) is None
    assert math.copysign(1.0, to_sql_real(-0.0)) == 1.0


MASKS = {"spring": np.arange(19) % 3 > 0, "é": np.ones(8, dtype=bool), "none": np.zeros(0, bool)}


def test_masks_round_trip():
    data = masks_to_bytes(MASKS)
    assert len(data) < 4 + 3 * 20 + 5, "one bit per element"
    found = masks_from_bytes(data)
    assert list(found) == list(MASKS)
    for name, mask in MASKS.items():
        np.testing.assert_array_equal(found[name], mask)
        assert not found[name].flags.writeable
    assert masks_to_bytes({}) is None
    assert masks_from_bytes(None) == {}


def test_reject_damaged_masks():
    data = masks_to_bytes(MASKS)
    for length in range(len(data)):
        with pytest.raises(taut.errors.RunError):
            masks_from_bytes(data[:length])
    twice = masks_to_bytes({"a": MASKS["é"], "b": MASKS["é"]}).replace(b"b", b"a")
    for damaged in (data + b"\0", twice, "text", 3, bytes(4), b"\xff" * 40):
        with pytest.raises(taut.errors.RunError):
            masks_from_bytes(damaged)
    one = bytearray(masks_to_bytes({"a": np.ones(3, dtype=bool)}))
    one[-1] = 0b1111
    with pytest.raises(taut.errors.RunError, match="bits beyond its 3 elements"):
        masks_from_bytes(bytes(one))
