"""The modes on a real Slurm: fair, within the site's weights, and undone on request."""

import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace

import pytest

from schedmate.config import FairnessSettings, ScopeSettings, changed
from schedmate.model import Action, JobState, Request, SchedulerError, Workload
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.actions import Actions
from schedmate.service.daemon.assembling import assemble
from schedmate.service.daemon.serving import look_once
from schedmate.service.usecases.pausing import pause, resume
from schedmate.service.usecases.revert import revert
from schedmate.store import KeptAdvice
from schedmate.testing.builders import an_advice
from schedulers.slurm_site import apart, scontrol

pytestmark = pytest.mark.slurm
PATIENCE_S = 240.0
BACKFILL = "SchedulerParameters=bf_interval=1,"
MONTH_S = 30 * 86400.0
ECC = "sleep 1.5; echo 'RuntimeError: CUDA error: uncorrectable ECC error encountered'; exit 1"


@contextmanager
def configured(cluster, before, after):
    """Slurm with one other line of its configuration."""
    text = cluster.config.read_text()
    assert before in text
    try:
        cluster.config.write_text(text.replace(before, after))
        scontrol("reconfigure")
        yield
    finally:
        cluster.config.write_text(text)
        scontrol("reconfigure")


def look(settings):
    """Of a daemon that knows nothing but what is written down."""
    with assemble(settings) as daemon:
        daemon.cycle(time.time())


def shown(job_id, form):
    answer = subprocess.check_output(["squeue", "-h", "-tall", "-j", job_id, "-o", form], text=True)
    return answer.strip()


def waits(bench, *flags):
    return bench.shell("true", passthrough=("--begin=now+1hour", *flags))


# fair


@pytest.mark.parametrize(("hours", "first"), [(6.0, "short"), (4.0 / 3600.0, "long")])
def test_a_job_that_was_overtaken_for_long_enough_starts_first(  # noqa: PLR0917 - fixtures
    bench, settings, store, slurm_cluster, hours, first
):
    fair = replace(settings, fairness=FairnessSettings(late_hours=0.0, hours=hours))
    gate, *_ = bench.occupy(slurm_cluster.slots)
    jobs = {name: bench.shell(f"echo {name} >> order; sleep 2") for name in ("long", "short")}
    for name, seconds in (("long", MONTH_S), ("short", 1.0)):
        store.keep_advice(jobs[name], KeptAdvice(an_advice(seconds), None))
    look(fair)
    if hours == 6.0:
        assert bench.job(jobs["long"]).nice > bench.job(jobs["short"]).nice
    time.sleep(5)
    look(fair)
    moved = bench.job(jobs["long"])
    assert (moved.nice == -moved.most_nice) is (first == "long")

    gate.touch()
    for job_id in jobs.values():
        bench.ended(job_id)

    assert bench.lines("order")[0] == first


def test_the_age_that_a_requeue_lost_is_made_up_for(bench, settings, store, slurm_cluster):
    """Six nice numbers a second: it takes days to lose that many at usual weights."""
    fifo = replace(settings, policy="fifo")
    with configured(slurm_cluster, "PriorityWeightAge=1000\n", "PriorityWeightAge=3628800\n"):
        job_id = bench.shell(
            f'[ -n "$SLURM_RESTART_COUNT" ] && sleep 60; {ECC}',
            passthrough=("--hold",),
            workdir=apart(bench),
        )
        time.sleep(5)
        scontrol("release", job_id)
        ended = bench.ended(job_id)
        waited_s = ended.start_time - ended.submit_time
        assert waited_s >= 5
        # its next run must wait for the look that sees it
        gates = [
            bench.gated(bench.directory / "never", passthrough=("-w", one))
            for one in slurm_cluster.nodes
            for _ in range(slurm_cluster.gpus_per_node)
        ]
        for gate in gates:
            bench.running(gate)
        look(fifo)
        bench.wait(job_id, lambda job: job.restarts == 1, what="the requeue")
        assert bench.job(job_id).submit_time > ended.start_time, "Slurm has forgotten its age"
        look(fifo)

        again = bench.job(job_id)
        assert (again.state, again.nice) == (JobState.PENDING, -round(6 * waited_s))
        [made_up] = [one for one in store.actions(job_id=job_id) if one.action.kind == "set_nice"]
        assert (made_up.state, made_up.action.reason.code) == ("done", "age_made_up")


# nice numbers


def test_a_job_whose_priority_sinks_is_lifted_off_the_floor(bench, settings, store, slurm_cluster):
    """Where the site leaves some jobs alone, so that numbers go upwards."""
    settings = replace(settings, scope=ScopeSettings(exclude_accounts=("somebody",)))
    job_id = waits(bench, "--time=50-0")
    store.keep_advice(job_id, KeptAdvice(an_advice(MONTH_S), None))
    look(settings)
    assert bench.job(job_id).nice > 500
    low = "PriorityWeightPartition=100\n"
    with configured(slurm_cluster, "PriorityWeightPartition=1000000\n", low):
        # else it is calculated anew after PriorityCalcPeriod, five minutes
        scontrol("hold", job_id)
        scontrol("release", job_id)
        bench.wait(job_id, lambda job: job.priority == 1, what="the sinking")
        for _ in range(6):
            look(settings)
        job = bench.job(job_id)
        assert job.priority > 1
        assert job.nice < 100


def test_what_scontrol_top_wrote_is_left_alone(bench, settings, store):
    jobs = [waits(bench) for _ in range(3)]
    look(settings)
    before = [bench.job(one).nice for one in jobs]
    scontrol("top", jobs[-1])
    moved = [bench.job(one).nice for one in jobs]
    assert moved != before, "scontrol top works by rewriting nice numbers"
    for _ in range(2):
        look(settings)

    for job_id, old, new in zip(jobs, before, moved, strict=True):
        if new != old:
            assert bench.job(job_id).nice == new


def test_jobs_and_partitions_that_are_left_alone(bench, settings, store):
    jobs = waits(bench, "--nice=3"), waits(bench)
    look(replace(settings, scope=ScopeSettings(canary_partitions=("canary",))))
    look(replace(settings, scope=ScopeSettings(exclude_accounts=("root",))))
    assert [bench.job(one).nice for one in jobs] == [3, 0]
    assert [store.actions(job_id=one) for one in jobs] == [[], []]

    look(replace(settings, scope=ScopeSettings(exclude_accounts=("somebody",))))
    upwards = [bench.job(one).nice for one in jobs]
    assert upwards[0] > 3, "not before those that are left alone"
    assert upwards[1] > 0

    look(settings)
    assert all(bench.job(one).nice < 0 for one in jobs)


def test_no_choice_of_a_user_puts_a_job_before_an_honest_twin(bench, settings, store):
    """Same user, same request, same code; the owner's own number and ours are both known."""
    ask = ("--time=10:00:00", "--gpus=1")
    honest = waits(bench, *ask)
    others = {
        "nice": waits(bench, *ask, "--nice=1"),
        "off": waits(bench, *ask, "--comment=mine schedmate=off"),
        "both": waits(bench, *ask, "--nice=7", "--comment=schedmate=off"),
    }
    look(settings)
    look(settings)
    twin = bench.job(honest)
    assert twin.nice < 0
    for job_id in others.values():
        assert bench.job(job_id).priority <= twin.priority, job_id
    place = bench.job(others["nice"]).nice - 1
    assert place >= twin.nice
    for job_id in (others["off"], others["both"]):
        assert not [one for one in store.actions(job_id=job_id) if one.action.kind != "set_nice"]
        assert store.advice(job_id).advice.workload == Workload(), "it was not read"

    for own in (0, 5, 0):  # `scontrol update` and, in its effect, a priority of one's own
        scontrol("update", f"JobId={others['nice']}", f"Nice={own}")
        assert bench.job(others["nice"]).priority < twin.priority, "last until the next look"
        look(settings)
        look(settings)
        assert bench.job(others["nice"]).nice == place + own
        look(settings)
        assert bench.job(others["nice"]).nice == place + own
    scontrol("update", f"JobId={others['nice']}", "Nice=5")
    look(settings)
    look(settings)
    revert(SlurmScheduler(), store, now=time.time())
    owned = {job_id: bench.job(job_id).nice for job_id in (honest, *others.values())}
    assert list(owned.values()) == [0, 5, 0, 7]
    look(settings)
    assert {job_id: bench.job(job_id).nice for job_id in owned} == owned


# planning apart from the limit


def test_backfill_gets_a_time_to_plan_with_only_where_the_limit_stays(
    bench, settings, store, slurm_cluster
):
    job_id = waits(bench, "--time=10:00:00")
    store.keep_advice(job_id, KeptAdvice(an_advice(1800.0), None))
    look(settings)
    assert bench.job(job_id).request.time_min_s is None
    with pytest.raises(SchedulerError, match="TimeMin would change the limit"):
        SlurmScheduler().set_time_min(job_id, 600.0)
    with configured(slurm_cluster, BACKFILL, f"{BACKFILL}time_min_as_soft_limit,"):
        look(settings)
        assert bench.job(job_id).request.time_min_s is None, "it is off by default"
        look(changed(settings, ["time_limits.soft=true"]))
        if not knows_soft_limits():
            assert bench.job(job_id).request.time_min_s is None, "the limit would be shortened"
            return
        assert bench.job(job_id).request.time_min_s == 3600.0
        assert shown(job_id, "%l") == "10:00:00"
        assert [one.state for one in store.actions(job_id=job_id, state="done")][-1:] == ["done"]
        revert(SlurmScheduler(), store, now=time.time(), job_id=job_id)
        assert bench.job(job_id).request.time_min_s is None


def knows_soft_limits():
    """Slurm has had them since 23.11."""
    shown = subprocess.check_output(["squeue", "--version"], text=True)
    return tuple(map(int, shown.split()[-1].split(".")[:2])) >= (23, 11)


def test_backfill_plans_with_the_prediction_and_the_limit_stays(bench, slurm_cluster):
    """A job of an hour, of two minutes by its prediction, fits before one that waits for more."""
    if not knows_soft_limits():
        pytest.skip("time_min_as_soft_limit: Slurm 23.11 and newer")
    with configured(slurm_cluster, BACKFILL, f"{BACKFILL}time_min_as_soft_limit,"):
        whole_node = ("--exclusive", "--nodelist=node0", "--time=10")
        bench.running(bench.shell("sleep 600", passthrough=whole_node))
        both = ("--exclusive", "--nodes=2", "--time=10")
        wide = bench.submit("sleep", "600", request=Request(gpus=0), passthrough=both)
        small = bench.shell("sleep 600", passthrough=("--time=60", "--nodelist=node1", "--nice=9"))
        time.sleep(5)
        assert bench.job(small).state is JobState.PENDING, "it would delay the one before it"
        SlurmScheduler().set_time_min(small, 120.0)
        assert bench.running(small).request.time_limit_s == 3600.0
        assert bench.job(wide).state is JobState.PENDING


# pausing


def test_nothing_is_done_during_a_pause(bench, settings, store):
    waiting = waits(bench)
    failed = bench.shell(f'[ -n "$SLURM_RESTART_COUNT" ] && sleep 60; {ECC}')
    bench.ended(failed)
    with assemble(settings) as daemon:
        pause(store)
        daemon.cycle(time.time())
        daemon.finish_diagnoses(time.time())
        daemon.cycle(time.time())
        assert store.diagnoses(failed)[0].reason == "gpu_ecc"
        assert (bench.job(waiting).nice, bench.job(failed).restarts) == (0, 0)
        resume(store)
        daemon.cycle(time.time())
        assert bench.job(waiting).nice < 0
        assert bench.job(failed).restarts == 0, "what was decided meanwhile is not done later"
    states = {one.action.kind: one.state for one in store.actions()}
    assert (states["set_nice"], states["requeue"]) == ("done", "observed")


# undoing


def test_everything_is_undone_on_request(bench, settings, store):
    settings = replace(settings, retries=0)  # the requeue is this test's own, and waits for long
    nice, held = waits(bench), waits(bench)
    failed = bench.shell(f'[ -n "$SLURM_RESTART_COUNT" ] && exit 0; {ECC}')
    bench.ended(failed)
    look(settings)
    actions = Actions(SlurmScheduler(), store, "act")
    hold = Action(kind="hold", job_id=held, attempt=0, why="x")
    again = Action(
        kind="requeue", job_id=failed, attempt=0, why="x", exclude_nodes=("node0",), delay_s=3600
    )
    for action in (hold, again):
        actions.carry_out(action, time.time())
    actions.finish_interrupted(time.time())
    assert bench.job(nice).nice < 0
    assert bench.job(held).held
    assert bench.job(failed).request.exclude_nodes == ("node0",)

    found = revert(SlurmScheduler(), store, now=time.time())

    assert Counter(one.outcome for one in found)["cannot"] == 1, found
    assert not bench.job(held).held
    assert [bench.job(one).nice for one in (nice, held)] == [0, 0]
    assert bench.job(failed).request.exclude_nodes == ()
    look(settings)
    assert [bench.job(one).nice for one in (nice, held, failed)] == [0, 0, 0]


def node(name="node1"):
    [state] = SlurmScheduler().nodes([name])
    return state


def test_a_node_is_drained_resumed_and_never_taken_from_an_operator(bench, settings, store):
    drain = Action(kind="drain", job_id="", attempt=0, why="suspect", value=1.0, node="node1")
    try:
        Actions(SlurmScheduler(), store, "act").carry_out(drain, time.time())
        assert (node().condition, node().reason) == ("drain", "schedmate: suspect")
        assert [one.state for one in store.actions()] == ["done"]
        [undone] = revert(SlurmScheduler(), store, now=time.time())
        assert undone.outcome == "undone"
        deadline = time.monotonic() + PATIENCE_S  # it has to answer first
        while node().condition != "up":
            assert time.monotonic() < deadline, node()
            time.sleep(0.5)

        scontrol("update", "NodeName=node1", "State=DRAIN", "Reason=new disk")
        again = replace(drain, value=2.0)
        Actions(SlurmScheduler(), store, "act").carry_out(again, time.time())
        assert node().reason == "new disk"
        with pytest.raises(SchedulerError, match="changed since"):
            SlurmScheduler().resume("node1", "schedmate: suspect")
        assert node().condition == "drain"
    finally:
        subprocess.run(["scontrol", "update", "NodeName=node1", "State=RESUME"], check=False)


def test_a_dry_run_changes_nothing(bench, settings, store):
    waiting, failed = waits(bench), bench.shell(ECC)
    bench.ended(failed)
    before = subprocess.check_output(["scontrol", "-o", "show", "job"], text=True)
    decided = []

    look_once(settings, lambda action, would: decided.append((action.job_id, action.kind, would)))

    assert (waiting, "set_nice", None) in decided
    assert (failed, "requeue", None) in decided, "nothing objects"
    after = subprocess.check_output(["scontrol", "-o", "show", "job"], text=True)
    assert [line.split(" RunTime=")[0] for line in after.splitlines()] == [
        line.split(" RunTime=")[0] for line in before.splitlines()
    ]
    assert store.actions() == []


# killed with signal 9

SHIM = """#!/bin/bash
# a command of Slurm; the n-th one from the first requeue on is its daemon's last
case "$*" in requeue*) touch "$POINTS/begun";; esac
n=0
if [ -e "$POINTS/begun" ]; then
    n=$(( $(cat "$POINTS/count" 2>/dev/null || echo 0) + 1 )); echo $n > "$POINTS/count"
fi
[ "$n.before" = "$DIES_AT" ] && kill -9 $PPID && exit 1
/usr/bin/{name} "$@"; code=$?
[ "$n.after" = "$DIES_AT" ] && kill -9 $PPID
exit $code
"""
POINTS = [f"{number}.{side}" for number in range(1, 10) for side in ("before", "after")]
DEATHS = 10


def test_a_requeue_is_made_once_though_the_daemon_is_killed_at_ten_random_points(
    bench, settings, store, tmp_path
):
    shims = tmp_path / "shims"
    shims.mkdir()
    for name in ("scontrol", "squeue"):
        path = shims / name
        path.write_text(SHIM.replace("{name}", name))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    jobs = failed_once(bench, 12)
    seed = int.from_bytes(os.urandom(4))
    rng, points, codes = random.Random(seed), [], []
    while codes.count(-signal.SIGKILL) < DEATHS:
        assert len(codes) < 3 * DEATHS, (seed, points, codes)
        place = tmp_path / f"points-{len(codes)}"
        place.mkdir()
        points.append(rng.choice(POINTS))
        codes.append(served_once(settings, DIES_AT=points[-1], POINTS=str(place), shims=str(shims)))
        if codes[-1] == 0:  # there was nothing left to requeue
            jobs += failed_once(bench, 4)

    deadline = time.monotonic() + PATIENCE_S
    while store.actions(state="intended") or {bench.job(one).restarts for one in jobs} != {1}:
        left = [one for one in jobs if bench.job(one).restarts != 1]
        done = [(one.action.key, one.state, one.action.why) for one in store.actions()]
        about = [each for each in done if each[0].partition(":")[0] in left]
        assert time.monotonic() < deadline, (seed, points, left, about)
        assert served_once(settings) == 0
    for job_id in jobs:
        bench.ended(job_id, restarts=1)

    assert Counter(bench.lines("ran")) == dict.fromkeys(jobs, 2), (seed, points)
    requeues = [one for one in store.actions() if one.action.kind == "requeue"]
    assert Counter(one.action.job_id for one in requeues) == dict.fromkeys(jobs, 1)
    assert {one.state for one in requeues} == {"done"}, (seed, requeues)
    for record in requeues:
        assert set(record.action.exclude_nodes) <= set(
            bench.job(record.action.job_id).request.exclude_nodes
        )


def failed_once(bench, number):
    """Jobs that will end well the second time."""
    jobs = [
        bench.shell(
            f'echo $SLURM_JOB_ID >> ../ran; [ -n "$SLURM_RESTART_COUNT" ] && exit 0; {ECC}',
            workdir=apart(bench),
        )
        for _ in range(number)
    ]
    for job_id in jobs:
        bench.ended(job_id)
    return jobs


def served_once(settings, shims="", **environment):
    """The exit code of a daemon in a process of its own."""
    variables = {
        "SCHEDMATE_SCHEDULER": "slurm",
        "SCHEDMATE_MODE": "act",
        "SCHEDMATE_SETTLE_S": "0",
        "SCHEDMATE_STATE_DIR": str(settings.state_dir),
        "SCHEDMATE_LLM__ENABLED": "false",
        "PATH": f"{shims}:{os.environ['PATH']}" if shims else os.environ["PATH"],
        **environment,
    }
    command = [sys.executable, "-m", "schedmate", "serve", "--once"]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, timeout=300, check=False
    )
    return done.returncode
