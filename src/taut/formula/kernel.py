"""A compiled batch of a law, run over all its elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.formula.compile import kernels

Float = NDArray[np.float64]
Int = NDArray[np.int64]
_NOTHING: Float = np.zeros(0)


class Kernel:
    """One form of a law on its way to numbers: what its generated module says of it, and its loop.

    pair : coefficients of the particles, where one vector and one block stand for all of them, else None
    vectors, blocks : how many are stored for each element; blocks are 0 where the Hessian is zero
    hessian : its kind, such as "zero" or "constant"; closed_form : whether it is projected as it is computed
    """

    def __init__(self, module: Any) -> None:
        self._address, self._size = module.batch.address, module.SIZE
        self.pair: tuple[float, ...] | None = module.PAIR
        self.vectors: int = module.VECTORS
        self.blocks: int = module.BLOCKS
        self.hessian: str = module.HESSIAN
        self.closed_form: bool = module.CLOSED_FORM

    def evaluate(
        self, x: Float, y: Float, h: float, elements: Int, parameters: Float, outputs: tuple[Float, ...], *, project: bool = False
    ) -> Int:
        """Write the outputs, and give the first element of each chunk whose results are not finite, or -1.

        x : what is differentiated by, y : what is frozen, (n, 3); elements : (m, s); parameters : (m, width)
        """
        loops = kernels("taut.formula.batch_kernels")
        bad = np.empty((len(elements) + loops.CHUNK - 1) // loops.CHUNK, dtype=np.int64)
        a, b, *rest = (output.reshape(-1) for output in outputs)
        loops.evaluate(
            self._address, self._size, x, y, h, elements, parameters, int(project), a, b, rest[0] if rest else _NOTHING, bad
        )
        return bad
