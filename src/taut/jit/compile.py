"""Turn source into compiled modules, once per machine.

A module's file name in the cache carries a digest of everything that decides what its machine code
is, so that changed source, libraries or hardware never meet stale code. A lock per module lets one
process compile while others wait for it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import platform
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from taut.errors import CacheError
from taut.jit._numba_patches import cache_overload_lookups, import_numba_without_scipy
from taut.jit.kernel_cache import cache_directory, check_files, check_ours, write_private
from taut.threads import hold_during_fork, prepare_threads

ANNOUNCE_AFTER = 0.7  # seconds after which a compilation is announced on the log
log = logging.getLogger("taut")
# Numba's compiler and `sys.modules` are shared by all threads. Reentrant, because a module that is
# loaded may load others.
_LOCK = threading.RLock()
hold_during_fork(_LOCK)


@dataclass(frozen=True)
class SourceModule:
    """Python source to be compiled into a module.

    stem : first part of its name; digest : of everything that its machine code depends on,
    `toolchain_digest` included; what : a description for the log; generate : returns the source
    """

    stem: str
    digest: str
    what: str
    generate: Callable[[], str]

    @property
    def name(self) -> str:
        """Name of the module and of its files in the cache."""
        return f"taut_{self.stem}_{self.digest[:24]}"


@cache
def toolchain_digest() -> str:
    """Return a digest of what decides on machine code besides the source of a module.

    These are Python, Numba, LLVM, NumPy, the processor's architecture, and the file of primitives
    that generated source imports: Numba's own cache does not notice an edit there.
    """
    import llvmlite
    import numba
    import numpy

    versions = (
        sys.version,
        numba.__version__,
        llvmlite.__version__,
        numpy.__version__,
        platform.machine(),
    )
    digest = hashlib.sha256((Path(__file__).parent / "runtime.py").read_bytes())
    digest.update(repr(versions).encode())
    return digest.hexdigest()


def load(source: SourceModule) -> ModuleType:
    """Return the compiled module: loaded before, from the cache, or compiled now."""
    name = source.name
    with _LOCK:
        if name in sys.modules:
            return sys.modules[name]
        prepare_threads()
        import_numba_without_scipy()
        if _numba_config().DISABLE_JIT:
            raise CacheError("NUMBA_DISABLE_JIT is set, but taut's loops need numba's compiler")
        folder = cache_directory()
        try:
            module = _load_cached(name, folder, source.what)
            if module is not None:
                return module
            with _announce_if_slow(source.what):
                return _compile(name, folder, source.generate)
        except OSError as error:
            raise CacheError(
                f"the kernel cache {folder} failed: {error}; "
                "set TAUT_CACHE_DIR to a writable folder"
            ) from error


@contextmanager
def _announce_if_slow(what: str) -> Iterator[None]:
    """Log what is compiled if it takes longer than a moment, and how long it took."""
    message = f"compiling {what}: first use on this machine, kept for the next run"
    timer = threading.Timer(ANNOUNCE_AFTER, log.info, [message])
    timer.daemon = True
    start = time.perf_counter()
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    seconds = time.perf_counter() - start
    if seconds > ANNOUNCE_AFTER:
        log.info(f"compiled {what} in {seconds:.1f} s")


def _load_cached(name: str, folder: Path, what: str) -> ModuleType | None:
    """Return the module that an earlier process compiled; None if there is none or it is damaged.

    The file `.ready` holds the digest of the source that was compiled. It is written last, so that
    a process that was interrupted leaves nothing that looks complete.
    """
    path, ready = folder / f"{name}.py", folder / f"{name}.ready"
    if not ready.exists():
        return None
    try:
        if ready.read_text() != _digest_text(path.read_text(encoding="utf-8")):
            raise CacheError("its source is not the one that was compiled")
        return _import(name, path)
    except Exception as error:  # whatever the damage: warn, delete and compile again
        log.warning(
            f"the cached kernels of {what} could not be loaded ({error!r}); compiling them again"
        )
        _delete_files(name, folder)
        return None


def _compile(name: str, folder: Path, generate: Callable[[], str]) -> ModuleType:
    """Write the source, compile it by importing it, and mark it as ready."""
    from filelock import FileLock

    path = folder / f"{name}.py"
    with FileLock(str(path.with_suffix(".lock")), mode=0o600):
        text = generate()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_private(path, text)
        module = _import(name, path)
        write_private(path.with_suffix(".ready"), _digest_text(text))
    return module


def _import(name: str, path: Path) -> ModuleType:
    """Import a file of the cache, if it and its machine code belong to this user."""
    machine_code = path.parent / "__pycache__"
    files = [path]
    if os.path.lexists(machine_code):
        files.append(machine_code)
    check_files([*files, *machine_code.glob(f"{name}.*")])
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CacheError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    config = _numba_config()
    user_setting = config.CACHE_DIR
    config.CACHE_DIR = ""  # machine code stays next to its source, in the folder that was checked
    try:
        with cache_overload_lookups():
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        config.CACHE_DIR = user_setting
    return module


def _delete_files(name: str, folder: Path) -> None:
    """Delete a module's files, but not its lock, which another process may hold."""
    check_ours(folder)
    for file in [*folder.glob(f"{name}.*"), *folder.glob(f"__pycache__/{name}.*")]:
        if file.suffix != ".lock":
            file.unlink(missing_ok=True)


def _digest_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _numba_config() -> Any:
    from numba.core import config

    return config


def is_compiled(source: SourceModule) -> bool:
    """Whether this process or an earlier one has compiled the module."""
    return source.name in sys.modules or (cache_directory() / f"{source.name}.ready").exists()


def write_source(source: SourceModule) -> bool:
    """Write the source into the cache, for another process to compile.

    Returns False if a process is compiling it already.
    """
    from filelock import FileLock, Timeout

    path = cache_directory() / f"{source.name}.py"
    try:
        with FileLock(str(path.with_suffix(".lock")), mode=0o600, timeout=0):
            if not path.exists():
                write_private(path, source.generate())
    except Timeout:
        return False
    return True


def compile_written_source(name: str) -> None:
    """Compile what `write_source` has written, given the module's name."""
    prepare_threads()
    import_numba_without_scipy()
    folder = cache_directory()
    if not (folder / f"{name}.ready").exists():
        _compile(name, folder, lambda: (folder / f"{name}.py").read_text(encoding="utf-8"))


def clear_cache() -> int:
    """Delete all compiled kernels; return the number of files removed.

    Running processes have loaded theirs and are not affected.
    """
    folder = cache_directory()
    removed = 0
    for root, _, files in os.walk(folder):
        for file in files:
            if file.startswith("taut_"):
                (Path(root) / file).unlink(missing_ok=True)
                removed += 1
    return removed


@cache
def kernels(module: str) -> ModuleType:
    """Return the compiled functions of a kernel file, such as "taut.system.gather_kernels"."""
    return load(kernel_source(module))


def kernel_source(module: str) -> SourceModule:
    """Return a kernel file of the package as a module to compile.

    A copy of the file is compiled in the kernel cache, keyed on its text and on that of what it
    imports from the package, because Numba's own cache does not notice an edit in an import.
    """
    text = _read_text(module)
    parts = text + _read_imported_text(text) + toolchain_digest()
    stem = module.rpartition(".")[2]
    what = f"the package's {stem.replace('_', ' ').strip()}"
    return SourceModule(stem, _digest_text(parts), what, lambda: text)


def _read_text(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise CacheError(f"no kernel file for {module}")
    return Path(spec.origin).read_text(encoding="utf-8")


def _read_imported_text(text: str) -> str:
    """Return the text of all files of the package that a text imports, directly or not."""
    names = re.findall(r"^from (taut\.\S+) import", text, re.MULTILINE)
    imported = [_read_text(name) for name in names]
    return "".join(t + _read_imported_text(t) for t in imported)
