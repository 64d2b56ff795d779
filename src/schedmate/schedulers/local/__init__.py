"""A real queue for one machine.

Clients write into the queue file and one daemon, started when needed, carries it out:

    adapter.py       the `Scheduler` that callers use; writes into the queue, wakes the daemon
    queue.py         the queue file and every change a job can undergo; tables.py its columns
    entry.py         one job of it, and as others see it
    dependencies.py  what a job waits for, in Slurm's words
    plan.py          which jobs start now: order, reservation, backfill
    daemon.py        the loop: start what fits, end what is over, signal what must go
    wakeup.py        the pipe that wakes it
    attempt.py       the folder of one run: what to run, who claimed it, how it ended
    runner.py        one small process a run that outlives the daemon, as slurmstepd does
    bounds.py        the cores and the memory of a run, and the signal before its limit
    memory_bound.py  how a run is kept within its memory
    terminal_job.py  a job whose command runs at a terminal
    variables.py     what a job finds in its environment
    processes.py     who is alive, and which processes belong to a run
    end_messages.py  tells owners that a job has begun or ended
    layout.py        where all of this lies
    settings_watch.py settings that change while the daemon lives
    devices.py       GPUs by name and type, and slots: what a request allows, what a run gets
    inventory.py     what there is and what is free, asked in the background
    nvidia_smi.py    who is asked about them, as is rocm_smi.py; gpu_answer.py what comes back
    gpu_check.py     the runner's own look at who uses its GPUs
    outsiders.py     GPUs that others use, with patience
    gpu_locks.py     GPUs are locked across the accounts of a machine
    gpu_drains.py    GPUs that are left out until they are released
    gpu_nodes.py     the GPUs for those who submit and look: each is a node
    gpu_record.py    what is known of the GPUs, for verbs and the next daemon
"""

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
    from schedmate.schedulers.local.adapter import LocalScheduler

__all__ = ["LocalScheduler"]

__getattr__ = lazily(__name__, {"LocalScheduler": "schedmate.schedulers.local.adapter"})
