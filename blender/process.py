"""The process of a bake: `taut run` or `taut resume`, started, watched and cancelled.

Its frames arrive in point caches, which tell the progress; what it prints goes to a file.
"""

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import point_cache
from .preferences import TautError

RUN, RAW, LOG = "run", "raw/frames.pc2", "taut.log"
_BAKED = "baked.txt"  # the digest of the export that the run belongs to
_SECONDS_TO_STOP = 60
_MAX_PAIRS = 3  # of points that intersect, in a message
_MAX_MESSAGE = 600  # characters that are shown; the log has all


@dataclass
class Process:
    """A taut that is running.

    folder : of the scene; index : content of its blender.json
    """

    folder: Path
    index: dict
    child: subprocess.Popen

    @property
    def is_running(self):
        """Whether it has not ended yet."""
        return self.child.poll() is None

    @property
    def frames(self):
        """How many frames are there."""
        files = list_raw_caches(self.folder, self.index)
        return min((point_cache.count_samples(path) for path in files.values()), default=0)

    def interrupt(self):
        """Tell it to end after the step under way."""
        if os.name == "nt":
            self.child.terminate()  # the last frame on the disk is where it resumes
        else:
            self.child.send_signal(signal.SIGINT)

    def cancel(self):
        """End the run after the step under way; it can be resumed."""
        if not self.is_running:
            return
        self.interrupt()
        try:
            self.child.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def explain(self):
        """Return why it ended without all frames, with the names of objects; "" if it has them."""
        if self.child.returncode == 0:
            return ""
        if self.child.returncode in (130, -signal.SIGINT, -signal.SIGTERM):
            return "cancelled"
        text = (self.folder / LOG).read_text(encoding="utf-8", errors="replace")
        lines = text[text.rfind("\ntaut: ") + 1 :] if "\ntaut: " in text else text
        return explain(lines, self.index)


def explain(text, index):
    """Return an error of taut with the names of objects in place of those of bodies."""
    names, bodies = index["names"], index["bodies"]

    def name_body(found):
        return f"'{names.get(bodies[int(found[1])], bodies[int(found[1])])}': "

    found = re.sub(r"^taut: (\S*scene\.toml: \d+ errors?:\s*)?", "", text.strip())
    found = re.sub(r"body\[(\d+)\]\.?", name_body, found)
    found = re.sub(r"'([A-Za-z0-9_]+)'", lambda m: f"'{names.get(m[1], m[1])}'", found)
    if "must be apart" in found:
        pairs = found[found.index("the ") :].split("; ")
        found = (
            "objects intersect at the first frame. Move them apart, lower their thickness, or "
            f"untick Touches: {'; '.join(pairs[:_MAX_PAIRS])}"
        )
    return found if len(found) <= _MAX_MESSAGE else f"{found[:_MAX_MESSAGE]} …"


def list_raw_caches(folder, index):
    """Return the point caches that taut writes, by the names of the objects."""
    raw = folder / RAW
    if len(index["bodies"]) == 1:
        return dict.fromkeys(index["objects"], raw)
    return {
        name: raw.with_name(f"{raw.stem}_{entry['body']}{raw.suffix}")
        for name, entry in index["objects"].items()
    }


def start(program, folder, index, *, resume):
    """Start taut in the folder of a scene; it resumes where it stopped, or starts over."""
    baked = folder / _BAKED
    if not resume:
        baked.write_text(index["digest"])
    elif not baked.exists() or baked.read_text() != index["digest"]:
        raise TautError(
            "the scene was exported anew, with changes, after this bake began, so it cannot be "
            "resumed: Bake begins anew"
        )
    words = [*program, "resume", RUN] if resume else [*program, "run", "scene.toml", "-o", RUN]
    words += ["--cache", RAW] + ([] if resume else ["--overwrite"])
    for path in (folder / RAW).parent.glob("*.pc2"):
        path.unlink()  # so that no frame of an older run is taken for one of this
    flags = subprocess.CREATE_NO_WINDOW if os.name == "nt" else 0
    try:
        with open(folder / LOG, "wb") as log:
            child = subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                creationflags=flags,
            )
    except OSError as error:
        raise TautError(f"{program[0]} cannot be started: {error}") from error
    return Process(folder, index, child)
