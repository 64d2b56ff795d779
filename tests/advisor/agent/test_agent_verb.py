"""`schedmate advise` with a model, without one, and with one that does not answer."""

from __future__ import annotations

import json

import pytest

from schedmate.cli import main
from schedmate.testing.llm import refuses, says, serving

pytestmark = pytest.mark.processes

CODE = """\
import torch
from elsewhere import net, run

train_batch_amount = 48
run(net, train_batch_amount)
"""


@pytest.fixture
def advise(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    job = tmp_path / "job"
    job.mkdir()
    (job / "train.py").write_text(CODE)

    def call(*words, base_url=""):
        if base_url:
            monkeypatch.setenv("SCHEDMATE_LLM__BASE_URL", base_url)
        with pytest.raises(SystemExit) as ended:
            main(["advise", "--dir", str(job), *words])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return call


def test_a_model_that_answers_is_named_as_the_source_and_counted(advise):
    with serving(says({"batch_size": "48"})) as model:
        code, out, err = advise("--llm", "--json", "train.py", base_url=model.base_url)
        advice = json.loads(out)
        assert (code, err.count("\n")) == (0, 1)
        assert "asking a language model, 60 s at most" in err
        found = advice["workload"]["batch_size"]
        assert (found["value"], found["source"]) == (48, "llm")
        assert (found["evidence"][0]["file"], found["evidence"][0]["line"]) == ("train.py", 4)
        assert advice["cost"]["llm_calls"] == len(model.requests) == 1
        assert advice["cost"]["llm_tokens"] > 0
        _, again, _ = advise("--llm", "--json", "train.py")
        assert json.loads(again)["workload"] == advice["workload"]
        assert len(model.requests) == 1


def test_no_model_is_asked_unless_wanted_or_switched_on(advise, monkeypatch):
    with serving(says({"batch_size": "48"})) as model:
        _, out, _ = advise("--json", "train.py", base_url=model.base_url)
        assert model.requests == []
        assert json.loads(out)["workload"]["batch_size"] is None
        monkeypatch.setenv("SCHEDMATE_LLM__ADVICE", "true")
        _, out, _ = advise("--json", "train.py")
        assert json.loads(out)["workload"]["batch_size"]["value"] == 48


def test_no_llm_never_asks(advise, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LLM__ADVICE", "true")
    with serving(says({"batch_size": "48"})) as model:
        code, out, _ = advise("--no-llm", "--json", "train.py", base_url=model.base_url)
        assert model.requests == []
    assert code == 0
    assert json.loads(out)["workload"]["batch_size"] is None


def test_a_model_that_fails_is_reported_but_stops_nothing(advise, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LLM__ADVICE", "true")
    with serving(refuses(500)) as model:
        code, out, err = advise("train.py", base_url=model.base_url)
        assert code == 0
        assert "entry_point" in out
        assert "answered without a language model: " in err
        code, out, _ = advise("train.py", "--llm")
        assert code == 5
        assert "entry_point" in out


def test_to_demand_a_model_where_there_is_none_is_exit_5(advise):
    assert advise("train.py")[0::2] == (0, "")
    code, out, err = advise("--llm", "--json", "train.py")
    assert code == 5
    assert json.loads(out)["workload"]["entry_point"]["value"] == "train.py"
    assert "no language model is configured or installed" in err


def test_to_demand_and_to_forbid_a_model_is_no_use(advise):
    code, _, err = advise("--llm", "--no-llm", "train.py")
    assert code == 2
    assert "contradict" in err
