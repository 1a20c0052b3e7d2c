"""Tables of numbers in text files: columns split by commas, semicolons or blanks, one heading line if there is one, # comments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import SceneError
from taut.scene.folder import MOST_TABLE_BYTES, Folder

Float = NDArray[np.float64]


def table(folder: Folder, name: str) -> Float:
    """The numbers of a file, shape (rows, columns), all finite."""
    try:
        text = folder.bytes(name, MOST_TABLE_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SceneError([f"the file '{name}' is no text"]) from None
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").replace(";", " ").split()
        if not words:
            continue
        try:
            row = [float(word) for word in words]
        except ValueError:
            if not rows:
                continue  # a heading
            raise SceneError([f"the file '{name}', line {number}: '{line.strip()[:40]}' is not made of numbers"]) from None
        if rows and len(row) != len(rows[0]):
            raise SceneError([f"the file '{name}', line {number}: {len(row)} columns where the first row has {len(rows[0])}"])
        rows.append(row)
    if not rows:
        raise SceneError([f"the file '{name}' holds no numbers"])
    found = np.array(rows)
    bad = np.argwhere(~np.isfinite(found))
    if len(bad):
        raise SceneError([f"the file '{name}': row {bad[0][0] + 1}, column {bad[0][1] + 1} is not finite"])
    return found


def timeline(rows: Float, name: str) -> tuple[Float, Float]:
    """The first column as increasing times [s], and the others."""
    if rows.shape[1] < 2 or not (np.diff(rows[:, 0]) > 0).all():
        raise SceneError([f"the file '{name}' needs increasing times in its first column and values beside them"])
    return rows[:, 0], rows[:, 1:]
