"""Ranks that wait for each other. Whoever only lost its peers is a victim: these rules yield
to any cause found elsewhere.
"""

import re

from schedmate.handler.rules.base import Rule, Weight

RULES = (
    Rule(
        reason="port_conflict",
        pattern=re.compile(
            r"(?:bind|socket|errno|OSError|RuntimeError).{0,200}[Aa]ddress already in use"
            r"|\bEADDRINUSE\b"
        ),
        confidence=0.93,
        positives=(
            (
                "RuntimeError: The server socket has failed to listen on any local network "
                "address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address "
                "already in use)."
            ),
            "OSError: [Errno 98] Address already in use",
        ),
        negatives=("port 6006: address already in use by another TensorBoard, trying 6007",),
    ),
    Rule(
        reason="rendezvous",
        pattern=re.compile(
            r"Rendezvous(?:Timeout|Connection)Error|Timed out after \d{1,9} seconds waiting for "
            r"clients|\[?c10d\]? ?.{0,80}The client socket has timed out"
            r"|DistStoreError: |barrier on .{0,80}timed out after .{0,80}waiting for"
        ),
        confidence=0.9,
        weight=Weight.SYMPTOM,
        positives=(
            "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
            (
                "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for "
                "clients. 3/4 clients joined."
            ),
        ),
        negatives=("Rendezvous complete for workers. Result: restart_count=0",),
    ),
    Rule(
        reason="nccl_timeout",
        pattern=re.compile(
            r"Watchdog caught collective operation timeout"
            r"|Timed out waiting \d{1,9}ms for (?:recv|send) operation"
        ),
        confidence=0.88,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "[E ProcessGroupNCCL.cpp:828] [Rank 0] Watchdog caught collective operation "
                "timeout: WorkNCCL(SeqNum=267, OpType=ALLREDUCE, Timeout(ms)=800)"
            ),
        ),
        negatives=("NCCL timeout set to 1800 s", "NCCL_ASYNC_ERROR_HANDLING is deprecated"),
    ),
    Rule(
        reason="nccl_remote",
        pattern=re.compile(
            r"(?:NCCL|nccl).{0,300}(?:remote process exited|remote process has exited"
            r"|unhandled system error|unhandled cuda error|network error)"
            r"|ncclRemoteError|ncclSystemError|Connection closed by peer"
            r"|(?:gloo|tcp/pair|NET/Socket).{0,200}Connection reset by peer"
        ),
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1275, "
                "remote process exited or there was a network error, NCCL version 2.18.5"
            ),
            (
                "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection "
                "closed by peer [10.0.0.2]:4711"
            ),
        ),
        negatives=("NCCL version 2.18.5+cuda12.1",),
    ),
)
