"""Let every write of a run fail in turn: a clear error, and nothing lost that was on the disk.

    python -m benchmarks.faults [--every 1] [--call N] [--json]

A library between Python and the system (C, built with `cc`; Linux only) counts the calls by which a run changes its folder:
opening to write, writing, syncing, truncating, renaming, deleting. A short run is recorded again and again, and each time another
of the calls fails, in one of these ways:

    EIO       an error of the device, once
    ENOSPC    a full disk: this call and all after it
    torn      half of what was to be written is, then the disk is full

After each: the run ended in a RunError or, where the call did not matter, as it should; it opens; every frame said to be durable
is there, and every frame there is that of an undisturbed run; and it is resumed to the same last bits. `--every 10` tries one call
in ten, `--call N` only one.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import taut
from benchmarks.kill import frames_of, torn_sheet
from taut.run.codec import sha256_of
from taut.run.connection import FILE
from taut.run.opening import open_run
from taut.run.record import record, resume

STEPS = {"h": 0.04, "until": 0.32, "every": 2, "scene": "# torn sheet\n", "inputs": {"sheet.obj": b"v 0 0 0\n"}}
MODES = ("EIO", "ENOSPC", "torn")
LIBRARY = "TAUT_FAULTS"  # where the library is

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[4096];
static long at = -1, calls = 0;
static int error = 0, sticky = 0, torn = 0;
static char hit[32] = "";

void fault_arm(const char *f, long n, int e, int s, int half) {
    strncpy(folder, f, sizeof folder - 1);
    at = n; error = e; sticky = s; torn = half; calls = 0; hit[0] = 0;
}
long fault_calls(void) { return calls; }
const char *fault_hit(void) { return hit; }

static int fails(const char *path, const char *name) {
    if (!folder[0] || !path || strncmp(path, folder, strlen(folder))) return 0;
    long n = calls++;
    if (at < 0 || n < at || (n > at && !sticky)) return 0;
    if (!hit[0]) strncpy(hit, name, sizeof hit - 1);
    errno = error;
    return 1;
}
static int fails_at(int fd, const char *name) {
    char link[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return fails(path, name);
}
#define REAL(name, type) static __typeof__(type) real; if (!real) real = (__typeof__(type))dlsym(RTLD_NEXT, name)

static int opened(const char *name, const char *path, int flags, mode_t mode) {
    REAL(name, int (*)(const char *, int, ...));
    if ((flags & (O_CREAT | O_WRONLY | O_RDWR)) && fails(path, "open")) return -1;
    return real(path, flags, mode);
}
#define MODE(flags) mode_t mode = 0; if ((flags) & O_CREAT) { va_list l; va_start(l, flags); mode = va_arg(l, mode_t); va_end(l); }
int open(const char *path, int flags, ...) { MODE(flags) return opened("open", path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened("open64", path, flags, mode); }

ssize_t write(int fd, const void *data, size_t n) {
    REAL("write", ssize_t (*)(int, const void *, size_t));
    if (fails_at(fd, "write")) return torn && calls - 1 == at && n > 1 ? real(fd, data, n / 2) : -1;
    return real(fd, data, n);
}
static ssize_t pwritten(const char *name, int fd, const void *data, size_t n, off_t place) {
    REAL(name, ssize_t (*)(int, const void *, size_t, off_t));
    if (fails_at(fd, "pwrite")) return torn && calls - 1 == at && n > 1 ? real(fd, data, n / 2, place) : -1;
    return real(fd, data, n, place);
}
ssize_t pwrite(int fd, const void *d, size_t n, off_t p) { return pwritten("pwrite", fd, d, n, p); }
ssize_t pwrite64(int fd, const void *d, size_t n, off_t p) { return pwritten("pwrite64", fd, d, n, p); }

#define OF_FD(name) int name(int fd) { REAL(#name, int (*)(int)); return fails_at(fd, #name) ? -1 : real(fd); }
OF_FD(fsync)
OF_FD(fdatasync)
int ftruncate(int fd, off_t n) { REAL("ftruncate", int (*)(int, off_t)); return fails_at(fd, "ftruncate") ? -1 : real(fd, n); }
int ftruncate64(int fd, off_t n) { REAL("ftruncate64", int (*)(int, off_t)); return fails_at(fd, "ftruncate") ? -1 : real(fd, n); }
int rename(const char *a, const char *b) {
    REAL("rename", int (*)(const char *, const char *)); return fails(b, "rename") ? -1 : real(a, b);
}
int unlink(const char *p) { REAL("unlink", int (*)(const char *)); return fails(p, "unlink") ? -1 : real(p); }
int mkdir(const char *p, mode_t m) { REAL("mkdir", int (*)(const char *, mode_t)); return fails(p, "mkdir") ? -1 : real(p, m); }
"""


def build(folder: Path) -> Path:
    """The library that fails."""
    (folder / "faults.c").write_text(SOURCE)
    library = folder / "faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", library, folder / "faults.c", "-ldl"], check=True)
    return library


def in_a_process(work: Any) -> dict[str, Any]:
    """What work returns, done in a process of its own."""
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(heard)
            found = json.dumps(work()).encode()
            os.write(said, found)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(said)
    with os.fdopen(heard, "rb") as stream:
        found = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return json.loads(found) if code == 0 else {"crashed": code}


def recorded(folder: Path, at: int, mode: str) -> dict[str, Any]:
    """Record with the call of that number failing: how it ended, what was durable, which call it was."""
    library = ctypes.CDLL(os.environ[LIBRARY])
    library.fault_hit.restype = ctypes.c_char_p
    durable, error, sha = [-1], "", ""
    number = errno.EIO if mode == "EIO" else errno.ENOSPC
    library.fault_arm(str(folder).encode(), at, number, mode != "EIO", mode == "torn")
    try:
        sha = sha256_of(record(folder, torn_sheet(), taut.BDF2(), tell=lambda p: durable.append(p.durable), **STEPS).state)
    except taut.RunError as caught:
        error = str(caught)
    calls, hit = library.fault_calls(), library.fault_hit().decode()
    library.fault_arm(b"", -1, 0, 0, 0)
    return {"durable": max(durable), "error": error, "sha": sha, "calls": calls, "hit": hit}


def resumed(folder: Path) -> dict[str, Any]:
    """Go on, or begin again where nothing was begun: SHA-256 of the last state."""
    if (folder / FILE).exists():
        with open_run(folder) as run:
            if run.finished:  # it was the news of it that failed
                return {"sha": sha256_of(run.state())}
    else:
        return {"sha": sha256_of(record(folder, torn_sheet(), taut.BDF2(), overwrite=True, **STEPS).state)}
    return {"sha": sha256_of(resume(folder, torn_sheet(), taut.BDF2()).state)}


def verdict(folder: Path, told: dict[str, Any], whole: list[str], sha: str) -> str:
    """What is wrong after a fault, or nothing."""
    if "crashed" in told:
        return f"the process ended with {told['crashed']}"
    if told["error"] and (str(folder) not in told["error"] or "cannot" not in told["error"]):
        return f"an unclear error: {told['error']}"
    if not (folder / FILE).exists():
        if told["durable"] >= 0:
            return "a durable step, and no run"
    else:
        try:
            frames = frames_of(folder)
        except taut.TautError as error:
            return f"does not open: {error}"
        if frames != whole[: len(frames)]:
            return "has other frames than an undisturbed run"
        if 2 * (len(frames) - 1) < told["durable"]:
            return f"step {told['durable']} was said to be durable, and there are {len(frames)} frames"
    if not told["error"]:
        return "" if told["sha"] == sha else "ends in other bits"
    again = in_a_process(lambda: resumed(folder))
    if again.get("sha") != sha:
        return f"resumed, it ends in other bits: {again}"
    return "" if frames_of(folder) == whole else "resumed, it has other frames"


def campaign(folder: Path, every: int, only: int | None = None) -> dict[str, Any]:
    """All calls, or one in so many, in every way: counts, and what went wrong."""
    sys.modules["matplotlib.figure"] = None  # type: ignore[assignment]  # a picture takes longer than all the rest
    recorded(folder / "warm", -1, "EIO")  # what is compiled and loaded here need not be in every process
    first = in_a_process(lambda: recorded(folder / "whole", -1, "EIO"))
    whole, sha, calls = frames_of(folder / "whole"), first["sha"], first["calls"]
    counts: Counter[str] = Counter()
    failures = []
    for mode in MODES:
        for at in range(0, calls, every) if only is None else [only]:
            where = folder / f"{mode}{at}"
            told = in_a_process(lambda w=where, a=at, m=mode: recorded(w, a, m))
            wrong = verdict(where, told, whole, sha)
            if wrong:
                failures.append(f"call {at} ({told.get('hit')}, {mode}): {wrong}")
            counts[f"{told.get('hit') or 'none'}: {'RunError' if told.get('error') else 'no harm'}"] += 1
    return {"calls": calls, "faults": sum(counts.values()), "counts": dict(sorted(counts.items())), "failures": failures}


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--call", type=int, help="only the call of this number")
    parser.add_argument("--every", type=int, default=1, help="try one call in so many")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        if LIBRARY not in os.environ:  # begin again, with the library before all others
            library = str(build(Path(temporary)))
            alone = {"LD_PRELOAD": library, LIBRARY: library, "NUMBA_NUM_THREADS": "1"}  # threads do not survive a fork
            command = [sys.executable, "-m", "benchmarks.faults", *sys.argv[1:]]
            return subprocess.run(command, env={**os.environ, **alone}, check=False).returncode
        found = campaign(Path(temporary), options.every, options.call)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"{found['faults']} faults at {found['calls']} calls: {found['counts']}")
        print("\n".join(found["failures"]) or "nothing was lost")
    return int(bool(found["failures"]))


if __name__ == "__main__":
    sys.exit(main())
