"""Thirty-five questions with known answers give a model its tier; the log keeps what was sent."""

from __future__ import annotations

import json
import time
from contextlib import closing

import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from schedmate.cli.model import command
from schedmate.config import LlmSettings
from schedmate.llm import open_asker
from schedmate.llm.asker import ModelAsker
from schedmate.llm.endpoint import ConfiguredEndpoint
from schedmate.llm.exam.questions import read_questions
from schedmate.llm.exam.taking import take_exam
from schedmate.model import BadAnswer, ModelUnavailable, Subject
from schedmate.model.exam import READS, ExamResult, tier_by
from schedmate.model.ledger import Exchange
from schedmate.service.visibility import Viewer
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.llm import MemoryLedger, ScriptedAsker

WRONG = {
    "reason": "cancelled",
    "value": -1.0,
    "quote": "",
    "model": "?",
    "batch_size": None,
    "epochs": None,
    "optimizer": None,
}
PLACE = "http://127.0.0.1:9/v1"


class ExamAnswer(BaseModel):
    value: str


def examined(*, wrong: tuple[str, ...] = (), invalid: tuple[str, ...] = ()):
    """Take the exam with a model that fails in these kinds."""
    by_text = {question.text: question for question in read_questions()}

    def script(schema, prompt):
        question = by_text[prompt]
        if question.kind in invalid:
            return BadAnswer("no JSON")
        wanted = {name: WRONG[name] for name in schema.model_fields}
        return wanted if question.kind in wrong else {**wanted, **question.expected}

    asker = ScriptedAsker(script)
    return take_exam(asker, "m at x", lambda done, total: None), asker


def test_there_are_thirty_questions_of_all_kinds_and_none_twice():
    questions = read_questions()

    assert len({question.text for question in questions}) == len(questions) >= 30
    assert {question.kind for question in questions} == set(READS)


def test_a_model_that_knows_all_reads():
    result, _ = examined()

    assert result.tier == "read"
    assert all(score.right == score.asked == score.questions for score in result.scores)


@pytest.mark.parametrize(
    ("wrong", "invalid", "tier"),
    [
        (("injections",), (), "choose"),
        (("quotes",), (), "choose"),
        (("long",), (), "choose"),
        (("reasons",), (), "none"),
        ((), ("schema",), "none"),
    ],
)
def test_what_it_fails_in_decides_how_much_it_is_asked(wrong, invalid, tier):
    assert examined(wrong=wrong, invalid=invalid)[0].tier == tier


def test_what_only_reading_needs_is_not_asked_where_reading_is_out_of_reach():
    result, asker = examined(wrong=("quotes",))

    asked = {score.kind: score.asked for score in result.scores}
    assert asked["long"] == asked["injections"] == 0
    assert len(asker.asked) == sum(asked.values()) < len(read_questions())


def test_a_model_that_cannot_be_asked_has_no_result():
    with pytest.raises(ModelUnavailable):
        take_exam(ScriptedAsker(lambda *_: ModelUnavailable("gone")), "x", lambda *_: None)


def test_nothing_right_is_no_tier():
    assert tier_by({}) == "none"


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "s.sqlite3")) as opened:
        yield opened


def test_the_tier_is_that_of_this_endpoint_and_model(store, tmp_path):
    def tier(**settings):
        asker = open_asker(
            LlmSettings(base_url=PLACE, **settings), cache_dir=tmp_path, ledger=store
        )
        return None if asker is None else asker.tier

    store.keep_exam(result_of(f"big at {PLACE}", "read"))
    store.keep_exam(result_of(f"silly at {PLACE}", "none"))

    assert tier(model="big") == "read"
    assert tier(model="another") == "choose"
    assert tier(model="silly") is None
    assert tier(model="silly", tier="read") == "read"
    assert tier(model="big", tier="choose") == "choose"


def result_of(identity, tier, **more):
    return ExamResult(identity=identity, model="m", at=1.0, tier=tier, scores=(), **more)


def test_the_result_of_other_questions_is_void(store):
    store.keep_exam(result_of("m", "read", version=0))

    assert store.exam_of("m") is None


def exchange(**facts):
    known = {"user": "ana", "job_id": "7", "purpose": "diagnose", "model": "m", "endpoint": "e"}
    sent = json.dumps({"model": "m", "messages": [{"role": "user", "content": "a log\nof two"}]})
    return Exchange(at=time.time(), outcome="ok", sent=sent, received="{}", **known | facts)


@pytest.mark.processes
def test_every_request_is_kept_with_the_job_it_is_about():
    ledger, settings = MemoryLedger(), LlmSettings(base_url=PLACE, deadline_s=2.0)
    asker = ModelAsker(ConfiguredEndpoint(PLACE, settings), settings, ledger)
    about = Subject(user="ana", job_id="7")

    with pytest.raises(ModelUnavailable):
        asker.ask(ExamAnswer, "its log", purpose="diagnose", about=about)

    [kept] = ledger.exchanges(user="ana", job_id="7", purpose="diagnose")
    assert json.loads(kept.sent)["messages"] == [{"role": "user", "content": "its log"}]
    assert "no language model answers" in kept.outcome


def test_the_log_is_found_by_user_job_and_purpose_and_does_not_grow_for_ever(store):
    for facts in ({}, {"job_id": "8"}, {"user": "bob"}, {"purpose": "exam", "user": ""}):
        store.keep_exchange(exchange(**facts))

    assert len(store.exchanges()) == 4
    assert [one.job_id for one in store.exchanges(user="ana")] == ["8", "7"]
    assert [one.user for one in store.exchanges(job_id="7", purpose="diagnose")] == ["bob", "ana"]
    assert store._drop_exchanges(time.time() + 1, 3) == 3
    assert [one.purpose for one in store.exchanges()] == ["exam"]


def test_a_user_sees_what_was_sent_about_their_own_jobs(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path))
    with closing(SqliteStore(tmp_path / "schedmate.sqlite3")) as store:
        store.keep_exchange(exchange(user="somebody_else"))

    assert "a log" in CliRunner().invoke(command, ["log"]).output  # one's own store: an operator
    ana = Viewer(user="ana", operator=False)
    monkeypatch.setattr("schedmate.service.visibility.viewer_of", lambda _: ana)
    assert CliRunner().invoke(command, ["log"]).output == "nothing was sent to a model\n"
