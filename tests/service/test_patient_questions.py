"""A verb's user waits for a model; no one waits for the daemon's questions."""

from dataclasses import replace

from schedmate.config import LlmSettings, Settings
from schedmate.service.daemon.assembling import patient


def test_the_daemons_questions_have_the_longer_deadline():
    settings = replace(Settings(), llm=LlmSettings(deadline_s=60, background_deadline_s=240))
    assert patient(settings).llm.deadline_s == 240
    assert settings.llm.deadline_s == 60


def test_a_longer_deadline_of_all_questions_stays():
    settings = replace(Settings(), llm=LlmSettings(deadline_s=900, background_deadline_s=240))
    assert patient(settings).llm.deadline_s == 900
