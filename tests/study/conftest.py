"""Workers that all tests of a file share."""

import pytest


@pytest.fixture(scope="module")
def client():
    """Two workers on this machine."""
    pytest.importorskip("distributed", reason="needs the extra sweep")
    from taut.study.cluster import local_client

    with local_client(2) as found:
        yield found
