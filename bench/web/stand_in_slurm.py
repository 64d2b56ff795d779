"""Programs in place of squeue, scontrol and sacct that list the jobs of a benchmark.

Two thousand jobs that really run would need a cluster. The daemon starts these programs and reads
their text as it does Slurm's; what they print is a file that the benchmark writes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.model import JobState
from schedmate.schedulers.slurm.parsing import SQUEUE_FIELDS
from schedmate.schedulers.slurm.values import time_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.model import Job

_SEPARATOR = "\x1e"
"""In the file; squeue is asked for another one in each call."""
_SQUEUE = """#!/bin/sh
for word; do
    case "$before" in -O|-o) form=$word ;; -j) few=yes ;; esac
    before=$word
done
case "$form" in
    "") echo "--expand-patterns"; exit ;;
    %*) form=${form#%i}; separator=${form%%\\%x*}
        printf 'JOBID%sEXC_NODES%s\\n' "$separator" "$separator"; exit ;;
esac
separator=${form#*:0}; separator=${separator%%,*}
[ -n "$few" ] && last=1q
exec sed -e "s/\\x1e/$separator/g" ${last:+-e "$last"} @queue@
"""
_SCONTROL = """#!/bin/sh
case "$*" in
    *"show config"*) echo "ClusterName             = bench" ;;
    *"show node"*) cat @nodes@ ;;
    *"show reservation"*) echo "No reservations in the system" ;;
    *"write batch_script"*) cat @script@ ;;
    *) exit 1 ;;
esac
"""
_SACCT = """#!/bin/sh
echo "Slurm accounting storage is disabled" >&2
exit 1
"""


class StandInSlurm:
    """Put its `directory` first on the PATH of the daemon."""

    def __init__(self, directory: Path, *, nodes: Iterable[str], script: str) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._queue = directory / "queue"
        files = {name: directory / name for name in ("queue", "nodes", "script")}
        for name, text in (("squeue", _SQUEUE), ("scontrol", _SCONTROL), ("sacct", _SACCT)):
            program = directory / name
            program.write_text(re.sub("@([a-z]+)@", lambda found: str(files[found[1]]), text))
            program.chmod(0o755)
        files["nodes"].write_text("".join(f"{_node(name)}\n" for name in nodes))
        files["script"].write_text(script)
        self.show(())

    def show(self, jobs: Iterable[Job]) -> None:
        """List these from now on."""
        titles = _SEPARATOR.join(("JOBID", *SQUEUE_FIELDS[1:], "\n"))
        draft = self._queue.with_suffix(".new")
        with draft.open("w", encoding="utf-8") as file:
            file.write(titles)
            file.writelines(_row(job) for job in jobs)
        draft.replace(self._queue)


def _node(name: str) -> str:
    state = "ActiveFeatures=a100 State=MIXED Partitions=gpu,long BootTime=1700000000"
    return f"NodeName={name} {state}"


def _row(job: Job) -> str:
    request = job.request
    resources = f"cpu={request.cpus or 1},mem={request.memory_mb or 1000}M,node={request.nodes}"
    shown = {
        **dict.fromkeys(SQUEUE_FIELDS, "N/A"),
        "JobArrayID": job.id,
        "JobID": job.id,
        "ArrayJobID": job.id,
        "State": job.state.value,
        "Reason": job.reason or "None",
        "UserName": job.user,
        "Partition": request.partition or "",
        "Name": job.name,
        "WorkDir": job.workdir,
        "Command": " ".join(job.command),
        "STDOUT": job.logs[0] if job.logs else "/dev/null",
        "SubmitTime": _time(job.submit_time),
        "StartTime": _time(job.start_time),
        "EndTime": _time(job.end_time),
        "TimeLimit": time_text(request.time_limit_s or 86400.0),
        "exit_code": f"{job.exit_code or 0}:{job.signal or 0}",
        "RestartCnt": str(job.restarts),
        "Nice": str(job.nice),
        "NodeList": ",".join(job.nodes),
        "NumNodes": str(request.nodes),
        "NumCPUs": str(request.cpus or 1),
        "tres-alloc": f"{resources},gres/gpu={request.gpus}",
        "PriorityLong": "100000" if job.state is JobState.PENDING else "1",
        "Requeue": "1",
        "BatchFlag": "1",
        "UserID": "0",
        "HetJobID": "0",
    }
    return _SEPARATOR.join((*shown.values(), "\n"))


def _time(at: float | None) -> str:
    return "N/A" if at is None else str(int(at))
