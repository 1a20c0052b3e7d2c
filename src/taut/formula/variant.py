"""One form of a law for elements of a fixed number of particles: its traced expression and its compiled loops."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from taut.errors import LawError, did_you_mean
from taut.formula import compile as compiler
from taut.formula import source
from taut.formula.expression import Expr, fingerprint
from taut.formula.graph import transplanted
from taut.formula.kernel import Kernel
from taut.formula.outer import Outer
from taut.formula.structure import is_linear
from taut.formula.trace import energy_form, increment_form, rate_form, trace

if TYPE_CHECKING:
    from taut.formula.law import Law

FormName = Literal["energy", "rate", "increment"]
FORMS: dict[FormName, Callable[[Expr], Expr]] = {"energy": energy_form, "rate": rate_form, "increment": increment_form}


class Variant:
    """One form of a law for a fixed number of particles: its traced expression and its compiled loops."""

    def __init__(self, law: Law, form: FormName, particles: int, widths: dict[str, int | None]) -> None:
        traced = trace(f"'{law.name}'", law.formula, particles, widths)
        with self._blamed(law):
            self.root = FORMS[form](traced)
            self.outer = Outer.of(traced)
        self.law, self.form, self.particles, self.parameters = law, form, particles, list(widths)
        self.width = sum(w or 1 for w in widths.values())
        recipe = (
            fingerprint(self.root),
            *([fingerprint(traced)] if self.outer else []),
            form,
            particles,
            self.width,
            compiler.generator_digest(),
        )
        self.digest = hashlib.sha256(repr(recipe).encode()).hexdigest()

    def source(self, kind: str = "hessian") -> str:
        """The generated Python source, for reading: `gradient`, `hessian` or `parameters`."""
        if kind not in source.KINDS:
            raise LawError(f"there is no source '{kind}'{did_you_mean(kind, source.KINDS)}")
        with self._blamed(self.law):
            return source.module_source(source.Form(self._title, transplanted(self.root), self.particles, self.width), kind)

    @staticmethod
    @contextmanager
    def _blamed(law: Law) -> Iterator[None]:
        """Name the formula in what goes wrong."""
        try:
            yield
        except LawError as error:
            code = law.formula.__code__
            raise LawError(f"the formula of '{law.name}' ({code.co_filename}:{code.co_firstlineno}): {error}") from error

    @property
    def _title(self) -> str:
        particles = "1 particle" if self.particles == 1 else f"{self.particles} particles"
        return f"Law {self.law.name}({', '.join(['x', *self.parameters])}) on {particles}, {self.form} form"

    def unit(self, kind: str) -> compiler.Unit:
        """One of its modules as something to be compiled."""
        stem = f"{re.sub('[^A-Za-z0-9_]', '', self.law.name)}_{self.form}_{kind}"
        return compiler.Unit(stem, self.digest, f"the {kind} of law '{self.law.name}'", lambda: self.source(kind))

    @cached_property
    def linear(self) -> bool:
        """Whether it has no Hessian, its gradient being the same everywhere."""
        return is_linear(transplanted(self.root))

    def _load(self, kind: str) -> Kernel:
        return Kernel(compiler.load(self.unit(kind)))

    @cached_property
    def gradient(self) -> Kernel:
        """Values and gradients."""
        return self._load("gradient")

    @cached_property
    def hessian(self) -> Kernel:
        """Values, gradients and Hessians."""
        return self._load("hessian")

    @cached_property
    def by_parameters(self) -> Kernel:
        """Derivatives of values and gradients by the parameters."""
        return self._load("parameters")
