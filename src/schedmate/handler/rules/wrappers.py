"""Exceptions that say only that something failed elsewhere."""

import re

from schedmate.handler.rules.base import Rule, Weight

RULES = (
    Rule(
        # says that a child failed, not why
        reason="unknown",
        pattern=re.compile(
            r"ChildFailedError|ProcessRaisedException|ProcessExitedException"
            r"|^ray\.exceptions\.RayTaskError|CalledProcessError: |SignalException: "
            r"|Caught [\w.]{1,100} in (?:DataLoader worker|replica)|ExceptionGroup: "
            r"|RemoteTraceback"
        ),
        errors_only=True,
        confidence=0.3,
        weight=Weight.WRAPPER,
        positives=(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            "torch.multiprocessing.spawn.ProcessRaisedException: ",
            "subprocess.CalledProcessError: Command '['python', 'x.py']' returned exit status 1.",
            "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)",
            "KeyError: Caught KeyError in DataLoader worker process 0.",
        ),
        negatives=("RuntimeError: nothing left",),
    ),
)
