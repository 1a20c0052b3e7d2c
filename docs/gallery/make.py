"""Draws the gallery: runs every built-in scene, draws it at its most telling moment.

And writes the page.

    python docs/gallery/make.py              all of them, which takes some minutes
    python docs/gallery/make.py cloth flag   some of them
    python docs/gallery/make.py --runs DIR   keeps the runs in a folder, and takes those that are there

It needs the extras `render` and `plot`.
"""

import sys
import tempfile
from pathlib import Path

import taut
from taut.scene import load, names, why
from taut.show.plot import energy
from taut.show.render import render

HERE = Path(__file__).parent
SIZE = (480, 300)

HEAD = """# Gallery

The built-in scenes (`taut scenes`), each at a characteristic moment. `taut run NAME` runs a scene and writes a run folder, and
[`taut render`](guide/pictures.md) draws the run. [make.py](gallery/make.py) draws all pictures of this page.

![Jellies fall into a bowl, at half of their real speed](gallery/bowl.gif)
"""

# scene → when [s], and how it is drawn
MOMENTS = {
    "spring": (0.31, {"colour": "strain"}),
    "pendulum": (2.1, {"colour": "speed"}),
    "chain": (5.0, {}),
    "bridge": (3.6, {"colour": "stress"}),
    "cloth": (0.28, {}),
    "flag": (2.6, {}),
    "curtain": (1.6, {}),
    "cape": (0.875, {}),
    "sheet": (2.0, {}),
    "net": (0.3, {"colour": "stress"}),
    "tensegrity": (0.1, {"colour": "stress"}),
    "tower": (0.5, {"colour": "stress"}),
    "jelly": (0.16, {"colour": "strain"}),
    "beam": (3.0, {"colour": "stress"}),
    "bunny": (0.3, {"colour": "speed"}),
    "balloon": (1.0, {"colour": "strain"}),
    "tear": (0.60, {"colour": "strain"}),
    "snap": (1.5, {"colour": "shell_bending"}),
    "drape": (0.6, {}),
    "ropes": (1.0, {}),
    "knot": (1.0, {"colour": "contact"}),
    "cards": (0.5, {}),
    "blanket": (0.6, {}),
    "catch": (0.16, {}),
    "bowl": (0.4, {}),
    "wrap": (2.2, {}),
}


def run_of(name, folder):
    """The run of a scene in a folder, made if it is not there."""
    if not (folder / "summary.json").exists():
        load(name).record(folder, overwrite=True)
    return taut.open_run(folder)


def frame_of(name):
    """The number of the frame at the moment of a scene."""
    file = load(name).file
    return round(MOMENTS[name][0] / (file.time.step * file.output.every))


def draw(name, run):
    """The picture of a scene."""
    path = HERE / f"{name}.png"
    render(run, path, frame=frame_of(name), size=SIZE, overwrite=True, **MOMENTS[name][1])
    print(f"{path.name}: frame {frame_of(name)}, {path.stat().st_size / 1000:.0f} kB")


def page():
    """The gallery in words: each scene, what there is to see, and the commands that draw it."""
    parts = [HEAD]
    for name in names():
        when, how = MOMENTS[name]
        said = why(name)
        shown = "".join(f" --{option} {value}" for option, value in how.items())
        parts.append(
            "## "
            f"{name}\n\n![{load(name).title}](gallery/{name}.png)\n\n{said[0].upper()}{said[1:]}. Here at t = {when:g} s.\n\n"
            f"```bash\ntaut run {name}\ntaut render runs/{name}-1 -o {name}.png --frame "
            f"{frame_of(name)}{shown}\n```\n"
        )
    return "\n".join(parts)


def main(words):
    kept = Path(words[words.index("--runs") + 1]) if "--runs" in words else None
    wanted = [word for word in words if word in names()] or names()
    with tempfile.TemporaryDirectory() as scratch:
        for name in wanted:
            with run_of(name, (kept or Path(scratch)) / name) as run:
                draw(name, run)
                if name == "flag":
                    energy(run).savefig(HERE / "energy.png", dpi=80, metadata={"Software": None})
                if name == "bowl":
                    render(run, HERE / "bowl.gif", size=(400, 300), speed=0.5, overwrite=True)
                    print(f"bowl.gif: {(HERE / 'bowl.gif').stat().st_size / 1000:.0f} kB")
    (HERE.parent / "gallery.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
