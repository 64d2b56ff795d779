"""One entry for everyone: schema in, validated value out, whatever the endpoint does."""

from __future__ import annotations

import threading
import time
from typing import Literal

import pytest
from pydantic import BaseModel

from schedmate.config import LlmSettings, Secret
from schedmate.llm import open_asker
from schedmate.llm.asker import ModelAsker
from schedmate.llm.endpoint import Address, ConfiguredEndpoint
from schedmate.model import (
    BadAnswer,
    BudgetSpent,
    LlmCall,
    ModelTooSlow,
    ModelUnavailable,
)
from schedmate.testing.llm import (
    MemoryLedger,
    breaks_off,
    drips,
    hangs,
    no_choices,
    refuses,
    says,
    sends,
    serving,
    web_page,
)

pytestmark = pytest.mark.processes


class Verdict(BaseModel):
    reason: Literal["oom", "disk"]
    line: int


RIGHT = {"reason": "oom", "line": 7}
USAGE = {"prompt_tokens": 30, "completion_tokens": 9}


@pytest.fixture
def ledger():
    return MemoryLedger()


def asker_of(server, ledger, tmp_path, **settings):
    chosen = {"deadline_s": 5.0, **settings}
    llm = LlmSettings(base_url=server.base_url, **chosen)
    asker = open_asker(llm, cache_dir=tmp_path, ledger=ledger)
    assert asker is not None
    return asker


def ask(asker, prompt="line 7: out of memory", **more):
    return asker.ask(Verdict, prompt, purpose="test", **more)


def test_a_question_becomes_a_validated_value_and_a_ledger_line(ledger, tmp_path):
    with serving(says(RIGHT, usage=USAGE)) as server:
        answer = ask(asker_of(server, ledger, tmp_path, model="m"), system="Be short.")
    assert answer.value == Verdict(reason="oom", line=7)
    assert (answer.cost.llm_calls, answer.cost.llm_tokens) == (1, 39)
    [call] = ledger.calls
    assert (call.outcome, call.calls, call.prompt_tokens, call.answer_tokens, call.model) == (
        ("ok", 1, 30, 9, "m")
    )
    assert call.purpose == "test"
    assert call.seconds > 0


def test_the_request_carries_schema_limits_and_a_system_prompt_that_stays_the_same(
    ledger, tmp_path
):
    with serving(says(RIGHT)) as server:
        asker = asker_of(server, ledger, tmp_path, model="m")
        ask(asker, system="Be short.", max_tokens=50)
        ask(asker, "another", system="Be short.", max_tokens=50)
    first, second = server.requests
    assert first["path"] == "/v1/chat/completions"
    assert first["response_format"]["json_schema"]["schema"] == Verdict.model_json_schema()
    assert (first["model"], first["max_tokens"], first["temperature"]) == ("m", 50, 0)
    assert first["messages"][0] == second["messages"][0]
    assert first["messages"][0] == {"role": "system", "content": "Be short."}
    assert first["messages"][1]["content"] == "line 7: out of memory"


def test_the_same_question_is_never_paid_twice(ledger, tmp_path):
    with serving(says(RIGHT), refuses(500)) as server:
        asker = asker_of(server, ledger, tmp_path)
        first, again = ask(asker), ask(asker)
    assert first.value == again.value
    assert (again.cost.llm_calls, again.cost.llm_tokens) == (0, 0)
    assert len(server.requests) == 1
    assert [call.outcome for call in ledger.calls] == ["ok", "cached"]
    assert ledger.calls[1].calls == 0


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "other"},
        {"system": "other"},
        {"max_tokens": 9},
    ],
)
def test_another_question_is_another_answer(ledger, tmp_path, change):
    with serving(says(RIGHT), says({"reason": "disk", "line": 1})) as server:
        asker = asker_of(server, ledger, tmp_path)
        assert ask(asker).value.reason == "oom"
        assert ask(asker, **change).value.reason == "disk"


def test_another_model_or_schema_is_another_answer(ledger, tmp_path):
    class Other(BaseModel):
        line: int

    with serving(says(RIGHT), says({"reason": "disk", "line": 1}), says({"line": 3})) as server:
        ask(asker_of(server, ledger, tmp_path, model="a"))
        other_model = asker_of(server, ledger, tmp_path, model="b")
        assert ask(other_model).value.reason == "disk"
        prompt = "line 7: out of memory"
        assert other_model.ask(Other, prompt, purpose="test").value == Other(line=3)


def test_a_cached_answer_that_no_longer_fits_is_asked_again(ledger, tmp_path):
    with serving(says(RIGHT)) as server:
        asker = asker_of(server, ledger, tmp_path)
        ask(asker)
        ledger.answers = dict.fromkeys(ledger.answers, '{"reason": "gone"}')
        assert ask(asker).value.line == 7
    assert len(server.requests) == 2


def test_threads_that_ask_the_same_at_once_pay_once(ledger, tmp_path):
    values = []
    with serving(says(RIGHT)) as server:
        asker = asker_of(server, ledger, tmp_path)
        threads = [
            threading.Thread(target=lambda: values.append(ask(asker).value)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert values == [Verdict(reason="oom", line=7)] * 8
    assert len(server.requests) == 1


def test_a_schema_breaker_learns_what_is_wrong(ledger, tmp_path):
    wrong = says({"reason": "aliens", "line": 7}, usage=USAGE)
    with serving(wrong, says(RIGHT, usage=USAGE)) as server:
        answer = ask(asker_of(server, ledger, tmp_path))
    assert answer.value.reason == "oom"
    assert answer.cost.llm_calls == 2
    assert answer.cost.llm_tokens == 78
    repair = server.requests[1]["messages"][-1]["content"]
    assert "reason" in repair
    assert "'oom' or 'disk'" in repair
    assert "aliens" in server.requests[1]["messages"][-2]["content"]
    assert [call.outcome for call in ledger.calls] == ["repaired"]


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_repair_turns_are_bounded(ledger, tmp_path, turns):
    with serving(says({"reason": "aliens"})) as server:
        with pytest.raises(BadAnswer, match="reason"):
            ask(asker_of(server, ledger, tmp_path, repair_turns=turns))
        assert len(server.requests) == turns + 1
    [call] = ledger.calls
    assert (call.outcome, call.calls) == ("bad_answer", turns + 1)
    assert call.prompt_tokens > 0


@pytest.mark.parametrize(
    "dressed",
    [
        '```json\n{"reason": "oom", "line": 7}\n```',
        '<think>{"no": 1} hm</think>{"reason": "oom", "line": 7}',
        'Here it is: {"reason": "oom", "line": 7}. Anything else?',
    ],
)
def test_json_is_found_in_its_wrapping(ledger, tmp_path, dressed):
    with serving(says(dressed)) as server:
        assert ask(asker_of(server, ledger, tmp_path)).value.line == 7


def test_an_answer_cut_off_by_its_limit_is_asked_for_shorter(ledger, tmp_path):
    with serving(says('{"reason": "oo', finish="length"), says(RIGHT)) as server:
        assert ask(asker_of(server, ledger, tmp_path)).value.line == 7
    assert "shorter" in server.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (breaks_off(RIGHT), "mid-answer"),
        (sends(b"\x00\xff garbage"), "no chat completion"),
        (sends(b""), "no chat completion"),
        (sends(b'{"choices": 7}'), "no chat completion"),
        (sends(b"[" * 100_000), "no chat completion"),
        (web_page(), "web page"),
        (no_choices(), "without any text"),
        (says(""), "without any text"),
        (says("I would rather not."), "does not fit"),
        (says('{"reason": "oom", "line":', finish="length"), "cut off"),
    ],
)
def test_what_is_no_answer_is_asked_for_again_and_then_reported(ledger, tmp_path, behaviour, words):
    with serving(behaviour) as server, pytest.raises(BadAnswer, match=words):
        ask(asker_of(server, ledger, tmp_path, repair_turns=1))
    assert len(server.requests) == 2
    assert [call.outcome for call in ledger.calls] == ["bad_answer"]
    assert not ledger.answers


def test_after_half_an_answer_the_next_whole_one_counts(ledger, tmp_path):
    with serving(breaks_off(RIGHT), says(RIGHT)) as server:
        assert ask(asker_of(server, ledger, tmp_path)).value.line == 7


def test_a_reply_without_end_is_not_read_to_its_end(ledger, tmp_path):
    with serving(sends(b" " * 5_000_000)) as server, pytest.raises(BadAnswer, match="not end"):
        ask(asker_of(server, ledger, tmp_path, repair_turns=0))


WHOLE = b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices": ' + b" " * 400


@pytest.mark.parametrize(
    "behaviour",
    [hangs(), drips(WHOLE, every_s=0.3), drips(WHOLE[44:], every_s=0.3)],
    ids=["hangs", "drips its head", "drips nonsense"],
)
def test_the_deadline_holds(ledger, tmp_path, behaviour):
    with serving(behaviour) as server:
        asker = asker_of(server, ledger, tmp_path, deadline_s=0.4)
        begun = time.monotonic()
        with pytest.raises(ModelTooSlow, match=r"0\.4 s"):
            ask(asker)
        assert 0.3 < time.monotonic() - begun < 60  # it would drip for two minutes
    [call] = ledger.calls
    assert (call.outcome, call.calls) == ("too_slow", 1)
    assert call.prompt_tokens > 0


def test_the_deadline_holds_over_a_body_that_drips(ledger, tmp_path):
    def slow_body(handler, server):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
        drips(b" " * 500, every_s=0.05)(handler, server)

    with serving(slow_body) as server, pytest.raises(ModelTooSlow):
        ask(asker_of(server, ledger, tmp_path, deadline_s=0.4))


def test_the_deadline_is_one_over_all_turns(ledger, tmp_path):
    def slowly_wrong(handler, server):
        server.closing.wait(0.25)
        says({"reason": "aliens"})(handler, server)

    with serving(slowly_wrong) as server:
        begun = time.monotonic()
        with pytest.raises(ModelTooSlow):
            ask(asker_of(server, ledger, tmp_path, deadline_s=0.6, repair_turns=500))
        assert time.monotonic() - begun < 60  # all turns would take two minutes


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "API_KEY"),
        (403, "API_KEY"),
        (404, "base_url"),
        (429, "429"),
        (500, "500"),
        (302, "302"),
    ],
)
def test_a_refusal_is_an_unavailable_model(ledger, tmp_path, status, words):
    with serving(refuses(status)) as server, pytest.raises(ModelUnavailable, match=words):
        ask(asker_of(server, ledger, tmp_path))
    assert len(server.requests) == 1
    assert [call.outcome for call in ledger.calls] == ["unavailable"]
    assert ledger.calls[0].prompt_tokens == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/v1",
        "http://no-such-host.invalid/v1",
        "ftp://example.org/v1",
        "nonsense",
        "http://[broken",
    ],
)
def test_no_server_is_an_unavailable_model(ledger, tmp_path, url):
    settings = LlmSettings(base_url=url, deadline_s=5.0)
    asker = open_asker(settings, cache_dir=tmp_path, ledger=ledger)
    with pytest.raises(ModelUnavailable):
        ask(asker)
    assert [call.outcome for call in ledger.calls] == ["unavailable"]


def test_a_question_the_endpoint_cannot_take_is_not_repeated(ledger, tmp_path):
    with serving(refuses(400, "exceeds the available context size")) as server:
        with pytest.raises(BadAnswer, match="context size"):
            ask(asker_of(server, ledger, tmp_path))
        assert len(server.requests) == 1


def test_an_endpoint_with_other_parameters_gets_them(ledger, tmp_path):
    picky = [
        refuses(400, "Unsupported parameter: use 'max_completion_tokens' instead"),
        refuses(400, "'temperature' does not support 0"),
        refuses(400, "response_format is not supported"),
        says(RIGHT),
    ]
    with serving(*picky) as server:
        asker = asker_of(server, ledger, tmp_path)
        assert ask(asker).value.line == 7
        ask(asker, "next")
    last = server.requests[-1]
    assert len(server.requests) == 5
    assert last["max_completion_tokens"] == 256
    assert not {"max_tokens", "temperature", "response_format"} & set(last)
    assert '"enum": ["oom", "disk"]' in last["messages"][0]["content"]


def test_the_daily_budget_is_kept(ledger, tmp_path):
    now = time.time()
    ledger.record_call(LlmCall(at=now, purpose="t", model="m", outcome="ok", prompt_tokens=900))
    with serving(says(RIGHT)) as server:
        with pytest.raises(BudgetSpent, match="900 of 1000"):
            ask(asker_of(server, ledger, tmp_path, token_budget=1000))
        assert server.requests == []
    assert (ledger.calls[-1].outcome, ledger.calls[-1].calls) == ("over_budget", 0)


def test_yesterdays_tokens_are_forgiven(ledger, tmp_path):
    then = time.time() - 90_000
    ledger.record_call(LlmCall(at=then, purpose="t", model="m", outcome="ok", prompt_tokens=900))
    with serving(says(RIGHT)) as server:
        assert ask(asker_of(server, ledger, tmp_path, token_budget=1000)).value.line == 7


def test_repair_turns_spend_the_budget_too(ledger, tmp_path):
    dear = says({"reason": "aliens"}, usage={"prompt_tokens": 600, "completion_tokens": 1})
    with serving(dear) as server:
        with pytest.raises(BudgetSpent):
            ask(asker_of(server, ledger, tmp_path, token_budget=1000, repair_turns=9))
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "usage", [None, {"prompt_tokens": -5, "completion_tokens": "x"}, {"total": 1}, 7]
)
def test_tokens_are_estimated_where_the_endpoint_does_not_count(ledger, tmp_path, usage):
    with serving(says(RIGHT, usage=usage)) as server:
        ask(asker_of(server, ledger, tmp_path), "x" * 3000)
    assert ledger.calls[0].prompt_tokens > 500
    assert ledger.calls[0].answer_tokens > 3


def test_the_key_goes_into_the_header_and_nowhere_else(ledger, tmp_path):
    key = "very-private-0123456789"
    with serving(refuses(401, f"Incorrect API key provided: {key}")) as server:
        asker = asker_of(server, ledger, tmp_path, api_key=Secret(key))
        with pytest.raises(ModelUnavailable) as caught:
            ask(asker)
    assert server.requests[0]["headers"]["Authorization"] == f"Bearer {key}"
    assert key not in str(caught.value)
    assert key not in repr(Address("http://x", key))


def test_the_key_comes_from_a_file(ledger, tmp_path):
    path = tmp_path / "key"
    path.write_text("from-a-file\n")
    with serving(says(RIGHT)) as server:
        ask(asker_of(server, ledger, tmp_path, api_key_file=path))
    assert server.requests[0]["headers"]["Authorization"] == "Bearer from-a-file"


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"two\nlines"])
def test_a_key_file_that_is_none_is_reported(ledger, tmp_path, content):
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with serving(says(RIGHT)) as server, pytest.raises(ModelUnavailable, match="key"):
        ask(asker_of(server, ledger, tmp_path, api_key_file=path))


class FarAway(ConfiguredEndpoint):
    """A loopback server that counts as remote."""

    is_remote = True

    def __init__(self, base_url, settings):
        super().__init__(base_url, settings)
        self.is_remote = True


@pytest.mark.parametrize(("kind", "leaves"), [(FarAway, False), (ConfiguredEndpoint, True)])
def test_secrets_stay_on_this_machine(ledger, kind, leaves):
    secret = "hf_abcdefghijklmnopqrstuvwxyz012345"
    settings = LlmSettings()
    with serving(says(RIGHT)) as server:
        asker = ModelAsker(kind(server.base_url, settings), settings, ledger)
        ask(asker, f"login with {secret}", system=f"the token is {secret}")
    assert (secret in str(server.requests)) is leaves


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("http://127.0.0.1:8000/v1", False),
        ("http://127.8.9.1/v1", False),
        ("http://[::1]:8000/v1", False),
        ("http://localhost/v1", False),
        ("http://localhost.example.org/v1", True),
        ("http://127.0.0.1.example.org/v1", True),
        ("http://10.0.0.7/v1", True),
        ("https://api.example.org/v1", True),
        ("http://127.0.0.1@example.org/v1", True),
    ],
)
def test_only_loopback_is_this_machine(url, remote):
    assert ConfiguredEndpoint(url, LlmSettings()).is_remote is remote


def test_without_url_and_file_there_is_nothing_to_ask(ledger, tmp_path):
    assert open_asker(LlmSettings(), cache_dir=tmp_path, ledger=ledger) is None
    assert list(tmp_path.iterdir()) == []
