"""Fit parameters to observations: least squares on exact derivatives, with standard errors.

The fit minimises Σ r², r = (prediction - data)/sigma over all experiments and the priors. With J
the derivatives of r at the best fit, the covariance of the parameters is s²(JᵀJ)⁻¹; s is 1 where
the standard deviations of the data are given, else it is estimated from what the fit leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError, NotConverged
from taut.inverse.journal import Evaluation, Journal
from taut.inverse.observations import Experiment
from taut.inverse.targets import check_targets
from taut.inverse.unknown import Unknown, find_start, is_log

# Singular values of the scaled derivatives below this part of the largest are zero: what the data
# cannot tell at all
_SINGULAR = 1e-10
# Factor to which a parameter that is fitted by its logarithm stays of its start: one that the data
# cannot tell would else leave the finite numbers
_LOG_RANGE = 1e8


@dataclass(frozen=True, eq=False)
class Fit:
    """The best fit.

    names, values : of the parameters, (k,); those of elements are named "spring.k[3]"
    errors : standard errors of the values, (k,); infinite where the data tell nothing
    correlations : (k, k), nan where an error is infinite
    determined : whether each standard error is smaller than the value, (k,)
    residuals : prediction - data at the best fit, one array for each experiment
    data : the data themselves, in the same order
    sigma : standard deviation of the data: as given, or estimated, one for each experiment
    evaluations : of all experiments together
    """

    names: tuple[str, ...]
    values: Float
    errors: Float
    correlations: Float
    determined: Any
    residuals: tuple[Float, ...]
    data: tuple[Float, ...]
    sigma: tuple[float, ...]
    evaluations: int

    def __getitem__(self, name: str) -> float:
        return float(self.values[self.names.index(name)])

    def __str__(self) -> str:
        lines = [f"{'parameter':<24} {'value':>14} {'standard error':>16}"]
        for name, value, error, known in zip(
            self.names, self.values, self.errors, self.determined, strict=True
        ):
            remark = "" if known else "  not determined"
            lines.append(f"{name:<24} {value:>14.7g} {error:>16.2g}{remark}")
        for i in range(len(self.names)):
            for j in range(i):
                c = self.correlations[i, j]
                if np.isfinite(c) and abs(c) > 0.9:
                    lines.append(
                        f"{self.names[j]} and {self.names[i]} are correlated, {c:+.3f}: the data "
                        "tell their combination better than each"
                    )
        for k, (left, sigma) in enumerate(zip(self.residuals, self.sigma, strict=True)):
            rms = float(np.sqrt(np.mean(left**2))) if len(left) else 0.0
            lines.append(f"experiment {k}: {len(left)} numbers, rms residual {rms:.3g}, "
                         f"sigma {sigma:.3g}")  # fmt: skip
        return "\n".join(lines)


def fit(
    experiments: Experiment | Sequence[Experiment],
    unknowns: Sequence[Unknown | str],
    *,
    max_evaluations: int = 200,
    tell: Callable[[int, float], None] | None = None,
    journal: Journal | None = None,
) -> Fit:
    """Fit parameters to experiments by least squares on exact derivatives.

    experiments : one or several of `taut.inverse.Motion`, `Shape`, `Frequencies`
    unknowns : names such as "spring.k", or `taut.inverse.Unknown` with bounds, start and prior;
        each is one number, shared by all elements and experiments, unless it is `each`
    max_evaluations : of all experiments; NotConverged is raised beyond
    tell : called after each evaluation with their number and the root mean square of the residuals
    journal : where evaluations are kept, and found again if the fit was ended before

    >>> import numpy as np, taut
    >>> spring = taut.laws.spring([[0, 1]], k=50.0, l0=1.0)
    >>> weight = taut.System([[0, 0, 0], [0, -1, 0]], mass=1.0, fixed=[0],
    ...                      energies=[spring, taut.laws.gravity()])
    >>> seen = taut.inverse.Shape(weight, [[0.0, -1.0981, 0.0]], particles=[1])  # k = 100 N/m
    >>> round(taut.fit(seen, ["spring.k"])["spring.k"], 6)
    100.0
    """
    every = list(experiments) if isinstance(experiments, Sequence) else [experiments]
    if not every:
        raise ModelError("fit needs at least one experiment, got none")
    for k, experiment in enumerate(every):
        if not len(experiment.data):
            raise ModelError(f"experiment {k} has no data: nothing was observed")
        if experiment.sigma is not None and not 0.0 < experiment.sigma < np.inf:
            raise ModelError(
                f"sigma of experiment {k} must be positive and finite, got {experiment.sigma:g}"
            )
    chosen = [Unknown(u) if isinstance(u, str) else u for u in unknowns]
    return _Search(every, chosen, tell, journal).run(max_evaluations)


class _Search:
    """The search: numbers x, (k,), of all unknowns one after another, or their logarithms."""

    def __init__(
        self,
        experiments: list[Experiment],
        unknowns: list[Unknown],
        tell: Callable[[int, float], None] | None,
        journal: Journal | None,
    ) -> None:
        self.experiments, self.unknowns, self.tell = experiments, unknowns, tell
        self.journal = journal
        for experiment in experiments:
            check_targets(experiment.system, [u.name for u in unknowns])
        self.shapes: list[tuple[int, ...]] = []
        self.owners: list[Unknown] = []  # of each number
        self.names: list[str] = []
        starts, logs = [], []
        for unknown in unknowns:
            start = find_start(experiments, unknown)
            self.shapes.append(start.shape)
            for place, given in np.ndenumerate(start):
                label = f"[{', '.join(map(str, place))}]" if place else ""
                self.names.append(unknown.name + label)
                self.owners.append(unknown)
                starts.append(float(given))
                logs.append(is_log(unknown, float(given)))
        self.start, self.is_log = np.array(starts), np.array(logs)
        self.evaluations = 0
        self._last: tuple[bytes, Any] | None = None

    def to_values(self, x: Float) -> Float:
        return np.where(self.is_log, np.exp(np.where(self.is_log, x, 0.0)), x)

    def name_values(self, values: Float) -> dict[str, Any]:
        """Return the values of the unknowns by name, in their shapes."""
        named: dict[str, Any] = {}
        place = 0
        for unknown, shape in zip(self.unknowns, self.shapes, strict=True):
            size = int(np.prod(shape, dtype=int))
            own = values[place : place + size].reshape(shape)
            named[unknown.name] = own if unknown.each else float(own)
            place += size
        return named

    def predict(self, x: Float) -> Evaluation:
        """Return residuals and derivatives by x of all experiments, or those of the journal."""
        self.evaluations += 1
        if self.journal is not None:
            kept = self.journal.find(self.evaluations, x, len(self.experiments))
            if kept is not None:
                for experiment, q in zip(self.experiments, kept.starts, strict=True):
                    if experiment.start is not None and q is not None:
                        experiment.start = experiment.start.with_(q=q)
                return kept
        named = self.name_values(self.to_values(x))
        parts = [experiment.predict(named) for experiment in self.experiments]
        starts = [None if e.start is None else np.array(e.start.q) for e in self.experiments]
        made = Evaluation(np.array(x), [r for r, _ in parts], [j for _, j in parts], starts)
        if self.journal is not None:
            self.journal.keep(self.evaluations, made)
        return made

    def evaluate(self, x: Float) -> tuple[list[Float], Float, Float]:
        """Return residuals by experiment, all of them in units of sigma, and their derivatives."""
        if self._last is not None and self._last[0] == x.tobytes():
            found: tuple[list[Float], Float, Float] = self._last[1]
            return found
        made = self.predict(x)
        chain = np.where(self.is_log, self.to_values(x), 1.0)
        scaled, slopes = [], []
        for experiment, residual, jacobian in zip(
            self.experiments, made.residuals, made.jacobians, strict=True
        ):
            sigma = 1.0 if experiment.sigma is None else experiment.sigma
            scaled.append(residual / sigma)
            slopes.append(jacobian * chain / sigma)
        for k, unknown in enumerate(self.owners):
            if unknown.prior is not None:
                mean, deviation = unknown.prior
                centre = np.log(mean) if self.is_log[k] else mean
                scaled.append(np.array([(x[k] - centre) / deviation]))
                slopes.append(np.eye(len(x))[k : k + 1] / deviation)
        result = made.residuals, np.concatenate(scaled), np.concatenate(slopes)
        self._last = (x.tobytes(), result)
        if self.tell is not None:
            self.tell(self.evaluations, float(np.sqrt(np.mean(result[1] ** 2))))
        return result

    def run(self, max_evaluations: int) -> Fit:
        from scipy.optimize import least_squares

        x0 = np.where(self.is_log, np.log(np.where(self.is_log, self.start, 1.0)), self.start)
        low, high = np.empty(len(x0)), np.empty(len(x0))
        for k, unknown in enumerate(self.owners):
            low[k], high[k] = unknown.low, unknown.high
            if self.is_log[k]:
                low[k] = np.log(max(unknown.low, self.start[k] / _LOG_RANGE))
                high[k] = np.log(min(unknown.high, self.start[k] * _LOG_RANGE))
        sizes = {(e.sigma is None) for e in self.experiments}
        if len(sizes) > 1:
            raise ModelError("sigma must be given for all experiments, or for none")

        def residuals(x: Float) -> Float:
            return self.evaluate(x)[1]

        def slopes(x: Float) -> Float:
            return self.evaluate(x)[2]

        found = least_squares(
            residuals,
            x0,
            jac=slopes,
            bounds=(low, high),
            x_scale="jac",
            xtol=1e-14,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=max_evaluations,
        )
        if found.status == 0:
            raise NotConverged(f"the fit did not converge in {max_evaluations} evaluations")
        return self._conclude(found.x)

    def _conclude(self, x: Float) -> Fit:
        parts, scaled, jacobian = self.evaluate(x)
        values, freedom = self.to_values(x), max(1, len(scaled) - len(x))
        variance, sigma = 1.0, tuple(e.sigma or 0.0 for e in self.experiments)
        if self.experiments[0].sigma is None:
            variance = float(scaled @ scaled) / freedom
            sigma = tuple([float(np.sqrt(variance))] * len(self.experiments))
        scale = np.sqrt(np.einsum("ik,ik->k", jacobian, jacobian))
        safe = np.where(scale > 0.0, scale, 1.0)
        _, singular, vectors = np.linalg.svd(jacobian / safe, full_matrices=False)
        told = singular > _SINGULAR * singular.max(initial=0.0)
        inverse = (vectors[told].T / singular[told] ** 2) @ vectors[told]
        covariance = variance * inverse / np.outer(safe, safe)
        # A parameter that takes part in what the data cannot tell has no finite error.
        outside = 1.0 - (vectors[told] ** 2).sum(axis=0)
        untold = (outside > _SINGULAR) | (scale == 0.0)
        deviation = np.where(untold, np.inf, np.sqrt(np.diag(covariance)))
        with np.errstate(invalid="ignore", divide="ignore"):
            correlations = covariance / np.outer(deviation, deviation)
        correlations[untold] = np.nan
        correlations[:, untold] = np.nan
        size = np.where(self.is_log, values, 1.0)
        errors = np.where(untold, np.inf, np.where(untold, 1.0, deviation) * size)
        names = tuple(self.names)
        determined = errors < np.abs(values)
        data = tuple(experiment.data for experiment in self.experiments)
        return Fit(
            names=names,
            values=values,
            errors=errors,
            correlations=correlations,
            determined=determined,
            residuals=tuple(parts),
            data=data,
            sigma=sigma,
            evaluations=self.evaluations,
        )
