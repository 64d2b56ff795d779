"""What a job finds in its environment: SchedMate's words, and Slurm's for scripts that know those.

Left out on purpose is what makes programs believe that a cluster is around them, as their own
detection goes: Open MPI takes `SLURM_JOBID` for a place where srun works, MPICH `SLURM_NODELIST`,
Lightning `SLURM_NTASKS` for one process a task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.schedulers.local.entry import QueueEntry


def run_variables(entry: QueueEntry, node: str, cores: int) -> dict[str, str]:
    """Of the run that is about to start."""
    both = {
        "JOB_ID": entry.id,
        "JOB_NAME": entry.name,
        "RESTART_COUNT": entry.restarts,
        **_array_variables(entry),
    }
    own = {"SLOTS": ",".join(entry.slots)}
    granted = entry.request.cpus or (cores if entry.request.gpus else 1)
    slurm = {
        "CLUSTER_NAME": "schedmate",
        "CPUS_ON_NODE": granted,
        "CPUS_PER_TASK": entry.request.cpus,
        "GPUS_ON_NODE": entry.request.gpus or None,
        "JOB_CPUS_PER_NODE": granted,
        "JOB_DEPENDENCY": entry.dependency or None,
        "JOB_GPUS": ",".join(entry.slots) or None,
        "JOB_NODELIST": node,
        "JOB_NUM_NODES": 1,
        "JOB_PARTITION": entry.request.partition or "local",
        "JOB_START_TIME": int(entry.start_time or 0),
        "JOB_USER": entry.user,
        "LOCALID": 0,
        "MEM_PER_NODE": entry.request.memory_mb,
        "NNODES": 1,
        "NODEID": 0,
        "PROCID": 0,
        "SUBMIT_DIR": entry.workdir,
        "SUBMIT_HOST": node,
    }
    named = {
        **{f"SCHEDMATE_{name}": value for name, value in {**both, **own}.items()},
        **{f"SLURM_{name}": value for name, value in {**both, **slurm}.items()},
    }
    return {name: str(value) for name, value in named.items() if value is not None}


def _array_variables(entry: QueueEntry) -> dict[str, object]:
    if entry.shape is None:
        return {}
    return {
        "ARRAY_JOB_ID": entry.array_id,
        "ARRAY_TASK_ID": entry.task,
        "ARRAY_TASK_COUNT": entry.shape.count,
        "ARRAY_TASK_MIN": entry.shape.first,
        "ARRAY_TASK_MAX": entry.shape.last,
        "ARRAY_TASK_STEP": entry.shape.step,
    }
