"""One browser for all tests of the viewer, if available."""

import pytest

from tests.show.view.browser import ARGUMENTS, find_chromium


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium that renders in software."""
    pytest.importorskip("viser", reason="the extra view is not installed")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    where = find_chromium()
    if where is None:
        pytest.skip("no Chromium is installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=where, args=ARGUMENTS)
        yield browser
        browser.close()
