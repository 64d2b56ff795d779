"""No model is asked against the word of a job's owner or of the site."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from schedmate.config import LlmSettings
from schedmate.llm.asker import ModelAsker
from schedmate.llm.consent import check_consent
from schedmate.llm.endpoint import ConfiguredEndpoint
from schedmate.model import NoConsent, Subject
from schedmate.testing.llm import MemoryLedger

NEVER = ("eve", "/data/secret")


class Said(BaseModel):
    value: str


@pytest.mark.parametrize(
    "about",
    [
        Subject(user="ana", comment="urgent,schedmate=no-model"),
        Subject(user="ana", comment="SchedMate=off; urgent"),
        Subject(user="eve"),
        Subject(user="ana", workdir="/data/secret/run7"),
        Subject(user="ana", workdir="/data/secret"),
    ],
)
def test_a_job_that_is_out_is_never_asked_about(about: Subject) -> None:
    settings = LlmSettings(base_url="http://127.0.0.1:9/v1", never=NEVER)
    ledger = MemoryLedger()
    asker = ModelAsker(ConfiguredEndpoint("http://127.0.0.1:9/v1", settings), settings, ledger)

    with pytest.raises(NoConsent):
        asker.ask(Said, "its log", purpose="diagnose", about=about)

    assert ledger.calls == []


@pytest.mark.parametrize(
    "about",
    [
        None,
        Subject(user="ana", comment="schedmate=no-models-please", workdir="/data/secrets"),
        Subject(user="evelyn", workdir="/data"),
    ],
)
def test_all_others_may_be(about: Subject | None) -> None:
    check_consent(about, NEVER)
