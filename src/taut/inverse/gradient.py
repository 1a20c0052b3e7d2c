"""The gradient of a scalar of a trajectory, an equilibrium, frequencies or a form.

Discrete adjoint: exact for the steps that were taken, whatever their method and length, and not for
the differential equation that they approximate.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from taut.arrays import describe
from taut.errors import ModelError, NotConverged, SingularState
from taut.inverse._collect import collect
from taut.inverse._frequencies import gradient_of_modes
from taut.inverse._polished_tape import Polished
from taut.inverse._run_tape import open_tape
from taut.inverse._statics import gradient_of_equilibrium, gradient_of_form
from taut.inverse._sweep import Loss, Sweep
from taut.inverse._tape import Recorder, Tape
from taut.inverse.result import (
    ACCURACY,
    SAFETY,
    TIGHTER,
    Gradient,
    compare,
    describe_notes,
    warn,
)
from taut.inverse.tableaux import find_kind
from taut.inverse.targets import check_targets
from taut.run.open_run import Run
from taut.run.simulate import Simulation
from taut.statics.equilibrium import Equilibrium
from taut.statics.form_finding import Form
from taut.statics.modes import Modes
from taut.step.integrator import Integrator
from taut.system.system import System

MEMORY = 2.0**30  # bytes that the steps of a run may take


def gradient_of_run(
    tape: Tape, loss: Loss, by: Sequence[str], *, certify: bool, times: bool
) -> Gradient:
    """Return the gradient over the steps of a tape."""
    system, names = tape.system, list(by)
    started = time.perf_counter()
    sweep = Sweep(tape, loss, ACCURACY, times=times)
    found = sweep.run()
    slopes = collect(system, names, found)
    error: dict[str, Any] = {}
    value_error, notes = 0.0, describe_notes(sweep.torn, sweep.kinks)
    if certify:
        try:
            accuracy = ACCURACY * TIGHTER
            better = Sweep(Polished(tape, accuracy), loss, accuracy, times=times).run()
            error = compare(slopes, collect(system, names, better))
            value_error = SAFETY * abs(better.value - found.value)
        except (SingularState, NotConverged) as reason:
            notes = (*notes, f"the error could not be estimated: {reason}")
    result = Gradient(found.value, slopes, error, value_error, notes, time.perf_counter() - started)
    warn(result)
    return result


def record_simulation(simulation: Simulation, memory: float) -> Recorder:
    """Take the steps of a simulation and keep them."""
    find_kind(simulation.integrator)
    steps, state = simulation.plan
    return Recorder(simulation.system, simulation.integrator, state, steps, memory)


def gradient(
    subject: Any,
    loss: Any,
    by: Sequence[str],
    *,
    at: Equilibrium | None = None,
    system: System | None = None,
    integrator: Integrator | None = None,
    certify: bool = True,
    memory: float = MEMORY,
) -> Gradient:
    """Return the gradient of a loss by parameters, exact for the steps that are taken.

    subject : `taut.simulate(…)`, not yet begun; `taut.open_run(…)`; or the result of
        `taut.equilibrium`, of `taut.modes`, or of `taut.form_finding`
    loss : a function of a State, called for the first state and the one after every step, the last
        one first. It returns (value, gradient by q) or (value, gradient by q, gradient by v), with
        gradients of shape (n, 3) or None; or None for a state that does not count. The loss is the
        sum over all states. Of modes, a function of the angular frequencies (k,) that returns
        (value, gradient by them)
    by : what to differentiate by: "spring.k" and other parameters of laws, as in
        `taut.inverse.targets`; "rayleigh.alpha", "mass", "pose", "velocity", "points", "paths", "h"
    at : of modes, the equilibrium about which they are, so that it moves with the parameters
        (default: the positions stay)
    system, integrator : of a run folder (default: those of its scene)
    certify : whether to estimate the error, by a second gradient of more accurate steps
    memory : bytes that all steps may take, those of the second gradient included; beyond it they
        are computed again from every √N-th

    >>> import numpy as np, taut
    >>> ball = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.pin(k=4.0)],
    ...                    pose=[[1, 0, 0]])
    >>> run = taut.simulate(ball, taut.ImplicitMidpoint(), h=0.1, until=1.0)
    >>> def loss(state):
    ...     if state.t > 0.95:
    ...         return float(state.q[0, 0]), np.array([[1.0, 0, 0]])
    >>> slope = taut.gradient(run, loss, by=["pin.k", "pose"])
    >>> round(slope.value, 6), slope["pin.k"].round(6), slope["pose"][0].round(6)
    (-0.410112, np.float64(-0.225751), array([-0.410112,  0.      ,  0.      ]))
    """
    if isinstance(subject, Simulation):
        names = check_targets(subject.system, by)
        tape: Tape = record_simulation(subject, memory / 2 if certify else memory)
        return gradient_of_run(tape, loss, names, certify=certify, times="h" in names)
    if isinstance(subject, Run):
        tape = open_tape(subject, system, integrator, memory / 2 if certify else memory)
        find_kind(tape.integrator)
        names = check_targets(tape.system, by)
        return gradient_of_run(tape, loss, names, certify=certify, times="h" in names)
    if isinstance(subject, Equilibrium):
        return gradient_of_equilibrium(subject, loss, by, certify=certify)
    if isinstance(subject, Form):
        return gradient_of_form(subject, loss, by, certify=certify)
    if isinstance(subject, Modes):
        return gradient_of_modes(subject, loss, by, at, certify=certify)
    raise ModelError(
        "gradient needs a taut.simulate(…), or the result of taut.equilibrium, taut.modes or "
        f"taut.form_finding, got {describe(subject)}"
    )
