"""What all assemblies offer: that of the laws, and that of the laws with contact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from taut.arrays import Float, Int
from taut.binding.compiled_law import ForceName, FormName
from taut.linalg.blocks import BlockMatrix, Pattern
from taut.system.projector import ConstraintProjector
from taut.system.terms import Inputs

if TYPE_CHECKING:
    from taut.system.assembly import Assembly


class AnyTerm(Protocol):
    """One law of a sum, under one name; contact and friction are one each.

    energy : of its elements at the last evaluation [J]
    """

    name: str
    form: FormName
    energy: Float

    @property
    def has_hessian(self) -> bool:
        """Whether its Hessian is not zero."""

    @property
    def is_load(self) -> bool:
        """Whether it does work, rather than store energy (see the ledger)."""

    @property
    def is_time_dependent(self) -> bool:
        """Whether its parameters depend on time."""


class AnyAssembly(Protocol):
    """Sums over laws; `taut.system.assembly.Assembly` documents the methods."""

    n: int

    @property
    def terms(self) -> Sequence[AnyTerm]: ...

    @property
    def pattern(self) -> Pattern: ...

    @property
    def matrix(self) -> BlockMatrix: ...

    def adopt(self, other: AnyAssembly) -> None: ...

    def parts(self, inputs: Sequence[Inputs]) -> list[tuple[Assembly, list[Inputs]]]: ...

    def gradient(self, inputs: Sequence[Inputs]) -> tuple[float, Float, Float]: ...

    def sums(self) -> tuple[float, Float, Float]: ...

    def scaled_gradient(self, inputs: Sequence[Inputs], scale: Float, out: Float) -> None: ...

    def hessian(
        self,
        inputs: Sequence[Inputs],
        shift: Float,
        *,
        project: bool = False,
        metric: bool = False,
        previous: Float | None = None,
        force: ForceName = "true",
    ) -> BlockMatrix: ...

    def relax(
        self,
        q: Float,
        inputs: Sequence[Inputs],
        region: Int,
        gradient: Float,
        weights: Float,
        sweeps: int,
    ) -> Float: ...

    def projected_gross_force(self, projector: ConstraintProjector) -> Float: ...

    def magnitude(self) -> float: ...

    def energies(self) -> tuple[Any, ...]: ...

    def constant_gradient(self) -> Float: ...

    def works(self, displacement: Float) -> list[float]: ...

    def curvatures(self, left: Float, right: Float) -> list[float]: ...
