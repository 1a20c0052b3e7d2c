"""What `--help` says at its end: examples, and the exit codes that a command can have."""

from __future__ import annotations

from collections.abc import Iterable

from taut.cli.codes import DONE, INTERRUPTED, MEANINGS, MISSED, NOT_CONVERGED, REFUSED, STORAGE

EXAMPLES = {
    "run": (
        "taut run cloth",
        "taut run my.toml -o runs/mine --set time.h=0.005 --set body.cloth.mesh.nx=20",
        'taut run statue.obj --fix "y < 0.9*min + 0.1*max" --young 1e7',
    ),
    "resume": ("taut resume runs/cloth-1",),
    "scenes": ("taut scenes", "taut scenes --json"),
    "new": ("taut new cloth -o my.toml",),
    "check": (
        "taut check my.toml",
        "taut check cloth --set body.cloth.mesh.nx=200 --json",
        "taut check statue.obj --young 1e5 --thickness 1e-3",
    ),
    "schema": ("taut schema > scene.schema.json",),
    "view": ("taut view cloth", "taut view runs/cloth-1", "taut view runs/cloth-1 --save cloth.html"),
    "render": (
        "taut render runs/cloth-1 -o cloth.mp4 --colour strain",
        "taut render runs/cloth-1 -o cloth.png --frame 50 --camera front",
    ),
    "plot": ("taut plot runs/cloth-1 -o energy.svg", "taut plot runs/cloth-1 --what convergence"),
    "export": ("taut export runs/cloth-1 -o cloth.usdc", "taut export runs/cloth-1 -o cloth.glb --start 0.5 --frames 60"),
    "validate": ("taut validate", "taut validate --filter pendulum --json"),
    "bench": ("taut bench", "taut bench implicit --json", "taut bench --reliability --quick"),
    "info": ("taut info", "taut info --clear-cache"),
}
_OF_RUNS = (DONE, REFUSED, NOT_CONVERGED, STORAGE, INTERRUPTED)
_OF_FILES = (DONE, REFUSED, STORAGE, INTERRUPTED)
CODES = {
    "run": _OF_RUNS, "resume": _OF_RUNS, "scenes": (DONE, STORAGE), "new": (DONE, REFUSED, STORAGE), "check": _OF_FILES,
    "schema": (DONE, STORAGE), "view": (DONE, REFUSED, STORAGE), "render": _OF_FILES, "plot": _OF_FILES, "export": _OF_FILES,
    "validate": (DONE, MISSED, REFUSED, STORAGE, INTERRUPTED), "bench": (DONE, MISSED, REFUSED, STORAGE, INTERRUPTED),
    "info": (DONE, REFUSED, STORAGE),
}  # fmt: skip


def epilog(command: str) -> str:
    """Examples and exit codes of a command, as click takes them.

    >>> print(epilog("resume").replace("\\b\\n", ""))
    Examples:
      taut resume runs/cloth-1
    <BLANKLINE>
    Exit codes: 0 done; 2 bad input; 3 a step did not converge; 4 a file cannot be written, read or trusted; 130 interrupted
    """
    return _block("Examples:", *(f"  {example}" for example in EXAMPLES[command])) + f"\n\n{_codes(CODES[command])}"


def overview() -> str:
    """The same of all commands."""
    first = ("taut run cloth", "taut view runs/cloth-1", "taut COMMAND --help")
    return _block("Examples:", *(f"  {example}" for example in first)) + f"\n\n{_codes(MEANINGS)}"


def _block(*lines: str) -> str:
    """Lines that stay as they are: the sign \\b tells click not to fill them."""
    return "\b\n" + "\n".join(lines)


def _codes(codes: Iterable[int]) -> str:
    return "Exit codes: " + "; ".join(f"{code} {MEANINGS[code]}" for code in codes)
