from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from schedmate.llm.embedded.files import ModelFiles
from schedmate.llm.embedded.install import install
from schedmate.llm.embedded.process import stop
from schedmate.model import ModelError


@pytest.fixture(scope="session")
def model_file() -> Path:
    """The real embedded model's file, from the user's cache, fetched there where that is wanted."""
    cache_dir = platformdirs.user_cache_path("schedmate")
    wanted = os.environ.get("CI") == "true" or os.environ.get("SCHEDMATE_TEST_MODEL") == "1"
    if not ModelFiles(cache_dir).installed() and not wanted:
        pytest.skip("no embedded model: `schedmate model install`, or SCHEDMATE_TEST_MODEL=1")
    try:
        return install(cache_dir).path
    except ModelError as error:
        pytest.skip(f"the embedded model cannot be fetched here: {error}")


@pytest.fixture
def model_cache(model_file, tmp_path):
    """A cache directory of the test's own with the real model in it, and no server left behind."""
    cache_dir = tmp_path / "cache"
    files = ModelFiles(cache_dir)
    files.folder.mkdir(parents=True)
    files.model.symlink_to(model_file)
    yield cache_dir
    stop(cache_dir)
