"""Whether the same run would fail again, and what a launcher's own signals show."""

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.model import JobState

STEPS = "".join(f"step {n} loss {3 - n / 100:.2f}\n" for n in range(30))
EXITED = """\
srun: error: n1: task 5: Exited with exit code 1
srun: launch/slurm: _step_signal: Terminating StepId=43.0
slurmstepd: error: *** STEP 43.0 ON n1 CANCELLED AT 2026-07-14T08:00:36 ***
srun: error: n1: tasks 3,7: Killed
srun: error: n2: task 8: Killed
"""
LOST = "RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:4711"
TABLE = f"""\
[rank1]: Traceback (most recent call last):
[rank1]:   File "train.py", line 3, in main
[rank1]:     loss.backward()
[rank1]: {LOST}
E1116 03:50:19 api.py:1002] failed (exitcode: 3) local_rank: 2 (pid: 18658) of binary: python
Traceback (most recent call last):
  File "torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
Failures:
[1]:
  rank      : 1 (local_rank: 1)
  exitcode  : -15 (pid: 18657)  (SIGTERM)
  traceback : Signal 15 (SIGTERM) received by PID 18657
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 2 (local_rank: 2)
  exitcode  : 3 (pid: 18658)
============================================================
"""


def diagnosed(text, **verdict):
    log = NamedLog("job.out", (STEPS + text).encode())
    return Handler().diagnose(Case(logs=(log,), nodes=("n1", "n2"), **verdict))


def raised(error):
    return f'Traceback (most recent call last):\n  File "train.py", line 3, in main\n{error}\n'


@pytest.mark.parametrize(
    "error",
    [
        "RuntimeError: CUDA error: invalid argument",
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx`",
        "RuntimeError: cuDNN error: CUDNN_STATUS_BAD_PARAM",
        "RuntimeError: HIP error: invalid configuration argument",
        "torch.AcceleratorError: CUDA error: invalid device ordinal",
    ],
)
def test_a_wrong_call_of_a_runtime_is_not_tried_again(error):
    assert diagnosed(raised(error), exit_code=1).decision.retry == "no"


@pytest.mark.parametrize(
    "error",
    [
        "RuntimeError: CUDA error: unspecified launch failure",
        "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
    ],
)
def test_a_call_that_failed_by_chance_is_tried_again(error):
    assert diagnosed(raised(error), exit_code=1).decision.retry == "same"


def test_signals_that_a_launcher_sends_after_an_exit_are_no_cause():
    diagnosis = diagnosed(EXITED, state=JobState.FAILED, exit_code=1)
    assert (diagnosis.reason, diagnosis.decision.retry) == ("unknown", "no")


def test_a_signal_that_the_scheduler_reports_stays_one():
    killed = "".join(line for line in EXITED.splitlines(True) if "CANCELLED" not in line)
    assert diagnosed(killed, state=JobState.FAILED, signal=9).reason == "killed"


def test_a_rank_that_exits_by_itself_is_not_explained_by_its_peers():
    diagnosis = diagnosed(TABLE, exit_code=1)
    assert (diagnosis.reason, diagnosis.decision.retry) == ("unknown", "no")
    assert diagnosis.decision.exclude_nodes == ()


def test_a_container_that_its_node_cannot_start_goes_elsewhere():
    line = (
        "FATAL:   container creation failed: while mounting image /proc/self/fd/3: failed to find "
        "loop device: no loop devices available"
    )
    case = Case(
        logs=(NamedLog("job.out", line.encode()),),
        state=JobState.FAILED,
        exit_code=255,
        nodes=("n7",),
    )
    assert Handler().diagnose(case).decision.retry == "elsewhere"


def test_an_empty_state_file_of_a_checkpoint_is_not_the_users_data():
    calls = (
        "Traceback (most recent call last):\n"
        '  File "sft.py", line 201, in main\n    trainer.train(resume_from_checkpoint=True)\n'
        '  File "/lib/python3.10/site-packages/transformers/trainer_callback.py", line 150, in '
        "load_from_json\n    return cls(**json.loads(text))\n"
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n"
    )
    assert diagnosed(calls, exit_code=1).reason == "checkpoint_corrupt"
