"""What campaigns have found, one test each."""

import numpy as np

from taut.linalg.blocks import row_norms


def test_the_length_of_what_a_singular_matrix_gives_is_infinite():
    """Random scene 1108: the refinement of a linear solution grows beyond 1e154.

    And is to be given up without a warning.
    """
    assert row_norms(np.array([[1e200, 0.0, 0.0], [3.0, 4.0, 0.0]])).tolist() == [np.inf, 5.0]
