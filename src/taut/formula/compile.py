"""Turn generated source into compiled functions, once per machine.

A module's file name carries a digest of the traced formula, of the generator and of the versions involved, so a changed helper,
notebook cell or library never meets stale code. A lock per module lets one process compile while others wait for it.
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
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from taut.errors import CacheError
from taut.formula.cache import cache_directory, check_files, check_ours, write_whole
from taut.formula.lookup import remembered

SLOW = 0.7  # seconds after which a compilation is announced
log = logging.getLogger("taut")
_ONE_AT_A_TIME = threading.RLock()


@cache
def generator_digest() -> str:
    """A digest of everything besides the formula that decides what the machine code is."""
    import llvmlite
    import numba
    import numpy

    digest = hashlib.sha256()
    for name in ("expression", "graph", "differentiate", "structure", "emit", "source", "runtime"):
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    versions = (sys.version, numba.__version__, llvmlite.__version__, numpy.__version__, platform.machine())
    digest.update(repr(versions).encode())
    return digest.hexdigest()


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Say what is going on if it takes longer than a moment, and how long it took."""
    timer = threading.Timer(SLOW, log.info, [f"compiling {what}: first use on this machine, kept for the next run"])
    timer.daemon = True
    start = time.perf_counter()
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    seconds = time.perf_counter() - start
    if seconds > SLOW:
        log.info(f"compiled {what} in {seconds:.1f} s")


@dataclass(frozen=True)
class Unit:
    """A module to be compiled.

    stem : what its file is called; digest : of everything it depends on; what : it is, in words; write : gives its source
    """

    stem: str
    digest: str
    what: str
    write: Callable[[], str]

    @property
    def name(self) -> str:
        """Of the module, and of its files in the cache."""
        return f"taut_{self.stem}_{self.digest[:24]}"


def load(unit: Unit) -> ModuleType:
    """The compiled module, from the cache where it is there."""
    from taut.threads import prepare_threads

    name, what = unit.name, unit.what
    with _ONE_AT_A_TIME:
        if name in sys.modules:
            return sys.modules[name]
        prepare_threads()
        _start_numba()
        if _numba_config().DISABLE_JIT:
            raise CacheError("NUMBA_DISABLE_JIT is set, but taut's loops need numba's compiler")
        folder = cache_directory()
        path, ready = folder / f"{name}.py", folder / f"{name}.ready"
        try:
            found = _from_cache(name, path, ready, what)
            if found is not None:
                return found
            with announced(what):
                return _compile(name, path, ready, unit.write)
        except OSError as error:
            raise CacheError(f"the kernel cache {folder} failed: {error}; set TAUT_CACHE_DIR to a writable folder") from error


def _from_cache(name: str, path: Path, ready: Path, what: str) -> ModuleType | None:
    """The module as an earlier process left it; None if there is none, or if it is damaged (which is said)."""
    if not ready.exists():
        return None
    try:
        if ready.read_text() != _text_digest(path.read_text(encoding="utf-8")):
            raise CacheError("its source is not what was compiled")
        return _import(name, path)
    except Exception as error:  # whatever is wrong with it, it is set aside and made anew; a failure of that is raised
        log.warning(f"the cached kernels of {what} could not be loaded ({error!r}); compiling them again")
        _forget(name, path.parent)
        return None


def _compile(name: str, path: Path, ready: Path, write: Callable[[], str]) -> ModuleType:
    from filelock import FileLock

    with FileLock(str(path.with_suffix(".lock")), mode=0o600):
        text = write()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)
        module = _import(name, path)
        write_whole(ready, _text_digest(text))
    return module


@cache
def _start_numba() -> None:
    """Let numba begin without scipy.linalg, which it imports only to learn that it is there.

    That takes a seventh of the time from the start to a first step. Functions of others that use linear algebra import it when
    they are compiled.
    """
    linalg: Any = import_module("numba.np.linalg")
    if "numba.np.arraymath" in sys.modules or not hasattr(linalg, "ensure_blas"):
        return
    look, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        arraymath: Any = import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = look
    arraymath.ensure_blas = look


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _numba_config() -> Any:
    from numba.core import config

    return config


def _import(name: str, path: Path) -> ModuleType:
    compiled = path.parent / "__pycache__"
    check_files([path, *([compiled] if os.path.lexists(compiled) else []), *compiled.glob(f"{name}.*")])
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CacheError(f"cannot import {path}")
    config = _numba_config()
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    elsewhere = config.CACHE_DIR
    config.CACHE_DIR = ""  # machine code stays beside its source, in the folder that was checked
    try:
        with remembered():
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        config.CACHE_DIR = elsewhere
    return module


def _forget(name: str, folder: Path) -> None:
    check_ours(folder)
    for file in [*folder.glob(f"{name}.*"), *folder.glob(f"__pycache__/{name}.*")]:
        if file.suffix != ".lock":
            file.unlink(missing_ok=True)


def clear_cache() -> int:
    """Delete all generated kernels; returns the number of files removed. Running processes are not affected."""
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
    """The compiled functions of one of the package's own kernel files, such as "taut.system.gather_kernels".

    The file is compiled from a copy in the kernel cache, keyed on its text and on that of what it imports from the package, exactly
    as generated source is.
    """
    return load(kernel_unit(module))


def kernel_unit(module: str) -> Unit:
    """One of the package's own kernel files as something to be compiled."""
    text = _text_of(module)
    digest = hashlib.sha256((text + _imported_by(text) + generator_digest()).encode()).hexdigest()
    stem = module.rpartition(".")[2]
    return Unit(stem, digest, f"the package's {stem.replace('_', ' ')}", lambda: text)


def is_compiled(unit: Unit) -> bool:
    """Whether it has been compiled before, in this process or another."""
    return unit.name in sys.modules or (cache_directory() / f"{unit.name}.ready").exists()


def put_source(unit: Unit) -> bool:
    """Put the source into the cache, from where another process can compile it; False if one is at it already."""
    from filelock import FileLock, Timeout

    path = cache_directory() / f"{unit.name}.py"
    try:
        with FileLock(str(path.with_suffix(".lock")), mode=0o600, timeout=0):
            if not path.exists():
                write_whole(path, unit.write())
    except Timeout:
        return False
    return True


def compile_source(name: str) -> None:
    """Compile what `put_source` has put into the cache."""
    from taut.threads import prepare_threads

    prepare_threads()
    _start_numba()
    path = cache_directory() / f"{name}.py"
    if not path.with_suffix(".ready").exists():
        _compile(name, path, path.with_suffix(".ready"), lambda: path.read_text(encoding="utf-8"))


def _text_of(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise CacheError(f"no kernel file for {module}")
    return Path(spec.origin).read_text(encoding="utf-8")


def _imported_by(text: str) -> str:
    """The text of all files of the package that another imports from, directly or not."""
    texts = [_text_of(name) for name in re.findall(r"^from (taut\.\S+) import", text, re.MULTILINE)]
    return "".join(t + _imported_by(t) for t in texts)
