"""The run that all export formats are tested with."""

import pytest

from tests.show.export.scenes import positions, record_scene


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """The folder of a run with five bodies and six frames; read-only."""
    return record_scene(tmp_path_factory.mktemp("export") / "run")


@pytest.fixture(scope="session")
def where(run):
    """Positions [m] by frame and body."""
    return positions(run)
