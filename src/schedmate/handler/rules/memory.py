"""Memory of the host, and shared memory."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
    Rule(
        reason="host_oom",
        pattern=re.compile(
            r"Out of memory: Kill(?:ed)? process|invoked oom-killer"
            r"|Detected \d{1,6} oom[-_]kill event|OOMKilled|oom-kill:constraint|TERM_MEMLIMIT"
            r"|[Ee]xceeded (?:job|step|its) memory limit"
            r"|exceeded memory limit \(|task \d{1,6}: Out Of Memory|killed due to memory pressure"
            r"|killed due to the node running low on memory"
        ),
        confidence=0.97,
        positives=(
            "[ 4821.553190] Out of memory: Killed process 40822 (python) total-vm:8923144kB",
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=17.batch.",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=17.0.",
            "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
            "srun: error: node7: task 3: Out Of Memory",
            "slurmstepd: error: Job 17 exceeded memory limit (9000 > 8000), being killed",
        ),
        negatives=(
            "oom_kill events so far: none",
            "memory limit: 64 GB",
            "Zoom out of memory lane",
        ),
    ),
    Rule(
        reason="host_oom",
        pattern=re.compile(
            r"^(?:[\w.]{1,80}\.)?_?(?:Array)?MemoryError(?::|$)|std::bad_alloc"
            r"|Cannot allocate memory|DefaultCPUAllocator: (?:can't|not enough)"
        ),
        errors_only=True,
        confidence=0.92,
        positives=(
            "MemoryError",
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 14.9 GiB for an array",
            "OSError: [Errno 12] Cannot allocate memory",
            "RuntimeError: [enforce fail at alloc.cpp:75] DefaultCPUAllocator: can't allocate",
        ),
        negatives=("CustomMemoryErrorCount: 3",),
    ),
    Rule(
        reason="host_oom",
        pattern=re.compile(r"what\(\): {1,2}std::bad_alloc|instance of 'std::bad_alloc'"),
        confidence=0.92,
        positives=("terminate called after throwing an instance of 'std::bad_alloc'",),
        negatives=("caught std::bad_alloc, going on with less",),
    ),
    Rule(
        reason="shm_exhausted",
        pattern=re.compile(
            r"insufficient shared memory|out of shared memory|killed by signal: Bus error"
            r"|unable to (?:open|mmap|allocate) shared memory"
        ),
        confidence=0.95,
        positives=(
            (
                "ERROR: Unexpected bus error encountered in worker. This might be caused by "
                "insufficient shared memory (shm)."
            ),
            (
                "RuntimeError: DataLoader worker (pid 42) is killed by signal: Bus error. It is "
                "possible that dataloader's workers are out of shared memory."
            ),
        ),
        negatives=("shared memory segment of 64 MB created",),
    ),
)
