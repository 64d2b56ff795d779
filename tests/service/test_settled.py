"""What was decided about a run that has ended stays decided when settings change."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from service.place import Place

pytestmark = pytest.mark.processes


@dataclass
class Bounded(Place):
    retries: int = 0

    @property
    def settings(self):
        return replace(super().settings, retries=self.retries)


def test_more_retries_later_do_not_revive_what_was_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    place = Bounded(tmp_path)
    job_id = place.submit("kill -9 $$")
    place.looks_until(lambda: place.actions(job_id, "leave"), "a decision to leave it alone")
    place.retries = 2
    for _ in range(3):
        place.one_look()
    assert place.actions(job_id, "requeue") == []
    newer = place.submit("kill -9 $$")
    place.looks_until(lambda: place.actions(newer, "requeue"), "a retry of a newer job")
    place.leave()
