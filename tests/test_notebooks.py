"""The notebooks run from top to bottom, print their stored output, and store only text.

A notebook is JSON: its code cells are executed here in one namespace, without Jupyter.
"""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples/notebooks").glob("*.ipynb"))


def _round_numbers(text):
    """Remove what depends on the machine: numbers in scientific notation (residuals)."""
    return re.sub(r"\d\.?\d*e[-+]\d+", "#", text)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_prints_what_it_stores(path, tmp_path, monkeypatch):
    plt = pytest.importorskip(
        "matplotlib.pyplot", reason="the notebooks draw with the extra 'plot'"
    )
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    space = {"__name__": path.stem}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        with redirect_stdout(StringIO()) as out:
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), space)
        plt.close("all")
        stored = "".join("".join(output["text"]) for output in cell["outputs"])
        assert _round_numbers(out.getvalue()) == _round_numbers(stored), (
            f"{path.name}, cell {number}"
        )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_is_small_and_was_run_in_order(path):
    book = json.loads(path.read_text())
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert path.stat().st_size < 40_000
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert all(
        output["output_type"] == "stream" and output["name"] == "stdout"
        for cell in code
        for output in cell["outputs"]
    )
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
