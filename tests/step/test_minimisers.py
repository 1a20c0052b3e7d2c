"""Newton's method and L-BFGS give the same step, held to the same residual."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.step._objective import constant_stiffness
from taut.system.workspace import workspace_for
from tests.laws.test_integrators import IMPLICIT, cloth
from tests.run.test_ledger import machine

MINIMISING = [i for i in IMPLICIT if not issubclass(i, taut.LinearlyImplicitEuler)]


@pytest.mark.parametrize("integrator", MINIMISING, ids=lambda i: i.__name__)
@pytest.mark.parametrize("solver", ["auto", "cg"])
def test_both_minimisers_reach_the_same_state(integrator, solver):
    system = machine()
    ends = []
    for minimiser in ("newton", "lbfgs"):
        method = integrator(
            minimiser=minimiser, solver=solver, tolerance=taut.Tolerance(relative=1e-9)
        )
        run = taut.simulate(system, method, 0.02, 0.4)
        states, reports = zip(*run, strict=True)
        assert all(r.residual <= r.limit and r.tolerance <= 1e-6 for r in reports)
        ends.append(states[-1])
        assert run.summary.iterations > 0
        assert run.summary.assembling > 0.0
        assert run.summary.solving > 0.0
        assert run.summary.assembling + run.summary.solving < run.summary.seconds
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-7)


def test_lbfgs_factorises_once_for_each_length_of_step(monkeypatch):
    from taut.linalg.direct import Direct

    factored, plain = [], Direct.factor
    monkeypatch.setattr(
        Direct,
        "factor",
        lambda self, matrix, **more: factored.append(1) or plain(self, matrix, **more),
    )
    for _ in taut.simulate(cloth(6), taut.ImplicitEuler(minimiser="lbfgs"), 0.02, 0.2):
        pass
    assert len(factored) == 1
    for _ in taut.simulate(
        cloth(6), taut.Adaptive(taut.TRBDF2(minimiser="lbfgs"), error=1.0), 0.02, 0.1
    ):
        pass
    assert len(factored) == 3, "whole steps and half ones"


def test_the_constant_matrix_is_positive_definite_and_has_the_inertia():
    system = machine()
    for h in (1e-3, 1e-1):
        matrix = (
            constant_stiffness(workspace_for(system), system.initial_state(), h)
            .to_scipy()
            .toarray()
        )
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
        assert np.linalg.eigvalsh(matrix).min() > 0.0
    free = taut.System([[0, 0, 0], [1, 0, 0]], mass=2.0, energies=[laws.spring([[0, 1]], k=50.0)])
    matrix = constant_stiffness(workspace_for(free), free.initial_state(), 0.1).to_scipy().toarray()
    np.testing.assert_allclose(matrix[0, 0], 200.0 + 50.0)
    np.testing.assert_allclose(matrix[1, 1], 200.0 + 0.2 * 50.0)


def test_reject_unknown_minimiser():
    with pytest.raises(taut.errors.ModelError, match="did you mean 'lbfgs'"):
        taut.BDF2(minimiser="lbgfs")
