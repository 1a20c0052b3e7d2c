"""The end of each `--help`: examples, and the exit codes of the command."""

from __future__ import annotations

from collections.abc import Iterable

DONE = 0
CHECK_FAILED = 1
BAD_INPUT = 2
NOT_CONVERGED = 3
STORAGE_ERROR = 4
INTERRUPTED = 130  # 128 + the number of SIGINT, as in shells
MEANINGS = {
    DONE: "done",
    CHECK_FAILED: "a check failed: of a validation case, a campaign, a balance of forces, a proof",
    BAD_INPUT: "bad input",
    NOT_CONVERGED: "a step did not converge",
    STORAGE_ERROR: "a file cannot be written, read or trusted",
    INTERRUPTED: "interrupted",
}

EXAMPLES = {
    "run": (
        "taut run cloth",
        "taut run my.toml -o runs/mine --set time.h=0.005 --set body.cloth.mesh.nx=20",
        'taut run statue.obj --fix "y < 0.9*min + 0.1*max" --young 1e7',
    ),
    "resume": ("taut resume runs/cloth-1", "taut resume studies/cloth-1 --workers 2"),
    "sweep": (
        'taut sweep cloth --vary body.cloth.density=0.1,0.2,0.4 --measure "sag=max(y0 - y)"',
        'taut sweep spring --vary body.spring.mass=0.5:2 --samples sobol:64 --measure "T=kinetic"',
        "taut sweep study.toml -o studies/mine --scheduler tcp://127.0.0.1:8786",
    ),
    "scenes": ("taut scenes", "taut scenes --json"),
    "new": ("taut new cloth -o my.toml", "taut new statue.obj --fill auto -o statue.toml"),
    "clean": ("taut clean scan.ply", "taut clean scan.ply --weld 1e-4 --largest -o statue.obj"),
    "check": (
        "taut check my.toml",
        "taut check cloth --set body.cloth.mesh.nx=200 --json",
        "taut check statue.obj --young 1e5 --thickness 1e-3",
    ),
    "schema": ("taut schema > scene.schema.json", "taut schema study > study.schema.json"),
    "view": (
        "taut view cloth",
        "taut view runs/cloth-1",
        "taut view runs/cloth-1 --save cloth.html",
    ),
    "render": (
        "taut render runs/cloth-1 -o cloth.mp4 --colour strain",
        "taut render runs/cloth-1 -o cloth.png --frame 50 --camera front",
    ),
    "plot": (
        "taut plot runs/cloth-1 -o energy.svg",
        "taut plot runs/cloth-1 --what convergence",
        "taut plot studies/cloth-1 -o study.svg",
    ),
    "export": (
        "taut export runs/cloth-1 -o cloth.usdc",
        "taut export runs/cloth-1 -o cloth.glb --start 0.5 --frames 60",
    ),
    "fit": ("taut fit study.toml --plot fit.svg",),
    "sagfree": ("taut sagfree cloth", "taut sagfree my.toml -o still.toml"),
    "prove": ("taut prove pendulum --steps 5", "taut prove my.toml --set time.h=0.002 --json"),
    "validate": ("taut validate", "taut validate --filter pendulum --json"),
    "bench": ("taut bench", "taut bench implicit --json", "taut bench --reliability --quick"),
    "info": ("taut info", "taut info --clear-cache"),
}
_RUN_CODES = (DONE, BAD_INPUT, NOT_CONVERGED, STORAGE_ERROR, INTERRUPTED)
_FILE_CODES = (DONE, BAD_INPUT, STORAGE_ERROR, INTERRUPTED)
CODES = {
    "run": _RUN_CODES,
    "resume": _RUN_CODES,
    "sweep": _FILE_CODES,
    "scenes": (DONE, STORAGE_ERROR),
    "new": (DONE, BAD_INPUT, STORAGE_ERROR),
    "clean": (DONE, BAD_INPUT, STORAGE_ERROR),
    "check": _FILE_CODES,
    "schema": (DONE, BAD_INPUT, STORAGE_ERROR),
    "view": (DONE, BAD_INPUT, STORAGE_ERROR),
    "render": _FILE_CODES,
    "plot": _FILE_CODES,
    "export": _FILE_CODES,
    "fit": (DONE, BAD_INPUT, NOT_CONVERGED, STORAGE_ERROR, INTERRUPTED),
    "sagfree": (DONE, CHECK_FAILED, BAD_INPUT, STORAGE_ERROR, INTERRUPTED),
    "prove": (DONE, CHECK_FAILED, BAD_INPUT, NOT_CONVERGED, STORAGE_ERROR, INTERRUPTED),
    "validate": (DONE, CHECK_FAILED, BAD_INPUT, STORAGE_ERROR, INTERRUPTED),
    "bench": (DONE, CHECK_FAILED, BAD_INPUT, STORAGE_ERROR, INTERRUPTED),
    "info": (DONE, BAD_INPUT, STORAGE_ERROR),
}


def format_epilog(command: str) -> str:
    """Return examples and exit codes of a command, as click expects them.

    >>> print(format_epilog("schema").replace("\\b\\n", ""))
    Examples:
      taut schema > scene.schema.json
      taut schema study > study.schema.json
    <BLANKLINE>
    Exit codes: 0 done; 2 bad input; 4 a file cannot be written, read or trusted
    """
    return f"{_format_examples(EXAMPLES[command])}\n\n{_format_codes(CODES[command])}"


def format_overview() -> str:
    """Return the first examples, and all exit codes."""
    examples = ("taut run cloth", "taut view runs/cloth-1", "taut COMMAND --help")
    return f"{_format_examples(examples)}\n\n{_format_codes(MEANINGS)}"


def _format_examples(examples: Iterable[str]) -> str:
    lines = ["Examples:", *(f"  {example}" for example in examples)]
    return "\b\n" + "\n".join(lines)  # \b makes click keep the lines as they are


def _format_codes(codes: Iterable[int]) -> str:
    return "Exit codes: " + "; ".join(f"{code} {MEANINGS[code]}" for code in codes)
