"""Stiffnesses for which every neighbourhood of the mesh answers as the material does.

Two steps in turn. First the tensors: x_e = k_e over Van Gelder's guess minimises

    Σ_p V_p |C_p(x) - T_p|² / |T|² + λ² Σ_e w_e (x_e - 1)²,    1/100 ≤ x_e ≤ 10,

where C_p is the mean of Σ k l² n⊗n⊗n⊗n / V over a neighbourhood of the point p, four averages from points to cells and back wide,
and w_e is the part of the spring in the whole. It is a least-squares problem with bounds, solved by projected gradients with
Nesterov's momentum. λ keeps the springs near the guess: with λ = 0 an irregular mesh has more equations than springs, and some
springs vanish.

Then the strains. On an irregular mesh inner points give way, and the body is softer than C_p says. A stretch test (`stretch`) gives
the mean strain S_p of each neighbourhood for each stress. Where it strains too much T_p grows, by C (S_p - S) C, C the material's
tensor and S its inverse. After a few turns all neighbourhoods strain alike, those at the boundary too.

Last, the tensors once more with hardly any λ, as long cells need it whose springs are to be far from the guess. Of all that was
found the stiffnesses are taken under which the strains of all neighbourhoods are nearest to the material's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.materials.averages import Averages, Near
from taut.materials.cells import Cells
from taut.materials.stretch import Stretch
from taut.materials.tensors import basis, dense, inverse, upper

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Float = NDArray[np.float64]
NEAR = 0.3  # λ: measured on irregular sheets and solids, less lets springs vanish, more leaves the moduli uneven
FAR = 0.01  # λ of the last try
ROUNDS = 4  # of tensors and strains; more only while the error falls, as it does where an exact answer exists
FALLING = 0.8  # from one round to the next
MOST_ROUNDS = 40
GRADIENTS = 40  # steps for the tensors in a round
MANY_GRADIENTS = 500  # steps for the tensors where they are found at once
LOOSE = 1e-2  # residual of the stretch tests on the way, of the load; a tenth of the error reached once that is less
EXACT = 1e-10  # error of the compliance that is good enough to stop
GOOD = 0.05  # error of the whole body that is good enough not to try further


class Trial(NamedTuple):
    """A stretch test that can be looked at neighbourhood by neighbourhood."""

    stretch: Stretch
    gradient: list[csr_matrix]  # (c, n) for each axis, `Vectors.gradient`
    tensor: Float  # C of the material, (s, s)


class Fitted(NamedTuple):
    """Stiffnesses, and how good they are."""

    k: Float  # (m,) [N/m]
    u: Float | None  # displacements in the stretch test, (n·d, s), to begin another with; None for a curved sheet
    error: float  # `distance` of the strains from the material's; 0 for a curved sheet, which is not tested


def fit(
    cells: Cells, share: csr_matrix, direction: Float, length: Float, guess: Float, target: Float, trial: Trial | None
) -> Fitted:
    """The fitted stiffnesses.

    share : of springs in cells, (c, m)
    direction : of springs, unit vectors (m, d)
    length, guess : of springs [m], [N/m], (m,)
    target : tensor of each cell, (c, s, s)
    trial : None for a surface that is not flat, which is fitted by its tensors alone
    """
    weight = guess * length**2
    averages = Averages(cells, share, direction, weight)
    wanted = averages.to_points @ (upper(target) * cells.volume[:, None])
    size = float((wanted**2).sum(axis=1).max())
    near = Near.of(averages, weight / weight.sum(), NEAR**2 * size)
    x = np.ones(len(guess))
    if trial is None:
        return Fitted(guess * near.solve(averages, wanted, x, MANY_GRADIENTS), None, 0.0)
    found = _rounds(averages, near, wanted, guess, trial)
    assert found.u is not None
    whole = distance(trial.stretch.compliance(found.u)[None], trial.tensor, np.ones((1, 1)))
    if whole > GOOD:
        far = near.solve(averages, wanted, x, MANY_GRADIENTS, FAR**2 * size)
        u = trial.stretch.relaxed(guess * far, trial.stretch.affine(inverse(trial.tensor)), LOOSE)
        other = Fitted(guess * far, u, distance(_strains(u, trial, averages), trial.tensor, averages.root))
        found = min(found, other, key=lambda f: f.error)
    return found


def _rounds(averages: Averages, near: Near, wanted: Float, guess: Float, trial: Trial) -> Fitted:
    """Tensors and strains in turn."""
    ideal = inverse(trial.tensor)
    u = trial.stretch.affine(ideal)
    x = np.ones(len(guess))
    best = Fitted(guess, u, np.inf)
    for turn in range(MOST_ROUNDS):
        u = trial.stretch.relaxed(guess * x, u, min(LOOSE, best.error / 10))
        strain = _strains(u, trial, averages)
        error = distance(strain, trial.tensor, averages.root)
        going = turn <= ROUNDS or error < FALLING * best.error
        if error < best.error:
            best = Fitted(guess * x, u, error)
        if best.error < EXACT or not going:
            break
        if turn:  # the first time the tensors themselves
            excess = dense(dense(trial.tensor, strain - ideal), trial.tensor)
            wanted = wanted + upper((excess + excess.transpose(0, 2, 1)) / 2)
        x = near.solve(averages, wanted, x, GRADIENTS)
    return best


def _strains(u: Float, trial: Trial, averages: Averages) -> Float:
    """The mean strain of each neighbourhood under each stress, shape (n, s, s)."""
    d, s = trial.stretch.d, len(trial.tensor)
    parts = u.reshape(-1, d * s)
    slopes = np.stack([g @ parts for g in trial.gradient]).reshape(d, -1, d, s)  # axis, cell, component, stress
    of_cells = np.einsum("jcia,bij->cba", slopes, basis(d)).reshape(-1, s * s)
    return averages.smooth(averages.to_points @ of_cells).reshape(-1, s, s)


def distance(strain: Float, tensor: Float, root: Float) -> float:
    """How far C·S_p is from one multiple of 1 in all neighbourhoods, whose parts of the whole are `root`², (n, 1).

    The norm is one that no turn of the axes changes. The multiple is free because one factor for all k still is.
    """
    product = dense(tensor, strain) * root[:, :, None]
    one = np.eye(len(tensor)) * root[:, :, None]
    times = float((product * one).sum()) / float((product**2).sum())
    return float(np.sqrt(((times * product - one) ** 2).sum()))
