"""The kernel cache holds code.

Files owned by another user and symbolic links are never executed, even in a folder of ours.
"""

import os
import sys
from hashlib import sha256

import pytest

import taut
from taut.jit.compile import SourceModule, load

SOURCE = "value = 1\n"
NAME = f"taut_planted_{'0' * 24}"


def load_afresh():
    """Load the module from the cache as in a new process."""
    sys.modules.pop(NAME, None)
    try:
        return load(SourceModule("planted", "0" * 24, "a test", lambda: SOURCE))
    finally:
        sys.modules.pop(NAME, None)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="only the superuser can change the owner of a file",
)
@pytest.mark.parametrize("how", ["ours", "owner", "link"])
def test_planted_code_is_not_run(tmp_path, monkeypatch, how):
    folder = tmp_path / "cache"
    monkeypatch.setenv("TAUT_CACHE_DIR", str(folder))
    assert load_afresh().value == 1
    path, planted = (
        folder / f"{NAME}.py",
        "value = 2  # longer: Python detects stale bytecode by the length of its source\n",
    )
    path.write_text(planted)
    path.with_suffix(".ready").write_text(sha256(planted.encode()).hexdigest())
    assert load_afresh().value == 2, "our own files are trusted"
    if how == "owner":
        os.chown(path, 12345, 12345)
    elif how == "link":
        path.rename(tmp_path / "elsewhere.py")
        path.symlink_to(tmp_path / "elsewhere.py")
    try:
        found = load_afresh().value
    except taut.errors.CacheError:
        found = 1
    assert found == (2 if how == "ours" else 1)
