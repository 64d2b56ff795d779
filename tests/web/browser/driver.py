"""One browser a process: playwright cannot be started twice."""

from __future__ import annotations

import atexit
import shutil
from functools import cache

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@cache
def the_browser():
    """Debian's Chromium, until the process ends."""
    if CHROMIUM is None:
        pytest.skip("Debian's chromium is not installed (scripts/install-test-packages)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    playwright.expect.set_options(timeout=60_000)
    driver = playwright.sync_playwright().start()
    atexit.register(driver.stop)
    return driver.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
    )
