"""Compiled kernels on disk.

Keyed on the formula, private to the user, safe with concurrent processes, compiled once.
"""

import json
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import taut
from taut.formula import norm
from taut.jit.compile import clear_cache
from taut.jit.kernel_cache import cache_directory

SCRIPT = """
    import json, sys
    import numpy as np
    import taut
    from taut.formula import norm
    from taut.jit import compile
    from taut.binding.placed_law import place

    compile.ANNOUNCE_AFTER = 0.0  # every compilation is announced, however quick the machine
    SCALE = {scale}

    def stretch(x):
        return SCALE * norm(x[1] - x[0])

    @taut.energy
    def from_a_script(x, k):
        return k / 2 * stretch(x) ** 4

    x = np.array([[0.0, 0, 0], [1, 0, 0]])
    p = place(from_a_script([[0, 1]], k=2.0), x, np.ones(2))
    value = float(p.values(x)[0])
    curvature = float(p.hessians(x)[0][0, 0])
    names = sorted(name for name in sys.modules if name.startswith("taut_from_a_script"))
    modules = [sys.modules[name] for name in names]
    hits = sum(m.batch.cache_hits for m in modules)
    files = [m.__file__ for m in modules]
    misses = len(modules) - hits
    found = dict(value=value, curvature=curvature, files=files, hits=hits, misses=misses)
    print(json.dumps(found))
"""


def start(folder: Path, tmp_path: Path, scale: float = 1.0, **more: str) -> subprocess.Popen:
    script = tmp_path / f"script_{scale}.py"
    if not script.exists():  # rewriting would leave it empty while an earlier process may read it
        script.write_text(textwrap.dedent(SCRIPT).replace("{scale}", repr(scale)))
    environment = {**os.environ, "TAUT_CACHE_DIR": str(folder), **more}
    return subprocess.Popen(
        [sys.executable, str(script)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen) -> dict:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return {**json.loads(out), "stderr": err}


def test_second_process_reuses_the_cache_and_a_changed_helper_recompiles(tmp_path):
    folder = tmp_path / "cache"
    first = result(start(folder, tmp_path))
    assert (first["value"], first["misses"]) == (1.0, 2)
    assert "compiling" in first["stderr"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    second = result(start(folder, tmp_path))
    assert (second["hits"], second["misses"], second["files"]) == (2, 0, first["files"])
    assert "compiling" not in second["stderr"]
    changed = result(start(folder, tmp_path, scale=2.0))
    assert changed["value"] == 16.0
    assert changed["curvature"] == pytest.approx(16 * second["curvature"])
    assert not set(changed["files"]) & set(first["files"])


def test_machine_code_stays_in_the_checked_folder(tmp_path):
    folder, elsewhere = tmp_path / "cache", tmp_path / "numba"
    elsewhere.mkdir(mode=0o777)
    result(start(folder, tmp_path, NUMBA_CACHE_DIR=str(elsewhere)))
    assert not list(elsewhere.rglob("*"))
    assert list(folder.glob("__pycache__/*.nbc"))


def test_concurrent_processes_compile_once(tmp_path):
    folder = tmp_path / "cache"
    results = [result(p) for p in [start(folder, tmp_path) for _ in range(4)]]
    assert {r["value"] for r in results} == {1.0}
    assert sum(r["misses"] for r in results) == 2, (
        "one process must compile the two modules while the others wait"
    )


def test_damaged_entry_is_recompiled_and_reported(tmp_path):
    folder = tmp_path / "cache"
    result(start(folder, tmp_path))
    for file in folder.glob("__pycache__/*.nbi"):
        file.write_bytes(file.read_bytes()[:40])
    mended = result(start(folder, tmp_path))
    assert mended["value"] == 1.0
    assert "compiling them again" in mended["stderr"]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_reject_cache_writable_by_others(tmp_path, monkeypatch):
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o770)
    with pytest.raises(taut.errors.CacheError, match="open to others"):
        cache_directory()
    tmp_path.chmod(0o700)
    assert cache_directory() == tmp_path


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_reject_linked_or_foreign_cache(tmp_path, monkeypatch):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir(mode=0o700)
    link.symlink_to(real)
    monkeypatch.setenv("TAUT_CACHE_DIR", str(link))
    with pytest.raises(taut.errors.CacheError, match="symbolic link"):
        cache_directory()
    monkeypatch.setenv("TAUT_CACHE_DIR", str(real))
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(taut.errors.CacheError, match="belongs to another user"):
        cache_directory()


def test_unusable_cache_error_names_the_environment_variable(tmp_path, monkeypatch):
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("TAUT_CACHE_DIR", str(blocker / "below"))
    with pytest.raises(taut.errors.CacheError, match="TAUT_CACHE_DIR"):
        cache_directory()


@pytest.mark.parametrize("damage", ["empty", "truncated"])
def test_damaged_source_is_rewritten(tmp_path, damage):
    folder = tmp_path / "cache"
    result(start(folder, tmp_path))
    for file in folder.glob("taut_from_a_script*.py"):
        file.write_text("" if damage == "empty" else file.read_text()[:300])
    if damage == "truncated":
        for file in folder.glob("*.ready"):
            file.unlink()
    assert result(start(folder, tmp_path))["value"] == 1.0


def test_threads_of_one_process_share_a_compilation(tmp_path):
    code = """
        import threading, numpy as np, taut
        from taut import laws
        x = np.array([[0.0, 0, 0], [2, 0, 0]])
        results = []
        def work():
            system = taut.System(x, mass=1.0, energies=[laws.spring([[0, 1]], k=3.0, l0=1.0)])
            results.append(float(system.f(system.initial_state())[0, 0]))
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert results == [3.0] * 4, results
    """
    environment = {**os.environ, "TAUT_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=environment, check=True, timeout=300
    )


def test_disabled_jit_is_reported(tmp_path):
    process = start(tmp_path / "cache", tmp_path, NUMBA_DISABLE_JIT="1")
    _, err = process.communicate(timeout=300)
    assert process.returncode != 0
    assert "NUMBA_DISABLE_JIT is set" in err


def test_clear_cache_keeps_foreign_files(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    result(start(folder, tmp_path))
    monkeypatch.setenv("TAUT_CACHE_DIR", str(folder))
    (folder / "mine.txt").write_text("stays")
    assert clear_cache() > 4
    assert [f.name for f in folder.rglob("*") if f.is_file()] == ["mine.txt"]


def test_source_does_not_depend_on_earlier_derivations():
    """Sums are ordered by term numbers: other numbers would change the bits."""

    @taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])})
    def mine(x, k, l0):
        return k / 2 * (norm(x[1] - x[0]) - l0) ** 2

    variant = mine.compile("energy", 2, {"k": (), "l0": ()})
    first = [variant.source(kind) for kind in ("hessian", "parameters", "gradient")]
    assert [variant.source(kind) for kind in ("hessian", "parameters", "gradient")] == first
    again = mine.compile("energy", 2, {"k": (), "l0": ()})
    assert again.source("parameters") == first[1]
    assert again.source("hessian") == first[0]
