"""One form of a law, compiled: its expression, its derivatives and its loops over elements.

    energy      V(x)                                   of an energy
    rate        Ψ(v) at frozen positions               of a dissipation
    increment   h·Ψ with rate(m) = (m(x) - m(y))/h     of a dissipation, in an implicit step

An energy of a total has V = Φ(S) with S = Σ m over all elements of the law. Its loops evaluate m,
and the outer function Φ follows:

    ∂V/∂x = Φ'(S) Σ ∂m/∂x        ∂²V/∂x² = Φ'(S) Σ ∂²m/∂x² + Φ''(S) g gᵀ,  g = Σ ∂m/∂x
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Literal

import numpy as np

from taut.arrays import Float, Int
from taut.errors import LawError, SingularState, did_you_mean
from taut.formula.differentiate import gradient
from taut.formula.expression import Expr, copy_into, fingerprint, substitute, symbols
from taut.formula.graph import Graph
from taut.formula.interpret import evaluate
from taut.formula.source import FLAGS, KINDS, SourceKind, generator_digest, module_source
from taut.formula.structure import is_linear
from taut.formula.trace import (
    energy_form,
    find_totals,
    increment_form,
    rate_form,
    reject_frozen,
    trace,
)
from taut.jit.compile import SourceModule, kernels, load, toolchain_digest

FormName = Literal["energy", "rate", "increment"]
ForceName = Literal["true", "predict", "hold"]
HessianForm = Literal["true", "projected", "metric"]
"""Which matrix a loop writes: the Hessian, or one of two positive semi-definite forms of it: the
nearest matrix, or the metric, which is cheap."""
HESSIAN_FLAGS: dict[HessianForm, int] = {
    "true": 0,
    "projected": FLAGS["project"],
    "metric": FLAGS["project"] + FLAGS["metric"],
}
_FORMS: dict[FormName, Callable[[Expr], Expr]] = {
    "energy": energy_form,
    "rate": rate_form,
    "increment": increment_form,
}
_UNUSED: Float = np.zeros(0)  # in place of an output that a loop does not have


def choose_hessian_form(*, project: bool, metric: bool) -> HessianForm:
    """Return the form of a Hessian that two arguments ask for, of which one at most is set."""
    assert not (project and metric), "a metric is not projected"
    if metric:
        return "metric"
    return "projected" if project else "true"


class CompiledLaw:
    """One form of a law for elements of a fixed number of particles.

    root : the expression that the loops evaluate for each element
    outer : Φ of an energy of a total, else None
    digest : of everything that decides what the machine code is
    pair : coefficients c of the particles if positions enter only through w = Σ c_p x_p, so that
        one vector ∂V/∂w and one block ∂²V/∂w² per element are stored; else None
    vectors, blocks : how many are stored per element; no blocks where the Hessian is zero
    hessian_kind : "zero", "constant" or "varying"
    closed_form : whether the loop itself projects Hessians onto positive semi-definite ones
    has_metric : whether the loop has a metric (see `taut.formula.measures`)

    Source is generated and compiled when a loop is first needed, which every thread may do: the
    result does not depend on when.
    """

    def __init__(
        self,
        name: str,
        formula: Callable[..., Any],
        form: FormName,
        particles: int,
        shapes: dict[str, tuple[int, ...]],
        *,
        metric: Callable[..., Any] | None = None,
    ) -> None:
        self.name, self.form, self.particles = name, form, particles
        self._formula = formula
        self._parameters = list(shapes)
        self.width = sum(map(math.prod, shapes.values()))  # columns of the packed parameters
        traced = trace(f"'{name}'", formula, particles, shapes)
        with self._name_formula_in_errors():
            self.root = _FORMS[form](traced)
            self.outer = OuterFunction(traced) if find_totals(traced) else None
            reject_frozen(self.root)
            if self.outer is not None and metric is not None:
                raise LawError("an energy of a total has no metric of its own")
        self.metric: Expr | None = None
        if metric is not None:
            self.metric = trace(f"the metric of '{name}'", metric, particles, shapes)
        recipe = (
            fingerprint(self.root),
            *([] if self.metric is None else [fingerprint(self.metric)]),
            *([fingerprint(traced)] if self.outer else []),
            form,
            particles,
            self.width,
            generator_digest(),
            toolchain_digest(),
        )
        self.digest = hashlib.sha256(repr(recipe).encode()).hexdigest()

    @contextmanager
    def _name_formula_in_errors(self) -> Iterator[None]:
        try:
            yield
        except LawError as error:
            code = self._formula.__code__
            place = f"{code.co_filename}:{code.co_firstlineno}"
            raise LawError(f"the formula of '{self.name}' ({place}): {error}") from error

    def source(self, kind: str = "hessian") -> str:
        """Return the generated Python source of one of `KINDS`, for reading."""
        if kind not in KINDS:
            raise LawError(f"there is no source '{kind}'{did_you_mean(kind, KINDS)}")
        particles = "1 particle" if self.particles == 1 else f"{self.particles} particles"
        arguments = ", ".join(["x", *self._parameters])
        title = f"Law {self.name}({arguments}) on {particles}, {self.form} form"
        with self._name_formula_in_errors():
            root = copy_into(Graph(), self.root)
            metric = None if self.metric is None else copy_into(root.graph, self.metric)
            return module_source(title, root, self.particles, self.width, kind, metric)

    def source_module(self, kind: SourceKind) -> SourceModule:
        """Return the generated source of one kind as a module to compile."""
        stem = f"{re.sub('[^A-Za-z0-9_]', '', self.name)}_{self.form}_{kind}"
        what = f"the {kind} of law '{self.name}'"
        return SourceModule(stem, self.digest, what, lambda: self.source(kind))

    @cached_property
    def _gradient_module(self) -> ModuleType:
        return load(self.source_module("gradient"))

    @cached_property
    def _hessian_module(self) -> ModuleType:
        return load(self.source_module("hessian"))

    @cached_property
    def _parameters_module(self) -> ModuleType:
        return load(self.source_module("parameters"))

    def _module(self, kind: SourceKind) -> Any:
        if kind == "gradient":
            return self._gradient_module
        return self._hessian_module if kind == "hessian" else self._parameters_module

    @cached_property
    def is_linear(self) -> bool:
        """Whether the gradient is the same everywhere, so that there is no Hessian."""
        return is_linear(copy_into(Graph(), self.root))

    # The three generated modules agree on the next six; the gradient's is the quickest to compile.

    @cached_property
    def pair(self) -> tuple[float, ...] | None:
        c: tuple[float, ...] | None = self._module("gradient").PAIR
        return c

    @cached_property
    def vectors(self) -> int:
        return int(self._module("gradient").VECTORS)

    @cached_property
    def blocks(self) -> int:
        return int(self._module("gradient").BLOCKS)

    @cached_property
    def hessian_kind(self) -> str:
        return str(self._module("gradient").HESSIAN)

    @cached_property
    def closed_form(self) -> bool:
        return bool(self._module("gradient").CLOSED_FORM)

    @cached_property
    def has_metric(self) -> bool:
        return bool(self._module("gradient").METRIC)

    def can_write(self, form: HessianForm) -> bool:
        """Whether the loop itself can write this form of a Hessian."""
        return form == "true" or (self.closed_form if form == "projected" else self.has_metric)

    @cached_property
    def batches(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The addresses of the batches of gradient and Hessian, and the elements they may have."""
        modules = self._module("gradient"), self._module("hessian" if self.blocks else "gradient")
        gradient, hessian = modules
        addresses = gradient.batch.address, hessian.batch.address
        return addresses, (int(gradient.SIZE), int(hessian.SIZE))

    @cached_property
    def relaxation_batches(self) -> tuple[tuple[int, int], int, int]:
        """The addresses of the batches of gradient and Hessian, the elements that one may have,
        and the mode in which Hessians are positive semi-definite, if there is one."""
        forms: tuple[HessianForm, ...] = ("metric", "projected")
        flags = [HESSIAN_FLAGS[form] for form in forms if self.can_write(form)]
        gradient, hessian = self._module("gradient"), self._module("hessian")
        size = min(int(gradient.SIZE), int(hessian.SIZE))
        return (gradient.batch.address, hessian.batch.address), size, flags[0] if flags else 0

    def evaluate(
        self,
        kind: SourceKind,
        x: Float,
        y: Float,
        h: float,
        elements: Int,
        parameters: Float,
        outputs: tuple[Float, ...],
        *,
        hessian_form: HessianForm = "true",
        force: ForceName = "true",
    ) -> Int:
        """Run the loop of one kind over elements and write its outputs.

        x : what is differentiated by, (n, 3); y : what is frozen, (n, 3); h : step [s]
        elements : (m, s); parameters : packed, (m, width)
        outputs : two or three arrays, see `taut.formula.source`
        hessian_form : of a form that the loop cannot write (see `can_write`), the true Hessian is
            written, for `taut.linalg.blocks` to project
        force : the force in Hessians of laws of a distance: "true", or as a linear model at y has
            predicted it for x, or that at y ("hold")

        Returns, for each chunk of elements, the first whose results are not finite, or -1.
        """
        loops = kernels("taut.binding.batch_kernels")
        module = self._module(kind)
        mode = HESSIAN_FLAGS[hessian_form] + (0 if force == "true" else FLAGS[force])
        chunks = (len(elements) + loops.CHUNK_SIZE - 1) // loops.CHUNK_SIZE
        not_finite = np.empty(chunks, dtype=np.int64)
        a, b, *rest = (output.reshape(-1) for output in outputs)
        c = rest[0] if rest else _UNUSED
        loops.evaluate(
            *(module.batch.address, module.SIZE),
            *(x, y, h, elements, parameters, mode),
            *(a, b, c, not_finite),
        )
        return not_finite


class OuterFunction:
    """Φ of an energy of a total, V = Φ(S), with its first two derivatives."""

    def __init__(self, root: Expr) -> None:
        totals = find_totals(root)
        if len(totals) > 1:
            raise LawError("total(…) must occur only once in an energy")
        s = root.graph.symbol("total")
        value = substitute(root, {totals[0]: s})
        if symbols(value, "x"):
            raise LawError(
                "positions must not occur outside of total(…): an energy of a total is one "
                "number for all elements together"
            )
        first = gradient(value, [s])[0]
        second = gradient(first, [s])[0]
        self._roots = [value, first, second, *_addends(value)]
        parameters = {p.value[3]: p for p in symbols(value, "p")}
        self._columns = sorted(parameters)
        used = [parameters[column] for column in self._columns]
        self._slopes = [gradient(second, [s])[0], *gradient(first, used), *gradient(second, used)]

    def reject_unequal_parameters(self, law: str, parameters: Float) -> None:
        """Raise if packed parameters (m, width) outside of total(…) differ between elements."""
        columns = parameters[:, self._columns]
        unequal = np.flatnonzero((columns != columns[:1]).any(axis=1))
        if len(unequal):
            raise LawError(
                f"law '{law}': an energy of a total must have the same parameters for all "
                f"elements, but those of element {unequal[0]} differ"
            )

    def evaluate(self, law: str, shares: Float, parameters: Float) -> OuterValues:
        """Evaluate Φ at S = Σ shares, (m,), for packed parameters (m, width)."""
        if not len(shares):
            return OuterValues(0.0, 0.0, 0.0, 0.0)
        self.reject_unequal_parameters(law, parameters)
        total = float(shares.sum())
        no_positions = np.zeros((1, 1, 3))
        values = evaluate(self._roots, no_positions, parameters=parameters[:1], total=total)[0]
        value, first, second = values[:3].tolist()
        if not (math.isfinite(value) and math.isfinite(first) and math.isfinite(second)):
            raise SingularState(
                f"law '{law}' has no finite energy, force or stiffness at the total {total:g} of "
                "its elements"
            )
        terms = float(np.abs(values[3:]).sum())
        magnitude = terms + abs(first) * float(np.abs(shares).sum())
        return OuterValues(value, first, second, magnitude)

    def slopes(self, shares: Float, parameters: Float) -> tuple[float, Float, Float]:
        """Return ∂Φ''/∂S, and ∂Φ'/∂p and ∂Φ''/∂p by the columns of parameters, (width,) each."""
        by_column = np.zeros((2, parameters.shape[1]))
        if not len(shares):
            return 0.0, by_column[0], by_column[1]
        total = float(shares.sum())
        found = evaluate(self._slopes, np.zeros((1, 1, 3)), parameters=parameters[:1], total=total)
        by_column[:, self._columns] = found[0, 1:].reshape(2, -1)
        return float(found[0, 0]), by_column[0], by_column[1]


def _addends(root: Expr) -> list[Expr]:
    """Return the terms of a sum, or the expression itself if it is not a sum."""
    if root.op not in ("add", "sub", "neg"):
        return [root]
    return [leaf for arg in root.args for leaf in _addends(arg)]


@dataclass(frozen=True)
class OuterValues:
    """Φ, Φ' and Φ'' at one state, and the magnitude to which rounding in Φ is relative [J]."""

    value: float
    first: float
    second: float
    magnitude: float

    def apply(self, shares: Float, vectors: Float) -> None:
        """Turn shares and their gradients into energies and gradients, in place.

        The whole energy is written to the first element, and zero to the others.
        """
        vectors *= self.first
        shares[:] = 0.0
        shares[:1] = self.value
