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
_NICE, _PRIORITY = (SQUEUE_FIELDS.index(name) + 1 for name in ("Nice", "PriorityLong"))
_SQUEUE = """#!/bin/sh
for word; do
    case "$before" in -O|-o) form=$word ;; -j) ids=$word ;; esac
    before=$word
done
case "$form" in
    "") echo "--expand-patterns"; exit ;;
    %*) form=${form#%i}; separator=${form%%\\%x*}
        printf 'JOBID%sEXC_NODES%s\\n' "$separator" "$separator"; exit ;;
esac
separator=${form#*:0}; separator=${separator%%,*}
exec awk -v OFS="$separator" -v ids="$ids" -f @rows@ @nices@ @queue@
"""
_ROWS = f"""BEGIN {{
    FS = "\\036"; count = split(ids, some, ","); while (count) wanted[some[count--]]
}}
FILENAME ~ /nices$/ {{ nices[$1] = $2; next }}
ids && FNR > 1 && !($1 in wanted) {{ next }}
{{ $1 = $1 }}
$1 in nices {{ ${_NICE} = nices[$1]; ${_PRIORITY} -= nices[$1] }}
{{ print }}
"""
_SCONTROL = """#!/bin/sh
case "$*" in
    *"show config"*) echo "ClusterName             = bench" ;;
    *"show node"*) cat @nodes@ ;;
    *"show reservation"*) echo "No reservations in the system" ;;
    *"write batch_script"*) cat @script@ ;;
    "") sed -n 's/^update JobId=\\([^ ]*\\) Nice=/\\1\x1e/p' >> @nices@ ;;
    *) exit 1 ;;
esac
"""
_SACCT = """#!/bin/sh
echo "Slurm accounting storage is disabled" >&2
exit 1
"""


class StandInSlurm:
    """Put its `directory` first on the PATH of the daemon. Nice numbers are kept and shown."""

    def __init__(self, directory: Path, *, nodes: Iterable[str], script: str) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._queue = directory / "queue"
        files = {name: directory / name for name in ("queue", "rows", "nices", "nodes", "script")}
        for name, text in (("squeue", _SQUEUE), ("scontrol", _SCONTROL), ("sacct", _SACCT)):
            program = directory / name
            program.write_text(re.sub("@([a-z]+)@", lambda found: str(files[found[1]]), text))
            program.chmod(0o755)
        files["rows"].write_text(_ROWS)
        files["nices"].touch()
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

    def count_ordered(self) -> int:
        """How many jobs were given a nice number."""
        lines = (self.directory / "nices").read_text(encoding="utf-8").splitlines()
        return len({line.partition(_SEPARATOR)[0] for line in lines})


def _node(name: str) -> str:
    state = "ActiveFeatures=a100 State=MIXED Partitions=gpu,long BootTime=1700000000"
    return f"NodeName={name} {state} Gres=gpu:a100:8,shard:a100:32"


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
        "PriorityLong": str(job.priority or 100_000) if job.state is JobState.PENDING else "1",
        "Requeue": "1",
        "BatchFlag": "1",
        "UserID": "0",
        "HetJobID": "0",
    }
    return _SEPARATOR.join((*shown.values(), "\n"))


def _time(at: float | None) -> str:
    return "N/A" if at is None else str(int(at))
