"""The first cause explains the rest: across ranks, files, attempts and the scheduler's verdict."""

import random

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.model import JobState

HEAD = (
    'Traceback (most recent call last):\n  File "/home/u/train.py", line 7, in main\n    step(b)\n'
)
OOM = HEAD + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has\n"
KEY = HEAD + "KeyError: 'labels'\n"
VALUE = HEAD + "ValueError: bad batch\n"
TIMEOUT = (
    "[rank{r}]:[E ProcessGroupNCCL.cpp:616] [Rank {r}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=267, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600041 ms\n"
)
STEP = "step {n} loss 2.31 lr 0.001\n"


def steps(first, last):
    return "".join(STEP.format(n=n) for n in range(first, last))


def prefixed(rank, text):
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


def stamped(clock, text):
    return "".join(f"2026-01-01 {clock} {line}\n" for line in text.splitlines())


def diagnose(*logs, **verdict):
    named = tuple(
        NamedLog(name, text if isinstance(text, bytes) else text.encode())
        for name, text in (log if isinstance(log, tuple) else ("a.log", log) for log in logs)
    )
    return Handler().diagnose(Case(logs=named, **verdict))


def test_the_cause_stands_in_a_later_file_than_the_loudest_lines():
    loud = steps(0, 20) + TIMEOUT.format(r=0) * 5
    found = diagnose(("rank_0.log", loud), ("rank_3.log", steps(0, 20) + OOM), exit_code=1)
    assert (found.reason, found.blame.ranks) == ("gpu_oom", (3,))


def test_a_rank_that_died_long_before_the_others_gave_up():
    text = steps(0, 50) + prefixed(3, OOM)
    text += "".join(f"[rank0]: heartbeat {n}: waiting for peers\n" for n in range(400))
    text += "".join(TIMEOUT.format(r=r) for r in (0, 1, 2))
    found = diagnose(text, exit_code=1)
    assert (found.reason, found.blame.ranks) == ("gpu_oom", (3,))


def test_victims_alone_are_no_culprits():
    text = steps(0, 50) + "".join(TIMEOUT.format(r=r) for r in (0, 1, 3))
    found = diagnose(text, exit_code=1)
    assert found.reason == "nccl_timeout"
    assert not set(found.blame.ranks) & {0, 1, 3}


def test_what_happened_first_by_the_clock_and_not_by_the_order_of_files():
    late = stamped("12:00:09", steps(0, 5) + VALUE)
    early = stamped("12:00:01", steps(0, 5) + KEY)
    found = diagnose(("rank_0.log", late), ("rank_1.log", early), exit_code=1)
    assert (found.reason, found.blame.ranks) == ("key_error", (1,))


def test_the_last_attempt_counts():
    first, second = ("attempt_0/0/stderr.log", VALUE), ("attempt_1/0/stderr.log", KEY)
    assert diagnose(first, second, exit_code=1).reason == "key_error"


def test_an_attempt_that_could_not_even_start_is_explained_by_the_one_before():
    lost = "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients.\n"
    second = ("attempt_1/0/stderr.log", HEAD + lost)
    assert diagnose(("attempt_0/0/stderr.log", OOM), second, exit_code=1).reason == "gpu_oom"


def test_hardware_explains_what_the_runtime_only_noticed():
    noticed = HEAD + "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    kernel = "[ 4821.55] NVRM: Xid (PCI:0000:3b:00): 48, pid=812, DBE (double bit error)\n"
    assert diagnose(noticed, ("dmesg.log", kernel), exit_code=1).reason == "gpu_ecc"
    assert diagnose(noticed, exit_code=1).reason == "cuda_illegal_access"


@pytest.mark.parametrize("state", [JobState.TIMEOUT, JobState.CANCELLED])
def test_a_dead_rank_for_which_the_others_waited_until_the_end(state):
    text = steps(0, 50) + prefixed(3, OOM)
    assert diagnose(text, state=state).reason == "gpu_oom"


def test_the_kernel_s_verdict_explains_a_killed_worker():
    worker = HEAD + "RuntimeError: DataLoader worker (pid 42) is killed by signal: Killed.\n"
    assert diagnose(worker, state=JobState.OUT_OF_MEMORY).reason == "host_oom"


@pytest.mark.parametrize("caught", [VALUE, OOM, KEY])
def test_a_run_that_goes_on_as_before_has_survived(caught):
    text = steps(0, 20) + caught + steps(20, 40)
    assert diagnose(text).reason == "not_failed"
    assert diagnose(text, exit_code=0).reason == "not_failed"


def test_an_unknown_exception_of_a_peer_does_not_hide_a_known_cause():
    peer = HEAD + "mylib.dist.PeerTrouble: something is wrong with rank 1\n"
    found = diagnose(("rank_0.log", peer), ("rank_1.log", OOM), exit_code=1)
    assert (found.reason, found.blame.ranks) == ("gpu_oom", (1,))


def test_random_bytes_are_no_run_that_ended_well():
    assert diagnose(random.Random(0).randbytes(20_000)).reason == "unknown"


def test_all_ranks_that_show_the_cause_are_named():
    text = "".join(prefixed(rank, OOM) for rank in (1, 2)) + TIMEOUT.format(r=0)
    assert diagnose(text, exit_code=1).blame.ranks == (1, 2)


@pytest.mark.parametrize(
    "talk",
    [
        'prompt: "What does NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus mean?"',
        '{"reason": "gpu_ecc", "text": "uncorrectable ECC error"}',
        "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    ],
)
def test_who_speaks_of_broken_hardware_and_dies_of_its_own_error_is_not_moved_elsewhere(talk):
    text = steps(0, 3) + talk + "\n" + steps(3, 4) + HEAD + "TypeError: 'int' is not callable\n"
    found = diagnose(text, exit_code=1, nodes=("n1",))
    assert (found.reason, found.decision.retry) == ("type_error", "no")
    assert found.decision.exclude_nodes == ()


def test_hardware_that_the_runtime_names_too_is_believed():
    noticed = HEAD + "RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
    found = diagnose(steps(0, 3) + noticed, exit_code=1, nodes=("n1",))
    assert (found.reason, found.decision.exclude_nodes) == ("gpu_ecc", ("n1",))


def test_a_caught_error_shortly_before_is_not_the_cause():
    caught = "CUDA out of memory with batch size 32\ntrying 16 instead\n"
    found = diagnose(steps(0, 9) + caught + steps(9, 11) + prefixed(1, KEY), exit_code=1)
    assert found.reason == "key_error"


def test_a_rank_may_be_named_by_the_line_alone():
    text = steps(0, 9) + "srun: error: n1: task 3: Out Of Memory\n"
    assert diagnose(text, exit_code=1).blame.ranks == (3,)


ALARMS = {
    "gpu_oom": "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "network": "[rank3]: NCCL WARN NET/IB : Got completion from peer 10.0.0.3 with error 12",
    "gpu_lost": "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    "service_unreachable": "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub')",
    "disk_full": "OSError: [Errno 28] No space left on device: '/scratch/x'",
    "dataloader_killed": "RuntimeError: DataLoader worker (pid 44) is killed by signal: Killed.",
    "storage_io": "OSError: [Errno 5] Input/output error: '/data/shard-3'",
    "nccl_timeout": TIMEOUT.format(r=0),
    "gpu_ecc": "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    "segfault": "Segmentation fault (core dumped)",
    "disk_quota": "cp: error writing 'b': Disk quota exceeded",
    "key_error": KEY,
}
alarms = pytest.mark.parametrize("reason", ALARMS)


@alarms
@pytest.mark.parametrize("before", [0, 30])
@pytest.mark.parametrize("verdict", [{"signal": 9}, {"exit_code": 137, "state": JobState.FAILED}])
def test_a_silent_death_long_after_an_alarm_is_not_blamed_on_it(reason, before, verdict):
    text = f"{steps(0, before)}{ALARMS[reason]}\n{steps(before, before + 200)}"

    found = diagnose(text, nodes=("n1",), **verdict)

    assert (found.reason, found.decision.exclude_nodes) == ("killed", ())


@alarms
def test_an_alarm_loses_confidence_with_what_came_after_it(reason):
    texts = [f"{steps(0, 30)}{ALARMS[reason]}\n{steps(30, 30 + n)}" for n in (0, 20, 60, 180)]

    found = [diagnose(text, exit_code=1) for text in texts]
    sure = [one.confidence for one in found]

    assert {one.reason for one in found} == {reason}
    assert sure == sorted(sure, reverse=True)
    assert sure[-1] <= 0.5
    assert sure[0] > 0.7


def test_buffered_output_may_follow_the_exception_that_ended_the_run():
    found = diagnose(KEY + steps(0, 150), exit_code=1)

    assert (found.reason, found.confidence) == ("key_error", 0.5)


def test_a_system_log_does_not_lose_confidence_with_the_steps_of_the_kernel():
    xid = "[ 812.1] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
    beside = "".join(f"[ {900 + n}.2] audit: step {n} of the health check\n" for n in range(100))
    kernel = NamedLog("dmesg", (xid + beside).encode(), "outside")
    job = NamedLog("a.log", steps(0, 50).encode())

    found = Handler().diagnose(Case(logs=(job, kernel), signal=9, nodes=("n1",)))

    assert (found.reason, found.decision.exclude_nodes) == ("gpu_lost", ("n1",))


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.PENDING])
def test_a_job_that_has_not_ended_has_not_ended_well(state):
    """sacct shows 0:0 for a job that still runs."""
    found = diagnose(steps(0, 30), state=state, exit_code=0, signal=0)
    assert found.reason == "not_failed"
    assert "ended well" not in found.summary

    found = diagnose(steps(0, 30) + KEY, state=state, exit_code=0, signal=0)
    assert (found.reason, found.confidence) == ("key_error", 0.85)


FORMATS = {
    "transformers": "{{'loss': 2.31, 'learning_rate': 5e-05, 'epoch': {n}.01}}",
    "keras": "{n}/938 [======>.......] - ETA: 3s - loss: 0.3114 - accuracy: 0.71",
    "megatron": " iteration {n:8d}/ 500000 | elapsed time (ms): 812.1 | lm loss: 2.31E+00 |",
    "a logger": "2026-02-03 10:00:00,{n:03d} INFO trainer: step={n} loss=1.93 tok/s=1812",
    "a bar": "Epoch 3:  12%|#2        | {n}/1000 [00:12<01:30,  9.70it/s, loss=2.31]",
    "own words": "[{n:05d}] mse 0.12 psnr 33.1",
}


@pytest.mark.parametrize("line", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("reason", ["gpu_oom", "network", "storage_io", "gpu_lost"])
def test_progress_in_any_format_shows_that_an_alarm_was_survived(line, reason):
    before, after = (
        "".join(line.format(n=n) + "\n" for n in numbers) for numbers in (range(40), range(40, 200))
    )
    text = f"{before}{ALARMS[reason]}\n{after}"

    assert diagnose(text, signal=9).reason == "killed"
    assert diagnose(text, exit_code=1).confidence < 0.5
    assert diagnose(f"{before}{ALARMS[reason]}\n", exit_code=1).reason == reason


NOTICE = "WARNING spot instance interruption notice: it will be terminated at 08:22:00Z\n"


def test_a_warning_that_the_machine_will_go_explains_the_end():
    log = NamedLog("a.log", (steps(0, 20) + NOTICE + steps(20, 22)).encode())
    found = Handler().diagnose(Case(logs=(log,), exit_code=143))
    assert (found.reason, found.decision.retry) == ("preempted", "resume")


def test_a_notice_that_was_long_survived_does_not():
    log = NamedLog("a.log", (steps(0, 20) + NOTICE + steps(20, 220)).encode())
    found = Handler().diagnose(Case(logs=(log,), state=JobState.FAILED, signal=9))
    assert found.reason == "killed"
