"""Trajectories as functions of JAX and PyTorch, with exact gradients.

    from taut.bridge.torch import trajectory        # needs the extra torch
    from taut.bridge.jax import trajectory          # needs the extra jax

Neither package is imported unless one of these modules is.

torch        `trajectory` as an `autograd.Function`
jax          `trajectory` with a `custom_vjp` over `pure_callback`
trajectories  what both share: a run as a function of parameters, and its adjoint
"""

__all__: list[str] = []
