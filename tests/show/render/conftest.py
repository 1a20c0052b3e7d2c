"""Runs that several tests draw, made once."""

import sys

import pytest

pytest.importorskip("pyvista", reason="pictures need the extra render")


@pytest.fixture(scope="session")
def hanging_run(tmp_path_factory):
    """The folder of a run of a hanging sheet, 21 frames in 0.4 s."""
    from tests.show.render.runs import hanging

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            sys.modules, "matplotlib.figure", None
        )  # no energy.png, which takes longer than the run
        return hanging(tmp_path_factory.mktemp("hanging"))


@pytest.fixture(scope="session")
def torn_run(tmp_path_factory):
    """The folder of a run in which a sheet tears in two."""
    from tests.show.render.runs import tearing

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.figure", None)
        return tearing(tmp_path_factory.mktemp("torn"))
