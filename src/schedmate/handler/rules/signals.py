"""Processes that ended by a signal. A signal is what happened, rarely why: any clearer cause
in the log goes first.
"""

import re
import signal

from schedmate.handler.case import Case
from schedmate.handler.rules.base import Rule, Weight

_CRASH = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE}
_KILL = {signal.SIGKILL, signal.SIGTERM, signal.SIGHUP}


RULES = (
    Rule(
        reason="dataloader_killed",
        pattern=re.compile(
            r"DataLoader worker \(pid(?:\(s\))? [\d, ]{1,80}\) "
            r"(?:exited unexpectedly|is killed by signal: (?!Bus))"
        ),
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(
            "RuntimeError: DataLoader worker (pid(s) 4821) exited unexpectedly",
            "RuntimeError: DataLoader worker (pid 4821) is killed by signal: Killed.",
        ),
        negatives=("DataLoader worker (pid 12) started",),
    ),
    Rule(
        reason="segfault",
        pattern=re.compile(
            r"\b[Ss]egmentation fault\b|^Fatal Python error: "
            r"(?:Segmentation fault|Bus error|Aborted|Illegal instruction|Floating-point)"
            r"|\bCaught signal (?:11|7|4)\b|Signal (?:11|7|4|6|8) \(SIG[A-Z]{2,5}\) received by PID"
            r"|\bexitcode {0,4}: {0,4}-(?:11|7|4|6|8)\b"
            r"|\b(?:Aborted|Bus error|Illegal instruction) {0,40}\(core dumped\)"
        ),
        confidence=0.88,
        weight=Weight.SYMPTOM,
        positives=(
            "bash: line 1: 2552014 Segmentation fault      (core dumped) python segfault.py",
            "Fatal Python error: Segmentation fault",
            "  exitcode  : -11 (pid: 4711)",
            "traceback : Signal 11 (SIGSEGV) received by PID 4711",
            "train.sh: line 3: 812 Aborted                 (core dumped) python train.py",
        ),
        negatives=("segmentation faults per hour: 0", "Segmentation model: unet"),
    ),
    Rule(
        reason="killed",
        pattern=re.compile(
            r"^(?:\S{1,200}: line \d{1,6}: +\d{1,9} )?Killed(?: {2,40}\S.{0,300})?$|^Terminated$"
            r"|: task [\d,\-]{1,60}: (?:Killed|Terminated)$"
            r"|Signal (?:9|15) \(SIG(?:KILL|TERM)\) received by PID"
            r"|\bexitcode {0,4}: {0,4}-(?:9|15)\b"
        ),
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            "Killed",
            "run.sh: line 4: 9213 Killed                  python train.py",
            "srun: error: n1: task 0: Killed",
            "  exitcode  : -9 (pid: 4711)",
        ),
        negatives=("Killed 3 stale workers, going on", "processes killed: 0"),
    ),
    Rule(
        reason="cancelled",
        pattern=re.compile(r"^KeyboardInterrupt(?::|$)"),
        errors_only=True,
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=("KeyboardInterrupt", "KeyboardInterrupt: Interrupted by user"),
        negatives=("handles KeyboardInterrupt gracefully",),
    ),
    Rule(
        reason="segfault",
        predicate=lambda case: case.signal in _CRASH,
        confidence=0.88,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=-11), Case(exit_code=134), Case(exit_code=0, signal=7)),
        negatives=(Case(exit_code=1), Case(exit_code=-9)),
    ),
    Rule(
        reason="killed",
        predicate=lambda case: case.signal in _KILL,
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=137), Case(exit_code=-15), Case(exit_code=0, signal=9)),
        negatives=(Case(exit_code=0), Case(exit_code=139)),
    ),
    Rule(
        reason="cancelled",
        predicate=lambda case: case.signal == signal.SIGINT,
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=130), Case(exit_code=-2)),
        negatives=(Case(exit_code=2),),
    ),
    Rule(
        reason="time_limit",
        predicate=lambda case: case.signal == signal.SIGXCPU,
        confidence=0.8,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=0, signal=24),),
        negatives=(Case(exit_code=24),),
    ),
)
