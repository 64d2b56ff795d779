"""Real runs of several processes (torchrun, gloo) in which one rank dies of something.

The others fail in their next collective; who died first must be found.
"""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

from bench.corpora.failures.produce.making import Job, main

_DDP = """import datetime
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn


def report(rank, text):
    print(f"{{time.strftime('%H:%M:%S')}} rank {{rank}}: {{text}}", flush=True)


def misfortune(rank, step):
    {misfortune}


def train(rank, world):
    torch.manual_seed(rank)
    net = nn.parallel.DistributedDataParallel(nn.Linear(16, 4))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(30):
        if step == 12:
            misfortune(rank, step)
        loss = net(torch.randn(8, 16)).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 4 == 0:
            report(rank, f"step {{step}}/30 loss {{loss.item():.4f}}")
        time.sleep(0.02)


def main():
    {before}
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=8))
    rank, world = dist.get_rank(), dist.get_world_size()
    report(rank, f"world size {{world}}, backend gloo")
    train(rank, world)
    dist.destroy_process_group()
    report(rank, "done")


if __name__ == "__main__":
    main()
"""
_RUN = "torchrun --nproc-per-node={ranks} --master-port={port} {more} train.py"
# what srun --label and mpirun do: the number of the task before each of its lines
_LABELLED = """export MASTER_ADDR=127.0.0.1 MASTER_PORT={port} WORLD_SIZE={ranks}
status=0
for task in $(seq 0 {last}); do
  (RANK=$task LOCAL_RANK=$task python -u train.py 2>&1; echo $? > code.$task) | sed -u "s/^/{prefix}/" &
done
wait
exit $(sort -n code.* | tail -1)
"""


def _program(misfortune: str, before: str = "pass") -> dict[str, str]:
    indented = misfortune.strip().replace("\n", "\n    ")
    return {"train.py": _DDP.format(misfortune=indented, before=before)}


def _labelled(ranks: int, port: int, prefix: str) -> str:
    return _LABELLED.format(ranks=ranks, last=ranks - 1, port=port, prefix=prefix)


_KEY = "if rank == 2:\n    batch = {'input_ids': 1}\n    batch['labels']"
_OOM = "if rank == 1:\n    torch.ones(10 ** 15)"
_KILL = "if rank == 3:\n    os.kill(os.getpid(), signal.SIGKILL)"
_FULL = "if rank == 0:\n    with open('/dev/full', 'w') as out:\n        out.write('x' * 100_000)"
_SEGV = "if rank == 1:\n    import ctypes\n    ctypes.string_at(0)"
_EXIT = "if rank == 2:\n    report(rank, 'assertion of the data loader: 0 samples left for this rank')\n    sys.exit(3)"
_SHAPE = "if rank == 1:\n    torch.ones(2, 3) @ torch.ones(4, 5)"
_SLEEP = "if rank == 1:\n    time.sleep(40)"

JOBS = [
    Job(
        name="ranks_key_error_interleaved",
        reason="key_error",
        cause=("KeyError: 'labels'",),
        ranks=(2,),
        files=_program(_KEY),
        command=_RUN.format(ranks=4, port=29801, more=""),
    ),
    Job(
        name="ranks_key_error_teed",
        reason="key_error",
        cause=("KeyError: 'labels'",),
        ranks=(2,),
        files=_program(_KEY),
        command=_RUN.format(ranks=3, port=29802, more="--log-dir=logs --tee=3"),
    ),
    Job(
        name="ranks_host_oom_in_files",
        reason="host_oom",
        cause=("can't allocate memory",),
        ranks=(1,),
        files=_program(_OOM),
        command=_RUN.format(ranks=3, port=29803, more="--log-dir=logs --redirects=3"),
        logs="logs/*/attempt_0/*/std*.log",
    ),
    Job(
        name="ranks_killed_peer",
        reason="killed",
        cause=("Signal 9 (SIGKILL)", "exitcode: -9", "exitcode  : -9"),
        accept=("host_oom",),
        ranks=(3,),
        files=_program(_KILL),
        command=_RUN.format(ranks=4, port=29804, more=""),
    ),
    Job(
        name="ranks_disk_full_on_first",
        reason="disk_full",
        cause=("No space left on device",),
        ranks=(0,),
        files=_program(_FULL),
        command=_RUN.format(ranks=2, port=29805, more=""),
    ),
    Job(
        name="ranks_disk_full_labelled",
        reason="disk_full",
        cause=("No space left on device",),
        ranks=(0,),
        files=_program(_FULL),
        command=_labelled(3, 29806, "$task: "),
    ),
    Job(
        name="ranks_segfault",
        reason="segfault",
        cause=("Signal 11 (SIGSEGV)", "exitcode: -11", "exitcode  : -11"),
        ranks=(1,),
        files=_program(_SEGV),
        command=_RUN.format(ranks=2, port=29807, more=""),
    ),
    Job(
        name="ranks_shape_labelled",
        reason="shape_mismatch",
        cause=("mat1 and mat2 shapes cannot be multiplied",),
        ranks=(1,),
        files=_program(_SHAPE),
        command=_labelled(4, 29808, "$task: "),
    ),
    Job(
        name="ranks_key_error_mpi_labels",
        reason="key_error",
        cause=("KeyError: 'labels'",),
        ranks=(2,),
        files=_program(_KEY),
        command=_labelled(4, 29809, "[1,$task]<stderr>: "),
    ),
    Job(
        name="ranks_shape_in_brackets",
        reason="shape_mismatch",
        cause=("mat1 and mat2 shapes cannot be multiplied",),
        ranks=(1,),
        files=_program(_SHAPE),
        command=_labelled(3, 29810, "[rank$task]: "),
    ),
    Job(
        name="ranks_exit_code_with_last_words",
        reason="data_error",
        cause=("0 samples left for this rank",),
        accept=("unknown", "assertion_error"),
        ranks=(),
        files=_program(_EXIT),
        command=_RUN.format(ranks=3, port=29811, more=""),
    ),
    Job(
        name="ranks_one_sleeps",
        reason="nccl_timeout",
        cause=("Timed out", "timed out"),
        accept=("nccl_remote", "hang", "rendezvous"),
        ranks=(),
        files=_program(_SLEEP),
        command=_RUN.format(ranks=2, port=29812, more=""),
    ),
    Job(
        name="ranks_bad_argument_everywhere",
        reason="argument_error",
        cause=("unrecognized arguments: --bs 64",),
        files=_program("pass", "import argparse; argparse.ArgumentParser().parse_args()"),
        command=_RUN.format(ranks=2, port=29813, more="") + " --bs 64",
    ),
    Job(
        name="ranks_import_error_everywhere",
        reason="import_error",
        cause=("No module named 'apex_fused'",),
        files=_program("pass", "import apex_fused"),
        command=_RUN.format(ranks=4, port=29814, more=""),
    ),
    Job(
        name="ranks_nan_stops_one",
        reason="loss_nan",
        cause=("loss is nan",),
        ranks=(1,),
        files=_program(
            "if rank == 1:\n    report(rank, 'loss is nan at step 12, giving up')\n    sys.exit(1)"
        ),
        command=_RUN.format(ranks=2, port=29815, more=""),
    ),
]

if __name__ == "__main__":
    main(JOBS)
