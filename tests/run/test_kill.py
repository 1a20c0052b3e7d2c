"""Runs that are killed at random moments; a hundred kills are in benchmarks/kill.py."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
def test_killed_at_ten_random_moments(tmp_path):
    """The run opens each time with every durable frame, and ends bit-identically.

    With one or two threads.
    """
    command = [
        sys.executable,
        "-m",
        "benchmarks.kill",
        "--kills",
        "10",
        "--seed",
        "3",
        "--folder",
        str(tmp_path),
        "--json",
    ]
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        command,
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == 10
    assert found["counts"]["ended"] >= 1
    assert found["failures"] == []
