"""What squeue and sacct of a real cluster said, kept as files, and what we make of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import JobState, SchedulerError
from schedmate.schedulers.slurm import attempts, grouping, parsing

DATA = Path(__file__).parent / "data"
SEPARATOR = "\x1f5eparat0r\x1f"


LATER = {
    "PriorityLong": "1000",
    "ReqNodes": "",
    "Feature": "(null)",
    "Reservation": "(null)",
    "Requeue": "1",
    "BatchFlag": "1",
    "UserID": "0",
    "Account": "(null)",
    "QOS": "(null)",
    "Comment": "(null)",
    "MinTime": "0:00",
    "HetJobID": "N/A",
    "Dependency": "(null)",
    "Licenses": "(null)",
    "Origin": "NA",
    "SiblingsActive": "NA",
    "EligibleTime": "N/A",
    "AllocNodes": "login1",
    "AllocSID": "4711",
}
"""Fields that were not asked for yet when these answers were kept."""
KEPT_FIELDS = parsing.SQUEUE_FIELDS[: -len(LATER)]


def squeue():
    return (row | LATER for row in read("squeue", KEPT_FIELDS))


def read(name, fields):
    text = (DATA / f"{name}-22.05.txt").read_text()
    return parsing.records(text, fields, SEPARATOR)


@pytest.fixture(scope="module")
def queued():
    rows = squeue()
    jobs = [parsing.queued_job(row, lambda path: path.endswith("train me.sh")) for row in rows]
    return {job.name: job for job in jobs if job.name != "array"} | {
        job.id: job for job in jobs if job.name == "array"
    }


def sacct():
    """What was not asked for yet when these answers were kept is added."""
    added = {"AllocTRES": "", "UID": "0", "Account": "", "QOS": ""}
    return [row | added for row in read("sacct", parsing.SACCT_FIELDS[: -len(added)])]


@pytest.fixture(scope="module")
def accounted():
    jobs = attempts.accounted_jobs(sacct(), keep_s=300.0)
    return {job.id if job.name == "array" else job.name: job for job in jobs}


@pytest.mark.parametrize(
    ("name", "state", "exit_code", "signal"),
    [
        ("good", JobState.COMPLETED, 0, None),
        ("bad", JobState.FAILED, 3, None),
        ("killed", JobState.FAILED, 0, 9),
        ("child-killed", JobState.FAILED, 137, 9),
        ("5_1", JobState.FAILED, 1, None),
        ("cancelled-running", JobState.CANCELLED, 0, 15),
        ("waiting", JobState.PENDING, None, None),
        ("wide", JobState.RUNNING, None, None),
    ],
)
def test_ends_of_queued_jobs(queued, name, state, exit_code, signal):
    job = queued[name]
    assert (job.state, job.exit_code, job.signal) == (state, exit_code, signal)


def test_a_request_is_read(queued):
    wide, waiting, good = queued["wide"].request, queued["waiting"].request, queued["good"].request
    assert (wide.gpus, wide.nodes, wide.cpus, wide.memory_mb) == (4, 2, 6, 4096)
    assert wide.time_limit_s is None
    assert (waiting.gpus, waiting.nodes) == (3, 2)
    assert good.time_limit_s == 26 * 3600 + 180
    assert queued["wide"].nice == 5
    assert queued["wide"].nodes == ("node0", "node1")


def test_what_gpus_a_job_had_is_known_from_what_was_allocated():
    (row, *_) = sacct()
    allocated = "billing=1,cpu=1,gres/gpu:h100=1,gres/gpu=1,mem=100M,node=1"
    typed = row | {"AllocTRES": allocated}
    (job,) = attempts.accounted_jobs([typed], keep_s=300.0)
    assert (job.request.gpus, job.request.gpu_type) == (1, "h100")
    asked = row | {"ReqTRES": "cpu=1,gres/gpu:a100=2,mem=100M"}
    (job,) = attempts.accounted_jobs([asked], keep_s=300.0)
    assert (job.request.gpus, job.request.gpu_type) == (2, "a100")


def test_what_gpus_a_queued_job_wants():
    row = next(squeue())
    waiting = row | {"tres-alloc": "cpu=4", "tres-per-node": "gres:gpu:a100:2"}
    assert parsing.queued_job(waiting, lambda _: False).request.gpu_type == "a100"
    running = waiting | {"tres-alloc": "cpu=4,gres/gpu:h100=2,gres/gpu=2"}
    assert parsing.queued_job(running, lambda _: False).request.gpu_type == "h100"


def test_gpus_are_counted_without_accounted_resources():
    (row, *_) = squeue()
    bare = row | {"tres-alloc": "cpu=4", "tres-per-node": "gres:gpu:a100:2", "NumNodes": "3"}
    assert parsing.queued_job(bare, lambda _: False).request.gpus == 6
    whole = bare | {"tres-per-node": "N/A", "tres-per-job": "gres:gpu:5"}
    assert parsing.queued_job(whole, lambda _: False).request.gpus == 5


def test_times_that_have_not_come_are_not_told(queued):
    assert (queued["waiting"].start_time, queued["waiting"].end_time) == (None, None)
    assert queued["wide"].end_time is None
    assert queued["cancelled-waiting"].start_time is None
    good = queued["good"]
    assert good.submit_time <= good.start_time <= good.end_time


def test_logs_are_where_slurm_really_wrote_them(queued):
    assert queued["good"].logs == ("/tmp/capture/log 1.out", "/tmp/capture/good-00001.err")
    assert queued["5_1"].logs == ("/tmp/capture/slurm-5_1.out",)
    assert queued["bad"].logs == ("/tmp/capture/slurm-2.out",)


def test_a_hostile_name_stays_a_name(queued):
    (job,) = (job for name, job in queued.items() if name.startswith("odd"))
    assert job.name == 'odd "name" | UserId=mallory(0)\nJobId=1 ü'
    assert job.user == "root"
    assert job.script == "/tmp/capture/train me.sh"
    assert job.command[1:] == ("--lr", "two", "words")


def test_restarts_are_counted_by_both(queued, accounted):
    assert queued["again"].restarts == accounted["again"].restarts == 1
    assert queued["bad"].restarts == accounted["bad"].restarts == 0


def test_accounting_tells_the_same_story(queued, accounted):
    assert set(accounted) >= {"good", "bad", "killed", "5_0", "5_1", "cancelled-running"}
    assert not {"wide", "waiting"} & set(accounted), "only what has ended"
    for name in ("good", "bad", "killed", "again", "5_0", "5_1"):
        past, now = accounted[name], queued[name]
        for part in ("id", "state", "exit_code", "signal", "start_time", "end_time", "nodes"):
            assert getattr(past, part) == getattr(now, part), (name, part)
        assert past.request == now.request


def test_an_answer_cut_short_is_refused():
    text = (DATA / "squeue-22.05.txt").read_text()
    for cut in (text[:-20], text[: len(text) // 2], "slurm_load_jobs error: what?"):
        with pytest.raises(SchedulerError, match="SCHEDMATE_DEBUG"):
            list(parsing.records(cut, parsing.SQUEUE_FIELDS, SEPARATOR))


def test_no_jobs_is_an_answer():
    assert list(parsing.records("", parsing.SQUEUE_FIELDS, SEPARATOR)) == []


@given(st.lists(st.lists(st.text(), min_size=3, max_size=3)))
def test_whatever_users_write_ends_no_field(rows):
    separator = parsing.new_separator()
    text = "".join("".join(cell + separator for cell in row) + "\n" for row in rows)
    assert [list(row.values()) for row in parsing.records(text, "abc", separator)] == [
        [first.removeprefix("\n") if number == 0 else first, *others]
        for number, (first, *others) in enumerate(rows)
    ]


def test_separators_differ():
    assert parsing.new_separator() != parsing.new_separator()


@pytest.mark.parametrize("text", ["", " ", "(null)"])
def test_a_command_without_a_script(text):
    assert parsing.split_command(text, lambda _: True) == ()


def test_a_script_that_has_gone():
    assert parsing.split_command("/gone.sh a b", lambda _: False) == ("/gone.sh", "a", "b")


def test_what_a_job_insists_on():
    asked = {"ReqNodes": "node[0-1]", "Feature": "a100&ib", "Reservation": "course"}
    request = parsing.queued_job(next(squeue()) | asked, lambda _: False).request
    assert request.required_nodes == ("node0", "node1")
    assert (request.features, request.reservation) == ("a100&ib", "course")
    request = parsing.queued_job(next(squeue()), lambda _: False).request
    assert (request.required_nodes, request.features, request.reservation) == ((), "", "")


@pytest.mark.parametrize(
    ("reason", "state"),
    [("job requeued in held state", JobState.PENDING), ("None", JobState.RUNNING)],
)
def test_a_job_that_is_being_stopped_to_be_queued_again_waits(reason, state):
    row = next(squeue()) | {"State": "COMPLETING", "Reason": reason}
    assert parsing.queued_job(row, lambda _: False).state is state


@pytest.mark.parametrize(
    ("times", "state"),
    [
        ({"EndTime": "1794908522", "RestartCnt": "1"}, JobState.PENDING),
        ({"EndTime": "1794908522", "RestartCnt": "0"}, JobState.RUNNING),
        ({"EndTime": "1794904925", "RestartCnt": "1"}, JobState.RUNNING),
        ({"EndTime": "NONE", "TimeLimit": "UNLIMITED", "RestartCnt": "1"}, JobState.PENDING),
        ({"EndTime": "1794908522", "RestartCnt": "1", "Reason": "TimeLimit"}, JobState.RUNNING),
    ],
)
def test_whose_times_slurm_shows_while_a_run_is_being_stopped(times, state):
    """Of the next run, once the job is queued again; else of the run that has ended."""
    stopping = {"State": "COMPLETING", "Reason": "None"}
    shown = {"StartTime": "1794904922", "TimeLimit": "1:00:00"}
    row = next(squeue()) | stopping | shown | times
    assert parsing.queued_job(row, lambda _: False).state is state


@pytest.mark.parametrize(
    ("name", "uid", "user"),
    [
        ("ada", "1001", "ada"),
        ("nobody", "54321", "54321"),
        ("nobody", "65534", "nobody"),
        ("", "54321", "54321"),
    ],
)
def test_a_user_whom_the_controller_does_not_know_is_known_by_number(name, uid, user):
    (row, *_) = squeue()
    job = parsing.queued_job(row | {"UserName": name, "UserID": uid}, lambda _: True)
    (row, *_) = sacct()
    (ended,) = attempts.accounted_jobs([row | {"User": name, "UID": uid}], keep_s=300.0)

    assert (job.user, ended.user) == (user, user)


def test_a_job_that_only_aged_is_not_read_again(monkeypatch):
    waiting = next(row for row in squeue() if row["State"] == "PENDING")
    site = grouping.SlurmSite()
    reader = grouping.QueueReader(lambda _: False)

    def seen(**fields):
        [job] = reader.read([waiting | fields], lambda: site).jobs
        return job

    first = seen(PriorityLong="50000")
    with monkeypatch.context() as patched:
        patched.setattr(grouping, "queued_job", None)
        assert seen(PriorityLong="50499") is first
        later = seen(PriorityLong="51000")
        assert (later, later.priority) == (first, 51000)
        assert seen(PriorityLong="51001") is later
        low = seen(PriorityLong="50")
        assert (low.priority, low.most_nice) == (50, first.most_nice)
    held = seen(PriorityLong="0")
    assert held.held
    assert held.most_nice is None
    assert not seen(PriorityLong="50000").held
