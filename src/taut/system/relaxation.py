"""Lower a sum of energies particle by particle in a region, while the others stay.

Particle i of the region is moved by its own 3×3 Newton step on

    Σ_e V_e(q) + f_i·(q_i - q°_i) + ½ w_i |q_i - q°_i|²

over the elements e that it belongs to, halved until this falls; then the next one, and back again:
nonlinear block Gauss-Seidel. q° are the positions at the start. f_i is what is left of the given
gradient without these elements: all laws whose gradient is constant, totals, and whatever is not a
law. So a region that is close to a solution costs no assembly and no linear solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from taut.arrays import Float, Int, Short
from taut.jit.compile import kernels
from taut.system.terms import ElementTerm, Inputs, to_int32


class Incidence(NamedTuple):
    """The elements of each particle: those of particle i are at start[i] … start[i + 1].

    start : (n + 1,); element : its index; place : the particle's place in it
    """

    start: Short
    element: Short
    place: Short


def find_incidence(term: ElementTerm, n: int) -> Incidence:
    """Return the elements of each of n particles in a term, in ascending order."""
    s = term.elements.shape[1]
    particles = term.elements.ravel()
    order = np.argsort(particles, kind="stable")
    start = np.zeros(n + 1, dtype=np.int64)
    start[1:] = np.cumsum(np.bincount(particles, minlength=n))
    return Incidence(to_int32(start), to_int32(order // s), to_int32(order % s))


def relax_region(
    q: Float,
    terms: Sequence[ElementTerm],
    incidences: Sequence[Incidence],
    inputs: Sequence[Inputs],
    region: Int,
    gradient: Float,
    weights: Float,
    sweeps: int,
) -> Float:
    """Return positions (n, 3) [m] after some sweeps over a region of free particles.

    q : positions at the start [m], (n, 3)
    incidences, inputs : of the terms, at these positions
    gradient : of the whole sum there [N], (n, 3)
    weights : w [N/m], (n,)
    """
    q = np.array(q)
    used = [k for k, term in enumerate(terms) if term.blocks and term.outer is None]
    if not used or not len(region):
        return q
    frozen = q
    rows, addresses, starts = [], [], []
    elements, parameters, slots, coefficients = [], [], [], []
    element_at = parameter_at = entry_at = 0
    for k in used:
        term, at = terms[k], inputs[k]
        uses_frozen = at.y is not at.x
        if uses_frozen:
            frozen = np.ascontiguousarray(at.y)
        first, entries = _select(incidences[k], region)
        which, place = incidences[k].element[entries], incidences[k].place[entries]
        s, compiled = term.elements.shape[1], term.compiled
        packed = term.parameters(at.t)
        # the diagonal block of place p, in the order (0, 0), (0, 1), … (1, 1), …
        block = place.astype(np.int64) * (2 * s + 1 - place) // 2
        if term.pair is None:
            slots.append(np.stack([place, block], axis=1))
            coefficients.append(np.ones(len(place)))
        else:
            slots.append(np.zeros((len(place), 2)))
            coefficients.append(term.pair[place])
        elements.append(term.elements[which].ravel())
        parameters.append(packed[which].ravel())
        address, size, mode = compiled.relaxation_batches
        rows.append(
            [
                *(s, packed.shape[1], term.vectors, term.blocks, size, mode, uses_frozen),
                *(element_at, parameter_at, entry_at),
            ]
        )
        addresses.append(address)
        starts.append(first)
        element_at += elements[-1].size
        parameter_at += parameters[-1].size
        entry_at += len(place)
    longest = max(1, max(int(np.diff(first).max()) for first in starts))
    # One number more: no batch may be given a slice that begins beyond the end.
    kernels("taut.system.relaxation_kernels").relax(
        *(q, np.array(frozen), max(at.h for at in inputs), region.astype(np.int64)),
        *(np.ascontiguousarray(gradient), np.ascontiguousarray(weights), sweeps),
        *(np.array(rows, dtype=np.int64), np.array(addresses, dtype=np.int64)),
        np.array(starts, dtype=np.int64),
        np.concatenate([*elements, [0]]).astype(np.int64),
        np.concatenate([*parameters, [0.0]]),
        np.concatenate(slots).astype(np.int64),
        np.concatenate(coefficients).astype(np.float64),
        np.zeros((len(used), longest + 1)),
        np.zeros((len(used), 3 * longest * max(terms[k].vectors for k in used) + 3)),
        np.zeros((len(used), 9 * longest * max(terms[k].blocks for k in used) + 9)),
    )
    return q


def _select(incidence: Incidence, region: Int) -> tuple[Int, Int]:
    """Return where the entries of each particle of a region begin, and all of them in a row."""
    first = incidence.start[region].astype(np.int64)
    counts = incidence.start[region + 1] - first
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return ends, np.arange(ends[-1]) + np.repeat(first - ends[:-1], counts)
