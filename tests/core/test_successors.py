"""Jobs beside which a retry would run."""

from __future__ import annotations

import pytest

from schedmate.core import (
    Act,
    DecisionEngine,
    DecisionLimits,
    JobDiagnosed,
    JobSeen,
    Reconsider,
    may_be_child,
    may_have_waited,
    submits_jobs,
    waits_for_end,
)
from schedmate.model import JobState
from schedmate.model.job import Awaited, awaited_in
from schedmate.policies import ordering
from schedmate.testing.builders import a_diagnosis, a_job

RUNNING = JobState.RUNNING
ELSEWHERE = "/home/ada/elsewhere"


def decided(*others, job_id="1", own=None, **diagnosed):
    """What follows from the failure of a run from 1010 to 1070; each of `others` may be seen
    several times, before and after its end."""
    engine = DecisionEngine(ordering("fifo"))
    own = {"id": job_id} | (own or {})
    engine.handle(JobSeen(1020.0, a_job(**own, state=RUNNING)))
    for number, sightings in enumerate(others):
        for at, parts in enumerate(sightings):
            other = a_job(**{"id": str(number + 20), "workdir": ELSEWHERE, **parts})
            engine.handle(JobSeen(1060.0 + 12 * at, other))
    engine.handle(JobSeen(1071.0, a_job(**own, state=JobState.NODE_FAIL)))
    event = JobDiagnosed(1073.0, own["id"], 0, a_diagnosis("node_failure"), **diagnosed)
    [act] = [one.action for one in engine.handle(event) if isinstance(one, Act)]
    return act.kind, act.why


BESIDE = [
    pytest.param([{"dependency": "afterany:1(unfulfilled)"}], id="afterany"),
    pytest.param([{"dependency": "afternotok:1(unfulfilled)"}], id="afternotok"),
    pytest.param([{"dependency": "afterok:1(failed)?afternotok:1(unfulfilled)"}], id="either"),
    pytest.param([{"dependency": "afterany:1", "user": "bob"}], id="another user's"),
    pytest.param([{"dependency": "afterany:1"}, {"state": RUNNING}], id="fulfilled since"),
    pytest.param([{"dependency": "singleton(unfulfilled)"}], id="singleton"),
    pytest.param([{"workdir": a_job().workdir, "submit_time": 1069.0}], id="by its script"),
    pytest.param(
        [{"workdir": a_job().workdir, "submit_time": 1069.0, "state": RUNNING}], id="runs already"
    ),
    pytest.param([{"workdir": a_job().workdir, "submit_time": 1072.0, "name": "x"}], id="since"),
    pytest.param(
        [{"workdir": a_job().workdir, "submit_time": 1072.0, "state": JobState.COMPLETED}],
        id="has done the work",
    ),
]
ALONE = [
    pytest.param([{"dependency": "afterok:1(unfulfilled)"}], id="afterok"),
    pytest.param([{"dependency": "afterok:1(failed)"}], id="afterok, never satisfied"),
    pytest.param([{"dependency": "afterany:11(unfulfilled)"}], id="another job's"),
    pytest.param([{"dependency": "singleton", "name": "other"}], id="singleton of others"),
    pytest.param(
        [{"dependency": "afterany:1"}, {"state": JobState.CANCELLED, "start_time": None}],
        id="cancelled since",
    ),
    pytest.param([{"workdir": a_job().workdir, "submit_time": 1000.0}], id="a sibling"),
    pytest.param([{"workdir": a_job().workdir, "submit_time": 1069.0, "user": "bob"}], id="bob's"),
    pytest.param(
        [{"workdir": a_job().workdir, "submit_time": 1069.0, "restarts": 1}], id="queued again"
    ),
]


@pytest.mark.parametrize("other", BESIDE)
def test_no_retry_beside_what_its_owner_has_arranged(other):
    kind, why = decided(other)
    assert kind == "leave"
    assert "job 20" in why


@pytest.mark.parametrize("other", ALONE)
def test_a_retry_where_nothing_runs_beside_it(other):
    assert decided(other)[0] == "requeue"


SCRIPT = {"command": ("/home/ada/project/job.sh", "7"), "script": "/home/ada/project/job.sh"}


@pytest.mark.parametrize("submitted", [1069.0, 1072.0])
def test_the_same_script_submitted_from_another_directory_is_the_same_work(submitted):
    kind, why = decided([{**SCRIPT, "submit_time": submitted}], own=SCRIPT)
    assert (kind, why) == ("leave", "its owner has submitted it again as job 20")


@pytest.mark.parametrize(
    ("parts", "own"),
    [
        ({**SCRIPT, "name": "other"}, SCRIPT),
        ({**SCRIPT, "user": "bob"}, SCRIPT),
        ({**SCRIPT, "command": (SCRIPT["script"], "8")}, SCRIPT),
        ({"command": ("/home/ada/job.sh",), "script": "/home/ada/job.sh"}, SCRIPT),
        ({**SCRIPT, "submit_time": 1005.0}, SCRIPT),
        ({**SCRIPT, "submit_time": 1040.0}, SCRIPT),
        ({**SCRIPT, "id": "7_4"}, {**SCRIPT, "id": "7_3"}),
        ({}, {}),
        ({"command": ()}, {"command": ()}),
    ],
    ids=["name", "user", "arguments", "script", "before", "together", "array", "relative", "none"],
)
def test_what_is_other_work_in_another_directory(parts, own):
    assert decided([{"submit_time": 1072.0, **parts}], own=own)[0] == "requeue"


def test_jobs_that_ran_side_by_side_for_long_do_not_mind_each_other():
    engine = DecisionEngine(ordering("fifo"))
    engine.handle(JobSeen(0.0, a_job(id="2", state=RUNNING, submit_time=1100.0, start_time=1200.0)))
    engine.handle(JobSeen(0.0, a_job(state=JobState.NODE_FAIL, end_time=1800.0)))
    [act] = engine.handle(JobDiagnosed(1801.0, "1", 0, a_diagnosis("node_failure")))
    assert act.action.kind == "requeue"


@pytest.mark.parametrize(
    ("submitted", "kind"), [(1015.0, "requeue"), (1059.0, "requeue"), (1061.0, "leave")]
)
def test_what_was_submitted_together_with_it_is_no_successor(submitted, kind):
    """A loop submits many jobs, and the first of them begins at once."""
    sibling = {"workdir": a_job().workdir, "submit_time": submitted, "name": "next"}
    assert decided([sibling])[0] == kind


@pytest.mark.parametrize(("other", "kind"), [("6", "requeue"), ("8", "leave")])
def test_within_the_same_second_numbers_tell_who_came_first(other, kind):
    engine = DecisionEngine(ordering("fifo"))
    job = a_job(id="7", state=JobState.NODE_FAIL, start_time=1000.0, end_time=1002.0)
    engine.handle(JobSeen(1003.0, job))
    engine.handle(JobSeen(1003.0, a_job(id=other)))
    [act] = engine.handle(JobDiagnosed(1004.0, "7", 0, a_diagnosis("node_failure")))
    assert act.action.kind == kind


def test_a_whole_array_that_is_waited_for_is_each_of_its_tasks():
    waits = [{"dependency": "afterany:7_*(unfulfilled)"}]
    assert decided(waits, job_id="7_3")[0] == "leave"
    assert decided(waits, job_id="8_3")[0] == "requeue"


def test_the_other_tasks_of_an_array_are_not_its_successors():
    sibling = {"workdir": a_job().workdir, "submit_time": 1069.0, "id": "7_4"}
    assert decided([sibling], job_id="7_3")[0] == "requeue"
    assert decided([{**sibling, "id": "8_4"}], job_id="7_3")[0] == "leave"


def test_a_script_that_submits_jobs_itself_is_left_to_itself():
    kind, why = decided(submits_jobs=True)
    assert (kind, why) == (
        "leave",
        "its script or its code submits or requeues jobs itself",
    )


@pytest.mark.parametrize(
    ("script", "submits"),
    [
        ("#!/bin/sh\npython train.py || sbatch retry.sh\n", True),
        ("trap 'scontrol requeue $SLURM_JOB_ID' USR1\nwait\n", True),
        ("next=$(sbatch --parsable -d afterany:$SLURM_JOB_ID $0)\n", True),
        ("/usr/bin/sbatch next.sh\n", True),
        ("schedmate submit next.sh\n", True),
        ("qsub next.sh", True),
        (
            '#!/bin/sh\n# properties = {"type": "single", "rule": "a"}\ncd /x\n',
            True,
        ),
        ("#!/bin/bash\n# NEXTFLOW TASK: train (1)\nset -e\n", True),
        ("srun --unbuffered python -u -m submitit.core._submit /x/logs\n", True),
        ("#!/bin/sh\n#SBATCH --gpus=1\n# sbatch this with care\npython train.py\n", False),
        ("python make_sbatch_files.py\nscontrol show job $SLURM_JOB_ID\n", False),
        ("", False),
        (None, False),
    ],
)
def test_what_a_script_shows_of_it(script, submits):
    assert submits_jobs(script) is submits


def test_a_job_that_was_let_go_before_it_was_seen_to_wait():
    kind, why = decided(successors=("9",))
    assert (kind, why) == ("leave", "job 9 was submitted to run after it")


def renewed(dependency, *, state=JobState.COMPLETED, ours=True, **parts):
    """What follows once job 1 has failed, was queued again by us, and has this state."""
    engine = DecisionEngine(ordering("fifo"))
    waits = a_job(id="2", workdir=ELSEWHERE, dependency=dependency, **parts)
    engine.handle(JobSeen(0.0, a_job(state=JobState.NODE_FAIL)))
    engine.handle(JobSeen(0.0, waits))
    if ours:
        engine.handle(JobDiagnosed(1073.0, "1", 0, a_diagnosis("node_failure")))
    engine.handle(JobSeen(1080.0, a_job(restarts=1)))
    engine.handle(JobSeen(1090.0, a_job(restarts=1, state=state)))
    found = [one for _ in range(3) for one in engine.handle(JobSeen(1100.0, waits))]
    acts = [one.action for one in found if isinstance(one, Act)]
    assert all("job 1 was queued again" in one.why for one in acts if one.kind != "set_nice")
    return {(one.kind, one.key, one.dependency) for one in acts if one.kind != "set_nice"}


def test_a_dependant_gets_its_dependency_anew_once_our_retry_has_succeeded():
    found = renewed("afterok:1(failed),afterany:7(unfulfilled)")
    assert found == {
        ("set_dependency", "2:0:set_dependency", "afterok:1,afterany:7"),
    }


@pytest.mark.parametrize(
    ("dependency", "parts"),
    [
        ("afterok:1(failed)", {"state": RUNNING}),
        ("afterok:1(failed)", {"state": JobState.FAILED}),
        ("afterok:1(failed)", {"ours": False}),
        ("afterok:1(failed)", {"comment": "schedmate=off"}),
        ("afterok:1(failed),afterok:5(failed)", {}),
        ("afternotok:1(failed)", {"ours": False}),
        ("afterok:1(unfulfilled)", {}),
        ("", {}),
    ],
)
def test_no_other_dependency_is_touched(dependency, parts):
    assert renewed(dependency, **parts) == set()


@pytest.mark.parametrize(
    ("parts", "may"),
    [
        ({"freed_time": 1071.0}, True),
        ({"freed_time": 1069.0}, True),
        ({"freed_time": 1190.0}, True),
        ({"freed_time": 1300.0}, False),
        ({"freed_time": 1050.0}, False),
        ({"freed_time": None}, False),
        ({"freed_time": 1071.0, "user": "bob"}, False),
        ({"freed_time": 1071.0, "restarts": 1}, False),
        ({"freed_time": 1080.0, "submit_time": 1075.0}, False),
    ],
)
def test_who_may_have_waited_for_a_run_that_has_ended(parts, may):
    ended = a_job(state=JobState.NODE_FAIL)
    assert may_have_waited(a_job(**{"id": "2", "state": RUNNING, **parts}), ended) is may


@pytest.mark.parametrize(
    ("line", "waits"),
    [
        ("sbatch -d afternotok:1 x.sh", True),
        ("sbatch --dependency=afterok:3:4,afterany:2:1 x.sh", True),
        ("sbatch --dependency=singleton x.sh", True),
        ("sbatch x.sh\n#SBATCH --dependency=afterany:1\n", True),
        ("sbatch -d afterok:1 x.sh", False),
        ("sbatch -d afterany:12 --time=01:1 x.sh", False),
        ("sbatch --begin=now+60 x.sh", False),
    ],
)
def test_for_what_a_job_waited_by_how_it_was_submitted(line, waits):
    assert waits_for_end(line, a_job(id="2"), a_job()) is waits


def test_slurms_words_for_what_a_job_waits_for():
    text = "afterok:12(failed),after:13+5(unfulfilled)?afterany:14_*,aftercorr:15_2,singleton"
    assert awaited_in(text) == [
        Awaited("afterok", "12", "failed"),
        Awaited("after", "13", "unfulfilled"),
        Awaited("afterany", "14"),
        Awaited("aftercorr", "15_2"),
    ]
    assert awaited_in("") == awaited_in("(null)") == []


LOGIN = {"submit_host": "login", "submit_session": 7}
ON_ITS_NODE = {"submit_host": "node1", "submit_session": 9, "submit_time": 1050.0}


@pytest.mark.parametrize(
    ("parts", "own", "child"),
    [
        ({}, {}, True),
        ({"submit_host": "n1.hosts"}, {}, True),
        ({"submit_time": 1071.0}, {}, True),
        ({"submit_time": 1080.0}, {}, True),
        ({}, {"submit_host": "node1", "submit_session": 8}, True),
        ({"submit_session": None}, {"submit_host": "node1", "submit_session": None}, True),
        ({}, {"submit_host": "node1", "submit_session": 9}, False),
        ({"submit_host": "node2"}, {}, False),
        ({"submit_host": "login"}, {}, False),
        ({"submit_host": ""}, {"submit_host": ""}, False),
        ({"submit_time": 1005.0}, {}, False),
        ({"submit_time": 1000.0}, {"id": "3", "submit_time": 1000.0, "start_time": 1000.0}, False),
        ({"submit_time": 1080.0}, {"submit_host": "node1"}, False),
        ({"user": "bob"}, {}, False),
    ],
    ids=[
        *(
            "on its node",
            "by the host's name",
            "as it ended",
            "left behind",
            "by a run of a chain",
            "no session",
        ),
        *("in the same terminal", "on another node", "on a login node", "unknown", "before it"),
        "before it in the same second",
        *("after it, on a login node", "another user's"),
    ],
)
def test_what_is_submitted_on_a_node_of_a_run_is_its_doing(parts, own, child):
    """Whatever program did it, from whichever directory."""
    job = a_job(**{"state": JobState.FAILED, **LOGIN, "nodes": ("node1",), **own})
    other = a_job(**{"id": "2", **ON_ITS_NODE, "name": "x", "workdir": ELSEWHERE, **parts})
    assert may_be_child(other, job, {"node1", "n1.hosts"}, 1090.0) is child


def test_a_child_that_the_daemon_has_found():
    kind, why = decided(children=("9",))
    assert (kind, why) == ("leave", "job 9 was submitted on a node of this run since it began")


def test_a_rival_that_the_daemon_has_found():
    kind, why = decided(rivals=("9",))
    assert (kind, why) == (
        "leave",
        "job 9, submitted since it began, runs the same or in its directory",
    )


def settling(*, at, held_for_s=None, settle_s=60.0, **event):
    limits = DecisionLimits(settle_s=settle_s)
    engine = DecisionEngine(ordering("fifo"), limits)
    engine.handle(JobSeen(1071.0, a_job(state=JobState.NODE_FAIL)))
    found = a_diagnosis("node_failure")
    event = JobDiagnosed(at, "1", 0, found, held_for_s=held_for_s, **event)
    [told] = engine.handle(event)
    return told.due if isinstance(told, Reconsider) else told.action.kind


def test_a_retry_is_decided_once_its_owner_has_had_the_time_to_submit_it_again():
    assert settling(at=1075.0) == 1130.0
    assert settling(at=1129.0) == 1130.0
    assert settling(at=1130.0) == "requeue"
    assert settling(at=1075.0, rivals=("9",)) == "leave"
    assert settling(at=1075.0, by="person") == "requeue"
    assert settling(at=1075.0, settle_s=0.0) == "requeue"


def test_a_scheduler_that_soon_forgets_a_run_is_not_waited_for_too_long():
    assert settling(at=1071.0, held_for_s=30.0) == 1080.0
    assert settling(at=1071.0, held_for_s=3600.0) == 1130.0
