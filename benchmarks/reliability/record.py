"""The result of a campaign: trials, failures, and an upper bound on the probability of a failure.

If k of N independent trials fail, the probability p of a failure is, with 95% confidence, at most
the p at which k or fewer failures have a probability of 5% (Clopper and Pearson 1934). It is a
quantile of a beta distribution; without failures it is 1 - 0.05^(1/N) ≤ 3/N.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CONFIDENCE = 0.95


def bound(failures: int, trials: int) -> float:
    """Return the upper bound, at 95% confidence, on the probability of a failure.

    >>> bound(0, 3000), round(bound(1, 100), 4), bound(0, 0)
    (0.001, 0.0466, 1.0)
    """
    if failures >= trials:
        return 1.0
    if failures == 0:
        return min(1.0, 3.0 / trials)
    from scipy.stats import beta

    return float(beta.ppf(CONFIDENCE, failures + 1, trials - failures))


@dataclass(frozen=True)
class Record:
    """The result of one campaign.

    name : selects the campaign on the command line
    trials : number of trials
    unit : what a trial is, in the plural
    failures : a message for each failure
    counts : number of trials by outcome, and other counts
    note : further results, as text
    seconds : duration [s]
    skipped : the reason why the campaign cannot run here; empty if it can

    >>> record = Record("kill", 100, "kills", [], {"opened": 98}, seconds=20.0)
    >>> record.verdict, f"{record.bound:.1%}"
    ('pass', '3.0%')
    """

    name: str
    trials: int
    unit: str
    failures: list[str] = field(default_factory=list)
    counts: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    seconds: float = 0.0
    skipped: str = ""

    @property
    def bound(self) -> float:
        """Upper bound on the probability of a failure, at 95% confidence."""
        return bound(len(self.failures), self.trials)

    @property
    def verdict(self) -> str:
        """ "pass", "fail" or "skipped"."""
        if self.skipped:
            return "skipped"
        if self.failures or not self.trials:
            return "fail"
        return "pass"

    def as_json(self) -> dict[str, Any]:
        """Return a dictionary for `json.dumps`, which `of_json` reads."""
        found = dict(self.__dict__)
        found["said"] = found.pop("note")  # the key in the JSON output, which does not change
        return {
            **found,
            "counts": dict(self.counts),
            "bound": self.bound,
            "verdict": self.verdict,
        }

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Record:
        """Return the Record that `as_json` has converted.

        >>> Record.of_json(Record("soak", 10, "steps").as_json()) == Record("soak", 10, "steps")
        True
        """
        values = {**found, "note": found["said"]}
        return cls(**{name: values[name] for name in cls.__dataclass_fields__})
