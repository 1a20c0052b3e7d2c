"""What tests of runs share."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path(tmp_path):
    """A folder in memory, where the system has one: a run waits for the disk at every frame."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="taut-test-", dir=MEMORY))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def no_picture():
    """Runs without energy.png, which takes longer to draw than they take to run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.figure", None)
        yield
