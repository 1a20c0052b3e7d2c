"""Trajectories as functions of JAX arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from taut.bridge.trajectories import NO_SECOND_DERIVATIVES, Trajectories
from taut.errors import ModelError
from taut.extras import import_extra
from taut.step.integrator import Integrator
from taut.system.system import System

jax: Any = import_extra("jax", "jax", "trajectories of JAX arrays")


def trajectory(
    system: System, integrator: Integrator, h: float, until: float, by: Sequence[str]
) -> Callable[..., Any]:
    """Return a function from parameters to the positions of all states, with exact gradients.

    system, integrator, h, until : as in `taut.simulate`
    by : names of the parameters, which become its arguments in this order: arrays in the shape that
        the parameters have in the system

    Positions have the shape (steps + 1, n, 3). `jit`, `grad` and `vmap` work; forward and second
    derivatives raise an error. JAX must be set to double precision:
    `jax.config.update("jax_enable_x64", True)`.
    """
    if not jax.config.jax_enable_x64:
        raise ModelError(
            'steps need double precision: jax.config.update("jax_enable_x64", True) before the '
            "first array is made"
        )
    whole = Trajectories(system, integrator, h, until, by)
    positions = jax.ShapeDtypeStruct(whole.shape, np.float64)
    slopes = tuple(jax.ShapeDtypeStruct(shape, np.float64) for shape in whole.shapes)

    def run_in_numpy(*values: Any) -> Any:
        return whole.run([np.asarray(v) for v in values])

    def pull_in_numpy(bar: Any, *values: Any) -> Any:
        return tuple(whole.pull([np.asarray(v) for v in values], np.asarray(bar)))

    def once(*arguments: Any, of: Any, shapes: Any) -> Any:
        """Call NumPy for what is differentiated no further."""

        @jax.custom_jvp  # type: ignore[untyped-decorator]
        def call(*own: Any) -> Any:
            return jax.pure_callback(of, shapes, *own, vmap_method="sequential")

        @call.defjvp  # type: ignore[untyped-decorator]
        def reject(_: Any, __: Any) -> Any:
            raise ModelError(NO_SECOND_DERIVATIVES)

        return call(*arguments)

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def run(*values: Any) -> Any:
        return jax.pure_callback(run_in_numpy, positions, *values, vmap_method="sequential")

    def forward(*values: Any) -> Any:
        return once(*values, of=run_in_numpy, shapes=positions), values

    def backward(values: Any, bar: Any) -> Any:
        return once(bar, *values, of=pull_in_numpy, shapes=slopes)

    run.defvjp(forward, backward)

    def call(*values: Any) -> Any:
        return run(*(jax.numpy.asarray(v, dtype=np.float64) for v in values))

    return call
