"""Lines that surround the messages of composed cases: frames, watchdogs, launchers."""

# ruff: noqa: E501 - the lines of logs are as long as they are
from __future__ import annotations

ASYNC = """CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""
FRAMES = """Traceback (most recent call last):
  File "/home/u/proj/pretrain.py", line 412, in <module>
    main(parse())
  File "/home/u/proj/pretrain.py", line 377, in main
    loss = train_step(model, batch)
  File "/home/u/proj/engine/steps.py", line 88, in train_step
    loss.backward()
"""
ELASTIC = """W0301 11:20:41.112000 4411 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 4502 closing signal SIGTERM
E0301 11:20:41.990000 4411 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -6) local_rank: 0 (pid: 4501) of binary: /home/u/envs/train/bin/python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
pretrain.py FAILED
"""
STOPPED = """srun: error: n2: task 1: Exited with exit code 1
srun: Terminating StepId=8812.0
slurmstepd: error: *** STEP 8812.0 ON n1 CANCELLED AT 2031-03-01T11:20:44 ***
"""


def watchdog(rank: int, op: str, ms: int) -> str:
    return (
        f"[rank{rank}]:[E301 11:19:{40 + rank}.408271257 ProcessGroupNCCL.cpp:616] [Rank {rank}] "
        f"Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType={op}, "
        f"NumelIn=466119168, NumelOut=466119168, Timeout(ms)=600000) ran for {ms} milliseconds "
        "before timing out.\n"
    )
