"""Kernels compiled by another process meanwhile: they are there, nothing in the current folder runs, and nothing is done twice."""

import os
import secrets
import subprocess
import sys
import textwrap

import pytest

from taut.formula import ahead
from taut.formula.compile import Unit, load

MODULE = "taut.system.product_kernels"
CODE = f"""
    import subprocess, threading
    from taut.formula import compile
    from taut.formula.ahead import compile_ahead

    began = []
    def popen(*arguments, real=subprocess.Popen, **options):
        began.append(real(*arguments, **options))
        return began[-1]
    subprocess.Popen = popen

    compile.SLOW = 0.0  # every compilation is announced, however quick the machine
    unit = compile.kernel_unit("{MODULE}")
    law = compile.Unit("mine", "0" * 24, "a law", lambda: "value = 7\\n")
    assert not compile.is_compiled(unit)
    threads = [threading.Thread(target=compile_ahead, args=([unit, law],)) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(began) == 1, "each is begun once"
    if {{wait}}:
        began[0].wait()
        assert compile.is_compiled(unit) and compile.is_compiled(law), began[0].returncode
    loops = compile.kernels("{MODULE}")  # or waits for it
    assert compile.load(law).value == 7
    assert loops.times.stats.cache_hits if {{wait}} else loops.times.signatures
    compile.clear_cache()
    compile_ahead([unit, law])
    assert len(began) == 1, "what is loaded needs no file"
"""


@pytest.fixture
def trapped(tmp_path):
    """A folder in which Python would find modules that leave a trace."""
    here = tmp_path / "here"
    here.mkdir()
    for name in ("taut", "numba", "numpy"):
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'trace')!r}, 'w').close(); raise ImportError('a trap')")
    return here


@pytest.mark.parametrize("wait", [True, False])
def test_another_process_compiles_and_runs_nothing_from_the_current_folder(tmp_path, trapped, wait):
    environment = {**os.environ, "TAUT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-P", "-c", textwrap.dedent(CODE).replace("{wait}", str(wait))]
    done = subprocess.run(command, env=environment, cwd=trapped, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    if wait:
        assert "compiling" not in done.stderr, "this process found it in the cache"
    assert not (tmp_path / "trace").exists()


@pytest.fixture
def unit(tmp_path, monkeypatch):
    """Something that nobody has compiled, and a cache without it."""
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "cache"))
    return Unit("never", secrets.token_hex(12), "a test", lambda: "value = 3\n")


@pytest.mark.parametrize("program", ["animator", "pythonservice.exe", "python-studio", ""])
def test_programs_that_have_python_inside_are_not_started_again(unit, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(ahead.subprocess, "Popen", lambda *_, **__: pytest.fail("it was started"))
    ahead.compile_ahead([unit])
    assert load(unit).value == 3


@pytest.mark.parametrize("error", [BlockingIOError("no more processes"), RuntimeError("can't start new thread")])
def test_without_another_process_nothing_is_lost(unit, monkeypatch, error):
    tried = []

    def refuse(command, **_):
        tried.append(command)
        raise error

    monkeypatch.setattr(ahead.subprocess, "Popen", refuse)
    ahead.compile_ahead([unit])
    ahead.compile_ahead([unit])
    assert len(tried) == 1, "once is enough"
    assert load(unit).value == 3
