"""Jobs of a real, private Slurm: limits, cancellation, requeueing, a lost node, failing tasks.

Needs root and Slurm (`scripts/install-test-packages`), and schedmate to be importable:

    .venv-test/bin/python -m bench.corpora.failures.produce.slurm [--out DIR]
"""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.corpora.failures.produce.making import CASES, Job, keep
from schedmate.testing.slurm_cluster import SlurmCluster, private_slurm

_STEPS = """import time
for step in range({steps}):
    print(f"step {{step}}/{steps} loss {{2 / (1 + step):.4f}} ({{0.31}} s/it)", flush=True)
    time.sleep(0.5)
{after}
"""
_TASK = """import os, sys, time
rank = int(os.environ["SLURM_PROCID"])
print(f"task {rank} of {os.environ['SLURM_NTASKS']} up", flush=True)
time.sleep(1 + rank / 10)
if rank == 2:
    {bad}
time.sleep(6)
print(f"task {rank} done", flush=True)
"""
Act = Callable[[SlurmCluster, str], None]


@dataclass(frozen=True, slots=True)
class SlurmJob:
    job: Job
    script: str
    flags: tuple[str, ...] = ()
    act: Act | None = None


def _call(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def _cancel(_: SlurmCluster, job_id: str) -> None:
    _call("scancel", job_id)


def _requeue(_: SlurmCluster, job_id: str) -> None:
    _call("scontrol", "requeuehold", job_id)


def _lose_node(_: SlurmCluster, job_id: str) -> None:
    node = _call("squeue", "-h", "-j", job_id, "-o", "%N").strip()
    _call("scontrol", "update", f"nodename={node}", "state=down", "reason=not responding")
    _call("scontrol", "update", f"nodename={node}", "state=resume")


def _python(steps: int, after: str = "print('done')") -> str:
    return "#!/bin/bash\npython3 -u - <<'END'\n" + _STEPS.format(steps=steps, after=after) + "END\n"


def _tasks(bad: str) -> str:
    return (
        "#!/bin/bash\ncat > task.py <<'END'\n"
        + _TASK.replace("{bad}", bad)
        + ("END\nsrun --kill-on-bad-exit=1 {label} python3 -u task.py\n")
    )


JOBS = [
    SlurmJob(
        Job(name="slurm_time_limit", reason="time_limit", cause=("DUE TO TIME LIMIT",)),
        _python(400),
        ("--time=1",),
    ),
    SlurmJob(
        Job(name="slurm_time_limit_srun", reason="time_limit", cause=("DUE TO TIME LIMIT",)),
        "#!/bin/bash\nsrun -n 2 --label bash -c 'for i in $(seq 400); do echo iter $i; sleep 4; done'\n",
        ("--time=1", "-n2"),
    ),
    SlurmJob(
        Job(name="slurm_cancelled", reason="cancelled", cause=("CANCELLED AT",)),
        _python(200),
        act=_cancel,
    ),
    SlurmJob(
        Job(
            name="slurm_requeued",
            reason="preempted",
            accept=("cancelled",),
            cause=("DUE TO JOB REQUEUE",),
        ),
        _python(200),
        ("--requeue",),
        act=_requeue,
    ),
    SlurmJob(
        Job(name="slurm_node_lost", reason="node_failure", cause=("DUE TO NODE FAILURE",)),
        _python(200),
        ("--no-requeue", "--exclusive"),
        act=_lose_node,
    ),
    SlurmJob(
        Job(
            name="slurm_one_task_key_error",
            reason="key_error",
            cause=("KeyError: 'vocab'",),
            ranks=(2,),
        ),
        _tasks("{}['vocab']").replace("{label}", "--label"),
        ("-n4",),
    ),
    SlurmJob(
        Job(
            name="slurm_one_task_exit_code",
            reason="file_not_found",
            cause=("No such file or directory: '/data/shard_2.bin'",),
        ),
        _tasks("open('/data/shard_2.bin')").replace("{label}", ""),
        ("-n4",),
    ),
    SlurmJob(
        Job(name="slurm_one_task_segfault", reason="segfault", cause=("Segmentation fault",)),
        _tasks("import ctypes; ctypes.string_at(0)").replace("{label}", ""),
        ("-n4",),
    ),
    SlurmJob(
        Job(
            name="slurm_bad_execve",
            reason="file_not_found",
            accept=("command_not_found",),
            cause=("execve(): ",),
        ),
        "#!/bin/bash\necho starting\nsrun -n 2 ./train_gpt --layers 24\n",
        ("-n2",),
    ),
    SlurmJob(
        Job(
            name="slurm_command_not_found", reason="command_not_found", cause=("command not found",)
        ),
        "#!/bin/bash\nset -e\necho preparing\nnvidia-smi-exam -L\npython3 train.py\n",
    ),
    SlurmJob(
        Job(name="slurm_exit_code_only", reason="unknown", cause=()),
        "#!/bin/bash\necho step 1\nsleep 1\necho step 2\nexit 9\n",
    ),
    SlurmJob(
        Job(name="slurm_sigkill_task", reason="killed", accept=("host_oom",), cause=("Killed",)),
        _tasks("os.kill(os.getpid(), 9)").replace("{label}", ""),
        ("-n4",),
    ),
    SlurmJob(
        Job(name="slurm_finished_with_warnings", reason="not_failed"),
        _python(6, "print('0 errors, 2 warnings, eval failed on 0 of 5 sets')\nprint('done')"),
    ),
    SlurmJob(
        Job(name="slurm_failed_step_survived", reason="not_failed"),
        "#!/bin/bash\nsrun -n 1 bash -c 'echo probing GPU clocks; exit 3' || echo 'probe failed, "
        "going on without'\nfor i in 1 2 3; do echo step $i/3 loss 0.$i; sleep 0.3; done\n",
    ),
]


def _submit(work: Path, one: SlurmJob) -> str:
    work.mkdir(parents=True)
    (work / "job.sh").write_text(one.script)
    said = _call("sbatch", "--parsable", f"--chdir={work}", *one.flags, str(work / "job.sh"))
    return said.strip()


def _running(job_id: str) -> bool:
    return _call("squeue", "-h", "-j", job_id, "-t", "RUNNING", "-o", "%T").strip() == "RUNNING"


def _verdict(job_id: str) -> list[str]:
    """State, exit code and nodes as sacct has them, once it has them."""
    query = ("sacct", "-X", "-n", "-P", "-D", "-j", job_id, "-o", "state,exitcode,nodelist")
    lines = _call(*query).splitlines()
    return lines[0].split("|") if lines else ["PENDING", "0:0", ""]


def _wait(ready: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not ready() and time.monotonic() < deadline:
        time.sleep(0.5)


def produce(jobs: Sequence[SlurmJob], out: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="case-") as scratch, private_slurm() as cluster:
        work = {one.job.name: Path(scratch) / one.job.name for one in jobs}
        ids = {one.job.name: _submit(work[one.job.name], one) for one in jobs}
        for one in (one for one in jobs if one.act is not None):
            _wait(lambda job_id=ids[one.job.name]: _running(job_id), 120)
            time.sleep(3)
            one.act(cluster, ids[one.job.name])
        for one in jobs:
            job_id = ids[one.job.name]
            _wait(lambda job_id=job_id: _verdict(job_id)[0] not in {"PENDING", "RUNNING"}, 200)
            state, code, nodes = _verdict(job_id)
            told = replace(one.job, state=state, nodes=(nodes,), logs="slurm-*.out")
            print(one.job.name, "->", state, keep(told, work[one.job.name], code, "slurm.py", out))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make Slurm jobs fail and keep their logs")
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=CASES)
    arguments = parser.parse_args()
    produce(
        [one for one in JOBS if not arguments.names or one.job.name in arguments.names],
        arguments.out,
    )


if __name__ == "__main__":
    main()
