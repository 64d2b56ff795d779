from pathlib import Path

import pytest

from advisor.interpret.python.support import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)
