"""Kernels compiled by another process meanwhile.

They are there, nothing in the current folder runs, and nothing is done twice.
"""

import os
import secrets
import subprocess
import sys
import textwrap

import pytest

from taut.jit import background_compile
from taut.jit.compile import SourceModule, load

MODULE = "taut.linalg._block_kernels"
CODE = f"""
    import subprocess, threading
    from taut.jit import compile
    from taut.jit.background_compile import compile_in_background

    began = []
    def popen(*arguments, real=subprocess.Popen, **options):
        began.append(real(*arguments, **options))
        return began[-1]
    subprocess.Popen = popen

    compile.ANNOUNCE_AFTER = 0.0  # every compilation is announced, however quick the machine
    unit = compile.kernel_source("{MODULE}")
    law = compile.SourceModule("mine", "0" * 24, "a law", lambda: "value = 7\\n")
    assert not compile.is_compiled(unit)
    arguments = ([unit, law],)
    threads = [threading.Thread(target=compile_in_background, args=arguments) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(began) == 1, "each is begun once"
    if {{wait}}:
        began[0].wait()
        assert compile.is_compiled(unit) and compile.is_compiled(law), began[0].returncode
    loops = compile.kernels("{MODULE}")  # or waits for it
    assert compile.load(law).value == 7
    assert loops.multiply.stats.cache_hits if {{wait}} else loops.multiply.signatures
    compile.clear_cache()
    compile_in_background([unit, law])
    assert len(began) == 1, "what is loaded needs no file"
"""


@pytest.fixture
def trapped(tmp_path):
    """A folder in which Python would find modules that leave a trace."""
    here = tmp_path / "here"
    here.mkdir()
    for name in ("taut", "numba", "numpy"):
        (here / f"{name}.py").write_text(
            f"open({str(tmp_path / 'trace')!r}, 'w').close(); raise ImportError('a trap')"
        )
    return here


@pytest.mark.parametrize("wait", [True, False])
def test_another_process_compiles_and_runs_nothing_from_the_current_folder(tmp_path, trapped, wait):
    environment = {**os.environ, "TAUT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-P", "-c", textwrap.dedent(CODE).replace("{wait}", str(wait))]
    done = subprocess.run(
        command,
        env=environment,
        cwd=trapped,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if wait:
        assert "compiling" not in done.stderr, "this process found it in the cache"
    assert not (tmp_path / "trace").exists()


@pytest.fixture
def unit(tmp_path, monkeypatch):
    """Something that nobody has compiled, and a cache without it."""
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "cache"))
    return SourceModule("never", secrets.token_hex(12), "a test", lambda: "value = 3\n")


@pytest.mark.parametrize("program", ["animator", "pythonservice.exe", "python-studio", ""])
def test_programs_that_have_python_inside_are_not_started_again(unit, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(
        background_compile.subprocess, "Popen", lambda *_, **__: pytest.fail("it was started")
    )
    background_compile.compile_in_background([unit])
    assert load(unit).value == 3


@pytest.mark.parametrize(
    "error", [BlockingIOError("no more processes"), RuntimeError("can't start new thread")]
)
def test_without_another_process_nothing_is_lost(unit, monkeypatch, error):
    tried = []

    def refuse(command, **_):
        tried.append(command)
        raise error

    monkeypatch.setattr(background_compile.subprocess, "Popen", refuse)
    background_compile.compile_in_background([unit])
    background_compile.compile_in_background([unit])
    assert len(tried) == 1, "once is enough"
    assert load(unit).value == 3
