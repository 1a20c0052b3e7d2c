"""V, f and K of each element of an energy, and the matrices that select, assemble and reduce them.

With q the stacked positions (3n,), the notation is that of textbooks:

    q_i = S_i q                       the position of particle i,           S_i (3, 3n)
    q_j = E_j q                       the positions of element j,           E_j (3s, 3n)
    V = Σ V_j(E_j q)                  and with it
    f = Σ E_jᵀ f_j,   K = Σ E_jᵀ K_j E_j
    q̂ = P q,   q = Pᵀq̂ + b            the free coordinates,                 P (f, 3n)

K_j is the Hessian of V_j, f_j = -∂V_j/∂q_j.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.binding.law import BoundLaw
from taut.binding.placed_law import PlacedLaw, expand_blocks, expand_vectors
from taut.errors import LawError, ModelError, did_you_mean
from taut.formula.source import SourceKind
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.terms import Term
from taut.system.workspace import workspace_for

if TYPE_CHECKING:
    from taut.system.system import System


@dataclass(frozen=True, eq=False)
class Elements:
    """The elements of one energy at a state, m of s particles each.

    particles : indices, (m, s)
    active : whether each is active, (m,); V, f and K of the others are zero
    V : energies [J], (m,)
    f : forces -∂V_j/∂q_j [N], (m, 3s)
    K : stiffnesses ∂²V_j/∂q_j² [N/m], (m, 3s, 3s)

    >>> import taut
    >>> spring = taut.laws.spring([[0, 1]], k=10.0)
    >>> system = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[spring])
    >>> state = system.initial_state()
    >>> each = system.elements(state.with_(q=[[0, 0, 0], [1.5, 0, 0]]))
    >>> each.V.tolist(), each.f.tolist()
    ([1.25], [[5.0, 0.0, 0.0, -5.0, 0.0, 0.0]])
    """

    particles: Int
    active: Mask
    V: Float
    f: Float
    K: Float

    def __len__(self) -> int:
        return len(self.particles)


def evaluate_elements(system: System, state: State, law: str | BoundLaw | None) -> Elements:
    """Return V, f and K of each element of an energy (see `System.elements`)."""
    name, placed = find_energy(system, law)
    if placed.couples_all_elements:
        raise LawError(
            f"law '{name}': an energy of a total has no V, f and K of single elements; use "
            "system.V, system.f and system.K"
        )
    mask = system._active_masks(state).get(name)
    term = Term(name, placed, "energy", mask, workspace_for(system).parameters(name, placed))
    m, s = placed.elements.shape
    count, vectors = len(term.elements), term.vectors
    results: tuple[Float, ...] = (np.zeros(count), np.zeros((count, vectors, 3)))
    if term.blocks:
        results = (*results, np.zeros((count, term.blocks, 3, 3)))
    x = np.array(state.q)
    kind: SourceKind = "hessian" if term.blocks else "gradient"
    bad = term.compiled.evaluate(kind, x, x, 0.0, term.elements, term.parameters(state.t), results)
    term.raise_if_bad(bad)
    rows = np.arange(m) if term.active is None else term.active
    active = np.zeros(m, dtype=bool)
    V, f, K = np.zeros(m), np.zeros((m, 3 * s)), np.zeros((m, 3 * s, 3 * s))
    active[rows], V[rows] = True, results[0]
    pair = term.compiled.pair
    f[rows] = 0.0 - expand_vectors(results[1], pair).reshape(count, 3 * s)  # 0 - 0 is no -0
    if term.blocks:
        K[rows] = expand_blocks(results[2], pair, s)
    return Elements(placed.elements, active, V, f, K)


def find_energy(system: System, law: str | BoundLaw | None) -> tuple[str, PlacedLaw]:
    """Return an energy of a system and its name there.

    law : its name or the bound law; None: the only energy
    """
    energies = system._placed_energies
    names = ", ".join(f"'{name}'" for name in energies)
    if law is None:
        if len(energies) == 1:
            return next(iter(energies.items()))
        raise ModelError(
            f"the system has {len(energies)} energies, not one; law must name one of: "
            f"{names or 'none'}"
        )
    if isinstance(law, str):
        if law not in energies:
            hint = did_you_mean(law, energies)
            raise ModelError(f"the system has no energy '{law}'{hint}; it has: {names or 'none'}")
        return law, energies[law]
    for name, placed in energies.items():
        if placed.bound is law:
            return name, placed
    raise ModelError(
        f"law must be an energy of this system or its name ({names or 'it has none'}), got {law!r}"
    )


def mass_matrix(system: System) -> Any:
    """Return M [kg], (3n, 3n): each particle's mass three times on the diagonal."""
    from scipy.sparse import diags_array

    return diags_array(np.repeat(system.mass, 3)).tocsr()


def free_coordinates(system: System) -> Any:
    """Return P, (f, 3n), whose rows are the free directions."""
    return Reduction.of(system._projector).basis.T.tocsr()


def particle_selection(system: System, i: int) -> Any:
    """Return S_i, (3, 3n)."""
    return _select(system.n, np.array([_index("particle", i, system.n)]))


def element_selection(system: System, j: int, law: str | BoundLaw | None) -> Any:
    """Return E_j of an energy, (3s, 3n)."""
    _, placed = find_energy(system, law)
    return _select(system.n, placed.elements[_index("element", j, len(placed.elements))])


def _select(n: int, particles: Int) -> Any:
    """Return the rows of three coordinates of each particle of the identity, (3s, 3n)."""
    from scipy.sparse import csr_array

    columns = (3 * particles[:, None] + np.arange(3)).reshape(-1)
    size = len(columns)
    return csr_array((np.ones(size), columns, np.arange(size + 1)), shape=(size, 3 * n))


def _index(what: str, index: object, count: int) -> int:
    try:
        number = operator.index(index)  # type: ignore[arg-type]
    except TypeError:
        raise ModelError(f"the index of the {what} must be an integer, got {index!r}") from None
    if not 0 <= number < count:
        raise ModelError(f"there are {count} {what}s, counted from 0; there is no {what} {number}")
    return number
