"""Products of the derivatives of a law's force and stiffness with vectors, element by element.

Of one form of a law (see `taut.binding.compiled_law`) with positions x, frozen positions y, step h
and parameters p:

    pull_force      the gradient of z·∂V/∂x by x, y, p and h
    push_force      the change of ∂V/∂x with dx, dy, dp and dh
    pull_hessian    the gradient of a·∂²V/∂x²·b, or the same with its projection
    push_hessian    the change of ∂²V/∂x²·b

The projection H⁺ = Q max(Λ, 0) Qᵀ of an element's Hessian H = Q Λ Qᵀ changes by

    dH⁺ = Q (F ∘ QᵀdH Q) Qᵀ,    F_ij = (λ_i⁺ - λ_j⁺)/(λ_i - λ_j)    (Daleckii and Krein),

except where an eigenvalue is zero; where the law has it in closed form, that is differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from taut.arrays import Float
from taut.binding.compiled_law import CompiledLaw
from taut.formula.differentiate import gradient
from taut.formula.expression import COMPARISONS, Expr, copy_into, reachable
from taut.formula.graph import Graph
from taut.formula.products import Program, make_pull, make_push
from taut.formula.structure import Derivatives, derive

_PRODUCTS: WeakKeyDictionary[CompiledLaw, LawProducts] = WeakKeyDictionary()


class Place(NamedTuple):
    """Where elements are evaluated: x and y (m, s, 3), h [s], packed parameters (m, width)."""

    x: Float
    y: Float
    h: float
    p: Float


class Pulled(NamedTuple):
    """A gradient by x and y, (m, s, 3), by p, (m, width), and by h, (m,)."""

    x: Float
    y: Float
    p: Float
    h: Float


def products_of(compiled: CompiledLaw) -> LawProducts:
    """Return the products of a compiled law; derived at first use and kept while the law is."""
    if compiled not in _PRODUCTS:
        _PRODUCTS[compiled] = LawProducts(compiled)
    return _PRODUCTS[compiled]


class LawProducts:
    """Products of the derivatives of one form of a law with vectors."""

    def __init__(self, compiled: CompiledLaw) -> None:
        # Not the law itself, which is the weak key under which this object is kept
        self._root, self._metric = compiled.root, compiled.metric
        self._s, self._width = compiled.particles, compiled.width

    def pull_force(self, at: Place, z: Float) -> Pulled:
        """Return the gradient of z·∂V/∂x, z (m, s, 3)."""
        found = self._pull_force.run({**at._asdict(), "z": _flat(z)}, len(z))
        return self._arrange(found, len(z))

    def push_force(self, at: Place, dx: Float, dy: Float, dp: Float, dh: float) -> Float:
        """Return the change of ∂V/∂x, (m, s, 3), with x and y (m, s, 3), p (m, width) and h."""
        m = len(dx)
        moves = {"dx": _flat(dx), "dy": _flat(dy), "dp": dp, "dh": np.full((m, 1), dh)}
        return self._push_force.run({**at._asdict(), **moves}, m)["r"].reshape(m, self._s, 3)

    def hessian(self, at: Place, *, project: bool) -> Float:
        """Return the Hessian of each element by its stored vectors, (m, 3V, 3V).

        It is projected only if the law has its projection in closed form.
        """
        m = len(at.x)
        blocks = self._hessian_programs(project)[0].run(self._stored(at), m)["r"]
        return self._unfold(blocks.reshape(m, -1, 3, 3))

    def pull_hessian(self, at: Place, left: Float, right: Float, *, project: bool) -> Pulled:
        """Return the gradient of left·∂²V/∂x²·right, both (m, s, 3)."""
        weights = self.weigh(left, right)
        if project and not self._derivatives.closed_form:
            weights = pull_projection(self.hessian(at, project=False), weights)
        return self.pull_weighted(at, weights, project=project)

    def weigh(self, left: Float, right: Float) -> Float:
        """Return the weights of the entries of a Hessian H in left·H·right, (m, 3V, 3V)."""
        a, b = _flat(self._to_stored(left)), _flat(self._to_stored(right))
        return np.einsum("mi,mj->mij", a, b)

    def pull_weighted(self, at: Place, weights: Float, *, project: bool = False) -> Pulled:
        """Return the gradient of Σ weights·H, weights (m, 3V, 3V) of the entries of H.

        project : whether H is projected where the law has that in closed form
        """
        m = len(weights)
        inputs = {**self._stored(at), "z": self._fold(weights)}
        found = self._hessian_programs(project)[1].run(inputs, m)
        w = found.pop("w").reshape(m, -1, 3)
        return self._arrange({**found, "x": self._from_stored(w)}, m)

    def push_hessian(
        self, at: Place, right: Float, moves: tuple[Float, Float, Float], *, project: bool
    ) -> Float:
        """Return the change of ∂²V/∂x²·right, (m, s, 3), with moves (dx, dy, dp)."""
        change = self.change_hessian(at, moves, project=project)
        if project and not self._derivatives.closed_form:
            change = pull_projection(self.hessian(at, project=False), change)
        return self.multiply(change, right)

    def change_hessian(
        self, at: Place, moves: tuple[Float, Float, Float], *, project: bool = False
    ) -> Float:
        """Return the change of the Hessian, (m, 3V, 3V), with moves (dx, dy, dp).

        project : whether it is projected where the law has that in closed form
        """
        m = len(moves[0])
        inputs = {
            **self._stored(at),
            "dw": _flat(self._to_stored(moves[0])),
            "dy": _flat(moves[1]),
            "dp": moves[2],
            "dh": np.zeros((m, 1)),
        }
        blocks = self._hessian_programs(project)[2].run(inputs, m)["r"]
        return self._unfold(blocks.reshape(m, -1, 3, 3))

    def multiply(self, hessians: Float, right: Float) -> Float:
        """Return H·right, (m, s, 3), for Hessians by stored vectors, (m, 3V, 3V)."""
        m = len(right)
        product = np.einsum("mij,mj->mi", hessians, _flat(self._to_stored(right)))
        return self._from_stored(product.reshape(m, -1, 3))

    def slopes(self, at: Place) -> tuple[Float, Float]:
        """Return ∂V/∂x, (m, s, 3), and ∂V/∂p, (m, width)."""
        m = len(at.x)
        found = self._slope_program.run(at._asdict(), m)
        return found["x"].reshape(m, self._s, 3), found["p"]

    def values(self, at: Place) -> Float:
        """Return V of each element, (m,)."""
        return self._value_program.run(at._asdict(), len(at.x))["value"][:, 0]

    @property
    def projects_in_closed_form(self) -> bool:
        """Whether the Hessian has its projection in closed form."""
        return self._derivatives.closed_form

    def measure_kinks(self, at: Place) -> Float:
        """Return how far each element is from where its formula has a kink, relative, (m,).

        That is the least |a - b|/(|a| + |b|) of all comparisons of a and b in it, and infinite if
        there are none.
        """
        m = len(at.x)
        if not self._comparisons:
            return np.full(m, np.inf)
        found = self._kinks.run(at._asdict(), m)
        gap, size = np.abs(found["left"] - found["right"]), np.abs(found["left"])
        size = size + np.abs(found["right"])
        margins = np.divide(gap, size, out=np.zeros_like(gap), where=size > 0.0)
        return margins.min(axis=1)

    @property
    def has_kinks(self) -> bool:
        """Whether the formula has comparisons at all."""
        return bool(self._comparisons)

    @cached_property
    def _value(self) -> Expr:
        # In a graph of its own: terms of other derivatives keep their order.
        return copy_into(Graph(), self._root)

    @cached_property
    def _comparisons(self) -> list[Expr]:
        found = [n for n in reachable([self._value]) if n.op in COMPARISONS]
        return [n for n in found if any(a.op == "symbol" for a in reachable(n.args))]

    @cached_property
    def _kinks(self) -> Program:
        sides = list(zip(*(n.args for n in self._comparisons), strict=True))
        return Program({"left": sides[0], "right": sides[1]})

    def _variables(self, value: Expr, moving: str) -> dict[str, list[Expr]]:
        """Return what an expression depends on: positions, frozen ones, parameters and h."""
        g = value.graph
        used = {n.value[3]: n for n in reachable([value]) if n.op == "symbol" and n.value[0] == "p"}
        # A column that the formula does not use: any symbol of this name has a zero derivative.
        columns = [used.get(j, g.symbol("p", "", 0, j)) for j in range(self._width)]
        vectors = 1 if moving == "w" and self._derivatives.pair is not None else self._s
        name = moving if moving != "w" or self._derivatives.pair is not None else "x"
        return {
            moving: [g.symbol(name, p, k) for p in range(vectors) for k in range(3)],
            "y": [g.symbol("y", p, k) for p in range(self._s) for k in range(3)],
            "p": columns,
            "h": [g.symbol("h")],
        }

    @cached_property
    def _slopes(self) -> list[Expr]:
        return gradient(self._value, self._variables(self._value, "x")["x"], last=False)

    @cached_property
    def _slope_program(self) -> Program:
        variables = self._variables(self._value, "x")
        return Program({name: gradient(self._value, variables[name]) for name in ("x", "p")})

    @cached_property
    def _value_program(self) -> Program:
        return Program({"value": [self._value]})

    @cached_property
    def _pull_force(self) -> Program:
        return make_pull(self._slopes, self._variables(self._value, "x"))

    @cached_property
    def _push_force(self) -> Program:
        return make_push(self._slopes, self._variables(self._value, "x"))

    @cached_property
    def _derivatives(self) -> Derivatives:
        value = copy_into(Graph(), self._root)
        metric = None if self._metric is None else copy_into(value.graph, self._metric)
        return derive(value, self._s, metric)

    @cached_property
    def _hessian_cache(self) -> dict[bool, tuple[Program, Program, Program]]:
        return {}

    def _hessian_programs(self, project: bool) -> tuple[Program, Program, Program]:
        """Return the programs of the Hessian's blocks, of their pull and of their push."""
        if project not in self._hessian_cache:
            d = self._derivatives
            entries = [e for block in d.hessian for row in block for e in row]
            flags = frozenset({"project"} if project and d.closed_form else ())
            variables = self._variables(d.value, "w")
            self._hessian_cache[project] = (
                Program({"r": entries}, flags),
                make_pull(entries, variables, flags),
                make_push(entries, variables, flags),
            )
        return self._hessian_cache[project]

    def _stored(self, at: Place) -> dict[str, Any]:
        w = self._to_stored(at.x)
        return {**at._asdict(), "w": w, "wy": w}  # "wy" is read only to predict forces

    def _to_stored(self, vectors: Float) -> Float:
        """Return the vectors that a kernel stores, (m, V, 3): of a pair law Σ c_p x_p."""
        if self._derivatives.pair is None:
            return vectors
        return np.einsum("p,mpi->mi", np.array(self._derivatives.pair), vectors)[:, None, :]

    def _from_stored(self, vectors: Float) -> Float:
        if self._derivatives.pair is None:
            return vectors
        return np.array(self._derivatives.pair)[None, :, None] * vectors

    def _corners(self, size: int) -> list[tuple[int, int]]:
        return [(p, q) for p in range(size) for q in range(p, size)]

    def _unfold(self, blocks: Float) -> Float:
        """Return full matrices (m, 3V, 3V) from the blocks of upper triangles."""
        m, size = len(blocks), 1 if self._derivatives.pair is not None else self._s
        full = np.empty((m, size, 3, size, 3))
        for b, (p, q) in enumerate(self._corners(size)):
            full[:, p, :, q, :] = blocks[:, b]
            full[:, q, :, p, :] = blocks[:, b].transpose(0, 2, 1)
        return full.reshape(m, 3 * size, 3 * size)

    def _fold(self, weights: Float) -> Float:
        """Return the weights of the entries of the upper blocks from those of full matrices."""
        m, size = len(weights), weights.shape[1] // 3
        full = weights.reshape(m, size, 3, size, 3)
        folded = []
        for p, q in self._corners(size):
            block = full[:, p, :, q, :]
            if p != q:
                block = block + full[:, q, :, p, :].transpose(0, 2, 1)
            folded.append(block)
        return np.stack(folded, axis=1).reshape(m, -1)

    def _arrange(self, found: Mapping[str, Float], m: int) -> Pulled:
        return Pulled(
            found["x"].reshape(m, self._s, 3),
            found["y"].reshape(m, self._s, 3),
            found["p"],
            found["h"][:, 0],
        )


def _flat(vectors: Float) -> Float:
    return np.ascontiguousarray(vectors).reshape(len(vectors), -1)


def pull_projection(hessians: Float, weights: Float) -> Float:
    """Return Q (F ∘ QᵀA Q) Qᵀ of weights A for Hessians H = Q Λ Qᵀ, all (m, k, k).

    It turns weights of H⁺ into those of H, and a change of H into that of H⁺.
    """
    values, vectors = np.linalg.eigh(hessians)
    clamped = np.maximum(values, 0.0)
    gap = values[:, :, None] - values[:, None, :]
    rise = clamped[:, :, None] - clamped[:, None, :]
    divided = np.divide(rise, gap, out=np.zeros_like(gap), where=gap != 0.0)
    positive = np.where(values > 0.0, 1.0, 0.0)
    equal = np.minimum(positive[:, :, None], positive[:, None, :])
    divided = np.where(gap == 0.0, equal, divided)
    turned = vectors.transpose(0, 2, 1) @ weights @ vectors
    result: Float = vectors @ (divided * turned) @ vectors.transpose(0, 2, 1)
    return result
