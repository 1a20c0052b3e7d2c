"""What a campaign found: trials, failures, and the bound that they put on the chance of a failure.

Of N independent trials of which k fail, the chance p of a failure is with 95% confidence at most
the p for which as few as k failures have a chance of 5% (Clopper and Pearson 1934): the quantile of
a beta distribution. Without failures that is 1 - 0.05^(1/N) ≤ 3/N.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CONFIDENCE = 0.95


def bound(failures: int, trials: int) -> float:
    """The largest chance of a failure that so many failures in so many trials leave likely, at 95%.

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
    """One campaign.

    name : by which it is asked for; trials : how many, of what `unit` says; failures : each in
        words
    counts : trials by how they ended, or what else was counted; said : further figures in words;
        seconds : it took [s]
    skipped : why it could not be done here, if it could not

    >>> record = Record("kill", 100, "kills", [], {"opened": 98}, seconds=20.0)
    >>> record.verdict, f"{record.bound:.1%}"
    ('pass', '3.0%')
    """

    name: str
    trials: int
    unit: str
    failures: list[str] = field(default_factory=list)
    counts: Mapping[str, int] = field(default_factory=dict)
    said: str = ""
    seconds: float = 0.0
    skipped: str = ""

    @property
    def bound(self) -> float:
        """On the chance of a failure, at 95%."""
        return bound(len(self.failures), self.trials)

    @property
    def verdict(self) -> str:
        """ "pass", "fail" or "skipped"."""
        return "skipped" if self.skipped else "fail" if self.failures or not self.trials else "pass"

    def as_json(self) -> dict[str, Any]:
        """For `json.dumps`; `Record(**…)` takes it back without bound and verdict."""
        return {
            **self.__dict__,
            "counts": dict(self.counts),
            "bound": self.bound,
            "verdict": self.verdict,
        }

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Record:
        """What `as_json` gave.

        >>> Record.of_json(Record("soak", 10, "steps").as_json()) == Record("soak", 10, "steps")
        True
        """
        return cls(**{name: found[name] for name in cls.__dataclass_fields__})
