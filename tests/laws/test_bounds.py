"""Bounds of every law over boxes contain what its compiled loops compute there.

The bounds are those of `taut.prove`. The compiled loops round, so that they may leave a bound by
their own rounding.
"""

import numpy as np
import pytest

from taut.binding.placed_law import expand_blocks, expand_vectors
from taut.proof.interval_forces import LawBounds, NoBoundError
from taut.proof.intervals import Interval
from taut.system.terms import Term
from tests.laws.specimens import DISSIPATIONS, ENERGIES, state

# Laws of which no bound is known, with what they use.
UNBOUNDED = {"corotated_solid": "stretch_sum"}
SMALL = 1e-7  # half of a box's side [m]; elements are of size 1
H = 0.1


TERMS = [
    pytest.param(specimen, name in ENERGIES, id=name)
    for name, specimen in {**ENERGIES, **DISSIPATIONS}.items()
]


@pytest.mark.parametrize(("specimen", "is_energy"), TERMS)
def test_bounds_contain_compiled_values(specimen, is_energy):
    rng = np.random.default_rng(20)
    placed = specimen.placed(rng)
    x = state(rng, placed)
    frozen = placed.rest + 0.1 * rng.normal(size=x.shape)
    form = "energy" if is_energy else "increment"
    term = Term(placed.name, placed, form, None)
    if placed.law.name in UNBOUNDED:
        with pytest.raises(NoBoundError, match=UNBOUNDED[placed.law.name]):
            LawBounds(term, frozen, H, 0.0)
        return
    law = LawBounds(term, frozen, H, 0.0)
    for radius in (0.0, SMALL):
        box = Interval.exactly(x) if not radius else Interval.exactly(x).widen(radius)
        at, gradient = law.gradient(box)
        rows, columns, hessian = law.hessian(box)
        for _ in range(3):
            inside = x + radius * rng.uniform(-1, 1, x.shape)
            compiled = compute(term, inside, frozen, H)
            require_within(compiled[0], at, gradient)
            require_within(compiled[1], rows * x.size + columns, hessian)
        if not radius:
            # As narrow as rounding allows: no bound is a mere excuse.
            size = max(gradient.magnitude.max(), 1e-300)
            assert (gradient.hi - gradient.lo).max() < 1e-9 * size


def compute(term, x, frozen, h):
    """Sums of the compiled loops' gradients by coordinate, and of their Hessians by entry."""
    compiled, elements = term.compiled, term.elements
    m, s = elements.shape
    out = (np.empty(m), np.empty((m, compiled.vectors, 3)))
    if compiled.blocks:
        out = (*out, np.empty((m, compiled.blocks, 3, 3)))
    kind = "hessian" if compiled.blocks else "gradient"
    compiled.evaluate(kind, x, frozen, h, elements, term.parameters(0.0), out)
    vectors = expand_vectors(out[1], compiled.pair)
    coordinates = (3 * elements[:, :, None] + np.arange(3)).reshape(m, 3 * s)
    gradient, matrix = np.zeros(x.size), np.zeros((x.size, x.size))
    np.add.at(gradient, coordinates.ravel(), vectors.ravel())
    if compiled.blocks:
        blocks = expand_blocks(out[2], compiled.pair, s)
        np.add.at(matrix, (coordinates[:, :, None], coordinates[:, None, :]), blocks)
    return gradient, matrix.ravel()


def require_within(values, at, bounds):
    lo, hi = np.zeros(len(values)), np.zeros(len(values))
    np.add.at(lo, at, bounds.lo)
    np.add.at(hi, at, bounds.hi)
    slack = 1e-11 * max(np.abs(values).max(), 1e-300)
    assert (lo - slack <= values).all()
    assert (values <= hi + slack).all()
