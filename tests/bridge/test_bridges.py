"""Trajectories within PyTorch and JAX: gradients, and what cannot be had."""

import subprocess
import sys

import numpy as np
import pytest

import taut
from taut import laws
from tests.inverse.differences import TIGHT

H, STEPS = 0.02, 5
K = np.array([40.0, 60.0])


def chain():
    return taut.System(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
        mass=0.5,
        fixed=[0],
        energies=[laws.spring([[0, 1], [1, 2]], k=K), laws.gravity()],
        velocity=[[0, 0, 0], [0, 0, 0.3], [0, 0.1, 0]],
    )


ARGUMENTS = (chain(), taut.TRBDF2(tolerance=TIGHT), H, STEPS * H, ["spring.k", "velocity"])


def expected_slopes():
    """Of Σ q² of the last state."""

    def loss(state):
        if state.t > (STEPS - 0.5) * H:
            return float(np.sum(state.q**2)), 2.0 * np.array(state.q)
        return None

    run = taut.simulate(*ARGUMENTS[:4])
    return taut.gradient(run, loss, ARGUMENTS[4], certify=False)


def test_torch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from taut.bridge.torch import trajectory

    run = trajectory(*ARGUMENTS)
    k = torch.tensor(K, dtype=torch.float64, requires_grad=True)
    v = torch.tensor(np.array(ARGUMENTS[0].velocity), dtype=torch.float64, requires_grad=True)
    q = run(k, v)
    assert q.shape == (STEPS + 1, 3, 3)
    (q[-1] ** 2).sum().backward()
    found = expected_slopes()
    np.testing.assert_allclose(k.grad, found["spring.k"], rtol=1e-12)
    np.testing.assert_allclose(v.grad, found["velocity"], rtol=1e-12, atol=1e-14)
    free = torch.tensor(np.array(ARGUMENTS[0].velocity), dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda k: run(k, free), (k,), eps=1e-5, atol=1e-8, rtol=1e-6)
    (slope,) = torch.autograd.grad((run(k, v)[-1] ** 2).sum(), k, create_graph=True)
    with pytest.raises(taut.TautError, match="no second derivatives"):
        slope.sum().backward()
    # Those who ask for second derivatives by k alone, of losses that are linear in q too
    for loss in (lambda k: (run(k, free)[-1] ** 2).sum(), lambda k: run(k, free)[-1].sum()):
        with pytest.raises(taut.TautError, match="no second derivatives"):
            torch.autograd.functional.hessian(loss, k)


def test_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    from taut.bridge.jax import trajectory

    run, v = trajectory(*ARGUMENTS), np.array(ARGUMENTS[0].velocity)

    def loss(k, v):
        return (run(k, v)[-1] ** 2).sum()

    value, slopes = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))(K, v)
    found = expected_slopes()
    assert float(value) == pytest.approx(found.value, rel=1e-13)
    np.testing.assert_allclose(slopes[0], found["spring.k"], rtol=1e-12)
    np.testing.assert_allclose(slopes[1], found["velocity"], rtol=1e-12, atol=1e-14)
    many = jax.vmap(jax.grad(loss), in_axes=(0, None))(np.stack([K, 2 * K]), v)
    np.testing.assert_allclose(many[0], found["spring.k"], rtol=1e-12)
    with pytest.raises(TypeError, match="custom_vjp"):
        jax.jvp(lambda k: loss(k, v), (K,), (K,))
    for second in (jax.hessian, lambda f: jax.jacrev(jax.grad(f))):
        with pytest.raises(taut.TautError, match="no second derivatives"):
            second(loss)(K, v)


def test_wrong_arguments():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from taut.bridge.torch import trajectory

    with pytest.raises(taut.TautError, match="no function of 'h'"):
        trajectory(*ARGUMENTS[:4], ["h"])
    with pytest.raises(taut.TautError, match="must have the shape"):
        trajectory(*ARGUMENTS)(np.zeros(3), np.zeros((3, 3)))


def test_neither_is_imported_unless_asked_for():
    code = (
        "import sys, taut; taut.bridge, taut.gradient; print({'jax', 'torch'} & set(sys.modules))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "set()"
