"""Ranks that wait for each other. Whoever only lost its peers is a victim: these rules yield
to any cause found elsewhere.
"""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_GOES_ON = LazyPattern(
    r"\[W[ \d]|NCCL INFO|: INFO|^INFO|no network error|- retrying|shutdown anyway"
    r"|(?:lost|error)s?: 0\b"
)

RULES = (
    Rule(
        name="collective-watchdog",
        reason="nccl_timeout",
        pattern=LazyPattern(
            r"[Ww]atchdog caught collective operation timeout"
            r"|[Tt]imed out waiting \d{1,9} ?ms for (?:recv|send) operation"
            r"|[Tt]imeout at NCCL work|NCCL operations have (?:failed or )?timed out"
            r"|watchdog (?:got stuck|hang detected)|[Hh]eartbeat monitor timed out"
            r"|(?:due to|from) (?:a )?(?:global |collective )?timeout (?:signal )?from "
            r"|due to a collective timeout|failed to pass monitored ?Barrier in \d"
            r"|reached monitoredBarrier, but received errors"
            r"|gloo::TimeoutException|gloo.{0,160}\] TIMEOUT self_rank"
            r"|collective operation timeout: Work|NCCL communicator was aborted .{0,80}[Tt]ime"
            r"|[Tt]imed out waiting for (?:the )?(?:all_?reduce|all_?gather|barrier)\b"
            r"|\b[Cc]ollective .{0,60}timed out after|\b(?:all_?reduce|all_?gather"
            r"|reduce_?scatter|all_?to_?all"
            r"|broadcast|barrier)\b.{0,8}(?:has |have )?timed out"
        ),
        unless=LazyPattern(r"timeout (?:set|is set) to"),
        confidence=0.88,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "[E ProcessGroupNCCL.cpp:828] [Rank 0] Watchdog caught collective operation "
                "timeout: WorkNCCL(SeqNum=267, OpType=ALLREDUCE, Timeout(ms)=800)"
            ),
            (
                "[E1114 03:00:00.1 ProcessGroupNCCL.cpp:616] [Rank 3] Timeout at NCCL work: 8, "
                "last enqueued NCCL work: 9, last completed NCCL work: 7."
            ),
            (
                "Some NCCL operations have failed or timed out. Due to the asynchronous nature of "
                "CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data."
            ),
            (
                "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed "
                "out waiting 1800000ms for recv operation to complete"
            ),
            (
                "[E ProcessGroupNCCL.cpp:1316] [PG 0 Rank 5] Heartbeat monitor timed out! Process "
                "will be terminated after dumping debug info. workMetaList_.size()=11"
            ),
            "terminate called after throwing an instance of 'gloo::TimeoutException'",
            (
                "RuntimeError: Rank 0 successfully reached monitoredBarrier, but received errors "
                "while waiting for send/recv from rank 1. Please check rank 1 logs"
            ),
        ),
        negatives=(
            "NCCL timeout set to 1800 s",
            "NCCL_ASYNC_ERROR_HANDLING is deprecated",
            "NCCL INFO TORCH_NCCL_BLOCKING_WAIT set by environment to 0, timeout 1800",
        ),
    ),
    Rule(
        # the CUDA error itself stands in another line
        name="nccl-unhandled-cuda",
        reason="cuda_error",
        pattern=LazyPattern(
            r"NCCL.{0,300}unhandled cuda error|ncclUnhandledCudaError"
            r"|NCCL.{0,200}Call to CUDA function failed"
        ),
        confidence=0.6,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, "
                "unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5"
            ),
            "ncclUnhandledCudaError: Call to CUDA function failed.",
        ),
        negatives=("NCCL INFO CUDA Dev 0[3b000]",),
    ),
    Rule(
        # two ranks on one GPU: the launch is wrong, and stays so
        name="nccl-invalid-usage",
        reason="argument_error",
        pattern=LazyPattern(
            r"Duplicate GPU detected : rank \d|ncclInvalidUsage|ncclInvalidArgument"
        ),
        confidence=0.75,
        positives=(
            (
                "n1:12:88 [0] init.cc:795 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 "
                "both on CUDA device 4000"
            ),
            "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.",
        ),
        negatives=("duplicate GPU check passed",),
    ),
    Rule(
        name="peer-heartbeat",
        reason="nccl_remote",
        pattern=LazyPattern(
            r"\bheartbeat (?:has )?(?:timeout|timed out|expired|was lost)"
            r"|set to ERROR in coordination"
            r"|\bmissed (?:too many |\d{1,6} )?heartbeats?\b"
        ),
        unless=LazyPattern(
            r"marked (?:as )?dead|retrying|NCCL_|_HEARTBEAT|_TIMEOUT|timeout is|limit of"
        ),
        confidence=0.8,
        weight=Weight.SYMPTOM,
        positives=(
            "UNAVAILABLE: Task /job:jax_worker/replica:0/task:37 heartbeat timeout. This indicates",
            "worker 3 missed too many heartbeats",
        ),
        negatives=("heartbeat timeout is 300 s", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=600"),
    ),
    Rule(
        name="nccl-remote-exit",
        reason="nccl_remote",
        pattern=LazyPattern(
            r"(?:NCCL|nccl|RCCL|rccl).{0,300}(?:remote process (?:has )?exited"
            r"|unhandled system error|network error|internal error|aborted on rank)"
            r"|ncclRemoteError|ncclSystemError|ncclInternalError"
            r"|Proxy Call to rank \d{1,6} failed"
        ),
        unless=_GOES_ON,
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1275, "
                "remote process exited or there was a network error, NCCL version 2.18.5"
            ),
            (
                "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, "
                "unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.18"
            ),
            (
                "ncclSystemError: System call (e.g. socket, malloc) or external library call "
                "failed or device error."
            ),
            "ncclInternalError: Internal check failed.",
            "RCCL error: unhandled system error, rccl version 2.18",
            "n1:12:88 [0] proxy.cc:1205 NCCL WARN Proxy Call to rank 3 failed (Connect)",
        ),
        negatives=(
            "NCCL version 2.18.5+cuda12.1",
            "n1:77:99 [0] NCCL INFO NET/Socket : remote process exited, retry 1",
        ),
    ),
    Rule(
        # only reports a lost peer: any other clue explains more
        name="connection-closed",
        reason="nccl_remote",
        pattern=LazyPattern(
            r"(?:NCCL|RCCL) WARN .{0,160}(?:[Cc]onnection (?:closed|reset|refused)|Broken pipe)"
            r"|\bUCX {1,4}ERROR .{0,160}(?:Connection reset by remote|Endpoint is not connected)"
            r"|Connection closed by (?:remote )?peer"
            r"|(?:gloo|tcp/pair|NET/Socket|btl_tcp|socketProgress|socketStartConnect).{0,240}"
            r"(?:Connection (?:reset|closed|refused)|Broken pipe|no error|SO_ERROR)"
            r"|Application timeout caused pair closure|connectFullMesh failed"
            r"|Horovod has been shut down|HorovodInternalError"
            r"|MPI communication peer process has unexpectedly disconnected"
            r"|[Ff]atal error in P?MPI\w{0,40}: .{0,300}(?:[Cc]onnection (?:reset|closed"
            r"|refused)|peer)"
            r"|has failed, got preempted, or crashed unexpectedly"
            r"|(?:Xla|Jax)RuntimeError: UNAVAILABLE: (?:Socket closed|Connection reset"
            r"|Broken pipe|failed to connect to all addresses)"
            r"|JAX distributed service detected fatal errors"
            r"|Terminating process because the (?:JAX distributed service|coordinator) detected"
            r"|Dist(?:Network|Store|Backend)Error: .{0,120}(?:Connection (?:reset|closed)"
            r"|Broken pipe)"
            r"|failed to recv, got 0 bytes|Connection was likely closed\. Did the remote"
            r"|store->get\('[^']{1,80}'\) got error: (?:Connection|Broken)"
        ),
        unless=_GOES_ON,
        confidence=0.49,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection "
                "closed by peer [10.0.0.2]:4711"
            ),
            (
                "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:598] Read "
                "error [127.0.0.1]:17240: Connection reset by peer"
            ),
            (
                "n1:3468:3905 [4] misc/socket.cc:538 NCCL WARN Net : Connection closed by remote "
                "peer n2<54862>"
            ),
            (
                "horovod.common.exceptions.HorovodInternalError: Horovod has been shut down. This "
                "was caused by an exception on one of the ranks"
            ),
            (
                "UNAVAILABLE: Task /job:jax_worker/replica:0/task:0 is unreachable. This "
                "indicates that the remote task has failed, got preempted, or crashed unexpectedly."
            ),
            "torch.distributed.DistNetworkError: failed to recv, got 0 bytes",
            "torch.distributed.DistNetworkError: Connection reset by peer",
            "An MPI communication peer process has unexpectedly disconnected.  This",
        ),
        negatives=(
            (
                "[W729 10:15:17.5 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=76): "
                "Connection reset by peer"
            ),
            "n1:77:99 [0] NCCL INFO NET/Socket : Connection closed by remote peer, retry 1",
        ),
    ),
)
