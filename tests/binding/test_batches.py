"""Batched evaluation: bit-identical to one element at a time; the first bad element is named."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.placed_law import place


@pytest.mark.parametrize("m", [1, 3, 63, 64, 65, 255, 256, 257, 330])
def test_element_values_do_not_depend_on_the_batch(m):
    rng = np.random.default_rng(m)
    x = rng.normal(size=(50, 3))
    edges = np.array([rng.choice(50, 2, replace=False) for _ in range(m)])
    k = rng.uniform(1, 9, m)
    together = place(laws.spring(edges, k=k, l0=1.0), x, np.ones(50))
    for e in {0, m // 2, m - 1}:
        alone = place(laws.spring(edges[e : e + 1], k=k[e], l0=1.0), x, np.ones(50))
        for what in ("values", "gradients", "hessians"):
            np.testing.assert_array_equal(getattr(together, what)(x)[e], getattr(alone, what)(x)[0])


@pytest.mark.parametrize("bad", [0, 63, 64, 200, 256, 299])
def test_first_singular_element_is_named(bad):
    x = np.column_stack([np.arange(302.0), np.zeros(302), np.zeros(302)])
    placed = place(laws.spring([[i, i + 1] for i in range(301)], k=1.0), x, np.ones(302))
    q = x.copy()
    q[bad + 1 :, 1] = (
        # only the bad element has ends so far apart that its squared length
        # overflows
        1e200
    )
    with pytest.raises(taut.TautError, match=rf"element {bad} \(particles \[{bad}, {bad + 1}\]\)"):
        placed.values(q)


def test_read_only_positions_are_accepted():
    x = np.array([[0.0, 0, 0], [2, 0, 0]])
    system = taut.System(x, mass=1.0, energies=[laws.spring([[0, 1]], k=3.0, l0=1.0)])
    state = system.initial_state()
    assert not state.q.flags.writeable
    assert system.V(state) == 1.5
