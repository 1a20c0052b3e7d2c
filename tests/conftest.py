"""What tests in several folders need."""

import logging
import os

import numba
import pytest

from taut.threads import prepare_threads


@pytest.fixture(scope="session", autouse=True)
def one_thread_per_worker():
    """Where several processes share the tests, each keeps to one thread: theirs would get in each other's way."""
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
