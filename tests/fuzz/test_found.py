"""Regression tests of defects found by campaigns."""

import numpy as np

from taut.linalg.blocks import row_norms


def test_row_norms_overflow_to_infinity():
    """Random scene 1108: the refinement of a linear solution grows beyond 1e154.

    It must be abandoned without a warning.
    """
    assert row_norms(np.array([[1e200, 0.0, 0.0], [3.0, 4.0, 0.0]])).tolist() == [np.inf, 5.0]
