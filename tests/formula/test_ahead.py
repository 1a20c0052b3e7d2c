"""Kernels compiled by another process meanwhile: they are there, nothing in the current folder runs, and nothing is done twice."""

import os
import subprocess
import sys
import textwrap

import pytest

from taut.formula import ahead

MODULE = "taut.system.product_kernels"
CODE = f"""
    import subprocess, time
    from taut.formula import compile
    from taut.formula.ahead import compile_ahead

    began = []
    def popen(*arguments, real=subprocess.Popen, **options):
        began.append(real(*arguments, **options))
        return began[-1]
    subprocess.Popen = popen

    compile.SLOW = 0.0  # every compilation is announced, however quick the machine
    assert not compile.is_compiled("{MODULE}")
    compile_ahead("{MODULE}")
    began[0].wait()
    assert compile.is_compiled("{MODULE}"), began[0].returncode
    compile_ahead("{MODULE}")
    assert len(began) == 1
    compile.kernels("{MODULE}")
"""


@pytest.fixture
def trapped(tmp_path):
    """A folder in which Python would find modules that leave a trace."""
    here = tmp_path / "here"
    here.mkdir()
    for name in ("taut", "numba", "numpy"):
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'trace')!r}, 'w').close(); raise ImportError('a trap')")
    return here


def test_another_process_compiles_and_runs_nothing_from_the_current_folder(tmp_path, trapped):
    environment = {**os.environ, "TAUT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-P", "-c", textwrap.dedent(CODE)]
    done = subprocess.run(command, env=environment, cwd=trapped, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "compiling" not in done.stderr, "this process found it in the cache"
    assert not (tmp_path / "trace").exists()


def test_programs_that_have_python_inside_are_not_started_again(tmp_path, monkeypatch):
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "animator"))
    monkeypatch.setattr(ahead.subprocess, "Popen", lambda *_, **__: pytest.fail("it was started"))
    ahead.compile_ahead(MODULE)
    assert not list((tmp_path / "cache").glob("*.ready"))


def test_without_another_process_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "cache"))
    tried = []

    def refuse(command, **_):
        tried.append(command)
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(ahead.subprocess, "Popen", refuse)
    ahead.compile_ahead(MODULE)
    assert len(tried) == 1
