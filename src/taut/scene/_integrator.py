"""The tables `[time]`, `[integrator]` and `[output]`: steps, how they are taken, and frames."""

from __future__ import annotations

import inspect
import math
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from taut.errors import did_you_mean
from taut.linalg.linear import SolverName
from taut.optimise.tolerance import Tolerance
from taut.scene._limits import MAX_STEPS, NotNegative, Positive, SceneTable, Text
from taut.step.adaptive import Adaptive
from taut.step.bdf2 import BDF2
from taut.step.explicit_euler import ExplicitEuler
from taut.step.implicit import MinimiserName
from taut.step.implicit_euler import ImplicitEuler
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.step.integrator import Integrator
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler
from taut.step.rk4 import RK4
from taut.step.symplectic_euler import SymplecticEuler
from taut.step.tr_bdf2 import TRBDF2
from taut.step.velocity_verlet import VelocityVerlet

# `Adaptive` is not among them: it wraps another integrator, and has a key of its own.
INTEGRATORS: dict[str, type[Integrator]] = {
    "BDF2": BDF2,
    "ExplicitEuler": ExplicitEuler,
    "ImplicitEuler": ImplicitEuler,
    "ImplicitMidpoint": ImplicitMidpoint,
    "LinearlyImplicitEuler": LinearlyImplicitEuler,
    "RK4": RK4,
    "SymplecticEuler": SymplecticEuler,
    "TRBDF2": TRBDF2,
    "VelocityVerlet": VelocityVerlet,
}
"""Integrators by the names that scenes use."""

MAX_FPS = 100_000.0  # more is a mistake: high-speed cameras take fewer pictures per second
_ROUNDING = 1e-9  # relative difference between times that are the same
FrameNumber = Annotated[int, Field(ge=-MAX_STEPS, le=MAX_STEPS)]
"""Of a shot; the frames before its first one may be used to run in."""

# Keys of the table that are arguments of the integrator, with the same values.
_PLAIN_OPTIONS = ("solver", "minimiser", "project")


class Time(SceneTable):
    """The steps, in seconds, or in frames of a shot.

    A shot has `fps` frames per second; its first frame is the start, and its last one the end. In a
    table that was checked a shot has `fps`, `frames` and `substeps`, other scenes `h` and
    `duration`.

    >>> shot = Time.model_validate({"fps": 24, "frames": [1, 49], "h": 0.02})
    >>> shot.substeps, round(1 / shot.step), shot.end
    (3, 72, 2.0)
    """

    h: Positive | None = Field(
        None,
        description="step size [s]; in a shot without substeps the largest one",
    )
    duration: Positive | None = Field(
        None,
        description="end time [s]; the last step may be shorter; in a shot without frames it is "
        "rounded up to whole frames",
    )
    fps: Annotated[float, Field(gt=0.0, le=MAX_FPS)] | None = Field(
        None, description="a shot with so many frames per second"
    )
    frames: Annotated[list[FrameNumber], Field(min_length=2, max_length=2)] | None = Field(
        None, description="first and last frame of a shot; the first one is at 0 s; default: from 1"
    )
    substeps: Annotated[int, Field(ge=1, le=MAX_STEPS)] | None = Field(
        None, description="steps from one frame of a shot to the next; default: as h requires"
    )

    @model_validator(mode="after")
    def _fill_times(self) -> Time:
        """Express a shot in frames, and limit the number of steps."""
        if self.fps is None:
            for key in ("frames", "substeps"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} needs fps, the number of frames per second")
            for key in ("h", "duration"):
                if getattr(self, key) is None:
                    raise ValueError(f"{key} is missing (or fps, frames and substeps of a shot)")
        else:
            self._fill_frames(self.fps)
            self._fill_substeps(self.fps)
        steps = self.end / self.step
        if steps > MAX_STEPS:
            raise ValueError(f"duration / h must be at most {MAX_STEPS:,} steps, got {steps:.3g}")
        return self

    def _fill_frames(self, fps: float) -> None:
        """Replace the duration of a shot by its first and last frame."""
        if self.frames is None:
            if self.duration is None:
                raise ValueError("a shot needs frames, such as [1, 240], or a duration")
            self.frames = [1, 1 + max(1, math.ceil(self.duration * fps * (1.0 - _ROUNDING)))]
            self.duration = None
        if self.duration is not None:
            raise ValueError("frames and duration exclude each other, got both")
        first, last = self.frames
        if last <= first:
            raise ValueError(f"frames must end after they begin, got {first} to {last}")

    def _fill_substeps(self, fps: float) -> None:
        """Replace the step of a shot by a number of substeps."""
        if self.substeps is None:
            if self.h is None:
                raise ValueError("a shot needs substeps, or h, the largest step")
            self.substeps = max(1, math.ceil((1.0 - _ROUNDING) / (fps * self.h)))
            self.h = None
        if self.h is not None:
            raise ValueError("substeps and h exclude each other, got both")

    @property
    def step(self) -> float:
        """Step size [s]."""
        if self.fps is not None and self.substeps is not None:
            return 1.0 / (self.fps * self.substeps)
        assert self.h is not None, "a table without it is invalid"
        return self.h

    @property
    def end(self) -> float:
        """End time [s]."""
        if self.fps is not None and self.frames is not None:
            return (self.frames[1] - self.frames[0]) / self.fps
        assert self.duration is not None, "a table without it is invalid"
        return self.duration


class Adapt(SceneTable):
    """Steps that are shortened where necessary (`taut.Adaptive`)."""

    error: Positive | None = Field(
        None,
        description="error in positions [m] allowed in a substep; default: only failures count",
    )
    halvings: Annotated[int, Field(ge=0, le=60)] = Field(
        10, description="the shortest substep is h/2^halvings"
    )


class IntegratorTable(SceneTable):
    """How a step is taken."""

    method: Text = Field(
        "ImplicitEuler", description=f"name of an integrator: {', '.join(INTEGRATORS)}"
    )
    tolerance: Annotated[float, Field(ge=0.0, lt=1.0)] | None = Field(
        None,
        description="residual of each particle relative to its mass times the accelerations at "
        "work [1]; default 1e-6",
    )
    force: NotNegative | None = Field(
        None, description="residual [N] that is always accepted; default 0"
    )
    solver: SolverName | None = Field(None, description="linear solver; default auto")
    minimiser: MinimiserName | None = Field(None, description="minimiser; default newton")
    project: Annotated[bool, Field(strict=True)] | None = Field(
        None,
        description="LinearlyImplicitEuler: use the projected stiffness, not the true one; "
        "default true",
    )
    adaptive: Adapt | None = Field(
        None,
        description="shorten steps that fail or err too much; default: a failed step ends the run",
    )

    @field_validator("method")
    @classmethod
    def _reject_unknown(cls, value: str) -> str:
        if value not in INTEGRATORS:
            raise ValueError(f"unknown integrator '{value}'{did_you_mean(value, INTEGRATORS)}")
        return value

    @model_validator(mode="after")
    def _fill_options(self) -> IntegratorTable:
        """Reject options that the integrator does not have; fill in the defaults of the others.

        Defaults are filled in so that a scene that was written out does not change with taut's.
        """
        defaults = _list_options(INTEGRATORS[self.method])
        has_tolerance = "tolerance" in defaults
        if not has_tolerance and (self.tolerance is not None or self.force is not None):
            raise ValueError(f"{self.method} has no tolerance")
        for option in _PLAIN_OPTIONS:
            if option not in defaults and getattr(self, option) is not None:
                raise ValueError(f"{self.method} has no {option}")
        if has_tolerance:
            defaults |= {"tolerance": Tolerance().relative, "force": Tolerance().force}
        for option, default in defaults.items():
            if getattr(self, option) is None:
                setattr(self, option, default)
        return self


class Output(SceneTable):
    """What is recorded."""

    every: Annotated[int, Field(ge=1, le=MAX_STEPS)] | None = Field(
        None,
        description="steps from one recorded frame to the next; default: 1, in a shot its substeps",
    )


def _list_options(method: type[Integrator]) -> dict[str, Any]:
    """Return the arguments of an integrator's constructor, with their defaults.

    >>> _list_options(ImplicitEuler)
    {'tolerance': None, 'solver': 'auto', 'minimiser': 'newton'}
    """
    # Of the class itself, `inspect` may return the signature of Integrator.__new__.
    _, *options = inspect.signature(method.__init__).parameters.values()
    return {option.name: option.default for option in options}


def build_integrator(table: IntegratorTable) -> Integrator:
    """Return the integrator of a scene with its options."""
    options: dict[str, Any] = {}
    tolerance = {}
    if table.tolerance is not None:
        tolerance["relative"] = table.tolerance
    if table.force is not None:
        tolerance["force"] = table.force
    if tolerance:
        options["tolerance"] = Tolerance(**tolerance)
    for name in _PLAIN_OPTIONS:
        if getattr(table, name) is not None:
            options[name] = getattr(table, name)
    integrator = INTEGRATORS[table.method](**options)
    if table.adaptive is None:
        return integrator
    adaptive = table.adaptive
    return Adaptive(integrator, error=adaptive.error, halvings=adaptive.halvings)
