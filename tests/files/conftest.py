from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from files.people import OWNER, SECRET, give


@pytest.fixture
def public():
    """A directory that everybody may enter, which pytest's own is not."""
    made = Path(tempfile.mkdtemp(prefix="schedmate-files-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def home(public):
    """A directory of the job's owner."""
    made = public / "home"
    made.mkdir()
    return give(made, OWNER, 0o755)


@pytest.fixture
def secret(public):
    """A file that only root may read, as /etc/shadow is."""
    path = public / "secret"
    path.write_text(f"{SECRET}\n")
    path.chmod(0o600)
    return path
