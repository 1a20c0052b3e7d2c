"""Time integration: one integrator per file, each a formula plus its order.

implicit : predict, minimise, certify, book; `Implicit.advance` is a step on one page: start here
implicit_euler, implicit_midpoint, bdf2, tr_bdf2 : implicit integrators
linearly_implicit_euler : one linear solve per step; _linear_step : its linear system
explicit : what explicit integrators share, and their longest stable step
explicit_euler, symplectic_euler, velocity_verlet, rk4 : explicit integrators
adaptive : steps of another integrator, shortened after failures or to bound the error
integrator : the base class, certification, breaking of elements
step_result : the result of a step, with what the ledger needs; report : its certificate
_objective : the objective of an implicit stage; _combination : sums of explicit stages
_heavy_start : stages that are slow to solve, from heavy to true masses
_contact_stage : obstacles that push bodies, and impacts; _friction : friction that settles
_accelerations : the accelerations at work, to which tolerances are relative
compiled_stage : stages of small systems in one compiled call; _stage_arrays : its arrays
_stage_kernels : its loop; _stage_objective, _stage_model, _stage_relaxation : the parts of it
_combination_kernels, _objective_kernels : their compiled loops
_highest_frequency : what limits an explicit step

The names below are what an integrator of your own needs.
"""

from taut.step._objective import Prediction, StageStart, extrapolate
from taut.step.explicit import Explicit
from taut.step.implicit import Implicit, SolvedStage
from taut.step.integrator import Integrator
from taut.step.step_result import Stage, StepResult

__all__ = [
    "Explicit",
    "Implicit",
    "Integrator",
    "Prediction",
    "SolvedStage",
    "Stage",
    "StageStart",
    "StepResult",
    "extrapolate",
]
