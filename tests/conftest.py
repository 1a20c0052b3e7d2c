"""Fixtures shared by several folders."""

import logging
import os
import sys

import numba
import pytest

from taut.threads import prepare_threads


@pytest.fixture(scope="session", autouse=True)
def one_thread_per_worker():
    """Limit each xdist worker to one thread, so that workers do not compete for cores."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        prepare_threads()
        numba.set_num_threads(1)


@pytest.fixture
def log(caplog):
    """Capture taut's log, which does not propagate to the root logger."""
    logger = logging.getLogger("taut")
    logger.addHandler(caplog.handler)
    with caplog.at_level("INFO", logger="taut"):
        yield caplog
    logger.removeHandler(caplog.handler)


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run a taut command in an empty folder; return exit code, stdout and stderr."""
    from taut.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["taut", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
