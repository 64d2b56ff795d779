"""`jobs`, `job` and `why` on a store with a past."""

from __future__ import annotations

import io
import json
import re
import time
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from schedmate.cli import main
from schedmate.cli._console import LegibleConsole
from schedmate.cli._queue import queue_table
from schedmate.model import (
    Action,
    Decision,
    DecisionReason,
    EarlyWarning,
    JobState,
    NodeState,
    PastRun,
    Request,
)
from schedmate.model.legible import has_hidden
from schedmate.service.actions import Actions
from schedmate.service.views.job_view import JobView
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_diagnosis, a_job, a_progress
from schedmate.testing.scheduler import FakeScheduler

SICK = a_diagnosis(
    "gpu_ecc", decision=Decision(retry="elsewhere", exclude_nodes=("n1",), why="gpu_ecc: go away")
)


@pytest.fixture
def site(tmp_path, monkeypatch, capsys):
    """A store, a scheduler, and the command line in front of both."""
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(tmp_path / "cache"))
    scheduler = FakeScheduler()
    monkeypatch.setattr("schedmate.service.wiring.open_scheduler", lambda settings: scheduler)

    def run(*words):
        with pytest.raises(SystemExit) as done:
            main(list(words))
        out, err = capsys.readouterr()
        return SimpleNamespace(code=done.value.code, out=out, err=err)

    with closing(SqliteStore(tmp_path / "state" / "schedmate.sqlite3")) as store:
        yield SimpleNamespace(store=store, scheduler=scheduler, run=run)


@pytest.fixture
def retried(site):
    """A job that failed twice and was queued again in between."""
    for attempt in (0, 1):
        site.store.keep_diagnosis("1", attempt, SICK)
        site.store.keep_run(PastRun(job=a_job(state=JobState.FAILED, restarts=attempt)))
    action = Action(kind="requeue", job_id="1", why="gpu_ecc: go away", attempt=0)
    site.store.intend(action, at=1.0)
    site.store.settle(action, "done", at=2.0)
    again = Action(kind="requeue", job_id="1", why="gpu_ecc: go away", attempt=1)
    site.store.intend(again, at=3.0, state="observed")
    site.scheduler.put(a_job(state=JobState.FAILED, restarts=1))
    return site


def test_the_story_of_a_retried_job_as_data(retried):
    done = retried.run("job", "1", "--json")

    told = json.loads(done.out)
    assert done.code == 0
    assert sorted(told["diagnoses"]) == ["0", "1"]
    assert told["retry"]["record"]["state"] == "observed"
    assert [record["state"] for record in told["actions"]] == ["done", "observed"]


def test_the_queue_with_a_retried_job_as_data(retried):
    done = retried.run("jobs", "--json")

    told = json.loads(done.out)
    assert done.code == 0
    assert told["jobs"][0]["diagnoses"]["1"]["reason"] == "gpu_ecc"


def test_a_state_that_does_not_exist_is_named_with_those_that_do(site):
    site.scheduler.put(a_job(state=JobState.RUNNING))

    done = site.run("jobs", "-s", "running,crashed")

    assert (done.code, done.out) == (2, "")
    assert "no state is called 'CRASHED'; the states are PENDING, RUNNING" in done.err
    assert "FAILING" in done.err
    assert site.run("jobs", "-s", "Running, failing").code == 0


def test_a_long_queue_is_a_page_with_trouble_first(site):
    for number in range(60):
        site.scheduler.put(a_job(id=str(number), user="ada", submit_time=float(number)))
    site.scheduler.put(a_job(id="99", user="ada", state=JobState.FAILED, submit_time=99.0))

    page, few, every = (
        site.run(*words) for words in (("jobs",), ("jobs", "-n", "2"), ("jobs", "--all"))
    )

    assert [len(one.out.splitlines()) for one in (page, few, every)] == [51, 3, 62]
    assert page.out.splitlines()[1].startswith("99 ")
    assert [line.split()[0] for line in few.out.splitlines()[1:]] == ["99", "0"]
    assert every.out.splitlines()[-1].startswith("99 ")
    assert "50 of 61 jobs" in page.err
    assert "--all" in page.err
    assert every.err == ""
    assert len(json.loads(site.run("jobs", "--json").out)["jobs"]) == 61


def test_names_of_jobs_are_shown_not_obeyed(site):
    evil = "x\x1b[2J\n\u202e"
    site.store.keep_diagnosis("1", 0, a_diagnosis("killed", summary=evil))
    site.scheduler.put(a_job(state=JobState.FAILED, name=evil, user=evil, nodes=(evil,)))
    for words in (("jobs",), ("job", "1"), ("why", "1"), ("eta", "1"), ("nodes",), ("why", evil)):
        done = site.run(*words)
        assert done.out or done.err
        assert not has_hidden((done.out + done.err).replace("\n", ""))
        assert "\n\\u202e" not in done.out


WARNED = a_progress(
    warnings=(EarlyWarning(reason="loss_nan", text="the loss is no number since step 40"),)
)


@pytest.mark.parametrize("progress", [WARNED, replace(WARNED, current=None)])
def test_a_running_job_warns_early(site, progress):
    job = a_job(state=JobState.RUNNING, restarts=1)
    site.scheduler.put(job)
    site.store.keep_diagnosis("1", 0, SICK)
    site.store.keep_progress("1", 1, progress, at=time.time())

    queue, view, why = (site.run(*words).out for words in (("jobs",), ("job", "1"), ("why", "1")))

    assert re.search(r"RUNNING ↻1 !.* ! the loss is no number since step 40", queue)
    assert "  warning     loss_nan: the loss is no number since step 40\n" in view
    assert "training, the loss is no number since step 40; the attempt before: gpu_ecc" in why


def test_the_mark_stays_where_there_is_no_room_for_the_words():
    view = JobView(job=a_job(state=JobState.RUNNING), progress=WARNED, diagnoses={})
    out = io.StringIO()
    LegibleConsole(file=out, width=90).print(queue_table([view], 1030.0, 90))

    assert "RUNNING !" in out.getvalue()


def drawn(views, width):
    out = io.StringIO()
    LegibleConsole(file=out, width=width).print(queue_table(views, 5000.0, width))
    return out.getvalue().splitlines()


def test_no_jobs_are_an_empty_table():
    assert "".join(drawn([], 80)).strip() == ""


@pytest.mark.parametrize("width", [60, 70, 80, 90, 100, 120, 200])
@pytest.mark.parametrize("users", [("ada", "ada"), ("ada", "a-rather-long-user")])
def test_ids_states_and_times_are_whole_on_a_narrow_screen(width, users):
    """Names and what is known share the rest; no line is longer than the screen."""
    times = {"start_time": 1000.0, "name": "pretrain-large-model"}
    views = [
        JobView(
            job=a_job(
                id="1234567", user=users[0], state=JobState.COMPLETED, end_time=4700.0, **times
            ),
            progress=a_progress(),
            diagnoses={},
        ),
        JobView(
            job=a_job(
                id="1234568", user=users[1], state=JobState.OUT_OF_MEMORY, end_time=4600.0, **times
            ),
            progress=None,
            diagnoses={0: SICK},
        ),
    ]
    lines = drawn(views, width)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    for whole in ("JOBID", "1234567", "COMPLETED", "OUT_OF_MEMORY", "01:01:40", "01:00:00", "REAL"):
        assert whole in text
    assert "pretra" in lines[1]
    assert "gpu_ecc" in lines[2], "what it died of comes first"


def test_users_are_named_where_there_are_several(site):
    site.scheduler.put(a_job(id="1", user="ada"))
    assert "USER" not in site.run("jobs").out

    site.scheduler.put(a_job(id="2", user="bob"))

    head, *rows = site.run("jobs").out.splitlines()
    assert head.split()[:4] == ["JOBID", "NAME", "USER", "STATE"]
    assert [row.split()[2] for row in rows] == ["ada", "bob"]
    assert "USER" not in site.run("jobs", "-u", "ada").out


def test_the_order_is_that_of_the_page(site):
    """What runs by its start, what waits by its turn, what has ended from the newest on."""
    site.scheduler.put(a_job(id="1", state=JobState.COMPLETED, start_time=1.0, end_time=5.0))
    site.scheduler.put(a_job(id="2", state=JobState.FAILED, start_time=1.0, end_time=9.0))
    site.scheduler.put(a_job(id="3", priority=1))
    site.scheduler.put(a_job(id="4", priority=7))
    site.scheduler.put(a_job(id="5", state=JobState.RUNNING, start_time=8.0))
    site.scheduler.put(a_job(id="6", state=JobState.RUNNING, start_time=2.0))

    rows = site.run("jobs").out.splitlines()[1:]

    assert "".join(row.split()[0] for row in rows) == "654321"


def test_what_has_ended_warns_no_more(site):
    site.scheduler.put(a_job(state=JobState.COMPLETED))
    site.store.keep_progress("1", 0, WARNED, at=time.time())

    assert "!" not in site.run("jobs").out


def test_a_node_that_nobody_knows_is_said_so(site):
    site.scheduler.node_states["n1"] = NodeState(name="n1", condition="up")

    gone = site.run("nodes", "n1", "nosuch", "--json")
    calm = site.run("nodes", "n1", "--suspect")

    assert (gone.code, gone.out) == (3, "")
    assert gone.err.endswith("nor the history knows a node nosuch\n")
    assert (calm.code, calm.err) == (0, "none of them is suspect\n")


def recorded(site, state="done", **parts):
    action = Action(job_id="1", attempt=0, why="x", **parts)
    site.store.intend(action, at=1.0)
    site.store.settle(action, state, at=2.0, note="refused" if state == "failed" else "")


def test_a_job_shows_the_numbers_that_were_set(site):
    lowered = DecisionReason(code="limit_from_prediction", user_limit_s=36000.0)
    site.scheduler.put(a_job())
    recorded(site, kind="set_nice", value=169.0)
    recorded(site, kind="set_time_limit", value=2280.0, reason=lowered)
    recorded(site, kind="set_time_limit", value=36000.0, state="failed")

    out = site.run("job", "1").out

    assert "  done        set_nice 169: x\n" in out
    assert "  done        set_time_limit from 10:00:00 to 00:38:00: x\n" in out
    assert "  failed      set_time_limit from 00:38:00 to 10:00:00: x (refused)\n" in out


def test_it_is_shown_who_holds_a_job(site):
    site.scheduler.put(a_job(held=True))
    recorded(site, kind="hold")
    site.scheduler.put(a_job(id="2", held=True, reason="JobHeldAdmin"))

    queue, job = site.run("jobs").out, site.run("job", "1").out

    assert re.search(r"^1 .* held by SchedMate: x", queue, re.MULTILINE)
    assert re.search(r"^2 .* held by an administrator \(JobHeldAdmin\)", queue, re.MULTILINE)
    assert "  waits       held by SchedMate: x\n" in job


@pytest.mark.parametrize(
    ("mode", "parts", "why"),
    [
        ("assist", {"comment": "schedmate=off"}, "its comment has schedmate=off"),
        ("act", {}, "its partition is no canary partition"),
        ("act", {"request": Request(partition="try")}, None),
        ("observe", {"comment": "schedmate=off"}, None),
    ],
)
def test_why_names_the_setting_by_which_a_waiting_job_is_left_alone(
    site, monkeypatch, mode, parts, why
):
    monkeypatch.setenv("SCHEDMATE_MODE", mode)
    monkeypatch.setenv("SCHEDMATE_SCOPE__CANARY_PARTITIONS", '["try"]')
    site.scheduler.put(a_job(**parts))

    done = site.run("why", "1")

    words = "" if why is None else f"; SchedMate leaves it alone: {why}"
    assert done.out == f"job 1 is next: no job runs or waits before it{words}\n"


def test_why_names_the_bound_on_actions_an_hour(site):
    site.scheduler.put(a_job(id="1", state=JobState.FAILED))
    site.scheduler.put(a_job(id="2"))
    site.store.keep_diagnosis("1", 0, SICK)
    actions = Actions(site.scheduler, site.store, "act", an_hour=0)
    actions.carry_out(Action(kind="requeue", job_id="1", why="", attempt=0), 1.0)
    actions.carry_out(Action(kind="hold", job_id="2", why="", attempt=0), 1.0)
    actions.finish_interrupted(2.0)

    bound = "the bound of 0 actions an hour is reached"
    assert site.run("why", "1").out.endswith(f"; it waits to be queued again: {bound}\n")
    assert site.run("why", "2").out.endswith(f"; it could not be held: {bound}\n")
    assert f"requeue: ({bound})" in re.sub(r":\s+", ": ", site.run("job", "1").out)


def test_a_name_with_line_breaks_and_escapes_is_one_legible_line(site):
    site.scheduler.put(a_job(name="a\nb\x1b[2J"))

    done = site.run("jobs")

    [_, line] = done.out.splitlines()
    assert "a\\x0ab\\x1b[2J" in line


@pytest.mark.parametrize("verb", ["cancel", "hold", "release", "requeue"])
def test_a_job_that_is_refused_keeps_no_other_from_being_changed(site, verb):
    state = JobState.FAILED if verb == "requeue" else JobState.PENDING
    for job_id in ("1", "3"):
        site.scheduler.put(a_job(id=job_id, state=state, held=verb == "release", end_time=9.0))

    planned = site.run(verb, "--dry-run", "99", "3")
    done = site.run(verb, "--json", "98", "1", "99", "3")

    assert done.code == planned.code == 3
    assert planned.out.startswith("job 3 ")
    assert json.loads(done.out)["job_ids"] == ["1", "3"]
    assert done.err.splitlines()[0].endswith("98"), "each refusal is a line"
    assert done.err.splitlines()[-1].endswith("99")
    now = {job.id: (job.state, job.held) for job in site.scheduler.jobs()}
    expected = {
        "cancel": (JobState.CANCELLED, False),
        "hold": (JobState.PENDING, True),
    }.get(verb, (JobState.PENDING, False))
    assert now["3"] == now["1"] == expected


def test_the_tasks_of_a_sweep_are_told_apart(site):
    train = ("python3", "train.py", "--epochs", "5")
    for number, (rate, seed) in enumerate([("1e-3", "1"), ("1e-3", "2"), ("1e-4", "1")]):
        command = (*train, "--lr", rate, "--seed", seed)
        site.scheduler.put(a_job(id=f"7_{number}", name="train.py", command=command))
    for number, command in enumerate([("sh", "a.sh"), ("sh", "a.sh", "-v"), ("sh", "b.sh", "x")]):
        site.scheduler.put(a_job(id=f"8_{number}", name="jobs.txt", command=command))
    site.scheduler.put(a_job(id="9_0", name="same", command=("x",)))
    site.scheduler.put(a_job(id="9_1", name="same", command=("x",)))

    shown = [line.split("  ") for line in site.run("jobs", "7", "8", "9").out.splitlines()[1:]]

    assert {row[0]: row[1].strip() or row[2].strip() for row in shown} == {
        "7_0": "lr=1e-3 seed=1",
        "7_1": "lr=1e-3 seed=2",
        "7_2": "lr=1e-4 seed=1",
        "8_0": "a.sh",
        "8_1": "a.sh -v",
        "8_2": "b.sh x",
        "9_0": "same",
        "9_1": "same",
    }
    listed = json.loads(site.run("jobs", "7", "--json").out)["jobs"]
    assert {view["job"]["name"] for view in listed} == {"train.py"}


def test_an_array_that_waits_says_of_how_many_tasks(site):
    site.scheduler.put(a_job(id="7", tasks=500, held=True))
    for words in ((), ("7",), ("--all",)):
        assert "500 tasks: 500 pending; held" in site.run("jobs", *words).out


def test_the_tasks_of_an_array_are_one_row(site):
    for number in range(30):
        state = JobState.COMPLETED if number < 3 else JobState.PENDING
        site.scheduler.put(a_job(id=f"7_{number}", state=state, start_time=1.0, end_time=9.0))
    site.scheduler.put(a_job(id="7_3", state=JobState.RUNNING, start_time=1.0))
    failed = a_job(id="7_4", state=JobState.FAILED, start_time=1.0, end_time=2.0)
    site.scheduler.put(failed)
    site.store.keep_diagnosis("7_4", 0, a_diagnosis("gpu_oom", summary="out of memory"))
    site.scheduler.put(a_job(id="8"))

    folded, few = site.run("jobs").out.splitlines(), site.run("jobs", "-n", "1")
    [row] = [line for line in folded if line.startswith("7 ")]

    assert len(folded) == 3
    assert "RUNNING" in row
    assert "13%" in row
    assert "30 tasks: 1 running, 25 pending, 1 failed, 3 completed; 7_4: gpu_oom: out of" in row
    assert "1 of 2 jobs" in few.err
    unfolded = [site.run(*words).out for words in (("jobs", "7"), ("jobs", "-a"))]
    assert [len(text.splitlines()) for text in unfolded] == [31, 32]
    assert len(json.loads(site.run("jobs", "--json").out)["jobs"]) == 31
