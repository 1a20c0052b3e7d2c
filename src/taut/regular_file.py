"""Read a regular file whole, or raise an error that says why that is not possible."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from taut.errors import MeshError

_FILE_TYPES = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_regular_file(path: Path, purpose: str = "mesh") -> bytes:
    """Return the content of a regular file, also through a symbolic link.

    purpose : what the file holds, for messages ("mesh", "scene")
    """
    link = ""
    try:
        if path.is_symlink():
            link = f" (a link to {os.readlink(path)})"
        # The type is checked before the file is opened: a pipe would block, a device never end.
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            found = _FILE_TYPES.get(stat.S_IFMT(mode), "a special file")
            raise MeshError(f"must be a {purpose} file, got {found}{link}", path=path)
        data = path.read_bytes()
    except FileNotFoundError:
        raise MeshError(f"no such file{link}", path=path) from None
    except OSError as error:
        raise MeshError(f"cannot be read: {error.strerror or error}{link}", path=path) from error
    except MemoryError:
        size = os.stat(path).st_size
        raise MeshError(f"not enough memory for its {size:,} bytes{link}", path=path) from None
    if not data.strip():
        raise MeshError("the file is empty", path=path)
    return data
