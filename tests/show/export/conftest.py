"""The run that all formats are tried on."""

import pytest

from tests.show.export.scenes import positions, recorded


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """The folder of a run with five bodies and six frames; only to be read."""
    return recorded(tmp_path_factory.mktemp("export") / "run")


@pytest.fixture(scope="session")
def where(run):
    """Positions [m] by frame and body."""
    return positions(run)
