"""A job that lies: what it prints blames no node against the scheduler, nor for other jobs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.handler import Case, Handler, NamedLog
from schedmate.model import REASONS, JobState, NodeState
from schedmate.testing.builders import a_job

NODES = ("n1", "n2")
STEP = "step {n} loss 2.31 lr 0.001"
HEAD = (
    "Traceback (most recent call last):",
    '  File "/home/u/train.py", line 7, in main',
    "    step(b)",
)
NODE_LIES = (
    "n2: slurmd not responding, node n2 is down",
    "srun: error: Node failure on n2",
    "Node n2 unexpectedly rebooted",
    "n2: Kernel panic - not syncing: Fatal exception in interrupt",
    "Kubelet stopped posting node status. n2",
    "  Warning  NodeNotReady  3m  node-controller  Node is not ready n2",
    "Ready  False  KubeletNotReady  PLEG is not healthy: pleg was last seen active 3m4s ago",
    "slurmstepd: error: *** JOB 17 ON n2 CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE FAILURE ***",
    "mce: Uncorrected hardware memory error in user-access at 7f3b2c00 n2",
    "lost contact with node n2",
)
HARDWARE_LIES = (
    "n2: NVRM: Xid (PCI:0000:3b:00): 79, pid=812, GPU has fallen off the bus.",
    "[ 4821.55] NVRM: Xid (PCI:0000:3b:00): 48, pid=812, DBE (double bit error) n2",
    "n2: NVRM: Xid (PCI:0000:3b:00): 74, pid=812, NVLink: fatal error detected",
    "n2: NVRM: Xid (PCI:0000:3b:00): 119, pid=812, Timeout waiting for RPC from GSP!",
    "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost. n2",
    "n2: mlx5_0: ibv_poll_cq failed with status transport retry counter exceeded (12)",
    "n2: Failed to initialize NVML: Driver/library version mismatch",
    "n2: OSError: [Errno 28] No space left on device: '/tmp/x'",
)
LIES = NODE_LIES + HARDWARE_LIES
RESTART = "slurmstepd: error: *** JOB 17 ON n2 CANCELLED AT 2026-01-01 DUE TO JOB REQUEUE ***"
ERRORS = {
    "key_error": "KeyError: 'labels'",
    "type_error": "TypeError: 'int' object is not callable",
    "value_error": "ValueError: bad batch",
    "zero_division": "ZeroDivisionError: division by zero",
    "assertion_error": "AssertionError: n2 is not what I want",
    "python_exception": "mylib.errors.Trouble: something about n2",
    "gpu_oom": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has",
}
UP = tuple(NodeState(name=node, condition="up") for node in NODES)
MAINTENANCE = (NodeState(name="n2", condition="drain", reason="maintenance on Monday"),)
ENDS = {
    "failed, nodes up": {"state": JobState.FAILED, "exit_code": 1, "node_states": UP},
    "failed, nodes unknown": {"state": JobState.FAILED, "exit_code": 1},
    "failed, drained for a reason of its own": {
        "state": JobState.FAILED,
        "exit_code": 1,
        "node_states": MAINTENANCE,
    },
    "failed by a signal": {"state": JobState.FAILED, "exit_code": 0, "signal": 6},
    "exit code 2": {"state": JobState.FAILED, "exit_code": 2, "node_states": UP},
}
ends = pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
lies = pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie[:30])


def diagnosed(lines, *more, **verdict):
    log = NamedLog("a.log", "".join(f"{line}\n" for line in lines).encode())
    return Handler().diagnose(Case(**{"logs": (log, *more), "nodes": NODES, **verdict}))


def steps(count):
    return [STEP.format(n=n) for n in range(count)]


@ends
@pytest.mark.parametrize("lie", NODE_LIES, ids=lambda lie: lie[:30])
def test_a_printed_node_failure_does_not_stand_against_the_scheduler(lie, end):
    found = diagnosed([*steps(9), lie], **end)

    assert found.reason != "node_failure"
    assert (found.decision.exclude_nodes, found.blame.nodes) == ((), ())
    assert found.reported_by == "job"


@ends
@lies
@pytest.mark.parametrize("reason", ERRORS)
@pytest.mark.parametrize("place", ["before", "after", "after a made-up restart"])
def test_a_users_exception_stays_the_users(lie, end, reason, place):
    error = [*HEAD, ERRORS[reason]]
    texts = {
        "before": [*steps(9), lie, *error],
        "after": [*steps(9), *error, lie],
        "after a made-up restart": [*steps(9), *error, RESTART, lie],
    }
    found = diagnosed(texts[place], **end)

    assert (found.reason, found.decision.retry) == (reason, "no")
    assert (found.decision.exclude_nodes, found.blame.nodes) == ((), ())


@ends
@pytest.mark.parametrize("lie", HARDWARE_LIES, ids=lambda lie: lie[:30])
def test_what_is_printed_as_the_cause_of_death_concerns_its_own_nodes_and_retry_only(lie, end):
    found = diagnosed([*steps(9), lie, lie.replace("n2", "n9")], **end)

    assert set(found.decision.exclude_nodes) <= {"n2"}
    assert found.reported_by == found.blame.nodes_by == "job"


@lies
def test_a_traceback_that_was_printed_before_the_last_one_is_none(lie):
    made_up = [*HEAD, "RuntimeError: CUDA error: uncorrectable ECC error encountered", lie]
    found = diagnosed(
        [*steps(9), *made_up, *HEAD, "KeyError: 'x'"], state=JobState.FAILED, exit_code=1
    )

    assert (found.reason, found.decision.exclude_nodes) == ("key_error", ())


def test_hardware_beside_an_unrelated_error_sends_nothing_elsewhere():
    taken = "OSError: [Errno 98] Address already in use"
    alone = diagnosed([*HEAD, taken], state=JobState.FAILED, exit_code=1)
    found = diagnosed([HARDWARE_LIES[0], *HEAD, taken], state=JobState.FAILED, exit_code=1)

    assert alone.reason == found.reason == "port_conflict"
    assert found.decision == alone.decision


def test_a_raised_node_failure_blames_no_node_against_the_scheduler():
    raised = [*HEAD, "ray.exceptions.NodeDiedError: the node n2 where this task was running"]
    found = diagnosed(raised, state=JobState.FAILED, exit_code=1, node_states=UP)

    assert (found.decision.exclude_nodes, found.blame.nodes) == ((), ())


@st.composite
def hostile_logs(draw):
    """A real exception at the end of a run, and made-up lines anywhere in its log."""
    reason = draw(st.sampled_from(sorted(ERRORS)))
    after = draw(st.lists(st.sampled_from(["cleaning up", "bye", "done here", ""]), max_size=5))
    lines = [*steps(draw(st.integers(0, 60)))]
    error = [*HEAD, ERRORS[reason]]
    made_up = draw(st.lists(st.sampled_from((*LIES, RESTART)), min_size=1, max_size=6))
    parts = [[line] for line in lines] + [error] + [[line] for line in after]
    for lie in made_up:
        parts.insert(draw(st.integers(0, len(parts))), [lie])
    return reason, [line for part in parts for line in part]


@settings(max_examples=300)
@given(hostile_logs(), st.sampled_from(sorted(ENDS)))
def test_wherever_the_lies_stand_the_exception_is_the_cause(log, end):
    reason, lines = log
    found = diagnosed(lines, **ENDS[end])

    assert (found.reason, found.decision.retry) == (reason, "no")
    assert (found.decision.exclude_nodes, found.blame.nodes) == ((), ())
    assert REASONS[found.reason].retry == "no"


@pytest.mark.parametrize(
    "error",
    [
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "RuntimeError: CUDA error: unspecified launch failure",
        "torch.distributed.DistBackendError: NCCL error: remote process exited",
    ],
)
def test_real_hardware_is_still_the_cause(error):
    xid = "[ 4821.55] NVRM: Xid (PCI:0000:3b:00): 94, pid=812, Contained ECC error"
    found = diagnosed(
        [*steps(9), xid, *HEAD, error], state=JobState.FAILED, exit_code=1, nodes=("n1",)
    )

    assert (found.reason, found.decision.exclude_nodes) == ("gpu_ecc", ("n1",))
    assert found.reported_by == "job"


def test_a_system_log_counts_whatever_the_job_printed():
    kernel = NamedLog("dmesg", b"NVRM: GPU at PCI:0000:3b:00 has fallen off the bus.\n", "outside")
    error = [*HEAD, ERRORS["python_exception"]]
    end = {"state": JobState.FAILED, "exit_code": 1, "nodes": ("n1",)}

    found = diagnosed([*steps(9), *error], kernel, **end)
    assert (found.reason, found.reported_by, found.blame.nodes_by) == (
        "gpu_lost",
        "outside",
        "outside",
    )
    printed = NamedLog("dmesg", kernel.content)
    assert diagnosed([*steps(9), *error], printed, **end).reason == "python_exception"


def test_the_schedulers_word_names_itself_and_its_node():
    drained = NodeState(name="n1", condition="drain", reason="Xid 79: GPU has fallen off the bus")
    found = diagnosed([*steps(9), HARDWARE_LIES[0]], signal=9, node_states=(drained,))
    assert (found.reason, found.reported_by) == ("gpu_lost", "scheduler")
    assert (found.blame.nodes, found.blame.nodes_by) == (("n1",), "scheduler")

    lost = diagnosed([*steps(9), "srun: error: Node failure on n2"], state=JobState.NODE_FAIL)
    assert (lost.reason, lost.reported_by, lost.blame.nodes_by) == (
        "node_failure",
        "scheduler",
        "job",
    )


def test_a_command_that_a_scheduler_quotes_is_the_jobs_word():
    quoted = "/home/eve/uncorrectable ECC error encountered: command not found"
    job = a_job(state=JobState.FAILED, exit_code=127, reason=quoted, nodes=("n1",))
    assert Handler().diagnose(Case.of_job(job)).reported_by == "job"


LAUNCHES = (
    "srun: error: Task launch for StepId=7.0 failed on node n2: Communication connection failure",
    "srun: error: Task launch for StepId=7.0 failed on node n2: Job prolog failed",
    "slurmstepd-n2: error: Prolog failed",
    "srun: error: task 3 launch failed on n2: Slurmd could not connect IO",
)
launches = pytest.mark.parametrize("line", LAUNCHES, ids=lambda line: line[-20:])


@launches
@pytest.mark.parametrize("state", [JobState.FAILED, JobState.NODE_FAIL, None])
def test_a_node_that_could_not_start_a_step_is_avoided_by_the_retry(line, state):
    """Slurm ends such a job as FAILED: its state does not speak against the line."""
    found = diagnosed([*steps(5), line], state=state, exit_code=1)
    assert (found.reason, found.decision.retry) == ("node_failure", "elsewhere")
    assert found.decision.exclude_nodes == ("n2",)


@launches
def test_a_node_that_is_not_the_jobs_own_is_not_avoided(line):
    other = line.replace("n2", "n77")
    for nodes in (NODES, ("n1",)):
        found = diagnosed([*steps(5), other], state=JobState.FAILED, exit_code=1, nodes=nodes)
        assert (found.decision.exclude_nodes, found.blame.nodes) == ((), ())


@launches
@pytest.mark.parametrize("reason", ERRORS)
def test_a_printed_launch_failure_does_not_excuse_an_error(line, reason):
    head = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "    f()"]
    for lines in ([line, *head, ERRORS[reason]], [*head, ERRORS[reason], line]):
        found = diagnosed([*steps(5), *lines], state=JobState.FAILED, exit_code=1)
        assert (found.reason, found.decision.exclude_nodes) == (reason, ())


LOST_DAEMON = {
    "ORTE, below": (
        "ORTE has lost communication with a remote daemon.",
        "",
        "  HNP daemon   : [[10831,0],0] on node n1",
        "  Remote daemon: [[10831,0],1] on node n2",
    ),
    "ORTE, with its domain": (
        "ORTE has lost communication with its daemon located on node:",
        "",
        "  hostname:  n2.cluster.example.org",
    ),
    "PRTE, whose own name holds the first node's": (
        "PRTE has lost communication with a remote daemon.",
        "",
        "  HNP daemon   : [prterun-n1-1918870@0,0] on node n1",
        "  Remote daemon: [prterun-n1-1918870@0,1] on node n2",
    ),
    "in the line itself": ("A daemon (pid 8123) on node n2 failed unexpectedly with status 137",),
}
lost_daemons = pytest.mark.parametrize("lines", LOST_DAEMON.values(), ids=LOST_DAEMON)


@lost_daemons
@ends
def test_a_node_whose_daemon_a_launcher_lost_is_avoided_by_its_own_retry(lines, end):
    found = diagnosed([*steps(9), *lines], **end)

    assert (found.reason, found.decision.retry) == ("node_failure", "elsewhere")
    assert found.decision.exclude_nodes == ("n2",)
    assert found.reported_by == found.blame.nodes_by == "job"


@lost_daemons
def test_a_launcher_names_no_node_of_others(lines):
    named = [line.replace("n2", "n9") for line in lines]
    found = diagnosed([*steps(9), *named], state=JobState.FAILED, exit_code=1)

    assert (found.decision.exclude_nodes, found.blame.nodes) == ((), ())


@lost_daemons
def test_a_lost_daemon_beside_the_users_error_is_its_echo(lines):
    error = [*HEAD, "KeyError: 'labels'"]
    found = diagnosed([*steps(9), *error, *lines], state=JobState.FAILED, exit_code=1)

    assert (found.reason, found.decision.exclude_nodes) == ("key_error", ())
