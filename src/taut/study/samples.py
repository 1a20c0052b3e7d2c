"""The design of a study: the values of every run, from the values of each parameter.

    grid           every combination; the last parameter changes fastest
    lhs:N          N runs by Latin hypercube sampling
    sobol:N        N runs, a power of 2, on a scrambled Sobol sequence
    saltelli:N     N (d + 2) runs for d parameters, from which Sobol indices follow

A Saltelli design has two independent blocks of N points, A and B, and for each parameter i a block
ABᵢ, which is A with the values of parameter i from B (Saltelli et al., Computer Physics
Communications 181 (2010) 259). Both blocks are halves of one scrambled Sobol sequence in 2 d
dimensions.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import SceneError, did_you_mean
from taut.study.values import Choice, Values

MAX_RUNS = 1_000_000
KINDS = ("grid", "lhs", "sobol", "saltelli")
_TEXT = re.compile(r"(\w+)(?::(\d+))?")


@dataclass(frozen=True)
class Samples:
    """How the runs of a study are chosen.

    kind : "grid", "lhs", "sobol" or "saltelli"
    count : N; 0 for a grid

    >>> read_samples("lhs:100")
    Samples(kind='lhs', count=100)
    """

    kind: str
    count: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind == "grid" else f"{self.kind}:{self.count}"


def read_samples(text: str) -> Samples:
    """Return the samples from text such as "grid" or "sobol:256"."""
    found = _TEXT.fullmatch(str(text).strip())
    if found is None or found[1] not in KINDS:
        hint = did_you_mean(str(text).partition(":")[0], KINDS)
        raise SceneError(
            [f"samples must be grid, lhs:N, sobol:N or saltelli:N, got '{str(text)[:60]}'{hint}"]
        )
    kind, count = found[1], int(found[2] or 0)
    if kind == "grid":
        if found[2] is not None:
            raise SceneError([f"samples: a grid has no number of runs, got '{text}'"])
        return Samples("grid")
    if not 0 < count <= MAX_RUNS:
        raise SceneError([f"samples: {kind}:N must have N from 1 to {MAX_RUNS:,}, got '{text}'"])
    if kind != "lhs" and count & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise SceneError(
            [
                f"samples: N of {kind}:N must be a power of 2, such as {below} or {2 * below}, "
                f"got {count}: the Sobol sequence is balanced only then"
            ]
        )
    return Samples(kind, count)


def make_design(samples: Samples, parameters: Mapping[str, Values], seed: int) -> list[list[Any]]:
    """Return the values of each run, one row per run, in the order of the parameters.

    seed : of the random choices of lhs, sobol and saltelli

    >>> make_design(Samples("grid"), {"a": Choice((1, 2)), "b": Choice((5, 6))}, 0)
    [[1, 5], [1, 6], [2, 5], [2, 6]]
    >>> len(make_design(Samples("saltelli", 8), {"a": Choice((1, 2)), "b": Choice((5, 6))}, 0))
    32
    """
    if not parameters:
        raise SceneError(["a study must vary at least one parameter"])
    kinds = list(parameters.values())
    if samples.kind == "grid":
        return _make_grid(parameters)
    blocks = len(kinds) + 2 if samples.kind == "saltelli" else 1
    _check_size(samples.count * blocks)
    units = _draw(samples, len(kinds), seed)
    return [[values.at(float(u)) for values, u in zip(kinds, row, strict=True)] for row in units]


def _make_grid(parameters: Mapping[str, Values]) -> list[list[Any]]:
    lists = []
    for key, values in parameters.items():
        if not isinstance(values, Choice):
            raise SceneError(
                [
                    f"{key}: a grid needs the number of values, as in "
                    f"{values.low:g}:{values.high:g}:5; or take samples such as sobol:64"
                ]
            )
        lists.append(values.values)
    _check_size(math.prod(len(values) for values in lists))
    return [list(row) for row in itertools.product(*lists)]


def _check_size(runs: int) -> None:
    if runs > MAX_RUNS:
        raise SceneError([f"a study must have at most {MAX_RUNS:,} runs, got {runs:,}"])


def _draw(samples: Samples, d: int, seed: int) -> Float:
    """Return points of the unit cube, one row per run, (runs, d)."""
    from scipy.stats import qmc

    random = np.random.default_rng(seed)
    if samples.kind == "lhs":
        return np.asarray(qmc.LatinHypercube(d, seed=random).random(samples.count))
    if samples.kind == "sobol":
        return np.asarray(qmc.Sobol(d, seed=random).random(samples.count))
    both = qmc.Sobol(2 * d, seed=random).random(samples.count)
    a, b = both[:, :d], both[:, d:]
    mixed = []
    for i in range(d):
        block = a.copy()
        block[:, i] = b[:, i]
        mixed.append(block)
    return np.concatenate([a, b, *mixed])
