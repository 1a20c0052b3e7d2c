"""Structure derived from the graph of an energy: pairs, central forces, constant Hessians."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.placed_law import place
from taut.formula import dot, norm, sin


def kernel(law, particles, **parameters):
    x = np.arange(3.0 * particles).reshape(-1, 3) ** 1.1
    placed = place(law(np.arange(particles)[None], **parameters), x, np.ones(particles))
    return placed.forms["energy"]


@pytest.mark.parametrize(
    ("law", "particles", "parameters", "pair", "hessian", "closed"),
    [
        (laws.spring, 2, {"k": 1.0}, (-1.0, 1.0), "varying", True),
        (laws.cable, 2, {"k": 1.0}, (-1.0, 1.0), "varying", True),
        (laws.zero_length_spring, 2, {"k": 1.0}, (-1.0, 1.0), "constant", False),
        (laws.gravity, 1, {}, (1.0,), "zero", False),
        (laws.pin, 1, {"k": 1.0}, (1.0,), "constant", False),
        (laws.rod_hinge, 3, {"k": 1.0}, None, "varying", False),
    ],
)
def test_structure_of_catalogue_laws(law, particles, parameters, pair, hessian, closed):
    m = kernel(law, particles, **parameters)
    assert (pair, hessian, closed) == (m.pair, m.hessian_kind, m.closed_form)


@taut.energy
def second_difference(x, k):
    d = x[0] - 2 * x[1] + x[2]
    return k / 2 * dot(d, d)


@taut.energy
def offset_central(x, k, target: taut.formula.Vector):
    return k * norm(target - x[0]) ** 3


@taut.energy
def mixed(x, k):
    return k * (x[0][0] + x[1][1]) ** 2


@taut.energy
def nearly_central(x, k):
    d = x[1] - x[0]
    return k * norm(d) ** 3 + sin(d[0])


def test_structure_of_other_formulas():
    assert kernel(second_difference, 3, k=1.0).pair == (1.0, -2.0, 1.0)
    m = kernel(offset_central, 1, k=1.0, target=(1.0, 2.0, 3.0))
    assert (m.pair, m.closed_form) == ((1.0,), True)
    assert kernel(mixed, 2, k=1.0).pair is None
    m = kernel(nearly_central, 2, k=1.0)
    assert (m.pair, m.closed_form) == ((-1.0, 1.0), False)
