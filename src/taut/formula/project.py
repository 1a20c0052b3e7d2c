"""Projection of element Hessians for laws without a closed form: see `project_kernels`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.formula.compile import kernels


def project_elements(blocks: NDArray[np.float64], vectors: int) -> NDArray[np.int64]:
    """Project each element's Hessian in place onto the positive semi-definite matrices.

    blocks : the 3×3 blocks of each upper triangle, row by row, shape (m, vectors·(vectors + 1)/2, 3, 3)

    Returns, per chunk of elements, the first whose eigenvalues were not found (it is not finite), or -1.
    """
    module = kernels("taut.formula.project_kernels")
    bad = np.full((len(blocks) + module.CHUNK - 1) // module.CHUNK, -1, dtype=np.int64)
    module.project(blocks, vectors, bad)
    return bad
