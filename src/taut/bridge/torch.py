"""Trajectories as functions of PyTorch tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taut.bridge.trajectories import NO_SECOND_DERIVATIVES, Trajectories
from taut.errors import ModelError
from taut.extras import import_extra
from taut.step.integrator import Integrator
from taut.system.system import System

torch: Any = import_extra("torch", "torch", "trajectories of tensors")


def trajectory(
    system: System, integrator: Integrator, h: float, until: float, by: Sequence[str]
) -> Callable[..., Any]:
    """Return a function from parameters to the positions of all states, with exact gradients.

    system, integrator, h, until : as in `taut.simulate`
    by : names of the parameters, which become its arguments in this order: tensors of float64 in
        the shape that the parameters have in the system

    Positions have the shape (steps + 1, n, 3). Second derivatives raise an error.
    """
    whole = Trajectories(system, integrator, h, until, by)

    class Steps(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, *values: Any) -> Any:
            context.save_for_backward(*values)
            return torch.from_numpy(whole.run([v.detach().cpu().numpy() for v in values]))

        @staticmethod
        def backward(context: Any, bar: Any) -> Any:
            return Slopes.apply(bar, *context.saved_tensors)

    # A function of its own, not `once_differentiable`, whose error PyTorch never reaches where it
    # looks for a way back to the parameters: torch.autograd.functional.hessian then gives zeros.
    class Slopes(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(_: Any, bar: Any, *values: Any) -> Any:
            numbers = [v.detach().cpu().numpy() for v in values]
            slopes = whole.pull(numbers, bar.detach().cpu().numpy())
            return tuple(torch.from_numpy(slope) for slope in slopes)

        @staticmethod
        def backward(_: Any, *__: Any) -> Any:
            raise ModelError(NO_SECOND_DERIVATIVES)

    def run(*values: Any) -> Any:
        return Steps.apply(*(torch.as_tensor(v, dtype=torch.float64) for v in values))

    return run
