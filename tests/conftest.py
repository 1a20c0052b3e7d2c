"""What tests in several folders need."""

import logging
import os
import sys

import numba
import pytest

from taut.threads import prepare_threads


@pytest.fixture(scope="session", autouse=True)
def one_thread_per_worker():
    """Where several processes share the tests, each keeps to one thread.

    Theirs would get in each other's way.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        prepare_threads()
        numba.set_num_threads(1)


@pytest.fixture
def log(caplog):
    """What taut says on its log, which does not reach the root logger."""
    logger = logging.getLogger("taut")
    logger.addHandler(caplog.handler)
    with caplog.at_level("INFO", logger="taut"):
        yield caplog
    logger.removeHandler(caplog.handler)


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run a command of taut in an empty folder: exit code, standard output, standard error."""
    from taut.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["taut", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
