"""A law among the particles of one system: its elements, its parameters, and its evaluation.

`place` makes a `PlacedLaw`, or a `PlacedLoad` of a load. Neither changes after it is built.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from math import prod
from typing import Any

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.binding._elements import and_more, describe_element, reject_unknown_particles
from taut.binding._parameters import Parameters, measure_at
from taut.binding.compiled_law import CompiledLaw, FormName, HessianForm, choose_hessian_form
from taut.binding.law import BoundLaw, Load
from taut.errors import LawError, SingularState
from taut.formula.expression import Expr, fingerprint, symbols
from taut.formula.interpret import evaluate
from taut.formula.products import Program, make_pull, make_push
from taut.formula.source import SourceKind
from taut.formula.trace import trace_load, trace_measure
from taut.linalg.blocks import project_elements

# A shape measure without unit, such as area/length², that is not larger counts as zero.
_DEGENERATE = 1e-12


def place(bound: BoundLaw, rest: Float, mass: Float, *, flat: bool = False) -> Any:
    """Place a bound law among particles: return a PlacedLaw, or a PlacedLoad of a Load.

    rest : rest positions [m], (n, 3); mass : [kg], (n,); flat : whether all lie in the plane z = 0
    """
    kind = PlacedLoad if isinstance(bound, Load) else PlacedLaw
    return kind(bound, rest, mass, flat=flat)


class _Placed:
    """What placed laws of every kind have.

    bound, law, name : as the user gave them
    elements : particle indices, (m, s)
    parameters : resolved, see `Parameters`
    couples_all_elements : whether the law has one energy for all its elements together
    """

    couples_all_elements = False

    def __init__(self, bound: BoundLaw, rest: Float, mass: Float, *, flat: bool) -> None:
        self.bound, self.law, self.name = bound, bound.law, bound.name
        self.rest, self.mass, self.flat = rest, mass, flat
        elements = bound.elements
        if elements is None:
            elements = np.arange(len(rest), dtype=np.int64)[:, None]
        reject_unknown_particles(self.name, elements, len(rest))
        elements.setflags(write=False)
        self.elements: Int = elements  # those of the bound law, which nothing writes to
        self._reject_nonpositive(self.law.proper, self.rest, "rest shape")
        self.parameters = Parameters(bound, self.elements, rest, mass, flat=flat)

    @property
    def particles(self) -> int:
        """Number of particles per element, s."""
        return int(self.elements.shape[1])

    def reject_outside_domain(self, pose: Float) -> None:
        """Raise if the law has no energy at a pose (n, 3) [m], as where an element is inverted."""
        self._reject_nonpositive(self.law.domain, pose, "pose", self.parameters)

    def _reject_nonpositive(
        self,
        measures: Mapping[str, Callable[..., Any]],
        positions: Float,
        where: str,
        parameters: Parameters | None = None,
    ) -> None:
        """Raise for an element of which a measure is zero or negative; its name is the fault."""
        for fault, measure in measures.items():
            values = measure_at(self.bound, fault, measure, self.elements, positions, parameters)
            bad = np.flatnonzero(~(values > _DEGENERATE))
            if len(bad):
                which = describe_element(self.elements, bad[0])
                more = and_more(len(bad))
                raise LawError(f"law '{self.name}': {which} {fault}, in the {where}{more}")

    def with_values(self, bound: BoundLaw) -> Any:
        """Return the same law on the same elements with other values of parameters.

        bound : the same law, elements and breaking strain; None is returned if a parameter has
            another shape, so that the law must be compiled again
        """
        parameters = self.parameters.with_values(bound, self.mass)
        if parameters.shapes != self.parameters.shapes:
            return None
        changed = copy.copy(self)
        changed.bound, changed.parameters = bound, parameters
        changed._check_values()
        return changed

    def _check_values(self) -> None:
        """Raise if values do not fit each other, beyond what their limits say."""

    def shift_particles(self, offset: int) -> Any:
        """Bind the law to particles with numbers larger by `offset`; rest values are kept."""
        measured = {p: v for p, v in self.parameters.constant.items() if p in self.law.rest}
        kept = {"name": self.name, "breaking_strain": self.bound.breaking_strain, **measured}
        return self.law(self.elements + offset, **{**kept, **self.bound.parameters})


class PlacedLaw(_Placed):
    """An energy or a damping law on elements of one system.

    form : what the methods below evaluate: the energy V(positions), or the rate potential
        Ψ(velocities) of a dissipation
    forms : the compiled forms of the law: `energy`, or `rate` and `increment`
    breaking_strain : strain beyond which each element breaks, (m,), or None

    Methods take positions x (n, 3) [m] and, for a dissipation, velocities x [m/s] and positions
    `at` [m]. `parameters` is a packed array to use instead of the law's own at time t [s].
    """

    def __init__(self, bound: BoundLaw, rest: Float, mass: Float, *, flat: bool = False) -> None:
        super().__init__(bound, rest, mass, flat=flat)
        self.form: FormName = "energy" if self.law.kind == "energy" else "rate"
        # All forms are traced here, so that errors in a formula are raised when a System is built.
        self.forms: dict[FormName, CompiledLaw] = {self.form: self._compile(self.form)}
        if self.form == "rate":
            self.forms["increment"] = self._compile("increment")
        self.couples_all_elements = self.forms[self.form].outer is not None
        self._check_values()

    def _check_values(self) -> None:
        outer = self.forms[self.form].outer
        if outer is not None and len(self.elements):
            outer.reject_unequal_parameters(self.name, self.parameters.pack(0.0))
        self.breaking_strain = self._resolve_breaking_strain()

    def _compile(self, form: FormName) -> CompiledLaw:
        return self.law.compile(form, self.particles, self.parameters.shapes)

    @property
    def digest(self) -> str:
        """A digest of the formula."""
        return self.forms[self.form].digest

    @property
    def flowing_column(self) -> int:
        """The column of the rest value that flows in the packed parameters."""
        (name,) = self.law.flow
        column = self.parameters.columns(name)
        assert isinstance(column, int)
        return column

    def flow(self, q: Float, packed: Float, h: float) -> Float:
        """Return the rest value of each element, (m,), after it has flowed for h [s].

        q : positions [m], (n, 3); packed : the parameters before, (m, width)
        """
        ((name, rule),) = self.law.flow.items()
        shapes = {**self.parameters.shapes, "h": ()}
        what = f"'{self.law.name}', the flow of '{name}'"
        roots, _ = trace_measure(what, rule, self.particles, shapes)
        columns = np.column_stack([packed, np.full(len(packed), h)])
        return evaluate(roots, q[self.elements], parameters=columns)[:, 0]

    def _resolve_breaking_strain(self) -> Float | None:
        given = self.bound.breaking_strain
        if given is None:
            return None
        has_rest_length = self.parameters.shapes.get("l0") == ()
        if self.law.kind != "energy" or self.particles != 2 or not has_rest_length:
            raise LawError(
                f"law '{self.name}': only an energy on two particles with a rest length l0 has a "
                "breaking strain"
            )
        value = self.parameters.to_array("breaking_strain", given, "")
        m = len(self.elements)
        if value.shape not in ((), (m,)):
            raise LawError(
                f"law '{self.name}': breaking_strain must be one number or one per element, "
                f"got shape {value.shape} for {m} elements"
            )
        bad = np.flatnonzero(~(value > 0.0))
        if len(bad):
            element = describe_element(self.elements, bad[0])
            raise LawError(
                f"law '{self.name}': breaking_strain of {element} must be positive, "
                f"got {value.reshape(-1)[bad[0]]:g}"
            )
        rest_length = self.parameters.pack(0.0)[:, self.parameters.columns("l0")]
        short = np.flatnonzero(~(rest_length > 0.0))
        if len(short):
            element = describe_element(self.elements, short[0])
            raise LawError(
                f"law '{self.name}': {element} has a breaking strain, but no rest length"
            )
        return np.broadcast_to(value, m)

    def values(
        self, x: Float, t: float = 0.0, *, at: Float | None = None, parameters: Float | None = None
    ) -> Float:
        """Return V [J] (or Ψ [W]) of each element, shape (m,).

        An energy of a total has all of it in the first element.
        """
        return self._run("gradient", x, t, at, parameters)[0]

    def gradients(
        self, x: Float, t: float = 0.0, *, at: Float | None = None, parameters: Float | None = None
    ) -> Float:
        """Return ∂V/∂x of each element [N], shape (m, s, 3)."""
        vectors = self._run("gradient", x, t, at, parameters)[1]
        return expand_vectors(vectors, self.forms[self.form].pair)

    def hessians(
        self,
        x: Float,
        t: float = 0.0,
        *,
        at: Float | None = None,
        parameters: Float | None = None,
        project: bool = False,
        metric: bool = False,
    ) -> Float:
        """Return ∂²V/∂x² of each element [N/m], shape (m, 3s, 3s).

        project : return the nearest positive semi-definite matrices instead
        metric : return the metrics instead, which are positive semi-definite and cheap
        """
        self._reject_total("stiffness")
        form = choose_hessian_form(project=project, metric=metric)
        blocks = self._run("hessian", x, t, at, parameters, hessian_form=form)[2]
        return expand_blocks(blocks, self.forms[self.form].pair, self.particles)

    def parameter_derivative(
        self, name: str, x: Float, t: float = 0.0, *, at: Float | None = None
    ) -> Float:
        """Return ∂V/∂p of each element, (m,), with the axes of a vector or matrix p after it."""
        self._reject_total("parameter derivative")
        columns = self.parameters.columns(name)
        slopes = self._run("parameters", x, t, at)[0][:, columns]
        return slopes.reshape(-1, *self.parameters.shapes[name])

    def mixed_derivative(
        self, name: str, x: Float, t: float = 0.0, *, at: Float | None = None
    ) -> Float:
        """Return ∂²V/∂x∂p of each element, (m, s, 3), with the axes of p after these."""
        self._reject_total("parameter derivative")
        columns = self.parameters.columns(name)
        mixed = self._run("parameters", x, t, at)[1][..., columns]
        mixed = mixed.reshape(*mixed.shape[:3], *self.parameters.shapes[name])
        pair = self.forms[self.form].pair
        if pair is None:
            return mixed
        return np.array(pair).reshape(1, -1, *[1] * (mixed.ndim - 2)) * mixed

    def _reject_total(self, what: str) -> None:
        if self.couples_all_elements:
            raise LawError(
                f"law '{self.name}': an energy of a total has no {what} of single elements; "
                "ask the System for K"
            )

    def _run(
        self,
        kind: SourceKind,
        x: Float,
        t: float,
        at: Float | None,
        parameters: Float | None = None,
        *,
        hessian_form: HessianForm = "true",
    ) -> tuple[Float, ...]:
        """Evaluate one kind of loop into new arrays, with the outer function of a total."""
        if (at is None) != (self.form == "energy"):
            raise LawError(
                f"law '{self.name}': `at` must give the positions for a dissipation, and must be "
                "left out for an energy"
            )
        moving = np.array(x, dtype=np.float64, order="C")
        frozen = moving if at is None else np.array(at, dtype=np.float64, order="C")
        for array in (moving, frozen):
            if array.shape != self.rest.shape:
                raise LawError(
                    f"law '{self.name}': positions must have the shape {self.rest.shape}, "
                    f"got {array.shape}"
                )
        compiled = self.forms[self.form]
        m, vectors, width = len(self.elements), compiled.vectors, compiled.width
        out: tuple[Float, ...] = (np.empty(m), np.empty((m, vectors, 3)))
        if kind == "parameters":
            out = (np.empty((m, width)), np.empty((m, vectors, 3, width)))
        if kind == "hessian":
            out = (*out, np.empty((m, vectors * (vectors + 1) // 2, 3, 3)))
        packed = self.parameters.pack(t) if parameters is None else parameters
        bad = compiled.evaluate(
            kind, moving, frozen, 0.0, self.elements, packed, out, hessian_form=hessian_form
        )
        raise_if_not_finite(self.name, self.elements, bad)
        if compiled.outer is not None:
            compiled.outer.evaluate(self.name, out[0], packed).apply(out[0], out[1])
        if not compiled.can_write(hessian_form):
            raise_if_not_finite(self.name, self.elements, project_elements(out[2], vectors))
        return out


class PlacedLoad(_Placed):
    """A load on elements of one system, evaluated once a step, without compiling."""

    def __init__(self, bound: BoundLaw, rest: Float, mass: Float, *, flat: bool = False) -> None:
        if bound.breaking_strain is not None:
            raise LawError(f"law '{bound.name}': a load has no breaking strain")
        super().__init__(bound, rest, mass, flat=flat)
        law, shapes = self.law, self.parameters.shapes
        self._roots = trace_load(f"'{law.name}'", law.formula, self.particles, shapes)

    @property
    def digest(self) -> str:
        """A digest of the formula."""
        return " ".join(map(fingerprint, self._roots))

    def forces(self, x: Float, v: Float, t: float, active: Mask | None = None) -> Float:
        """Return the force [N] on each particle, shape (n, 3).

        x, v : positions [m] and velocities [m/s], (n, 3); t : time [s]
        active : mask of elements that act, (m,) (default: all)
        """
        packed = self.parameters.pack(t, x)
        parts = evaluate(self._roots, x[self.elements], v[self.elements], packed)
        if active is not None:
            parts[~active] = 0.0
        bad = np.flatnonzero(~np.isfinite(parts).all(axis=1))
        if len(bad):
            element = describe_element(self.elements, bad[0])
            raise SingularState(f"law '{self.name}': {element} has no finite force at t = {t:g} s")
        return self._gather(parts, len(x))

    def pull(
        self, x: Float, v: Float, t: float, z: Float, active: Mask | None = None
    ) -> tuple[Float, Float, Float]:
        """Return the gradient of z·force, z (n, 3), by x and v, (n, 3), and p, (m, width)."""
        each = z[self.elements].reshape(-1, 3 * self.particles)
        if active is not None:
            each[~active] = 0.0
        found = self._pull.run({**self._inputs(x, v, t), "z": each}, len(each))
        by_x = found["x"]
        if self.parameters.depends_on_places:
            slopes = self.parameters.differentiate_by_place(t, x)
            by_place = np.einsum("mj,kmj->mk", found["p"], slopes) / self.particles
            by_x = by_x + np.tile(by_place, (1, self.particles))
        return self._gather(by_x, len(x)), self._gather(found["v"], len(x)), found["p"]

    def push(
        self, x: Float, v: Float, t: float, moves: tuple[Float, Float, Float], active: Mask | None
    ) -> Float:
        """Return the change of the force, (n, 3), with moves of x, v (n, 3) and p (m, width)."""
        m = len(self.elements)
        dx, dv = (move[self.elements].reshape(-1, 3 * self.particles) for move in moves[:2])
        dp = moves[2]
        if self.parameters.depends_on_places:
            slopes = self.parameters.differentiate_by_place(t, x)
            dp = dp + np.einsum("mk,kmj->mj", moves[0][self.elements].mean(axis=1), slopes)
        inputs = {**self._inputs(x, v, t), "dx": dx, "dv": dv, "dp": dp}
        parts = self._push.run(inputs, m)["r"]
        if active is not None:
            parts = np.where(active[:, None], parts, 0.0)
        return self._gather(parts, len(x))

    @cached_property
    def _pull(self) -> Program:
        return make_pull(self._roots, self._variables())

    @cached_property
    def _push(self) -> Program:
        return make_push(self._roots, self._variables())

    def _variables(self) -> dict[str, list[Expr]]:
        graph, columns = self._roots[0].graph, sum(map(prod, self.parameters.shapes.values()))
        used = {n.value[3]: n for root in self._roots for n in symbols(root, "p")}
        each = [(p, k) for p in range(self.particles) for k in range(3)]
        return {
            "x": [graph.symbol("x", *place) for place in each],
            "v": [graph.symbol("v", *place) for place in each],
            "p": [used.get(j, graph.symbol("p", "", 0, j)) for j in range(columns)],
        }

    def _inputs(self, x: Float, v: Float, t: float) -> dict[str, Float]:
        packed = self.parameters.pack(t, x)
        return {"x": x[self.elements], "v": v[self.elements], "p": packed}

    def _gather(self, parts: Float, n: int) -> Float:
        """Add vectors of elements, (m, 3s), up at their particles, (n, 3)."""
        total = np.empty((n, 3))
        particles = self.elements.ravel()
        for k in range(3):
            total[:, k] = np.bincount(particles, parts[:, k::3].ravel(), minlength=n)
        return total


def expand_vectors(vectors: Float, pair: Sequence[float] | None) -> Float:
    """Return ∂V/∂x of each element, (m, s, 3), from what a kernel has written.

    pair : the coefficients (s,) by which the one vector of a pair law counts for each particle
    """
    return vectors if pair is None else np.array(pair)[None, :, None] * vectors


def expand_blocks(blocks: Float, pair: Sequence[float] | None, particles: int) -> Float:
    """Return ∂²V/∂x² of each element, (m, 3s, 3s), from the blocks that a kernel has written.

    blocks : those on and right of the diagonal, (m, s(s + 1)/2, 3, 3), or the one of a pair law
    pair : see `expand_vectors`; particles : s
    """
    m, s = len(blocks), particles
    full = np.zeros((m, s, 3, s, 3))
    if pair is not None:
        c = np.array(pair)
        full += (c[:, None] * c)[None, :, None, :, None] * blocks[:, 0][:, None, :, None, :]
    else:
        for b, (p, r) in enumerate(combinations_with_replacement(range(s), 2)):
            full[:, p, :, r, :] = blocks[:, b]
            full[:, r, :, p, :] = blocks[:, b].transpose(0, 2, 1)
    return full.reshape(m, 3 * s, 3 * s)


def raise_if_not_finite(name: str, elements: Int, bad: Int) -> None:
    """Name the first element whose results are not finite; `bad` has its number or -1."""
    found = bad[bad >= 0]
    if len(found):
        which = describe_element(elements, int(found[0]))
        raise SingularState(f"law '{name}': {which} has no finite energy, force or stiffness")
