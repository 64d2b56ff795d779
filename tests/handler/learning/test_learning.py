"""Corrections and learned rules: who may say what, and what keeps a bad rule out."""

import logging
from contextlib import closing
from dataclasses import replace

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.decision import decide
from schedmate.handler.learning import Teaching, healthy_logs, try_rules
from schedmate.handler.learning.trials import harmless_lines, scan
from schedmate.model import BadInput, JobState
from schedmate.model.lessons import Origin
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, a_learned_rule, a_past_run, an_origin
from schedmate.testing.llm import ScriptedAsker

STEPS = "".join(f"step {n} loss 0.5\n" for n in range(30))
SPOKEN = "[pump] valve 7 does not close, pressure 3.25 stays"
PUZZLE = f"{STEPS}{SPOKEN}\nbye\n"
CRASH = "ValueError: the mesh of rank 3 has a hole at vertex 17\n"
ADA = Origin(teacher="operator", by="ada", about="a.log", at=1.0)


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "store.sqlite3")) as opened:
        yield opened


def case_of(text, **verdict):
    return Case(logs=(NamedLog("a.log", text.encode()),), **({"exit_code": 1} | verdict))


def ask(store, case, reason, line=SPOKEN):
    asker = ScriptedAsker([{"line": line, "reason": reason}])
    handler = Handler(store, asker)
    return handler.ask_model(case, handler.diagnose(case))


def completed(store, path, text, job_id="9", **parts):
    path.write_text(text)
    job = a_job(id=job_id, state=JobState.COMPLETED, logs=(str(path),), **parts)
    store.keep_run(replace(a_past_run(), job=job))


def forget_failures(store):
    for past in store.past_failures():
        store.forget_failure(past.id)


def test_a_correction_wins_over_a_confident_rule(store):
    case = case_of(CRASH)
    assert Handler(store).diagnose(case).reason == "value_error"
    Handler(store).correct(case, "data_error", ADA, make_rule=False)
    again = Handler(store).diagnose(case_of(CRASH.replace("17", "99").replace("3", "5")))
    assert (again.reason, again.source) == ("data_error", "memory")
    assert "ada" in again.summary
    assert again.decision == decide("data_error", case)
    assert again.evidence[0].text.startswith("ValueError: the mesh of rank 5")


def test_it_wins_over_a_models_answer_and_can_be_undone(store):
    ask(store, case_of(PUZZLE), "python_exception")
    lesson = Handler(store).correct(case_of(PUZZLE), "gpu_hardware", ADA)
    assert Handler(store).diagnose(case_of(PUZZLE)).reason == "gpu_hardware"
    store.forget_failure(lesson.failure.id)
    store.remove_rule(lesson.rule.id)
    assert Handler(store).diagnose(case_of(PUZZLE)).reason == "unknown"


@pytest.mark.parametrize("text", [PUZZLE, CRASH])
def test_a_newer_correction_replaces_the_older_one_and_its_rule(store, text):
    def in_force():
        return [rule.reason for rule in store.learned_rules() if rule.asked]

    for number, reason in enumerate(("gpu_hardware", "data_error", "gpu_hardware")):
        Handler(store).correct(case_of(text), reason, replace(ADA, at=float(number)))
        assert in_force() == [reason]
        assert [past.reason for past in store.past_failures()] == [reason]
        assert Handler(store).diagnose(case_of(text)).reason == reason
    forget_failures(store)
    assert Handler(store).diagnose(case_of(text)).reason == "gpu_hardware"


def test_a_false_alarm_disables_the_rule_of_the_correction_before(store):
    Handler(store).correct(case_of(PUZZLE), "gpu_hardware", ADA)
    Handler(store).correct(case_of(PUZZLE), "not_failed", replace(ADA, at=2.0))
    assert not [rule for rule in store.learned_rules() if rule.asked]


def test_a_correction_does_not_reach_other_failures(store):
    Handler(store).correct(case_of(PUZZLE), "gpu_hardware", ADA)
    assert Handler(store).diagnose(case_of(CRASH)).reason == "value_error"
    assert Handler(store).diagnose(case_of(STEPS)).reason == "unknown"
    healthy = Handler(store).diagnose(case_of(STEPS, exit_code=0))
    assert healthy.reason == "not_failed"


def test_a_line_that_was_pointed_at_must_be_there_again(store):
    """The same symptom without the line that the operator pointed at is another failure."""
    text = f"{SPOKEN}\n{CRASH}"
    case = case_of(text)
    line = next(line for line in Handler(store)._analyse(case).gathered.tail if line.text == SPOKEN)
    Handler(store).correct(case, "gpu_hardware", ADA, line=line, make_rule=False)
    again = Handler(store).diagnose(case_of(text.replace("7", "8")))
    assert (again.reason, again.evidence[0].text) == ("gpu_hardware", SPOKEN.replace("7", "8"))
    assert Handler(store).diagnose(case_of(CRASH)).reason == "value_error"


def test_the_scheduler_knows_better_than_a_correction_of_lines(store):
    Handler(store).correct(case_of(CRASH), "data_error", ADA)
    preempted = case_of(CRASH, state=JobState.PREEMPTED, exit_code=None)
    assert Handler(store).diagnose(preempted).reason == "preempted"


def test_nothing_can_be_learnt_from_an_empty_log(store):
    with pytest.raises(BadInput, match="point at a line"):
        Handler(store).correct(case_of("", exit_code=0), "data_error", ADA)


ALIKE = PUZZLE.replace("valve 7", "valve 9") + "one more word\n" * 3


def test_a_models_answer_becomes_a_proposal_with_its_origin(store):
    ask(store, case_of(PUZZLE), "python_exception")
    (rule,) = store.learned_rules()
    assert (rule.reason, rule.origin.teacher, rule.origin.about) == (
        "python_exception",
        "llm",
        "a.log",
    )
    assert (rule.proposed, rule.enabled, rule.asked) == (True, False, False)


@pytest.mark.parametrize("text", [PUZZLE, ALIKE], ids=["the same failure", "one like it"])
@pytest.mark.parametrize("reason", ["python_exception", "storage_io", "disk_full"])
def test_one_answer_of_a_model_decides_no_later_failure(store, text, reason):
    asked = SPOKEN.replace("pump", "gpu disk")
    ask(store, case_of(PUZZLE.replace(SPOKEN, asked)), reason, asked)
    assert store.past_failures()

    later = case_of(text.replace("pump", "gpu disk"), nodes=("n1",))
    again = Handler(store).diagnose(later)

    before = Handler().diagnose(later)
    assert (again.reason, again.source, again.confidence) == ("unknown", "none", before.confidence)
    assert again.decision == before.decision == decide("unknown", later)
    assert store.learned_rules()[0].hits == 0


def test_what_a_model_answered_before_is_mentioned(store):
    ask(store, case_of(PUZZLE), "python_exception")
    again = Handler(store).diagnose(case_of(PUZZLE))
    assert "answered python_exception for the same failure before" in again.suggestion
    assert store.learned_rules()[0].id in again.suggestion
    assert "answered" not in Handler(store).diagnose(case_of(CRASH)).suggestion


def accept(store):
    (rule,) = store.learned_rules()
    return Teaching(store).accept(rule, by="ada")


def test_an_accepted_rule_answers(store):
    ask(store, case_of(PUZZLE), "python_exception")
    rule = accept(store)
    again = Handler(store).diagnose(case_of(ALIKE))
    assert (again.reason, again.source, again.rule) == ("python_exception", "rule", rule.id)
    assert (rule.accepted_by, store.learned_rules()[0].hits) == ("ada", 1)


def test_an_accepted_rule_that_a_healthy_log_speaks_against_does_not(store, tmp_path):
    ask(store, case_of(PUZZLE), "python_exception")
    completed(store, tmp_path / "ok.log", f"{STEPS}{SPOKEN}\nwent on\n")
    assert "ok.log:31" in accept(store).refused
    assert Handler(store).diagnose(case_of(PUZZLE)).reason == "unknown"


def test_a_refused_proposal_is_not_proposed_again(store):
    ask(store, case_of(PUZZLE), "python_exception")
    (rule,) = store.learned_rules()
    Teaching(store).refuse(rule, by="ada")
    assert not store.past_failures()
    ask(store, case_of(PUZZLE), "python_exception")
    (kept,) = store.learned_rules()
    assert (kept.refused, kept.proposed) == ("refused by ada", False)


def test_a_person_who_says_the_same_as_a_model_makes_the_rule(store):
    ask(store, case_of(PUZZLE), "python_exception")
    lesson = Handler(store).correct(case_of(PUZZLE), "python_exception", ADA)
    (rule,) = store.learned_rules()
    assert lesson.rule == rule
    assert (rule.asked, rule.origin.teacher) == (True, "operator")


def test_a_model_is_not_shown_its_own_guesses(store):
    ask(store, case_of(PUZZLE), "python_exception")
    asker = ScriptedAsker([{"line": SPOKEN, "reason": "python_exception"}] * 2)
    handler = Handler(store, asker)
    case = case_of(f"{STEPS}{SPOKEN}\nlater\n")
    handler.refine(case, handler.diagnose(case))
    assert "meant before" not in asker.asked[0].prompt
    shown = case_of(PUZZLE.replace("valve 7", "flap 7"))
    Handler(store).correct(shown, "data_error", ADA, make_rule=False)
    handler.refine(case, handler.diagnose(case))
    assert "meant before" in asker.asked[1].prompt


def test_a_rule_is_no_surer_than_the_answer_it_was_made_of(store):
    answered = ask(store, case_of(PUZZLE), "python_exception")
    accept(store)
    forget_failures(store)

    again = Handler(store).diagnose(case_of(PUZZLE))

    assert again.rule == store.learned_rules()[0].id
    assert again.confidence <= answered.confidence


def test_no_rule_is_made_of_a_line_that_speaks_of_no_trouble(store):
    calm = "registry asks for a new sign in please"
    diagnosis = ask(store, case_of(f"{STEPS}{calm}\n"), "auth_error", calm)
    assert diagnosis.reason == "auth_error"
    assert not store.learned_rules()
    again = Handler(store).diagnose(case_of(f"{STEPS}{calm}\n"))
    assert again.source == "none"
    assert "answered auth_error" in again.suggestion


GUESS = "cannot reach the feature store"


def test_an_accepted_rule_never_outranks_a_built_in_guess(store):
    guess = Handler().diagnose(case_of(f"{STEPS}{GUESS}\n"))
    assert guess.reason != "unknown"
    assert guess.confidence < 0.5
    theirs = a_learned_rule(
        reason="auth_error", pattern="feature store", words=("feature store",), positives=(GUESS,)
    )
    Teaching(store).accept(theirs, by="ada")
    assert store.learned_rules()[0].asked
    again = Handler(store).diagnose(case_of(f"{STEPS}{GUESS}\n"))
    assert (again.reason, again.rule) == (guess.reason, guess.rule)


def test_an_accepted_rule_never_outranks_a_confident_built_in_one(store):
    ask(store, case_of(PUZZLE), "python_exception")
    accept(store)
    both = Handler(store).diagnose(case_of(PUZZLE + CRASH))
    assert (both.reason, both.source) == ("value_error", "rule")
    assert both.rule.startswith("value_error/")


def test_an_operators_rule_does(store):
    Handler(store).correct(case_of(PUZZLE), "storage_io", ADA)
    forget_failures(store)
    both = Handler(store).diagnose(case_of(PUZZLE + CRASH))
    assert (both.reason, both.rule) == ("storage_io", store.learned_rules()[0].id)


def test_an_operators_rule_that_blames_a_node_counts_as_the_cause_of_death_only(store):
    Handler(store).correct(case_of(PUZZLE), "gpu_hardware", ADA)
    forget_failures(store)
    assert Handler(store).diagnose(case_of(PUZZLE)).reason == "gpu_hardware"
    crash = f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n{CRASH}'
    both = Handler(store).diagnose(case_of(PUZZLE + crash, nodes=("n1",)))
    assert (both.reason, both.decision.exclude_nodes) == ("value_error", ())


def test_a_disabled_rule_is_not_asked(store):
    Handler(store).correct(case_of(PUZZLE), "storage_io", ADA)
    forget_failures(store)
    handler = Handler(store)
    assert handler.diagnose(case_of(PUZZLE)).reason == "storage_io"
    store.keep_rule(replace(store.learned_rules()[0], enabled=False))
    assert handler.diagnose(case_of(PUZZLE)).reason == "unknown"


def test_one_healthy_log_discards_a_rule_and_says_so(store, tmp_path, caplog):
    completed(store, tmp_path / "ok.log", f"{STEPS}{SPOKEN.replace('7', '1')}\nwent on\n")
    with caplog.at_level(logging.INFO, "schedmate.handler"):
        diagnosis = ask(store, case_of(PUZZLE), "python_exception")
    assert diagnosis.source == "llm"
    (rule,) = store.learned_rules()
    assert "ok.log:31: [pump] valve 1" in rule.refused
    assert "ok.log:31" in caplog.text
    forget_failures(store)
    assert Handler(store).diagnose(case_of(PUZZLE)).reason == "unknown"


def test_the_failures_own_log_is_no_healthy_one(store, tmp_path):
    """The last run that wrote a file owns it: an earlier one of that name ended well."""
    log = tmp_path / "train.out"
    completed(store, log, PUZZLE)
    case = Case(logs=(log,), exit_code=1)
    lesson = Handler(store).correct(case, "storage_io", ADA)
    assert lesson.rule is not None
    assert (lesson.rule.refused, lesson.rule.healthy_logs) == ("", 0)


def test_only_logs_of_completed_runs_that_are_there_are_healthy(store, tmp_path):
    completed(store, tmp_path / "ok.log", STEPS, "1")
    completed(store, tmp_path / "gone.log", STEPS, "2")
    (tmp_path / "gone.log").unlink()
    (tmp_path / "bad.log").write_text(PUZZLE)
    failed = a_job(id="3", state=JobState.FAILED, logs=(str(tmp_path / "bad.log"),))
    store.keep_run(replace(a_past_run(), job=failed))
    again = a_job(id="4", state=JobState.FAILED, logs=(str(tmp_path / "ok.log"),), end_time=9e9)
    assert [log.path for log in healthy_logs(store)] == [tmp_path / "ok.log"]
    store.keep_run(replace(a_past_run(), job=again))
    assert healthy_logs(store) == ()


def test_a_rule_that_would_not_change_the_answer_is_not_kept(store):
    text = f"WARNING: {SPOKEN}\nbye\n"
    lesson = Handler(store).correct(case_of(text), "storage_io", ADA)
    assert lesson.rule is None
    assert "no rule" in lesson.problem
    assert Handler(store).diagnose(case_of(text)).reason == "storage_io"


def test_a_general_line_makes_no_rule_but_is_remembered(store):
    lesson = Handler(store).correct(case_of(f"{STEPS}error 17\n"), "storage_io", ADA)
    assert lesson.rule is None
    assert "too general" in lesson.problem
    assert Handler(store).diagnose(case_of(f"{STEPS}error 18\n")).reason == "storage_io"


def test_harmless_lines_match_no_built_in_rule():
    rule_set = Handler()._active_rules.rule_set
    wrong = [line for line in harmless_lines() if rule_set.for_line(line) is not None]
    assert not wrong


@pytest.mark.parametrize("line", harmless_lines()[:20])
def test_a_rule_of_a_harmless_line_is_refused(store, line):
    try:
        rule = Teaching(store).add("data_error", line, ADA)
    except BadInput:
        return
    assert "harmless" in rule.refused


def test_trying_a_rule_again(store, tmp_path):
    completed(store, tmp_path / "ok.log", STEPS)
    bad = tmp_path / "bad.log"
    bad.write_text(f"{STEPS}record 3 of shard 9 is cut short\n")
    rule = a_learned_rule()
    (trial,) = try_rules([rule], [bad], store)
    assert trial.ok
    assert trial.found == (f"{bad}:31: record 3 of shard 9 is cut short",)
    assert (trial.healthy_logs, trial.of) == (1, 1)
    (missing,) = try_rules([replace(rule, positives=("something else",))], [], store)
    assert missing.missed == ("something else",)
    assert not missing.ok
    completed(store, bad, bad.read_text(), "10")
    (caught,) = try_rules([rule], [], store)
    assert "bad.log:31" in caught.caught


def test_healthy_logs_are_read_in_bounded_time(store, tmp_path):
    logs = [tmp_path / f"{n}.log" for n in range(5)]
    for number, log in enumerate(logs):
        completed(store, log, STEPS, str(number))
    scanned = scan([a_learned_rule()], healthy_logs(store), seconds=-1)
    assert (scanned.logs, scanned.of, scanned.hits) == (0, 5, {})
    seen = []
    scanned = scan([a_learned_rule()], healthy_logs(store), on_log=lambda *at: seen.append(at))
    assert seen[-1] == (5, 5)


def test_a_broken_rule_in_the_store_is_passed_over(store):
    store.keep_rule(a_learned_rule("r0", pattern="("))
    store.keep_rule(a_learned_rule("r2", reason="no such reason"))
    store.keep_rule(a_learned_rule("r1", origin=an_origin("operator")))
    text = "record 3 of shard 9 is cut short\n"
    assert Handler(store).diagnose(case_of(text)).rule == "r1"
