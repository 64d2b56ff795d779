import pytest

from schedmate.handler import Case, parse_exit, parse_state
from schedmate.handler.case import signal_name
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
        (None, None, (None, None)),
    ],
)
def test_exit_codes_are_normalised(code, signal, expected):
    case = Case(exit_code=code, signal=signal)
    assert (case.exit_code, case.signal) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("1", (1, None)), ("0:9", (0, 9)), ("-9", (-9, None)), ("1:0", (1, 0))]
)
def test_exit_codes_are_read_as_sacct_writes_them(text, expected):
    assert parse_exit(text) == expected


@pytest.mark.parametrize("text", ["", "x", "1:", "1:x", ":9", "1.5"])
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
    ],
)
def test_states_are_read_as_sacct_writes_them(text, state):
    assert parse_state(text) is state


@pytest.mark.parametrize("text", ["", "+", "FAIL", "broken", "FAILED+x"])
def test_other_states_are_refused(text):
    with pytest.raises(BadInput, match="no job state"):
        parse_state(text)


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
