"""Trajectories as functions of PyTorch tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taut.bridge.trajectories import Trajectories
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
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(context: Any, bar: Any) -> Any:
            values = [v.detach().cpu().numpy() for v in context.saved_tensors]
            slopes = whole.pull(values, bar.detach().cpu().numpy())
            return tuple(torch.from_numpy(slope) for slope in slopes)

    def run(*values: Any) -> Any:
        return Steps.apply(*(torch.as_tensor(v, dtype=torch.float64) for v in values))

    return run
