"""Kernels compiled by a background process.

They are cached, no code from the current folder runs, and nothing is compiled twice.
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
def folder_with_trap_modules(tmp_path):
    """A folder with modules that leave a trace if Python imports them."""
    here = tmp_path / "here"
    here.mkdir()
    for name in ("taut", "numba", "numpy"):
        (here / f"{name}.py").write_text(
            f"open({str(tmp_path / 'trace')!r}, 'w').close(); raise ImportError('a trap')"
        )
    return here


@pytest.mark.parametrize("wait", [True, False])
def test_another_process_compiles_and_runs_nothing_from_the_current_folder(
    tmp_path, folder_with_trap_modules, wait
):
    environment = {**os.environ, "TAUT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-P", "-c", textwrap.dedent(CODE).replace("{wait}", str(wait))]
    done = subprocess.run(
        command,
        env=environment,
        cwd=folder_with_trap_modules,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if wait:
        assert "compiling" not in done.stderr, "this process must find it in the cache"
    assert not (tmp_path / "trace").exists()


@pytest.fixture
def uncached_module(tmp_path, monkeypatch):
    """A source module that is not in the cache, and an empty cache."""
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "cache"))
    return SourceModule("never", secrets.token_hex(12), "a test", lambda: "value = 3\n")


@pytest.mark.parametrize("program", ["animator", "pythonservice.exe", "python-studio", ""])
def test_embedded_python_starts_no_child_process(uncached_module, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(
        background_compile.subprocess,
        "Popen",
        lambda *_, **__: pytest.fail("a child process was started"),
    )
    background_compile.compile_in_background([uncached_module])
    assert load(uncached_module).value == 3


@pytest.mark.parametrize(
    "error", [BlockingIOError("no more processes"), RuntimeError("can't start new thread")]
)
def test_compiles_in_process_if_the_child_cannot_start(uncached_module, monkeypatch, error):
    tried = []

    def refuse(command, **_):
        tried.append(command)
        raise error

    monkeypatch.setattr(background_compile.subprocess, "Popen", refuse)
    background_compile.compile_in_background([uncached_module])
    background_compile.compile_in_background([uncached_module])
    assert len(tried) == 1, "the child process must be started only once"
    assert load(uncached_module).value == 3
