"""Build a C++ program of the benchmark, and keep it in the kernel cache."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from taut.atomic_write import atomic_paths
from taut.jit.kernel_cache import cache_directory, check_files

COMPILERS = ("g++", "c++", "clang++")
INCLUDE_FOLDERS = (
    "/usr/include",
    "/usr/local/include",
    "/opt/homebrew/include",
    "/opt/local/include",
)


def find_include(header: str, subfolder: str, package: str) -> str | None:
    """Return the folder that has a header, or None.

    header : its path below that folder
    subfolder : where distributions put it below their include folders
    package : its name for pkg-config
    """
    listed = [
        folder for folder in os.environ.get("CPLUS_INCLUDE_PATH", "").split(os.pathsep) if folder
    ]
    known = [
        *listed,
        *(f"{folder}/{subfolder}" for folder in [*listed, *INCLUDE_FOLDERS]),
        *INCLUDE_FOLDERS,
        *_ask_pkg_config(package),
    ]
    return next((folder for folder in known if (Path(folder) / header).exists()), None)


def _ask_pkg_config(package: str) -> list[str]:
    """Return the include folders of a package according to pkg-config."""
    if shutil.which("pkg-config") is None:
        return []
    run = subprocess.run(
        ["pkg-config", "--cflags-only-I", package], capture_output=True, text=True, check=False
    )
    return [word.removeprefix("-I") for word in run.stdout.split()]


def find_compiler() -> str | None:
    """Return the path of a C++ compiler, or None."""
    return next((found for name in COMPILERS if (found := shutil.which(name))), None)


def build_program(
    source_name: str, compiler: str, include: str, libraries: Sequence[str] = ()
) -> tuple[str | None, str]:
    """Return the path of the program; if it cannot be built, None and the compiler's message.

    source_name : a file next to this one
    include : folder of headers
    libraries : to link, such as "cholmod"
    """
    source = files("taut.bench") / source_name
    version = subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, check=False
    ).stdout
    # The name of the machine is included because -march=native compiles for its processor.
    known = repr((source.read_text(), compiler, version, include, libraries, platform.node()))
    digest = hashlib.sha256(known.encode()).hexdigest()[:24]
    program = cache_directory() / f"taut_{source_name.removesuffix('.cpp')}_{digest}"
    if not program.exists():
        options = ["-O3", "-march=native", f"-I{include}"]
        linked = [f"-l{library}" for library in libraries]
        try:
            with (
                as_file(source) as path,
                atomic_paths([program], overwrite=True, durable=False) as [output],
            ):
                command = [compiler, *options, str(path), *linked, "-o", str(output)]
                subprocess.run(command, capture_output=True, text=True, check=True)
        except subprocess.CalledProcessError as error:
            first = next((line for line in error.stderr.splitlines() if line.strip()), "")
            return None, f"{Path(compiler).name} failed to build {source_name}: {first}"
    check_files([program])
    return str(program), ""
