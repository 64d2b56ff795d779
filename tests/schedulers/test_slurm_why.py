"""Why a job waits, on the private cluster: each of Slurm's reasons, and what would help."""

import subprocess
import time
from contextlib import closing

import pytest

from schedmate.client import Client
from schedmate.config import Settings
from schedmate.model import Job, JobState, Request, Spread
from schedmate.schedulers.slurm import reasons
from schedmate.service.views.job_view import job_view
from schedmate.service.views.sentences import end_in_words, why_sentence
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_store
from schedmate.testing.builders import a_job
from schedmate.web.server import serving
from schedulers.slurm_site import LATER
from web.conftest import Served, free_port


def run(*words):
    return subprocess.check_output(words, text=True).strip()


@pytest.fixture
def why(bench, tmp_path):
    """The sentence, once Slurm shows this reason."""
    settings = Settings(scheduler="slurm", state_dir=tmp_path / "state")
    store = open_store(settings)

    def sentence(job_id, reason):
        bench.wait(job_id, lambda job: job.reason.startswith(reason), what=reason)
        view = job_view(bench.scheduler, store, viewer_of(settings), job_id)
        return why_sentence(view, bench.scheduler.jobs(), time.time(), str)

    return sentence


@pytest.mark.slurm
class TestReasons:
    def test_dependencies(self, bench, why):
        failed = bench.shell("exit 3")
        bench.ended(failed)
        waits = bench.shell("true", passthrough=(LATER,))
        after = bench.shell("true", passthrough=(f"--dependency=afterany:{waits}",))
        never = bench.shell("true", passthrough=(f"--dependency=afterok:{failed}",))
        assert f"waits for job {waits} to end (Dependency)" in why(after, "Dependency")
        text = why(never, "DependencyNeverSatisfied")
        assert f"never starts: it waits for job {failed} to succeed, which failed" in text
        assert f"scontrol update JobId={never} Dependency=" in text

    def test_held_by_whom(self, bench, why):
        own, theirs = (bench.shell("true", passthrough=(LATER,)) for _ in range(2))
        run("scontrol", "uhold", own)
        run("scontrol", "hold", theirs)
        assert f"is held by its user (JobHeldUser); release it with: scontrol release {own}" in (
            why(own, "JobHeldUser")
        )
        assert "only an administrator can release it" in why(theirs, "JobHeldAdmin")

    def test_a_partition_that_is_down_or_too_short(self, bench, why):
        run("scontrol", "create", "PartitionName=odd", "Nodes=node0", "State=DOWN")
        try:
            job_id = bench.shell("true", passthrough=("--partition=odd", "--time=60"))
            assert "partition odd is down and starts no jobs" in why(job_id, "PartitionDown")
            run("scontrol", "update", "PartitionName=odd", "MaxTime=30", "State=UP")
            text = why(job_id, "PartitionTimeLimit")
            assert "its time limit (01:00:00) is above the most of partition odd (00:30:00)" in text
            assert f"scontrol update JobId={job_id} TimeLimit=00:30:00" in text
            bench.clear()
        finally:
            run("scontrol", "delete", "PartitionName=odd")

    def test_reservations_and_maintenance(self, bench, why):
        mine = ["StartTime=now+10days", "Duration=60", "Users=root", "Nodes=node0"]
        run("scontrol", "create", "reservation", "ReservationName=mine", *mine)
        upkeep = ["StartTime=now+1hour", "Duration=600", "Users=root", "Nodes=ALL"]
        flags = "Flags=maint,ignore_jobs"
        run("scontrol", "create", "reservation", "ReservationName=upkeep", *upkeep, flags)
        try:
            reserved = bench.shell("true", passthrough=("--reservation=mine",))
            long = bench.shell("true", passthrough=("--time=600",))
            assert "waits for its reservation mine, which begins 20" in why(reserved, "Reservation")
            text = why(long, "ReqNodeNotAvail")
            assert "waits for the end of maintenance upkeep (20" in text
            assert f"starts it sooner: scontrol update JobId={long} TimeLimit=" in text
            bench.clear()
        finally:
            run("scontrol", "delete", "ReservationName=mine")
            run("scontrol", "delete", "ReservationName=upkeep")

    def test_what_no_node_has(self, bench, why):
        job_id = bench.shell("true", passthrough=(LATER,))
        run("scontrol", "update", f"JobId={job_id}", "Gres=gpu:9")
        run("scontrol", "update", f"JobId={job_id}", "StartTime=now")
        text = why(job_id, "BadConstraints")
        assert "never starts: no nodes of partition main have what it asks for (9 GPUs" in text

    def test_a_node_that_is_drained(self, bench, why):
        run("scontrol", "update", "NodeName=node1", "State=DRAIN", "Reason=bad gpu")
        try:
            job_id = bench.shell("true", passthrough=("--nodelist=node1",))
            text = why(job_id, "ReqNodeNotAvail")
            bench.clear()
        finally:
            run("scontrol", "update", "NodeName=node1", "State=RESUME")
        assert "node1 is idle+drain (bad gpu)" in text
        assert f"scontrol update JobId={job_id} ReqNodeList=" in text


ANEW = "scontrol update JobId=7 Dependency=afterok:3,afterany:4"


class NoFacts:
    def job_state(self, job_id):
        return None

    def partition(self, name):
        return {}

    def reservations(self):
        return ()

    nodes = licenses = reservations


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("QOSMaxJobsPerUserLimit", "its user together have as many running jobs as QOS short"),
        ("QOSGrpGRES", "all its users together have as many GPUs or other GRES as QOS short"),
        ("AssocGrpCPUMinutesLimit", "account lab has used up its budget of CPUs"),
        ("AssocGrpCPURunMinutesLimit", "as many CPUs for the time they may still run as account"),
        ("QOSMaxWallDurationPerJobLimit", "more wall time than QOS short allows a job"),
        ("QOSMinGRES", "fewer GPUs or other GRES than QOS short demands"),
        ("MaxGRESPerAccount", "as many GPUs or other GRES as account lab allows"),
        ("QOSMaxGRESPerUser", "its user together have as many GPUs or other GRES"),
        ("Licenses", "waits for licences (matlab:2)"),
        ("PartitionNodeLimit", "it asks for 1 nodes"),
        ("InvalidQOS", "QOS short may not be used"),
        ("JobArrayTaskLimit", "its array runs as many tasks"),
    ],
)
def test_limits_in_words(reason, words):
    job = Job(
        id="7",
        name="x",
        user="u",
        state=JobState.PENDING,
        workdir="/",
        submit_time=0.0,
        request=Request(account="lab", qos="short", partition="main"),
        licenses="matlab:2",
        reason=reason,
    )
    found = reasons.obstacle(job, NoFacts())
    assert words in found.text


@pytest.mark.parametrize("reason", ["", "Priority", "Resources", "SomethingNew"])
def test_a_job_whose_turn_comes_has_no_obstacle(reason):
    job = Job(id="7", name="x", user="u", state=JobState.PENDING, workdir="/", submit_time=0.0)
    assert reasons.obstacle(job, NoFacts()) is None


def test_an_end_in_8_seconds_to_759_days_is_no_answer():
    words = end_in_words(Spread(8.0, 3600.0, 759 * 86400.0), "unknown", str)
    assert words == "ends at a time that cannot be predicted yet"


@pytest.mark.slurm
def test_the_site_explains_it_as_a_look_alone_does(bench, why, tmp_path):
    """By the API and on the page, to the owner; others see that it waits."""
    waits = bench.shell("true", passthrough=(LATER,))
    after = bench.shell("true", passthrough=(f"--dependency=afterany:{waits}",))
    alone = why(after, "Dependency")
    settings = Settings(scheduler="slurm", state_dir=tmp_path / "state")
    port = free_port()
    with (
        closing(open_store(settings)) as store,
        serving(settings, host="127.0.0.1", port=port) as site,
    ):
        served = Served(site, store, port)
        served.show(*bench.scheduler.jobs())
        assert Client(served.url("")).why(after).answer == alone
        assert f"waits for job {waits} to end (Dependency)" in served.get(f"/jobs/{after}").text
        assert served.get(f"/api/v1/jobs/{after}").json["obstacle"]["text"] in alone
        served.taken_for("eve")
        stranger = served.get(f"/api/v1/jobs/{after}").json
        assert (stranger["obstacle"], stranger["job"]["reason"]) == (None, "")


@pytest.mark.parametrize(
    ("state", "others", "words", "remedy"),
    [
        ("PENDING", {}, "never starts: it waits for job 3 to succeed", "drop the dependency"),
        ("PENDING", {"3": "FAILED"}, "which failed", "drop the dependency"),
        ("PENDING", {"3": "COMPLETED"}, "job 3 was queued again and has succeeded", ANEW),
        ("PENDING", {"3": "RUNNING"}, "job 3 has been queued again and runs", ANEW),
        ("CANCELLED", {"3": "COMPLETED"}, "never started and was cancelled", "submit it anew"),
        ("CANCELLED", {"3": "FAILED"}, "never started and was cancelled", ""),
    ],
)
def test_what_helps_a_job_whose_predecessor_was_retried(state, others, words, remedy):
    class Facts(NoFacts):
        def job_state(self, job_id):
            return JobState(others[job_id]) if job_id in others else None

    job = a_job(
        id="7",
        state=JobState(state),
        start_time=None,
        reason="DependencyNeverSatisfied",
        dependency="afterok:3(failed),afterany:4(unfulfilled)",
    )
    found = reasons.obstacle(job, Facts())
    assert words in found.text
    assert remedy in found.remedy
    assert bool(found.remedy) is bool(remedy)
