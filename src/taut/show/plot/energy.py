"""Where the energy is, and where it went, drawn from wherever the book is (see `taut.run.energy_picture`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taut.errors import ModelError
from taut.run.energy_picture import drawn, lines
from taut.run.entry import Entry
from taut.run.ledger import Ledger
from taut.run.opening import Run


def energy(source: Run | Ledger | Iterable[Entry]) -> Any:
    """The energy book of a run or of a Ledger as a matplotlib Figure: energies above, flows summed up below [J], over t [s].

    >>> import taut
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()], damping=[taut.laws.drag(alpha=0.5)])
    >>> ledger = taut.Ledger()
    >>> for _ in taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0, ledger=ledger):
    ...     pass
    >>> figure = energy(ledger)
    >>> [line.get_label() for axes in figure.axes for line in axes.lines]
    ['kinetic', 'in gravity', 'all', 'dissipated by drag', 'numerically dissipated']
    """
    if isinstance(source, Run):
        entries: Any = source.entries()
        count = source.step
    else:
        try:
            entries = list(source)
        except TypeError:
            entries = [None]
        count = len(entries)
        if not all(isinstance(entry, Entry) for entry in entries):
            raise ModelError(f"a run, a Ledger or entries of one are drawn, not {source!r}")
    if not count:
        raise ModelError("there is no energy to draw: no step was taken")
    return drawn(*lines(entries, count))
