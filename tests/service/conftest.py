from __future__ import annotations

import pytest

from service.place import Place


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A house of one's own on the real local scheduler; nothing of it outlives the test."""
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    place = Place(tmp_path)
    yield place
    place.leave()
