"""Spoilt scene files: every one must give a built scene, or one SceneError or MeshError, soon.

    python -m benchmarks.scenes [--files 20000] [--seed 0]

Good scenes are cut, doubled, shuffled and overwritten as text, and their values replaced, dropped and renamed as tables; each is
read and built, with at most 3000 particles. Prints how many were built and how many refused, the slowest, and the bound that the
count puts on the chance of a failure (95%: 3/N). Ends with 1, and leaves the file behind, if anything but these two errors came up,
or if one took longer than 2 s of the processor's time.
"""

from __future__ import annotations

import argparse
import copy
import logging
import signal
import sys
import tempfile
import time
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import taut
from taut import scene
from taut.scene.toml_text import toml

SECONDS = 2.0
HANG = 30  # seconds after which a scene counts as never ending
PARTICLES = 3000
Rng = np.random.Generator
SMALL = {  # so that a scene is built in a few hundredths of a second
    "cloth": {"nx": 4, "ny": 4}, "flag": {"nx": 4, "ny": 4}, "curtain": {"nx": 30, "ny": 18}, "sheet": {"nx": 4, "ny": 4},
    "beam": {"nx": 3, "ny": 2, "nz": 2}, "balloon": {"n": 2}, "snap": {"rings": 3}, "bridge": {"nx": 6}, "net": {"nx": 4, "ny": 4},
    "tower": {"nx": 1, "ny": 3, "nz": 1}, "jelly": {"nx": 4, "ny": 4}, "tear": {"nx": 6, "ny": 4},
}  # fmt: skip
RICH = """
title = "Everything"
[time]
h = 0.01
duration = 1.0
[integrator]
method = "BDF2"
tolerance = 1e-6
force = 1e-9
solver = "direct"
minimiser = "newton"
adaptive = { error = 1e-4, halvings = 5 }
[[body]]
name = "left"
mesh = { shape = "sheet", nx = 3, ny = 3, triangulate = true, groups = { edge = "x == max" } }
density = "0.2 + 0.1*u"
pose = { scale = [1, 1, 1], rotate = [0, 0.1, 0], translate = [0, 0, 0.1], displace = ["0.1*y", 0, 0] }
velocity = { linear = [0, 0, "0.1*x"], angular = [0, 1, 0] }
[[body.law]]
law = "spring"
on = "edges"
k = { file = "k.csv", per = "points" }
breaking_strain = 0.5
[[body.law]]
law = "pin"
on = "points"
where = "points(0, 1)"
k = { times = [0, 1], values = [0, 10] }
target = [[0, 0, 0], [1, 0, 0]]
[[body.hold]]
where = "x == min"
follow = { file = "path.csv" }
until = 0.5
[[body]]
name = "right"
mesh = { file = "tile.obj", scale = 0.5, up = "z", clean = { weld = 1e-9, degenerate = true }, translate = [1, 0, 0] }
mass = 0.1
total_mass = 2.0
[[body.law]]
law = "spring"
on = "edges"
k = [1.0, 2.0, 3.0, 4.0, 5.0]
[[body.hold]]
where = [0]
rotate = { axis = [0, 1, 0], rate = 1.0 }
[[body]]
name = "box"
mesh = { shape = "block", nx = 2, ny = 1, nz = 1, cells = "tet", rotate = [0, 0, 0.1] }
material = { name = "rubber", damping = 1e-3 }
[[body.hold]]
where = "y == min"
on_plane = [0, 1, 0]
through = [0, 0, 0]
[[stitch]]
bodies = ["left", "right"]
where = ["edge", "all"]
pair = "nearest"
k = 100.0
[[attach]]
bodies = ["left", "box"]
where = "corners(top)"
k = 50.0
[[law]]
law = "gravity"
[[law]]
law = "rayleigh"
alpha = 0.1
beta = 0.01
[[law]]
law = "force"
f = [0, "sin(3*t)*x", 0]
"""
FILES = {
    "k.csv": "k\n" + "\n".join(str(100.0 + i) for i in range(16)),
    "path.csv": "t, x, y, z\n0, 0, 0, 0\n1, 0, 1, 0\n",
    "tile.obj": "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n",
}
VALUES: list[Any] = [
    0, -1, 1, 2**31, 2**63, 10**30, 10**400, 0.0, -0.0, 1e-300, 1e300, 1e19, -1e19, float("nan"), float("inf"), True, False, "",
    " ", "x", "1e999", "all", "none", "y > 0.9*max", "((((((((((", "x" * 2000, "1/0", "x^x^x^x^999", "sin(", "t",
    "../../etc/passwd", "/etc/passwd", "k.csv", "tile.obj", "path.csv", "a\0b", "\x1b[2J", [], [[]], [0], [0, 0, 0],
    [1e19, 1e19, 1e19], [[0, 1]], [[0, 0]], [["a"]], list(range(5000)), {}, {"a": 1}, {"file": "k.csv"},
    {"times": [0, 1], "values": [0, 1]}, {"times": [0], "values": [[1, 2]]}, {"shape": "sphere", "n": 5},
    {"shape": "sheet", "nx": 10**9, "ny": 10**9}, "spring", "gravity", "wind", "gas", "edges", "hinges", "triangles",
    "rod_hinges", "points", "springs", "ImplicitEuler", "RK4", "cotton", "box",
]  # fmt: skip


def samples() -> list[str]:
    """Good scenes, small ones."""
    found = [RICH]
    for name in scene.names():
        if name == "bunny":
            continue  # it takes a second to make
        tables = tomllib.loads(scene.new(name))
        tables["body"][0]["mesh"] |= SMALL.get(name, {})
        found.append(toml(tables))
    return found


def spoilt(good: list[str], rng: Rng) -> str:
    """One of the scenes with a few changes, as text or as tables."""
    text = good[int(rng.integers(len(good)))]
    if rng.random() < 0.8:
        tables = tomllib.loads(text)
        for _ in range(int(rng.integers(1, 3))):
            _spoil_tables(tables, rng)
        return toml(tables)
    for _ in range(int(rng.integers(1, 4))):
        text = _spoil_text(text, rng)
    return text


def _spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every table or list with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _spots(value[key])


def _spoil_tables(tables: Any, rng: Rng) -> None:
    spots = list(_spots(tables))
    if not spots:
        return
    table, key = spots[int(rng.integers(len(spots)))]
    what = rng.random()
    if what < 0.3:
        table[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
    elif what < 0.4:
        del table[key]
    elif what < 0.85 and isinstance(table[key], (int, float)) and not isinstance(table[key], bool):
        table[key] = float(min(table[key], 1e300)) * float(10.0 ** rng.integers(-9, 10)) * (-1 if rng.random() < 0.2 else 1)
    elif what < 0.9 and isinstance(table, dict):
        table[str(key) + "x"] = table.pop(key)
    else:  # another value of the same scene
        other, name = spots[int(rng.integers(len(spots)))]
        table[key] = copy.deepcopy(other[name])


def _spoil_text(text: str, rng: Rng) -> str:
    lines = text.splitlines()
    i, j = (int(rng.integers(max(len(lines), 1))) for _ in range(2))
    what = int(rng.integers(6))
    if what == 0:
        return text[: int(rng.integers(len(text) + 1))]
    if what == 1:
        return "\n".join(lines[:i] + lines[i + 1 :])
    if what == 2:
        return "\n".join([*lines[:i], *lines[min(i, j) : max(i, j)], *lines[i:]])
    if what == 3 and lines:
        lines[i], lines[j] = lines[j], lines[i]
        return "\n".join(lines)
    if what == 4:
        at = int(rng.integers(len(text) + 1))
        return text[:at] + "".join(rng.choice(list('[]{}"=,.\n0a#-\\\0é'), int(rng.integers(1, 6)))) + text[at + 1 :]
    start = int(rng.integers(len(text) + 1))
    return text[:start] + text[start : start + 40] * int(rng.integers(2, 200)) + text[start:]


def write_files(folder: Path) -> None:
    """What the scene with everything names."""
    for name, content in FILES.items():
        (folder / name).write_text(content)


def attempt(text: str, folder: Path) -> str:
    """Read and build: what came of it."""
    try:
        made = scene.read_text(text, folder=folder, most=PARTICLES)
    except taut.SceneError:
        return "refused when read"
    try:
        made.build()
        made.inputs()
        scene.read_text(made.resolved(), folder=folder, most=PARTICLES)
    except (taut.SceneError, taut.MeshError):
        return "refused when built"
    return "built"


def _hang(*_: Any) -> None:
    raise TimeoutError("it does not end")


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    logging.getLogger("taut").setLevel(logging.ERROR)
    warnings.simplefilter("error")
    signal.signal(signal.SIGALRM, _hang)
    rng, good = np.random.default_rng(asked.seed), samples()
    counts: dict[str, int] = {}
    slowest, failures = 0.0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        for text in good:
            assert attempt(text, folder) == "built"
        for number in range(asked.files):
            text = spoilt(good, rng)
            begun = time.process_time()
            signal.alarm(HANG)
            try:
                found = attempt(text, folder)
            except Exception as error:
                found = f"FAILED with {type(error).__name__}: {str(error)[:80]}"
            signal.alarm(0)
            took = time.process_time() - begun
            slowest = max(slowest, took)
            counts[found] = counts.get(found, 0) + 1
            if found.startswith("FAILED") or took > SECONDS:
                failures += 1
                kept = Path(tempfile.gettempdir()) / f"taut-scene-{asked.seed}-{number}.toml"
                kept.write_text(text)
                print(f"{found} after {took:.2f} s: {kept}", flush=True)
    for what, count in sorted(counts.items()):
        print(f"{count:7} {what}")
    print(f"{asked.files} scenes, slowest {slowest:.2f} s, {failures} failures")
    print(f"95%: at most {3 / asked.files:.2g} of such scenes fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
