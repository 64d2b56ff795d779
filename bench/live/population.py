"""A mixed population of jobs for a real cluster: shell scripts that behave as jobs do.

Hours are minutes here: a line every two seconds, and silences beside a hang time of two minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

HANG_MINUTES = 2.0
_LINES = """
steps() {
  for i in $(seq 1 $1); do echo "step $i/$2 loss 0.$((RANDOM % 900 + 100))"; sleep 2; done
}
"""
_AGAIN = (
    'if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then steps 15 15; echo "training finished"; exit; fi'
)


class Expected(StrEnum):
    LEFT_ALONE = "left alone"
    RETRIED = "run again"
    ANY = "either"


@dataclass(frozen=True, slots=True)
class Kind:
    """`behaviour` is what the script does; `share` how many of a thousand jobs are of it."""

    name: str
    share: int
    expected: Expected
    behaviour: str
    tasks: int = 1
    minutes: int = 60
    cancelled: bool = False

    def script(self) -> str:
        return f"#!/bin/bash\n{_LINES}\n{self.behaviour}\n"


def _healthy(name: str, share: int, behaviour: str, tasks: int = 1) -> Kind:
    return Kind(name, share, Expected.LEFT_ALONE, behaviour, tasks=tasks)


def _dies(said: str, code: int = 1) -> str:
    return f"steps 5 500; cat >&2 <<'END'\n{said}\nEND\nexit {code}"


def _dies_once(said: str, code: int = 1) -> str:
    return f"{_AGAIN}\n{_dies(said, code)}"


_TRACEBACK = (
    'Traceback (most recent call last):\n  File "train.py", line 31, in <module>\n    main()\n'
)
KINDS = (
    _healthy("steady", 300, 'steps 30 30; echo "training finished"'),
    _healthy("array", 200, 'steps 20 20; echo "training finished"', tasks=10),
    _healthy(
        "warns",
        100,
        'steps 10 30; echo "WARNING: CUDA out of memory, retrying with a smaller batch" >&2\n'
        'echo "NCCL WARN Call to connect returned Connection refused, retrying" >&2\n'
        'steps 20 30; echo "training finished"',
    ),
    _healthy(
        "evaluates",
        40,
        'steps 55 90; echo "Evaluating on the validation set"; sleep 200; steps 35 90',
    ),
    _healthy(
        "computes",
        30,
        "steps 55 70; end=$((SECONDS + 280))\n"
        "while [ $SECONDS -lt $end ]; do for n in {1..20000}; do :; done; sleep 0.5; done\n"
        "steps 15 70",
    ),
    _healthy(
        "saves",
        30,
        "steps 55 70; for n in $(seq 1 28); do head -c 1000 /dev/zero >> model-$SLURM_JOB_ID.pt\n"
        "sleep 10; done; steps 15 70",
    ),
    _healthy("pauses", 40, "steps 55 70; sleep 70; steps 15 70"),
    _healthy("notebook", 10, "./jupyter lab --no-browser"),
    Kind("silent", 10, Expected.LEFT_ALONE, "sleep 300"),
    Kind("cancelled", 30, Expected.LEFT_ALONE, "steps 100 100", cancelled=True),
    Kind("time limit", 10, Expected.LEFT_ALONE, "steps 500 500", minutes=1),
    Kind(
        "import error",
        40,
        Expected.LEFT_ALONE,
        _dies(f"{_TRACEBACK}ModuleNotFoundError: No module named 'flash_attn'"),
    ),
    Kind(
        "GPU memory",
        30,
        Expected.LEFT_ALONE,
        _dies(
            f"{_TRACEBACK}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
            "GPU 0 has a total capacity of 79.15 GiB of which 1.10 GiB is free."
        ),
    ),
    Kind(
        "wrong option",
        20,
        Expected.LEFT_ALONE,
        _dies("train.py: error: unrecognized arguments: --lrr 1", 2),
    ),
    Kind(
        "network",
        20,
        Expected.RETRIED,
        _dies_once(
            f"{_TRACEBACK}torch.distributed.DistBackendError: NCCL error in: "
            "ProcessGroupNCCL.cpp:2251, remote process exited or there was a network error\n"
            "ncclRemoteError: A call failed possibly due to a network error."
        ),
    ),
    Kind(
        "GPU lost",
        20,
        Expected.RETRIED,
        _dies_once(
            f"{_TRACEBACK}RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
            "CUDA kernel errors might be asynchronously reported at some other API call."
        ),
    ),
    Kind(
        "service away",
        20,
        Expected.RETRIED,
        _dies_once(
            f"{_TRACEBACK}requests.exceptions.HTTPError: 503 Server Error: Service "
            "Unavailable for url: https://data.example.org/train.tar"
        ),
    ),
    Kind(
        "hangs",
        30,
        Expected.RETRIED,
        f"{_AGAIN}\nsteps 150 500; mkfifo ring-$SLURM_JOB_ID; read -r answer < ring-$SLURM_JOB_ID",
    ),
    Kind("killed", 20, Expected.ANY, "steps 10 500; kill -9 $$"),
)
JUPYTER = """#!/bin/bash
echo "[I 2026-01-01 10:00:00.000 ServerApp] Jupyter Server is running at:"
echo "[I 2026-01-01 10:00:00.000 ServerApp] http://127.0.0.1:8888/lab"
sleep 300
"""
