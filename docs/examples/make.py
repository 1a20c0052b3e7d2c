"""Draws the pictures of docs/examples.md.

Every script in examples/ runs, and its `picture` draws what came out.

python docs/examples/make.py [NAME …]     all of them, or those whose names begin so: make.py 03 17
"""

import re
import runpy
import sys
from io import StringIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
STYLE = {
    "font.size": 8,
    "axes.titlesize": 9,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "examples",
}


def svg(picture, result) -> str:
    """What an example draws, as text.

    A tenth of a point is enough, and any font without serifs will do.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 2.8), layout="constrained")
        picture(figure, result)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(r"<[^>]+>", lambda tag: _short(tag[0]), out.getvalue())
    return re.sub(r"\n\s+", "\n", text.replace("'DejaVu Sans'", "sans-serif"))


def _short(tag: str) -> str:
    """A tag with fewer digits, and without blanks that paths do not need."""

    def rounded(number) -> str:
        value = float(number[0])
        return (
            f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
        )  # points; the small ones are of markers

    tag = re.sub(r"-?\d+\.\d{3,}", rounded, tag)
    return re.sub(r' d="[^"]*"', lambda path: re.sub(r"\s*([MLCQz])\s*", r"\1", path[0]), tag)


if __name__ == "__main__":
    for path in sorted(EXAMPLES.glob("*.py")):
        if not sys.argv[1:] or path.name.startswith(tuple(sys.argv[1:])):
            example = runpy.run_path(str(path))
            drawn = svg(example["picture"], example["run"]())
            (HERE / f"{path.stem}.svg").write_text(drawn)
            print(f"{path.stem}.svg  {len(drawn) / 1000:.0f} kB")
