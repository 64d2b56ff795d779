"""What every scheduler adapter must do, tried against the real thing.

An adapter joins by subclassing; everything else is inherited:

    class TestMine(SchedulerContract):
        slots = 4

        @pytest.fixture(scope="class")
        @classmethod
        def scheduler(cls) -> Iterator[Scheduler]:
            yield MyScheduler(...)

`pytest.register_assert_rewrite("schedmate.testing.scheduler_contract")` in a conftest.py makes
its failures explain themselves.
"""

# ruff: noqa: S101 - these are tests, and asserts are how tests speak
from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, ClassVar

import pytest

from schedmate.model import Job, JobId, JobState, NotFound, Request, SchedulerError
from schedmate.testing.scheduler_bench import Bench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from schedmate.schedulers.base import Scheduler

ODD_NAMES = (
    "two words",
    "  space around  ",
    'it\'s "quoted" `date` $HOME',
    "üñïcødé 训练 🚀",
    "a=b UserId=mallory(0) | ; \\n %j #x",
)


class SchedulerContract:
    """Subclass it, give a `scheduler`, and say in the attributes what it can do."""

    slots: ClassVar[int] = 2
    """How many jobs with one GPU run at once."""
    patience_s: ClassVar[float] = 60.0
    """How long anything may take before it counts as never happening."""
    restart_variable: ClassVar[str] = "SCHEDMATE_RESTART_COUNT"
    """What tells a job how often it was started again; absent or 0 on its first run."""
    shortest_limit_s: ClassVar[float] = 1.0
    limit_patience_s: ClassVar[float] = 60.0
    """How long the end by the shortest time limit may take."""
    restart_s: ClassVar[float] = 45.0
    """Within which a job starts that was queued again and is released, where it has room."""
    clock_slack_s: ClassVar[float] = 1.0
    """How coarse the scheduler's times are."""
    several_nodes: ClassVar[bool] = False
    unknown_ids: ClassVar[tuple[JobId, ...]] = ("7654321", "no such job", "--help", "")

    @pytest.fixture(scope="class")
    @classmethod
    def scheduler(cls) -> Iterator[Scheduler]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def overdue(
        cls, scheduler: Scheduler, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[tuple[Bench, JobId]]:
        """A job beyond its limit, started before all else: some schedulers look once a minute."""
        bench = Bench(scheduler, tmp_path_factory.mktemp("overdue"), cls.limit_patience_s)
        limit = Request(gpus=0, time_limit_s=cls.shortest_limit_s)
        yield bench, bench.submit("sleep", "600", request=limit)
        bench.clear()

    @pytest.fixture
    def bench(
        self, scheduler: Scheduler, overdue: tuple[Bench, JobId], tmp_path: Path
    ) -> Iterator[Bench]:
        assert overdue
        bench = Bench(scheduler, tmp_path, self.patience_s)
        yield bench
        bench.clear()

    def test_has_a_name(self, scheduler: Scheduler) -> None:
        assert scheduler.name

    def test_every_job_runs_exactly_once(self, bench: Bench) -> None:
        count = 2 * self.slots + 1
        ids = [bench.shell(f"echo {number} >> ran") for number in range(count)]
        assert len(set(ids)) == count
        assert all(bench.ended(job_id).state is JobState.COMPLETED for job_id in ids)
        assert sorted(bench.lines("ran"), key=int) == [str(number) for number in range(count)]

    def test_no_more_jobs_run_at_once_than_there_are_slots(self, bench: Bench) -> None:
        gates = bench.occupy(self.slots)
        waiting = bench.shell("echo ran >> ran")
        time.sleep(1)
        assert bench.job(waiting).state is JobState.PENDING
        assert bench.lines("ran") == []
        gates[0].touch()
        assert bench.ended(waiting).state is JobState.COMPLETED

    def test_says_what_the_job_is(self, bench: Bench) -> None:
        request = Request(gpus=1, time_limit_s=1800)
        job_id = bench.submit("sleep", "600", name="what it is", request=request, nice=7)
        job = bench.running(job_id)
        assert (job.id, job.name, job.nice) == (job_id, "what it is", 7)
        assert job.workdir == str(bench.directory)
        assert (job.request.gpus, job.request.nodes, job.request.time_limit_s) == (1, 1, 1800)
        assert (job.exit_code, job.signal, job.end_time, job.restarts) == (None, None, None, 0)
        assert job.user
        assert len(job.nodes) == 1

    def test_a_command_can_be_read_again(self, bench: Bench) -> None:
        command = ("bash", "-c", 'printf "%s\\n" "$@"', "x", "two words", "it's", "", "$HOME", "é")
        job_id = bench.submit(*command)
        job = bench.ended(job_id)
        assert (bench.directory / job.logs[0]).read_text().splitlines() == list(command[4:])
        script = bench.scheduler.script(job_id)
        assert job.command == command or shlex.join(command) in (script or "")

    def test_output_is_where_logs_say(self, bench: Bench) -> None:
        talk = "echo to stdout; echo to stderr >&2"
        absolute = bench.directory / "an absolute one.out"
        together = bench.shell(talk)
        apart = bench.shell(talk, stdout=str(absolute), stderr="relative.err")
        logs = [bench.directory / log for log in bench.ended(together).logs]
        text = "".join(log.read_text() for log in logs)
        assert sorted(text.splitlines()) == ["to stderr", "to stdout"]
        assert bench.ended(apart).logs == (str(absolute), str(bench.directory / "relative.err"))
        assert absolute.read_text() == "to stdout\n"
        assert bench.lines("relative.err") == ["to stderr"]

    def test_environment_and_working_directory(self, bench: Bench) -> None:
        value = "a,b=c 'd' \"e\" é"
        job_id = bench.shell('pwd >> printed; echo "$ODD" >> printed', env={"ODD": value})
        assert bench.ended(job_id).state is JobState.COMPLETED
        assert bench.lines("printed") == [str(bench.directory), value]

    def test_a_script_runs_with_its_arguments(self, bench: Bench) -> None:
        text = "#!/bin/bash\n# a comment\nprintf '%s\\n' \"$@\" > printed\n"
        script = bench.directory / "train me.sh"
        script.write_text(text)
        script.chmod(0o755)
        job_id = bench.submit(str(script), "--lr", "two words", script=str(script))
        job = bench.ended(job_id)
        assert job.state is JobState.COMPLETED
        assert job.script == str(script)
        assert bench.lines("printed") == ["--lr", "two words"]
        assert bench.scheduler.script(job_id) == text

    def test_ends(self, bench: Bench) -> None:
        good = bench.shell("exit 0")
        bad = bench.shell("exit 3")
        killed = bench.shell("kill -KILL $$")
        missing = bench.submit("/no/such/program")
        job = bench.ended(good)
        assert (job.state, job.exit_code, job.signal) == (JobState.COMPLETED, 0, None)
        job = bench.ended(bad)
        assert (job.state, job.exit_code, job.signal) == (JobState.FAILED, 3, None)
        job = bench.ended(killed)
        assert (job.state, job.signal) == (JobState.FAILED, 9)
        assert not job.exit_code
        job = bench.ended(missing)
        assert job.state is JobState.FAILED
        assert job.exit_code

    def test_times_are_sane(self, bench: Bench) -> None:
        before = time.time() - self.clock_slack_s
        job_id = bench.shell("sleep 2")
        running = bench.running(job_id)
        ended = bench.ended(job_id)
        after = time.time() + self.clock_slack_s
        assert running.submit_time == ended.submit_time
        assert running.start_time == ended.start_time
        assert ended.start_time is not None
        assert ended.end_time is not None
        assert before <= ended.submit_time <= ended.start_time < ended.end_time <= after
        assert ended.run_time_s == pytest.approx(2, abs=1 + self.clock_slack_s)

    def test_names_come_back_verbatim(self, bench: Bench) -> None:
        ids = [bench.shell("true", name=name) for name in ODD_NAMES]
        names = {job.id: job.name for job in bench.scheduler.jobs(ids)}
        assert names == dict(zip(ids, ODD_NAMES, strict=True))
        for job_id in ids:
            assert bench.ended(job_id).state is JobState.COMPLETED

    def test_lists_all_or_those_asked_for(self, bench: Bench) -> None:
        first, second, third = (bench.shell("true") for _ in range(3))
        bench.ended(first)
        asked = bench.scheduler.jobs([first, third, *self.unknown_ids])
        assert {job.id for job in asked} == {first, third}
        assert {first, second, third} <= {job.id for job in bench.scheduler.jobs()}
        assert bench.scheduler.jobs([]) == []

    def test_tells_how_its_nodes_are(self, bench: Bench) -> None:
        (name,) = bench.ended(bench.shell("true")).nodes
        nodes = bench.scheduler.nodes()
        assert name in {node.name for node in nodes}
        (node,) = bench.scheduler.nodes([name, "no-such-node", ""])
        assert (node.name, node.condition) == (name, "up")
        assert node.up_since is None or node.up_since < time.time()
        assert bench.scheduler.nodes([]) == []

    def test_cancels_what_waits_and_what_runs(self, bench: Bench) -> None:
        bench.occupy(self.slots)
        running, waiting = bench.submitted[0], bench.shell("echo ran >> ran")
        bench.scheduler.cancel(waiting)
        bench.scheduler.cancel(running)
        never_ran = bench.ended(waiting)
        assert never_ran.state is JobState.CANCELLED
        assert never_ran.start_time is None
        assert bench.ended(running).state is JobState.CANCELLED
        assert bench.lines("ran") == []

    def test_cancelling_what_has_ended_changes_nothing(self, bench: Bench) -> None:
        job_id = bench.shell("exit 3")
        before = bench.ended(job_id)
        bench.scheduler.cancel(job_id)
        assert bench.job(job_id) == before

    def test_requeues_a_failed_job(self, bench: Bench) -> None:
        count = f"${{{self.restart_variable}:-0}}"
        job_id = bench.shell(f'echo "{count}" >> runs; [ "{count}" -ge 1 ] || exit 3')
        first = bench.ended(job_id)
        assert first.state is JobState.FAILED
        bench.requeue(job_id)
        assert bench.job(job_id).restarts == 1
        second = bench.ended(job_id, restarts=1)
        assert second.state is JobState.COMPLETED
        assert second.id == first.id
        assert bench.lines("runs") == ["0", "1"]
        _in_order(first, second)

    def test_requeues_only_the_run_that_was_meant(self, bench: Bench) -> None:
        job_id = bench.shell("exit 1")
        bench.ended(job_id)
        bench.requeue(job_id, delay_s=2)
        assert bench.scheduler.requeue(job_id, run=0, delay_s=2), "asked again, it waits already"
        assert bench.ended(job_id, restarts=1).restarts == 1
        with pytest.raises(SchedulerError):
            bench.scheduler.requeue(job_id, run=0)
        assert bench.job(job_id).restarts == 1

    def test_requeues_a_running_job(self, bench: Bench) -> None:
        job_id = bench.shell("echo run >> runs; sleep 600")
        bench.wait_for_lines("runs", 1)
        bench.running(job_id)
        bench.requeue(job_id)
        assert bench.wait_for_lines("runs", 2) == ["run", "run"]
        assert bench.running(job_id).restarts == 1

    def test_requeues_later(self, bench: Bench) -> None:
        job_id = bench.shell("echo run >> runs; exit 3")
        bench.ended(job_id)
        bench.requeue(job_id, delay_s=3600)
        time.sleep(2)
        job = bench.job(job_id)
        assert (job.state, job.restarts) == (JobState.PENDING, 1)
        assert (job.start_time, job.end_time, job.exit_code) == (None, None, None)
        assert bench.lines("runs") == ["run"]

    def test_requeues_a_running_job_held(self, bench: Bench) -> None:
        """Twice asked is once done; it starts when it is released, in time and not before."""
        job_id = bench.shell("echo run >> runs; sleep 600")
        bench.wait_for_lines("runs", 1)
        bench.running(job_id)
        bench.requeue(job_id, held=True)
        assert bench.scheduler.requeue(job_id, run=0, held=True)
        job = bench.job(job_id)
        assert (job.state, job.held, job.restarts) == (JobState.PENDING, True, 1)
        others = [bench.shell("true") for _ in range(self.slots)]
        assert all(bench.ended(other).state is JobState.COMPLETED for other in others)
        assert bench.lines("runs") == ["run"]
        bench.scheduler.release(job_id)
        released = time.monotonic()
        assert bench.wait_for_lines("runs", 2) == ["run", "run"]
        assert time.monotonic() - released < self.restart_s
        job = bench.running(job_id)
        assert (job.held, job.restarts) == (False, 1)
        with pytest.raises(SchedulerError):
            bench.scheduler.requeue(job_id, run=0, held=True)

    def test_requeues_elsewhere(self, bench: Bench) -> None:
        if not self.several_nodes:
            pytest.skip("this scheduler has one node")
        job_id = bench.shell("exit 3")
        (node,) = bench.ended(job_id).nodes
        bench.requeue(job_id, exclude_nodes=[node])
        again = bench.ended(job_id, restarts=1)
        assert again.nodes != (node,)

    def test_a_nicer_job_lets_others_go_first(self, bench: Bench) -> None:
        gate, *_ = bench.occupy(self.slots)
        nicer = bench.shell("echo nicer >> order")
        bench.shell("echo other >> order")
        bench.scheduler.set_nice(nicer, 1000)
        assert bench.job(nicer).nice == 1000  # noqa: PLR2004 - the number of the line above
        gate.touch()
        assert bench.wait_for_lines("order", 2) == ["other", "nicer"]

    def test_a_held_job_waits_until_it_is_released(self, bench: Bench) -> None:
        gate, *_ = bench.occupy(self.slots)
        held, other = bench.shell("echo held >> order"), bench.shell("echo other >> order")
        bench.scheduler.hold(held)
        assert bench.job(held).held
        assert not bench.job(other).held
        gate.touch()
        bench.ended(other)
        time.sleep(1)
        job = bench.job(held)
        assert (job.state, job.held, job.restarts) == (JobState.PENDING, True, 0)
        bench.scheduler.release(held)
        bench.scheduler.release(held)
        assert bench.ended(held).held is False
        assert bench.lines("order") == ["other", "held"]

    def test_a_job_that_runs_is_not_held(self, bench: Bench) -> None:
        job_id = bench.shell("echo run >> runs; sleep 600")
        bench.wait_for_lines("runs", 1)
        bench.running(job_id)
        with pytest.raises(SchedulerError):
            bench.scheduler.hold(job_id)
        bench.requeue(job_id)
        assert bench.wait_for_lines("runs", 2) == ["run", "run"], "its next run is not held"

    def test_time_limits_can_be_changed(self, bench: Bench) -> None:
        bench.occupy(self.slots)
        running, waiting = bench.submitted[0], bench.shell("true")
        for job_id in (running, waiting):
            bench.scheduler.set_time_limit(job_id, 7200)
            assert bench.job(job_id).request.time_limit_s == 7200  # noqa: PLR2004 - as above
            bench.scheduler.set_time_limit(job_id, None)
            assert bench.job(job_id).request.time_limit_s is None

    def test_unknown_jobs_are_not_found(self, bench: Bench) -> None:
        scheduler = bench.scheduler
        calls: tuple[Callable[[JobId], object], ...] = (
            scheduler.script,
            scheduler.cancel,
            lambda job_id: scheduler.requeue(job_id, run=0),
            scheduler.hold,
            scheduler.release,
            lambda job_id: scheduler.set_nice(job_id, 1),
            lambda job_id: scheduler.set_time_limit(job_id, 60),
        )
        for unknown in self.unknown_ids:
            for call in calls:
                with pytest.raises(NotFound):
                    call(unknown)

    def test_the_time_limit_ends_a_job(self, overdue: tuple[Bench, JobId]) -> None:
        bench, job_id = overdue
        job = bench.ended(job_id)
        assert job.state is JobState.TIMEOUT
        assert job.run_time_s is not None
        assert job.run_time_s >= self.shortest_limit_s - self.clock_slack_s


def _in_order(first: Job, second: Job) -> None:
    assert first.end_time is not None
    assert second.start_time is not None
    assert first.end_time <= second.start_time
