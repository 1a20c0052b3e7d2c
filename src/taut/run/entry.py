"""One line of the energy book."""

from __future__ import annotations

from dataclasses import dataclass, field

from taut.system.tables import aligned


@dataclass
class Entry:
    """The book of one step, in joules. What is stored stands as it is at the end, everything else is what the step added.

    opening : T + ΣV at the beginning; kinetic : T'; stored : law → V'
    work : law → of a load, or of parameters that change with time; scripted : of scripted points
    dissipated : damping law → what it took; numerical : what the integrator took (negative: made)
    torn : law → what was stored in elements that broke at the end of the step; negative where their energy was
    residual : work of the forces that the solver left unbalanced
    gap : what does not add up; scale : the sum of magnitudes that went into it
    between : what was changed between the steps of several, by whoever edited the state or the system (0 for one step)
    """

    t: float
    h: float
    opening: float
    kinetic: float
    stored: dict[str, float]
    work: dict[str, float] = field(default_factory=dict)
    scripted: float = 0.0
    dissipated: dict[str, float] = field(default_factory=dict)
    numerical: float = 0.0
    torn: dict[str, float] = field(default_factory=dict)
    residual: float = 0.0
    gap: float = 0.0
    scale: float = 0.0
    between: float = 0.0

    def and_then(self, later: Entry) -> Entry:
        """Both together, as one longer step."""
        return Entry(
            later.t, self.h + later.h, self.opening, later.kinetic, later.stored, added(self.work, later.work),
            self.scripted + later.scripted, added(self.dissipated, later.dissipated), self.numerical + later.numerical,
            added(self.torn, later.torn), self.residual + later.residual, self.gap + later.gap, max(self.scale, later.scale),
            self.between + later.between + later.opening - (self.kinetic + sum(self.stored.values())),
        )  # fmt: skip

    def __str__(self) -> str:
        rows = [("energy at the beginning", self.opening), ("kinetic, at the end", self.kinetic)]
        rows += [(f"stored in {name}, at the end", value) for name, value in self.stored.items()]
        rows += [(f"work of {name}", value) for name, value in self.work.items()]
        rows.append(("work of scripted points", self.scripted))
        rows += [(f"dissipated by {name}", value) for name, value in self.dissipated.items()]
        rows += [(f"lost with torn {name}", value) for name, value in self.torn.items()]
        rows += [("numerical dissipation", self.numerical), ("work of the residual", self.residual), ("gap", self.gap)]
        rows += [("changed between steps", self.between)] if self.between else []
        return aligned([f"{self.h:g} s to t = {self.t:g} s", "J"], rows)


def added(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    """Two tables by name as one, the values of common names added."""
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in dict.fromkeys([*a, *b])}
