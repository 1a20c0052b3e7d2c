"""The bytes of a file that a user named, or an error that says why not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from taut.errors import MeshError

_NO_FILE = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def load(path: Path) -> bytes:
    """All of a regular file, also through a link. Nothing that never ends (a pipe, a device) is opened."""
    via = ""
    try:
        if path.is_symlink():
            via = f" (a link to {os.readlink(path)})"
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise MeshError(f"this is {_NO_FILE.get(stat.S_IFMT(mode), 'no file')}, not a mesh file{via}", path=path)
        data = path.read_bytes()
    except FileNotFoundError:
        raise MeshError(f"there is no such file{via}", path=path) from None
    except OSError as error:
        raise MeshError(f"it cannot be read: {error.strerror or error}{via}", path=path) from error
    except MemoryError:
        raise MeshError(f"there is not enough memory for its {os.stat(path).st_size:,} bytes{via}", path=path) from None
    if not data.strip():
        raise MeshError("the file is empty", path=path)
    return data
