"""Calls in a child interpreter: results return, and this process survives any failure
of the child.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from taut.errors import MeshError
from taut.mesh.isolated import call_isolated

CHILD = """
import os, signal, sys, time

import numpy as np


def segfault(arrays):
    os.kill(os.getpid(), signal.SIGSEGV)

def abort(arrays):
    message = "terminate called after throwing an instance of 'std::bad_alloc'"
    print(message, file=sys.stderr, flush=True)
    os.abort()

def fail(arrays):
    raise ValueError("the file makes no sense")

def leave(arrays):
    sys.exit(3)

def vanish(arrays):
    os._exit(0)

def sleep(arrays, pid_file=None):
    if pid_file:
        with open(pid_file + "~", "w") as file:
            file.write(str(os.getpid()))
        os.rename(pid_file + "~", pid_file)
    time.sleep(600)

def shout(arrays):
    print("noise")
    os.system("echo more noise; echo and more >&2")
    return {}, {}

def litter(arrays):
    open("litter.txt", "w").close()
    return {}, {"folder": os.getcwd()}

def objects(arrays):
    return {"x": np.array([{}, None])}, {}

def limit(arrays):
    import resource
    return {}, {"soft": resource.getrlimit(resource.RLIMIT_AS)[0]}
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    (tmp_path / "child_functions.py").write_text(CHILD)
    monkeypatch.syspath_prepend(tmp_path)
    return lambda name, **options: call_isolated(
        f"child_functions:{name}", {}, options, what="reading x.mesh", timeout=60
    )


def test_arrays_and_metadata_round_trip():
    arrays = {
        "file": np.arange(6, dtype=np.int32).reshape(2, 3),
        "empty": np.empty((0, 3)),
        "names": np.array(["a", "bcd"]),
        "number": np.array(np.pi),
        "order": np.asfortranarray(np.eye(3)),
    }
    facts = {"unit": "m", "list": [1, 2.5, None], "nested": {"a": True}}
    back, metadata = call_isolated(
        "taut.mesh.isolated:echo", arrays, facts, what="trying", timeout=60
    )
    assert metadata == facts
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert back[name].shape == array.shape
        assert (back[name] == array).all()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals of this kind")
def test_a_crash_names_its_signal(call):
    with pytest.raises(MeshError, match=r"^reading x\.mesh: the child crashed with SIGSEGV$"):
        call("segfault")
    with pytest.raises(
        MeshError,
        match=r"the child crashed with SIGABRT: terminate called after .* 'std::bad_alloc'",
    ):
        call("abort")


def test_every_abnormal_exit_raises_mesh_error(call):
    with pytest.raises(MeshError, match="exit code 1: ValueError: the file makes no sense"):
        call("fail")
    with pytest.raises(MeshError, match=r"exit code 3$"):
        call("leave")
    with pytest.raises(MeshError, match="without a result"):
        call("vanish")
    with pytest.raises(MeshError, match="AttributeError"):
        call("no_such_function")
    with pytest.raises(MeshError, match="the array 'x' must not hold Python objects"):
        call("objects")


def test_reject_object_arrays():
    with pytest.raises(MeshError, match="the array 'x' must not hold Python objects"):
        call_isolated(
            "taut.mesh.isolated:echo", {"x": np.array([None])}, {}, what="trying", timeout=60
        )


def test_hanging_child_is_killed(call, tmp_path):
    with pytest.raises(MeshError, match=r"reading x\.mesh: killed after 2 s"):
        call_isolated(
            "child_functions:sleep",
            {},
            {"pid_file": str(tmp_path / "pid")},
            what="reading x.mesh",
            timeout=2,
        )
    if (tmp_path / "pid").exists():  # on a busy machine the child may not have started yet
        assert _is_dead(int((tmp_path / "pid").read_text()))


def test_child_output_is_suppressed(call, capfd):
    assert call("shout") == ({}, {})
    assert capfd.readouterr() == ("", "")


def test_files_left_by_the_child_are_removed(call):
    _, metadata = call("litter")
    assert metadata["folder"] != os.getcwd()
    assert not os.path.exists(metadata["folder"])


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is guaranteed on Linux only")
def test_memory_is_limited(call):
    _, metadata = call("limit")
    assert 0 < metadata["soft"] <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_kills_the_child(call, tmp_path):
    pid_file = tmp_path / "pid"
    code = (
        # A shell starts background jobs with SIGINT ignored, and children inherit that.
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from taut.mesh.isolated import call_isolated\n"
        f"call_isolated('child_functions:sleep', {{}}, {{'pid_file': {str(pid_file)!r}}}, "
        "what='reading', timeout=300)"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        assert _eventually(pid_file.exists)
        parent.send_signal(signal.SIGINT)
        assert parent.wait(60) != 0
    finally:
        parent.kill()
    assert _is_dead(int(pid_file.read_text()))


def _is_dead(pid):
    def dead():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    return _eventually(dead)


def _eventually(condition):
    """Whether the condition holds within a minute."""
    for _ in range(1200):
        if condition():
            return True
        time.sleep(0.05)
    return False
