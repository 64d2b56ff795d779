from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.handler import Case, parse_exit, parse_state
from schedmate.handler.case import parse_verdict, signal_name
from schedmate.handler.rules import BUILT_IN
from schedmate.handler.states import VERDICTS, WORDS
from schedmate.model import BadInput, Job, JobState


@pytest.mark.parametrize(
    ("code", "signal", "expected"),
    [
        (0, None, (0, None)),
        (1, 0, (1, None)),
        (137, None, (137, 9)),
        (-9, None, (137, 9)),
        (-11, None, (139, 11)),
        (0, 9, (0, 9)),
        (255, None, (255, None)),
        (128, None, (128, None)),
        (271, None, (143, 15)),
        (265, None, (137, 9)),
        (247, None, (137, 9)),
        (245, None, (139, 11)),
        (256, None, (1, None)),
        (33280, None, (130, 2)),
        (35072, None, (137, 9)),
        (0x10000, None, (1, None)),
        (400, None, (400, None)),
        (None, None, (None, None)),
    ],
)
def test_exit_codes_are_normalised(code, signal, expected):
    case = Case(exit_code=code, signal=signal)
    assert (case.exit_code, case.signal) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", (1, None)),
        ("0:9", (0, 9)),
        ("-9", (-9, None)),
        ("1:0", (1, 0)),
        ("0x8b", (139, None)),
        ("271", (271, None)),
        ("0x0:0x9", (0, 9)),
    ],
)
def test_exit_codes_are_read_as_sacct_writes_them(text, expected):
    assert parse_exit(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "1:", "1:x", ":9", "1.5", "0x", "SIGKILL", "1_0", "0x1_0"),
        *("\uff11\uff13\uff17", "\u0661", "9" * 10, "9" * 5000, "0x" + "f" * 9),
    ],
)
def test_other_exit_codes_are_refused(text):
    with pytest.raises(BadInput, match="no exit code"):
        parse_exit(text)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("FAILED", JobState.FAILED),
        ("failed", JobState.FAILED),
        ("CANCELLED by 1000", JobState.CANCELLED),
        ("OUT_OF_ME+", JobState.OUT_OF_MEMORY),
        ("BOOT_FAIL", JobState.NODE_FAIL),
        ("DEADLINE", JobState.TIMEOUT),
        ("CANCELLED+", JobState.CANCELLED),
        ("NODE_FAIL", JobState.NODE_FAIL),
        ("OOM", JobState.OUT_OF_MEMORY),
        ("PR", JobState.PREEMPTED),
        ("REVOKED", JobState.CANCELLED),
        ("REQUEUED", JobState.PREEMPTED),
        ("SPECIAL_EXIT", JobState.PENDING),
        ("COMPLETING", JobState.RUNNING),
        ("DONE", JobState.COMPLETED),
        ("EXIT", JobState.FAILED),
        ("ZOMBI", JobState.NODE_FAIL),
        ("TERM_RUNLIMIT: job killed after reaching LSF run time limit.", JobState.TIMEOUT),
        ("TERM_MEMLIMIT", JobState.OUT_OF_MEMORY),
        ("TERM_OWNER: job killed by owner.", JobState.CANCELLED),
        ("TERM_PREEMPT", JobState.PREEMPTED),
        ("Eqw", JobState.FAILED),
        ("qw", JobState.PENDING),
        ("C", JobState.COMPLETED),
        ("Succeeded", JobState.COMPLETED),
        ("Completed", JobState.COMPLETED),
        ("OOMKilled", JobState.OUT_OF_MEMORY),
        ("Error", JobState.FAILED),
        ("Init:Error", JobState.FAILED),
        ("CrashLoopBackOff", JobState.FAILED),
        ("DeadlineExceeded", JobState.TIMEOUT),
        ("Preempting", JobState.PREEMPTED),
        ("NodeLost", JobState.NODE_FAIL),
        ("ContainerCreating", JobState.PENDING),
        ("SUCCEEDED", JobState.COMPLETED),
        ("STOPPED", JobState.CANCELLED),
        ("Held", JobState.FAILED),
        ("Removed", JobState.CANCELLED),
        ("JOB_STATE_FAILED", JobState.FAILED),
    ],
)
def test_states_are_read_as_sacct_writes_them(text, state):
    assert parse_state(text) is state


@pytest.mark.parametrize("text", ["", "+", "FAIL", "broken", "FAILED+x"])
def test_other_states_are_refused(text):
    with pytest.raises(BadInput, match="no job state"):
        parse_state(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Evicted", "preempted"),
        ("ContainerCannotRun", "command_not_found"),
        ("ImagePullBackOff", "service_unreachable"),
        ("UnexpectedAdmissionError", "gpu_lost"),
        ("TERM_EXTERNAL_SIGNAL: job killed by a signal external to LSF.", "killed"),
        ("FAILED", ""),
        ("OOMKilled", ""),
    ],
)
def test_some_words_name_a_reason_that_no_state_stands_for(text, reason):
    assert parse_verdict(text)[1] == reason


def test_every_reason_so_named_has_a_rule_and_no_word_means_two_things():
    for reason in set(VERDICTS.values()):
        case = Case(state=JobState.FAILED, verdict=reason)
        assert [rule.reason for rule in BUILT_IN.for_case(case)] == [reason]
    assert not set(VERDICTS) & set(WORDS)


@given(text=st.text(max_size=40))
def test_any_text_is_a_state_or_refused(text):
    with suppress(BadInput):
        assert parse_state(text) in JobState


@given(code=st.integers(-70, 400), signal=st.none() | st.integers(0, 64))
def test_an_exit_once_made_normal_stays_so(code, signal):
    case = Case(exit_code=code, signal=signal)
    assert Case(exit_code=case.exit_code, signal=case.signal) == case


def test_failing_and_succeeded():
    assert Case(exit_code=1).failing
    assert Case(exit_code=0, signal=9).failing
    assert Case(state=JobState.TIMEOUT, exit_code=0).failing
    assert Case(hung=True, state=JobState.RUNNING).failing
    assert not Case(state=JobState.RUNNING).failing
    assert not Case(state=JobState.CANCELLED).succeeded
    assert Case(exit_code=0).succeeded
    assert not Case().succeeded


def test_a_case_of_a_job():
    job = Job(
        id="7",
        name="a",
        user="u",
        state=JobState.FAILED,
        workdir="/w",
        submit_time=0,
        exit_code=139,
        restarts=2,
        nodes=("n1",),
        logs=("/w/a.log",),
    )
    case = Case.of_job(job)
    assert [str(log) for log in case.logs] == ["/w/a.log"]
    assert (case.state, case.signal, case.attempt, case.nodes) == (JobState.FAILED, 11, 2, ("n1",))


def test_signals_have_names():
    assert signal_name(9) == "SIGKILL"
    assert signal_name(63) == "signal 63"
