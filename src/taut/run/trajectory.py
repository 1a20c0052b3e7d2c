"""A trajectory as an xarray.Dataset: positions and velocities with named dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from taut.arrays import Float, Mask, describe
from taut.errors import ModelError
from taut.extras import import_extra


class Moment(Protocol):
    """What a `taut.State` and a frame of a run have in common."""

    @property
    def t(self) -> float: ...
    @property
    def q(self) -> Float: ...
    @property
    def v(self) -> Float: ...
    @property
    def active(self) -> Mapping[str, Mask]: ...


def to_xarray(states: Iterable[Moment]) -> Any:
    """Return states as an xarray.Dataset with the dimensions time, particle and axis.

    states : `taut.State`s, or frames of `taut.open_run`, of one system, in any number from one

    Variables: `q` [m] and `v` [m/s], (time, particle, axis); `active spring` of a law some of whose
    elements are switched off or torn, (time, element of spring). Coordinates: `time` [s], and
    `axis` with the names x, y and z. Needs the extra `xarray`; all states are held in memory.

    >>> import taut
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> run = taut.simulate(ball, taut.ImplicitMidpoint(), h=0.5, until=1.0)
    >>> data = to_xarray(state for state, _ in run)
    >>> dict(data.sizes), float(data.q.sel(time=1.0, axis="y").isel(particle=0))
    ({'time': 2, 'particle': 1, 'axis': 3}, 5.095)
    """
    xarray = import_extra("xarray", "xarray", "trajectories as a Dataset")
    moments = _check_moments(states)
    shape = ("time", "particle", "axis")
    variables: dict[str, Any] = {
        "q": (shape, np.stack([m.q for m in moments]), {"units": "m", "long_name": "position"}),
        "v": (shape, np.stack([m.v for m in moments]), {"units": "m/s", "long_name": "velocity"}),
    }
    counts = {law: len(mask) for m in moments for law, mask in m.active.items()}
    for law, count in counts.items():
        # A law that a state leaves out has all its elements.
        masks = [m.active.get(law, np.ones(count, dtype=bool)) for m in moments]
        variables[f"active {law}"] = (("time", f"element of {law}"), np.stack(masks), {})
    times = ("time", np.array([m.t for m in moments]), {"units": "s"})
    return xarray.Dataset(variables, coords={"time": times, "axis": ["x", "y", "z"]})


def _check_moments(states: Iterable[Moment]) -> list[Moment]:
    if not isinstance(states, Iterable):
        raise ModelError(f"to_xarray needs a list of states, got {describe(states)}")
    moments = list(states)
    if not moments:
        raise ModelError("to_xarray needs at least one state, got none")
    for k, moment in enumerate(moments):
        if not all(hasattr(moment, name) for name in ("t", "q", "v", "active")):
            hint = ""
            if isinstance(moment, tuple):
                hint = "; of a simulation, write to_xarray(state for state, _ in run)"
            raise ModelError(f"to_xarray needs states, got {describe(moment)}{hint}")
        if moment.q.shape != moments[0].q.shape:
            raise ModelError(
                f"to_xarray needs states of one system: state {k} has {len(moment.q)} particles, "
                f"the first one {len(moments[0].q)}"
            )
    return moments
