"""Memory of the host, and shared memory."""

from schedmate.handler.rules.base import LazyPattern, Rule

_OPEN_FILES = (
    Rule(
        name="too-many-open-files",
        reason="fd_limit",
        pattern=LazyPattern(
            r"[Tt]oo many open files|\b(?:EMFILE|ENFILE)\b|received 0 items of ancdata"
            r"|\[Errno 2[34]\]|inotify (?:watch|instance) limit reached"
            r"|limit for number of file watchers reached|[Rr]an out of file descriptors"
            r"|inotify_add_watch.{0,80}No space left"
        ),
        unless=LazyPattern(r"\b(?:avoid|prevent|may|might|if you (?:see|get)|retrying)\b"),
        confidence=0.95,
        positives=(
            "OSError: [Errno 24] Too many open files: 'x.jpg'",
            "RuntimeError: received 0 items of ancdata",
            (
                "RuntimeError: unable to open shared memory object </torch_81_92> in read-write "
                "mode: Too many open files (24)"
            ),
            (
                "RuntimeError: Too many open files. Communication with the workers is no "
                "longer possible."
            ),
            "OSError: [Errno 23] Too many open files in system: '/data/a.npy'",
            "Error: EMFILE: too many open files, open '/app/x.js'",
            "accept4: too many open files; retry in 1s",
            "OSError: [Errno 28] inotify watch limit reached",
            "OSError: [Errno 24] inotify instance limit reached",
            "Error: ENOSPC: System limit for number of file watchers reached, watch '/x'",
        ),
        negatives=(
            "open files: 12",
            "thread 3 started",
            "raise `ulimit -n` to avoid Too many open files errors",
            "open files                          (-n) 1024",
        ),
    ),
)

_PROCESSES = (
    Rule(
        # the limit on processes and threads of a user or of a container
        name="too-many-threads",
        reason="fd_limit",
        pattern=LazyPattern(
            r"can't start new thread|pthread_create failed|[Cc]annot create (?:native )?thread"
            r"|thread: Resource temporarily unavailable|failed to (?:create|start"
            r"|spawn) (?:a )?(?:new )?"
            r"(?:OS )?thread.{0,60}(?:EAGAIN|[Rr]esource temporarily|errno[ =]11)"
            r"|\bfork(?:ing)?\b.{0,60}Resource temporarily unavailable"
            r"|BlockingIOError: \[Errno 11\] Resource temporarily unavailable"
            r"|OpenBLAS blas_thread_init: pthread_create"
            r"|unable to create (?:new )?(?:native )?thread"
        ),
        unless=LazyPattern(r"\b(?:retry(?:ing)?|trying again|avoid|may|might)\b"),
        confidence=0.85,
        suggestion="fewer threads or workers, or a higher `ulimit -u`",
        positives=(
            "RuntimeError: can't start new thread",
            "what(): thread: Resource temporarily unavailable [system:11]",
            "bash: fork: Resource temporarily unavailable",
            "OpenBLAS blas_thread_init: pthread_create failed for thread 31 of 64",
            "BlockingIOError: [Errno 11] Resource temporarily unavailable",
            "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory",
        ),
        negatives=("bash: fork: retry: Resource temporarily unavailable", "32 threads created"),
    ),
)


_CALM = LazyPattern(
    r"\b(?:retrying|going on|falling back|recovered)\b|events?(?: so far)?: (?:0|none)"
)

_MEMORY = (
    Rule(
        name="shared-memory",
        reason="shm_exhausted",
        pattern=LazyPattern(
            r"insufficient shared memory|out of shared memory|killed by signal: Bus error"
            r"|unable to (?:open|write to|mmap|allocate|resize) (?:shared memory|file </torch_"
            r"|\d{1,16} bytes from file </torch_)"
            r"|creating shared memory segment \S{0,80}nccl|failed to extend /dev/shm/"
            r"|(?:/dev/shm|shm_open|posix_fallocate|ncclShm\w{1,30}|\bshm\b).{0,160}"
            r"No space left on device|No space left on device.{0,60}/dev/shm"
            r"|ObjectStoreFullError|Usage of EmptyDir volume \"\w{0,20}shm\w{0,20}\" exceeds"
            r"|[Uu]nexpected bus error encountered in worker"
        ),
        unless=LazyPattern(r"Too many open files"),
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
            (
                "RuntimeError: unable to open shared memory object </torch_29919_1396182366> in "
                "read-write mode: No space left on device (28)"
            ),
            (
                "n1:812:901 [0] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No "
                "space left on device"
            ),
            "Error while creating shared memory segment /dev/shm/nccl-Wq2dVe (size 9637888)",
            "RuntimeError: unable to write to file </torch_112_3212154124_0>",
            "OSError: [Errno 28] No space left on device: '/dev/shm/psm_4d2a'",
        ),
        negatives=(
            "shared memory segment of 64 MB created",
            "OSError: [Errno 28] No space left on device: '/scratch/ckpt.pt'",
            "shm: 64 GB available on n1",
        ),
    ),
    Rule(
        name="kernel-killer",
        reason="host_oom",
        pattern=LazyPattern(
            r"[Oo]ut of memory: Kill(?:ed)? process|invoked oom-killer|OOMKilled"
            r"|[Dd]etected [1-9]\d{0,5} oom[-_ ]?kill event|oom-kill:constraint|TERM_MEMLIMIT"
            r"|TERM_SWAP|cgroup out-of-memory handler|oom_reaper: reaped process"
            r"|[Ee]xceeded (?:job|step|its|virtual|job's|the) memory limit"
            r"|exceeded (?:its |the )?memory limit \(?\d|tasks? [\d,\-]{1,60}: Out Of Memory"
            r"|[Mm]emory limit (?:was |has been )?exceeded[:,;. ]|over(?:ran)? (?:its"
            r"|the) memory limit"
            r"|[1-9]\d{0,6} [Ww]orkers .{0,40}killed due to memory pressure"
            r"|(?:[Tt]ask|[Aa]ctor|[Ww]orker|[Pp]od"
            r"|process) (?:\S{1,60} )?(?:was )?killed due to memory pressure"
            r"|killed due to the node running low on memory|low on resource: memory"
            r"|PBS: job killed: (?:p?v?mem|mem) |[Cc]group mem(?:ory|sw)? limit exceeded"
            r"|gone over (?:its )?(?:cgroup )?memory limit|exceeds job hard limit \"[hs]_(?:vmem"
            r"|rss)"
            r"|[Jj]ob exceeded (?:a |its )?memory (?:resource )?limit|beyond physical memory limits"
            r"|killed by YARN for exceeding|OUT_OF_MEMORY state"
            r"|terminated (?:because|since) it used too much memory"
            r"|(?:[Kk]illed|terminated|evicted) (?:due to|because of|for) (?:\w{1,12} )?memory "
            r"(?:usage|limit|consumption)"
        ),
        unless=_CALM,
        confidence=0.97,
        positives=(
            "[ 4821.553190] Out of memory: Killed process 40822 (python) total-vm:8923144kB",
            (
                "Memory cgroup out of memory: Killed process 8123 (python3) total-vm:60112kB, "
                "anon-rss:51200kB"
            ),
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=17.batch.",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=17.0.",
            (
                "slurmstepd: error: Detected 1 oom-kill event(s) in step 17.batch cgroup. Some of "
                "your processes may have been killed by the cgroup out-of-memory handler."
            ),
            "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
            "srun: error: node7: task 3: Out Of Memory",
            "Container killed due to memory usage, exit code: 137",
            "slurmstepd: error: Job 17 exceeded memory limit (9000 > 8000), being killed",
            "=>> PBS: job killed: mem 67321856kb exceeded limit 67108864kb",
            "      Reason:       OOMKilled",
            (
                "  Warning  Evicted    18m    kubelet    The node was low on resource: memory. "
                "Container train was using 9402820Ki, which exceeds its request of 7G."
            ),
            (
                "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on "
                "memory."
            ),
            "job 812 exceeded memory limit 64gb, being killed",
            "Container killed on request, memory limit exceeded: 32.1 GB of 32 GB used",
            "Error from slot1@n1: Job has gone over memory limit of 2048 megabytes. Peak usage: 9",
        ),
        negatives=(
            "oom_kill events so far: none",
            "memory limit: 64 GB",
            "Zoom out of memory lane",
            "0 Workers (tasks / actors) killed due to memory pressure (OOM)",
            "slurmstepd: Detected 0 oom-kill events in StepId=17.0",
        ),
    ),
    Rule(
        name="allocation-error",
        reason="host_oom",
        pattern=LazyPattern(
            r"^(?:[\w.]{1,80}\.)?_?(?:Array|Arrow)?MemoryError(?::|$)|std::bad_alloc"
            r"|Cannot allocate memory|DefaultCPUAllocator: (?:can't|not enough)"
            r"|^java\.lang\.OutOfMemoryError"
        ),
        errors_only=True,
        confidence=0.92,
        positives=(
            "MemoryError",
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 14.9 GiB for an array",
            "OSError: [Errno 12] Cannot allocate memory",
            "RuntimeError: [enforce fail at alloc.cpp:75] DefaultCPUAllocator: can't allocate",
            "pyarrow.lib.ArrowMemoryError: malloc of size 4294967296 failed",
        ),
        negatives=("CustomMemoryErrorCount: 3",),
    ),
    Rule(
        name="native-allocation",
        reason="host_oom",
        pattern=LazyPattern(
            r"what\(\): {1,2}std::bad_alloc|instance of 'std::bad_alloc'|^std::bad_alloc$"
            r"|^memory allocation of \d{1,20} bytes failed|fork: Cannot allocate memory$"
            r"|Java heap space|^(?:as|ld|cc1\w{0,6}|collect2|\S{0,80}/(?:as"
            r"|ld)): .{0,40}out of memory"
            r"|virtual memory exhausted"
        ),
        confidence=0.92,
        positives=(
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "memory allocation of 137438953472 bytes failed",
            "-bash: fork: Cannot allocate memory",
            "as: out of memory allocating 8 bytes after a total of 2080063488 bytes",
        ),
        negatives=(
            "caught std::bad_alloc, going on with less",
            "tcmalloc: large alloc 4294967296 bytes == 0x5581 @",
        ),
    ),
)

RULES = (*_OPEN_FILES, *_PROCESSES, *_MEMORY)
