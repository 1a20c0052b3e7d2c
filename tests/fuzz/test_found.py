"""What campaigns have found, one test each."""

import numpy as np

from taut.system.blocks import lengths


def test_the_length_of_what_a_singular_matrix_gives_is_infinite():
    """Random scene 1108: the refinement of a linear solution grows beyond 1e154, and is to be given up without a warning."""
    assert lengths(np.array([[1e200, 0.0, 0.0], [3.0, 4.0, 0.0]])).tolist() == [np.inf, 5.0]
