"""A real queue for one machine.

Clients write into the queue file and one daemon, started when needed, carries it out:

    adapter.py    the `Scheduler` that callers use; writes into the queue, starts the daemon
    queue.py      the queue file and every change a job can undergo
    daemon.py     the loop: start what fits, end what is over, signal what must go
    attempt.py    the folder of one run: what to run, who claimed it, how it ended
    shepherd.py   one small process a run that outlives the daemon, as slurmstepd does
    processes.py  who is alive, and which processes belong to a run
    layout.py     where all of this lies
    detach.py     starts the daemon detached
    gpus.py       how many GPUs there are to hand out
"""

from schedmate.schedulers.local.adapter import LocalScheduler

__all__ = ["LocalScheduler"]
