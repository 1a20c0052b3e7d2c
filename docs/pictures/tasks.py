"""Draws the pictures of the pages in docs/tasks.

Runs the code of each page and keeps the file that it writes last.

python docs/pictures/tasks.py [PAGE …]
"""

import os
import re
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent
DRAWN = {  # page: what its code writes
    "rope": "rope.svg",
    "cloth": "cloth.png",
    "soft-body": "ring.png",
    "material": "drape.svg",
    "equilibrium": "arch.svg",
    "own-force": "magnets.svg",
}


def draw(page: str) -> None:
    """Run the Python blocks of a page in a folder of their own.

    And keep its picture as tasks-PAGE.
    """
    text = (HERE.parent / "tasks" / f"{page}.md").read_text()
    target = HERE / f"tasks-{page}{Path(DRAWN[page]).suffix}"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        space = {"__name__": page}
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(block, space)
        drawn = Path(DRAWN[page]).read_bytes()
    if target.suffix == ".svg":  # two decimals are a hundredth of a point
        drawn = re.sub(
            rb"<[^>]*>",
            lambda tag: re.sub(rb"\d+\.\d{3,}", lambda x: f"{float(x[0]):.2f}".encode(), tag[0]),
            drawn,
        )
        drawn = re.sub(rb"\s*<dc:date>.*?</dc:date>", b"", drawn)
    target.write_bytes(drawn)


def main() -> None:
    """All pictures, or those of the pages named."""
    mpl.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "tasks",
            "font.size": 9,
            "font.family": "sans-serif",
        }
    )
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    for page in sys.argv[1:] or DRAWN:
        draw(page)


if __name__ == "__main__":
    main()
