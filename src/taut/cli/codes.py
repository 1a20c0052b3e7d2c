"""Exit codes: what a script can tell from the end of a command."""

from __future__ import annotations

DONE, MISSED, REFUSED, NOT_CONVERGED, STORAGE, INTERRUPTED = 0, 1, 2, 3, 4, 130
MEANINGS = {
    DONE: "done",
    MISSED: "a case of validate missed, or a campaign of bench --reliability failed",
    REFUSED: "bad input",
    NOT_CONVERGED: "a step did not converge",
    STORAGE: "a file cannot be written, read or trusted",
    INTERRUPTED: "interrupted",
}
