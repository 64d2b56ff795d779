"""What launchers say when a child failed: that it did, not why."""

import re

from schedmate.handler.rules.base import Lazy, Rule, Weight

RULES = (
    Rule(
        # what older torch raises for a child, whose own words follow
        name="bare-exception",
        reason="unknown",
        pattern=Lazy(r"^Exception:? ?$"),
        errors_only=True,
        confidence=0.3,
        weight=Weight.WRAPPER,
        positives=("Exception:", "Exception"),
        negatives=("Exception: out of luck", "Exceptions: 0"),
    ),
    Rule(
        name="launcher-exit-line",
        reason="unknown",
        pattern=Lazy(
            r"^srun: error: .{1,300}: tasks? [\d,\-]{1,200}: Exited with exit code [1-9]"
            r"|failed \(exitcode: [1-9]\d{0,2}\) local_rank|\bexitcode {1,4}: [1-9]\d{0,2} \(pid: "
            r"|exits with return code = [1-9]|BAD TERMINATION OF ONE OF YOUR APPLICATION"
            r"|detected that one or more processes exited with non-zero status"
            r"|process(?:es)? returned a non-zero exit code|MPI_ABORT was invoked on rank"
            r"|Process \d{1,6} exit with status code [1-9]"
            r"|ssh exited with exit code [1-9]|^Exited with exit code [1-9]\d{0,2}\.?$"
            r"|[Bb]ack-?off restarting failed container|BackoffLimitExceeded|CrashLoopBackOff"
            r"|reached the specified backoff limit|^ {0,12}Exit Code: {1,8}[1-9]\d{0,2}$"
            r"|command terminated with exit code [1-9]"
            r"|pyxis: couldn't start container|spank: required plugin spank_pyxis"
            r"|^make(?:\[\d\])?: \*\*\* .{1,200} Error [1-9]"
        ),
        unless=Lazy(
            r"exit code:? {1,8}(?:137|139|143|134|135|136|132|130|127|126)\b"
            r"|code[ =]{1,3}(?:137|139|143|134|135|136|132|130|127|126)\b",
            re.IGNORECASE,
        ),
        confidence=0.3,
        weight=Weight.WRAPPER,
        positives=(
            "srun: error: n1: task 0: Exited with exit code 1",
            "srun: error: gpu[041-044]: tasks 0-7,9: Exited with exit code 1",
            (
                "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) "
                "local_rank: 0 (pid: 4711) of binary: /usr/bin/python"
            ),
            "  exitcode  : 1 (pid: 4711)",
            (
                "[2026-01-01 00:00:00,000] [ERROR] [launch.py:322:sigkill_handler] ['python', "
                "'train.py'] exits with return code = 1"
            ),
            "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
            "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD",
            "slurmstepd: error: pyxis: couldn't start container",
            "  Warning  BackOff  2m  kubelet  Back-off restarting failed container",
        ),
        negatives=(
            "  exitcode  : 0 (pid: 4711)",
            "  error_file: <N/A>",
            "srun: n1: task 0: Exited with exit code 0",
            "    Exit Code:    0",
            "    Exit Code:    137",
        ),
    ),
)
