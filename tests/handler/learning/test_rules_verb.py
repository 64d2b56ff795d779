"""`schedmate rules`: a person can correct, look, try, switch off, undo and hand on."""

import gzip
import json
import re
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from schedmate.cli import main
from schedmate.handler import Case, Handler, NamedLog
from schedmate.model import JobState
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, a_past_run
from schedmate.testing.llm import ScriptedAsker

STEPS = "".join(f"step {n} loss 0.5\n" for n in range(30))
SPOKEN = "[pump] valve 7 does not close, pressure [red]3.25[/red] stays"


@pytest.fixture
def schedmate(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.out").write_text(f"{STEPS}{SPOKEN}\nbye\n")

    def run(*args, code=0):
        with pytest.raises(SystemExit) as done:
            main([*map(str, args)])
        out, err = capsys.readouterr()
        assert done.value.code == code, out + err
        return SimpleNamespace(out=out, err=err, json=json.loads(out) if "--json" in args else None)

    return run


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "state" / "schedmate.sqlite3")) as opened:
        yield opened


def correct(schedmate, *more):
    called = schedmate(
        "rules", "correct", "job.out", "--exit-code", 1, "--reason", "storage_io", "--json", *more
    )
    return called.json


def diagnosed(schedmate):
    return schedmate("diagnose", "job.out", "--exit-code", 1, "--no-llm", "--json").json


def test_a_correction_is_kept_shown_and_undone(schedmate):
    assert diagnosed(schedmate)["reason"] == "unknown"
    lesson = correct(schedmate, "--note", "ask the plumber")
    past, rule = lesson["failure"], lesson["rule"]
    assert past["origin"]["by"] == "ada"
    assert diagnosed(schedmate)["source"] == "memory"
    shown = schedmate("rules", "show", past["id"]).out
    assert "ask the plumber" in shown
    assert SPOKEN in shown
    listed = schedmate("rules", "list").out
    assert past["id"] in listed
    assert rule["id"] in listed
    assert SPOKEN in listed
    assert rule["id"] in schedmate("rules", "remove", past["id"]).out
    assert diagnosed(schedmate)["reason"] == "unknown"
    assert schedmate("rules", "list").out == ""


def test_the_consequences_are_printed(schedmate):
    called = schedmate("rules", "correct", "job.out", "--exit-code", 1, "--reason", "storage_io")
    assert re.search(
        r"c[0-9a-f]{7}: such failures are storage_io from now on: \[pump\]", called.out
    )
    assert re.search(r"rule r[0-9a-f]{7} \(storage_io\) is enabled", called.out)
    assert "undo it: schedmate rules remove c" in called.err
    called = schedmate("diagnose", "job.out", "--exit-code", 1, "--no-llm")
    assert "storage_io (infrastructure), 95% sure, by memory" in called.out
    assert "as ada says" in called.out


def test_a_line_can_be_pointed_at(schedmate):
    assert correct(schedmate, "--line", 3)["failure"]["line"] == "step 2 loss 0.5"
    assert correct(schedmate, "--text", "valve 7")["failure"]["line"] == SPOKEN
    for wrong in (("--line", 999), ("--text", "nowhere")):
        args = ("rules", "correct", "job.out", "--reason", "storage_io", *wrong)
        assert "is not in the log" in schedmate(*args, code=2).err


@pytest.mark.parametrize(
    "packed", [gzip.compress, lambda raw: raw.decode().encode("utf-16")], ids=["gzip", "utf-16"]
)
def test_a_line_of_a_packed_log_can_be_pointed_at(schedmate, tmp_path, packed):
    log = tmp_path / "job.out"
    log.write_bytes(packed(log.read_bytes()))
    assert correct(schedmate, "--text", "valve 7")["failure"]["line"] == SPOKEN
    assert correct(schedmate, "--line", 3)["failure"]["line"] == "step 2 loss 0.5"


def test_without_a_rule(schedmate):
    assert correct(schedmate, "--no-rule")["rule"] is None
    assert diagnosed(schedmate)["reason"] == "storage_io"


def test_a_job_is_corrected_by_its_id(schedmate, store, tmp_path):
    log = str(tmp_path / "job.out")
    job = a_job(id="17", state=JobState.FAILED, exit_code=1, logs=(log,))
    store.keep_run(replace(a_past_run(), job=job))
    schedmate("rules", "correct", "17", "--reason", "storage_io")
    kept = store.diagnoses("17")[0]
    assert (kept.reason, kept.source) == ("storage_io", "memory")
    assert "knows a job 18" in schedmate("rules", "correct", "18", "--reason", "hang", code=3).err


def test_the_correction_of_a_job_is_withdrawn(schedmate, store, tmp_path):
    log = str(tmp_path / "job.out")
    job = a_job(id="17", state=JobState.FAILED, exit_code=1, logs=(log,))
    store.keep_run(replace(a_past_run(), job=job))
    assert "is no correction" in schedmate("rules", "withdraw", "17", code=2).err
    schedmate("rules", "correct", "17", "--reason", "storage_io")

    assert "job 17 is unknown again: " in schedmate("rules", "withdraw", "17").out

    assert store.diagnoses("17")[0].reason == "unknown"
    assert not store.past_failures(teacher="operator")
    assert not store.learned_rules()
    act = store.acts(about="job 17")[0]
    assert (act.user, act.action) == ("ada", "withdraw a correction")
    schedmate("rules", "correct", "17", "--reason", "storage_io")
    again = schedmate("rules", "withdraw", "17", "--json").json
    assert (again["job_id"], again["diagnosis"]["reason"]) == ("17", "unknown")
    assert "knows a job 18" in schedmate("rules", "withdraw", "18", code=3).err


def test_a_reason_that_is_none_is_reported(schedmate):
    called = schedmate("rules", "correct", "job.out", "--reason", "storage", code=2)
    assert "did you mean storage_io" in called.err


def test_a_rule_is_switched_off_and_on(schedmate):
    rule = correct(schedmate)["rule"]["id"]
    past = schedmate("rules", "list", "--learned", "--json").json["corrections"][0]["id"]
    schedmate("rules", "export", "rules.json")
    schedmate("rules", "remove", past)
    schedmate("rules", "import", "rules.json")
    assert diagnosed(schedmate)["rule"] == rule
    assert "disabled" in schedmate("rules", "disable", rule).out
    assert diagnosed(schedmate)["reason"] == "unknown"
    schedmate("rules", "enable", rule)
    assert diagnosed(schedmate)["rule"] == rule
    assert schedmate("rules", "list", "--json").json["rules"][0]["hits"] == 2
    assert schedmate("rules", "remove", rule).out == f"forgotten: {rule}\n"
    assert "no learned rule" in schedmate("rules", "remove", rule, code=3).err


def test_a_rule_that_a_healthy_log_speaks_against_is_not_switched_on(schedmate, store, tmp_path):
    rule = correct(schedmate)["rule"]["id"]
    (tmp_path / "ok.log").write_text(f"{STEPS}{SPOKEN}\nall is well\n")
    job = a_job(id="5", state=JobState.COMPLETED, logs=(str(tmp_path / "ok.log"),))
    store.keep_run(replace(a_past_run(), job=job))
    called = schedmate("rules", "test", rule, "job.out", code=1).out
    assert "NOT OK, tried on 1 of 1 healthy logs" in called
    assert f"found {'job.out'}:31: {SPOKEN}" in called
    assert "ok.log:31" in called
    trials = schedmate("rules", "test", "--all", "--json", code=1).json["trials"]
    assert [trial["ok"] for trial in trials] == [False]
    schedmate("rules", "disable", rule)
    assert "refused" in schedmate("rules", "enable", rule, code=1).out


def test_a_rule_is_added_by_hand(schedmate):
    line = "beegfs: target 7 lost, retry limit reached"
    added = schedmate("rules", "add", "--reason", "storage_io", "--text", line, "--json").json
    assert added["rules"][0]["positives"] == [line]
    harmless = "Saving model checkpoint to out/x"
    called = schedmate("rules", "add", "--reason", "storage_io", "--text", harmless, code=1)
    assert "is refused: it matches a harmless line" in called.out
    assert "too general" in schedmate(
        "rules", "add", "--reason", "storage_io", "--text", "error 3", code=2
    ).err  # fmt: skip


def test_rules_travel_to_another_site(schedmate, tmp_path, monkeypatch):
    correct(schedmate)
    assert json.loads(schedmate("rules", "export").out)["rules"][0]["reason"] == "storage_io"
    schedmate("rules", "export", "rules.json")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "elsewhere"))
    assert schedmate("rules", "list", "--learned", "--json").json["rules"] == []
    assert schedmate("rules", "import", "rules.json", "--json").json["rules"][0]["refused"] == ""
    assert diagnosed(schedmate)["reason"] == "storage_io"
    (tmp_path / "bad.json").write_text("{")
    assert "is no JSON" in schedmate("rules", "import", "bad.json", code=2).err


def test_built_in_rules_are_listed_and_shown(schedmate):
    listed = schedmate("rules", "list", "--built-in").out
    assert re.search(r"^gpu_oom/device-allocator .*0\.\d", listed, re.MULTILINE)
    assert "out of memory" in schedmate("rules", "show", "gpu_oom/device-allocator").out
    both = schedmate("rules", "list", "--json").json
    assert both["schema"] == "schedmate.rules/1"
    assert len(both["built_in"]) > 50
    assert "nothing is called 'x'" in schedmate("rules", "show", "x", code=3).err


def test_which_rule_must_be_given(schedmate):
    assert "which rule" in schedmate("rules", "test", code=2).err
    assert "no learned rule to test" in schedmate("rules", "test", "--all").err


def test_a_false_alarm_can_be_corrected(schedmate, tmp_path):
    (tmp_path / "job.out").write_text("ValueError: the mesh of rank 3 has a hole\n")
    assert schedmate("diagnose", "job.out", "--json").json["reason"] == "value_error"

    called = schedmate("rules", "correct", "job.out", "--reason", "not_failed", "--json").json
    again = schedmate("diagnose", "job.out", "--json").json

    assert called["rule"] is None
    assert (again["reason"], again["category"], again["source"]) == ("not_failed", "none", "memory")
    assert again["decision"]["retry"] == "no"


def test_not_knowing_is_no_correction(schedmate):
    called = schedmate("rules", "correct", "job.out", "--reason", "unknown", code=2)
    assert "'unknown' corrects nothing" in called.err
    called = schedmate("rules", "add", "--reason", "not_failed", "--text", SPOKEN, code=2)
    assert "is no reason of a failure" in called.err


PROPOSED = "[pump] valve 7 does not close, pressure 3.25 stays"


@pytest.fixture
def proposed(schedmate, store, tmp_path):
    """The id of the rule that a model proposed after one answer."""
    (tmp_path / "job.out").write_text(f"{STEPS}{PROPOSED}\nbye\n")
    log = NamedLog("job.out", (tmp_path / "job.out").read_bytes())
    case = Case(logs=(log,), exit_code=1)
    asker = ScriptedAsker([{"line": PROPOSED, "reason": "data_error"}])
    handler = Handler(store, asker)
    handler.ask_model(case, handler.diagnose(case))
    return store.learned_rules()[0].id


def test_a_proposal_is_listed_apart_and_applied_by_nothing(schedmate, proposed):
    assert diagnosed(schedmate)["reason"] == "unknown"
    listed = schedmate("rules", "list").out
    assert "proposed by a model, applied by nothing" in listed
    assert proposed in listed
    assert "job.out" in listed
    assert "would match" in listed
    data = schedmate("rules", "list", "--learned", "--json").json
    assert (data["rules"], [rule["id"] for rule in data["proposals"]]) == ([], [proposed])
    assert "is a model's proposal" in schedmate("rules", "enable", proposed, code=2).err


def test_a_person_accepts_a_proposal(schedmate, proposed):
    assert "is enabled" in schedmate("rules", "accept", proposed).out
    assert diagnosed(schedmate)["rule"] == proposed
    shown = schedmate("rules", "show", proposed, "--json").json
    assert shown["accepted_by"] == "ada"
    assert "no proposal, it is enabled" in schedmate("rules", "accept", proposed, code=2).err
    assert "no learned rule" in schedmate("rules", "accept", "r0000000", code=3).err


def test_a_person_refuses_a_proposal(schedmate, proposed):
    assert "is refused: refused by ada" in schedmate("rules", "refuse", proposed).out
    found = diagnosed(schedmate)
    assert found["reason"] == "unknown"
    assert "answered" not in found["suggestion"]
    assert "no proposal, it is refused" in schedmate("rules", "accept", proposed, code=2).err


def test_one_command_undoes_all_that_a_model_taught(schedmate, store, proposed):
    schedmate("rules", "accept", proposed)
    added = ("rules", "add", "--reason", "storage_io", "--text", "beegfs: target 7 lost for good")
    mine = schedmate(*added, "--json").json["rules"][0]["id"]
    called = schedmate("rules", "forget", "--by", "model", "--json").json
    assert proposed in called["ids"]
    assert [rule.id for rule in store.learned_rules()] == [mine]
    assert not store.past_failures()
    assert "answered" not in diagnosed(schedmate)["suggestion"]
    assert "nothing" in schedmate("rules", "forget", "--by", "model").out


def test_a_models_rule_from_a_file_is_a_proposal_whatever_the_file_claims(
    schedmate, store, proposed, tmp_path
):
    schedmate("rules", "accept", proposed)
    schedmate("rules", "export", "rules.json")
    schedmate("rules", "forget", "--by", "model")
    schedmate("rules", "import", "rules.json")
    (rule,) = store.learned_rules()
    assert (rule.id, rule.proposed, rule.asked) == (proposed, True, False)
