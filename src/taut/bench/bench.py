"""What the rows share: sizes and tolerances, the yardstick, the progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from taut.bench.march import Look, March, Stepper, Tell, march
from taut.bench.net import Net
from taut.bench.yardstick import Yardstick
from taut.progress import Progress
from taut.solve.tolerance import Tolerance

SOFT, STIFF = 1.0, 100.0
WORDS = {SOFT: "soft", STIFF: "stiff"}
CONVERGED = 1e-4  # residual ratio of a converged step
TOLERANCE = {SOFT: Tolerance(relative=4e-3), STIFF: Tolerance(relative=3e-2)}
"""For which the median residual ratio is below 1e-4. The gross force of a particle grows with the stiffness of its springs, what
is left of it does not, so that the same ratio is another part of it in a stiff cloth."""


@dataclass
class Bench:
    """One run of the benchmark.

    n : particles a side of the cloth; steps : of the rows that follow a trajectory; solid : a file of tetrahedra for the solid row
    """

    n: int = 100
    steps: int = 100
    solid: Path | None = None
    progress: Progress = field(default_factory=lambda: Progress("taut bench"))

    @cached_property
    def yardstick(self) -> Yardstick:
        """Built when first needed."""
        self.progress.begin("building the yardstick")
        made = Yardstick()
        self.progress.done()
        return made

    def beside(self, n: int, net: Net, stepper: Stepper, steps: int, name: str, look: Look = None) -> tuple[March, float]:
        """Make so many steps of a net, and give what they took with the seconds of the yardstick's step at n, the less of those
        measured right before and right after."""
        before = self._yard(n)
        made = march(net, stepper, steps, self.part(name, steps), look)
        return made, min(before, self._yard(n))

    def _yard(self, n: int) -> float:
        yardstick = self.yardstick
        self.progress.begin(f"yardstick at n = {n}")
        seconds = yardstick.at(n)
        self.progress.done()
        return seconds

    def part(self, name: str, steps: int) -> Tell:
        """Begin a part of the run; what is returned is told of its steps."""
        self.progress.begin(name, steps)

        def tell(step: int, text: str) -> None:
            self.progress.at(step, text)
            if step == steps:
                self.progress.done()

        return tell
