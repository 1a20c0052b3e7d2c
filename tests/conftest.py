"""What tests in several folders need."""

import logging

import pytest


@pytest.fixture
def log(caplog):
    """What taut says on its log, which does not reach the root logger."""
    logger = logging.getLogger("taut")
    logger.addHandler(caplog.handler)
    with caplog.at_level("INFO", logger="taut"):
        yield caplog
    logger.removeHandler(caplog.handler)
