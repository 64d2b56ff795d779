"""Whole small logs: what orchestrators, clouds, other accelerators and announcing exceptions say,
beside what it explains.
"""

import pytest

from schedmate.handler import Case, Handler, NamedLog

STEPS = "".join(f"step {n} | loss 2.31 | lr 3e-4\n" for n in range(40))
TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 4, in main\n    step()\n'
RETRYING = (
    "  Retrying (Retry(total={left}, connect=None, read=None)) after connection broken by "
    "'NewConnectionError: Failed to establish a new connection: [Errno -3] Temporary failure in "
    "name resolution': /simple/peft/\n"
)


def reason(*logs: str, **verdict: int) -> str:
    named = tuple(NamedLog(f"{n}.log", text.encode()) for n, text in enumerate(logs))
    return Handler().diagnose(Case(logs=named, **verdict)).reason


def test_a_machine_that_was_taken_away_explains_the_peers_that_lost_it():
    lost = STEPS + TRACEBACK + "torch.distributed.DistNetworkError: failed to recv, got 0 bytes\n"
    events = "message: 'Node condition PreemptionScheduled is now: True'\n"
    assert reason(lost, events) == "preempted"


def test_who_was_preempted_got_the_signal_for_it():
    killed = STEPS + "slurm_script: line 9: 77 Terminated python train.py\n"
    controller = "preempted JobId=71 has been requeued to reclaim resources for JobId=72\n"
    assert reason(killed, controller) == "preempted"


@pytest.mark.parametrize(
    "line",
    [
        "the previous attempt was preempted, resuming at step 40",
        "Sequence group 3 is preempted by PreemptionMode.RECOMPUTE mode",
        "this job will be requeued if it is preempted",
        "job 71 can be preempted: yes",
    ],
)
def test_talk_of_preemption_is_no_preemption(line):
    assert reason(f"{STEPS}{line}\n") == "not_failed"
    assert reason(f"{STEPS}{line}\n{TRACEBACK}KeyError: 'x'\n", exit_code=1) == "key_error"


def test_an_exit_code_says_that_it_was_killed_unless_memory_is_named():
    assert reason(f"{STEPS}[n0-0] terminated with exit code (137). Reason [Error].\n") == "killed"
    printed = "    Reason:       OOMKilled\n    Exit Code:    137\n"
    assert reason(STEPS + printed) == "host_oom"


def test_an_index_out_of_reach_explains_the_package_that_is_not_there():
    pip = RETRYING.format(left=4) + RETRYING.format(left=0)
    missing = f"{TRACEBACK}ModuleNotFoundError: No module named 'peft'\n"
    assert reason(pip + missing, exit_code=1) == "service_unreachable"
    assert reason(RETRYING.format(left=4) + missing, exit_code=1) == "import_error"


def test_the_number_of_the_error_says_more_than_that_a_call_failed():
    log = (
        STEPS + "[ERROR] 2025-10-11-15:09:34 (PID:2969, RankID:1) ERR00100 PTA call acl api failed."
        "\nEI0002: [PID: 2969] The wait execution of the Notify register times out.\n"
    )
    assert reason(log) == "nccl_timeout"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("Incompatible shapes: [32,10] vs. [32,12]", "shape_mismatch"),
        ("libdevice not found at ./libdevice.10.bc", "compile_error"),
    ],
)
def test_what_an_exception_only_announces_is_read_below_it(printed, expected):
    error = "tensorflow.python.framework.errors_impl.InternalError: Graph execution error:\n\n"
    assert reason(f"{STEPS}{TRACEBACK}{error}{printed}\n", exit_code=1) == expected


def test_a_port_that_failed_is_no_echo_of_a_dead_peer():
    victims = "[E ProcessGroupNCCL.cpp:474] [Rank 2] Watchdog caught collective operation timeout\n"
    link = "n1:55:56 [2] net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error\n"
    assert reason(STEPS + victims, STEPS + link + victims) == "network"


def test_what_a_health_report_lists_is_no_fault():
    report = "        Remapping Failure Occurred        : No\n    Xid Errors          : None\n"
    assert reason(report + TRACEBACK + "KeyError: 'x'\n", exit_code=1) == "key_error"
