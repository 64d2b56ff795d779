"""Notes and names that people write: on one line, and without the secrets in them."""

from __future__ import annotations

import re

import pytest

from schedmate.model import JobState
from schedmate.testing.builders import a_diagnosis, a_job
from web.conftest import post_form

pytestmark = pytest.mark.processes


@pytest.fixture
def failed(served):
    served.store.keep_diagnosis("1", 0, a_diagnosis("unknown", confidence=0.2))
    served.show(a_job(id="1", state=JobState.FAILED, exit_code=1))
    return served


@pytest.mark.parametrize("text", ["a\nb", "a\0b", "a\x1b[2Jb", "a\u2028b", "a\tb"])
def test_control_characters_are_refused(failed, text):
    answers = (
        failed.post("/api/v1/jobs/1/correct", {"reason": "network", "note": text}),
        failed.post("/api/v1/tokens", {"name": text}),
    )
    for answer in answers:
        assert answer.status == 422
        assert "write it on one line" in answer.json["detail"]
    given = re.search(r'name="token" value="(\w+)"', failed.get("/jobs/1").text)[1]
    sent = {"token": given, "reason": "network", "note": text}
    assert post_form(failed, "/jobs/1/correct", **sent).status == 400
    assert failed.store.diagnoses("1")[0].reason == "unknown"
    assert not failed.store.acts()


def test_a_secret_in_a_note_is_in_no_list_of_what_people_did(failed):
    body = {"reason": "network", "note": "see password=hunter22 of the switch", "for_all": False}
    assert failed.post("/api/v1/jobs/1/correct", body).status == 200
    for path in ("/api/v1/audit", "/audit", "/rules", "/api/v1/jobs/1/acts", "/api/v1/status"):
        text = failed.get(path).text
        assert "hunter22" not in text, path
        assert "password=[redacted] of the switch" in text, path
