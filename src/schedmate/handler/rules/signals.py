"""Processes that ended by a signal. A signal is what happened, rarely why: any clearer cause
in the log goes first.
"""

import re
import signal

from schedmate.handler.case import Case
from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_CRASH = {
    signal.SIGSEGV,
    signal.SIGBUS,
    signal.SIGABRT,
    signal.SIGILL,
    signal.SIGFPE,
    signal.SIGTRAP,
    signal.SIGSYS,
}
_KILL = {signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
_EARLY_WARNING = {signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2}
_CUT_BY_TIMEOUT = 124
_CRASHED = r"(?:11|7|6|4|8|5)"

_BY = (
    r"(?:[Tt]erminated|[Kk]illed|[Ee]xited|[Dd]ied|[Cc]rashed|[Ii]nterrupted|[Ff]ailed)"
    r" (?:by|on|with|due to|from) (?:a )?signal:? #?"
)

_CRASHES = Rule(
    name="crash-line",
    reason="segfault",
    pattern=LazyPattern(
        r"\b[Ss]egmentation fault\b|^Fatal Python error: (?:Segmentation fault|Bus error|Aborted"
        r"|Illegal instruction|Floating-point)|^zsh: (?:abort|bus error|illegal hardware)"
        rf"|\b[Cc]aught signal (?:11|7|4)\b|Signal {_CRASHED} \(SIG[A-Z]{{2,5}}\) received by PID"
        rf"|\bexitcode {{0,4}}: {{0,4}}-{_CRASHED}\b|exits with return code = -{_CRASHED}\b"
        r"|^\S{1,200}: line \d{1,6}: +\d{1,9} (?:Aborted|Bus error|Illegal instruction)\b"
        r"|\b(?:Aborted|Bus error|Illegal instruction|Floating point exception"
        r"|Trace/breakpoint trap)"
        r" {0,40}\(core dumped\)|: tasks? [\d,\-]{1,200}: (?:Aborted|Bus error|Illegal instruction"
        r"|Floating point exception)"
        rf"|exited on signal {_CRASHED} \(|KILLED BY SIGNAL: {_CRASHED}\b"
        rf"|EXIT STRING: .{{1,40}}\(signal {_CRASHED}\)"
        r"|died with <Signals\.SIG(?:SEGV|BUS|ABRT|ILL|FPE|TRAP)|"
        r"terminated with signal SIG(?:SEGV|BUS|ABRT|ILL|FPE)"
        r"|" + _BY + r"(?:(?:SIG)?(?:SEGV|BUS|ABRT|ILL|FPE)|11|7|6|4|8)\b"
        r"|^double free or corruption|^(?:free|malloc|realloc|munmap_chunk)\(\): (?:invalid|corrupt"
        r"|unaligned|unsorted|double)|^corrupted (?:size vs|double-linked)|stack smashing detected"
        r"|^malloc_consolidate\(\)|segfault at [\da-f]{1,16} ip|general protection fault ip:"
        r"|traps: .{1,60}trap (?:invalid opcode|divide error)"
        r"|\*\*\* SIG(?:SEGV|BUS|ABRT|ILL|FPE) .{0,40}received|Signal: (?:Segmentation fault"
        r"|Bus error"
        r"|Aborted|Illegal instruction)|^terminate called (?:without an active|recursively)"
        r"|^Exited with exit code (?:139|134|135|136|132)\.?$|Exit_status=(?:267|262|139|134)\b"
        r"|fatal error has been detected by the Java Runtime"
        r"|Abnormal termination \(signal (?:11|7|6|4|8)\)"
        r"|[Pp]rogram received signal SIG(?:SEGV|BUS|ABRT|ILL|FPE)\b"
        r"|`[\w ]{4,40}` is detected by the operating system"
    ),
    unless=LazyPattern(r"faults?(?: per \w{1,10}| count)?: 0|\bhooks\.d/"),
    confidence=0.88,
    weight=Weight.SYMPTOM,
    positives=(
        "bash: line 1: 2552014 Segmentation fault      (core dumped) python segfault.py",
        "Fatal Python error: Segmentation fault",
        "  exitcode  : -11 (pid: 4711)",
        "traceback : Signal 11 (SIGSEGV) received by PID 4711",
        "train.sh: line 3: 812 Aborted                 (core dumped) python train.py",
        "srun: error: n1: task 3: Segmentation fault (core dumped)",
        "srun: error: n1: tasks 0-7: Bus error",
        (
            "mpirun noticed that process rank 3 with PID 0 on node n1 exited on signal 11 "
            "(Segmentation fault)."
        ),
        (
            "[n1:8123:0:8123] Caught signal 11 (Segmentation fault: address not mapped to object "
            "at address 0x10)"
        ),
        "free(): invalid pointer",
        "double free or corruption (!prev)",
        "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Bus error (signal 7)",
        "python[8123]: segfault at 0 ip 00007f3b2c sp 00007ffd error 4 in libc-2.31.so",
        (
            "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal "
            "SIGSEGV"
        ),
        (
            "subprocess.CalledProcessError: Command '['python', 'a.py']' died with "
            "<Signals.SIGABRT: 6>."
        ),
        "zsh: segmentation fault  python train.py",
        "Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)",
        "*** SIGSEGV (@0x0) received by PID 812 (TID 0x7f) from PID 0; stack trace: ***",
    ),
    negatives=(
        "segmentation faults per hour: 0",
        "Segmentation model: unet",
        "  exitcode  : 0 (pid: 4711)",
        "malloc arena: 2",
    ),
)

_KILLS = Rule(
    name="shell-line",
    reason="killed",
    pattern=LazyPattern(
        r"^(?:\S{1,200}: line \d{1,6}: +\d{1,9} )?(?:Killed|Terminated|Hangup)"
        r"(?: {2,40}\S.{0,300})?$"
        r"|^\S{1,200}: line \d{1,6}: +\d{1,9} (?:Killed|Terminated|Hangup)\b"
        r"|^zsh: (?:killed|terminated) |^\[\d{1,4}\][+\-]? +(?:Killed|Terminated) "
        r"|: tasks? [\d,\-]{1,200}: (?:Killed|Terminated|Hangup)(?: |$)"
        r"|Signal (?:9|15) \(SIG(?:KILL|TERM)\) received by PID"
        r"|\bexitcode {0,4}: {0,4}-(?:9|15)\b|exits with return code = -(?:9|15)\b"
        r"|exited on signal (?:9|15|1) \(|KILLED BY SIGNAL: (?:9|15)\b"
        r"|EXIT STRING: .{1,40}\(signal (?:9|15)\)|died with <Signals\.SIG(?:KILL|TERM|HUP)"
        r"|terminated with signal SIG(?:KILL|TERM|HUP)|SignalException: .{0,60}got signal: (?:15"
        r"|1|9)\b"
        r"|" + _BY + r"(?:(?:SIG)?(?:KILL|TERM)|9|15)\b"
        r"|exiting program after receiving SIGTERM"
        r"|^slurmstepd\S{0,60}: error: .{0,60}killed by signal 9"
        r"|[Ww]orker process .{0,40}(?:was )?killed by signal (?:9|15)"
        r"|\bprocess killed \(SIG(?:KILL|TERM|HUP)\)"
        r"|[Rr]eceived (?:SIGTERM|signal 15)\b.{0,60}(?:exit|terminat|shut|stopp|abort)"
    ),
    unless=LazyPattern(r"^\+{1,4} |\btrap '"),
    confidence=0.7,
    weight=Weight.SYMPTOM,
    positives=(
        "Killed",
        "run.sh: line 4: 9213 Killed                  python train.py",
        "slurm/job474687/slurm_script: line 31:  6521 Killed singularity exec --nv a.sif python",
        "srun: error: n1: task 0: Killed",
        "Hangup",
        "run.sh: line 1:  1234 Hangup                  python train.py",
        "srun: error: n[1-4]: tasks 0-31: Terminated",
        "  exitcode  : -9 (pid: 4711)",
        (
            "[ERROR] [launch.py:434:sigkill_handler] ['/usr/bin/python', 'train.py'] exits with "
            "return code = -9"
        ),
        "mpirun noticed that process rank 0 with PID 0 on node n1 exited on signal 9 (Killed).",
        "=   KILLED BY SIGNAL: 9 (Killed)",
        (
            "torch.multiprocessing.spawn.ProcessExitedException: process 3 terminated with "
            "signal SIGKILL"
        ),
        (
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got "
            "signal: 15"
        ),
        "zsh: killed     python train.py",
        "Command terminated by signal 9",
    ),
    negatives=(
        "Killed 3 stale workers, going on",
        "+ trap 'echo killed by signal 15; exit 143' TERM",
        "processes killed: 0",
        "Sending process 4711 closing signal SIGTERM",
        "exiting program at iteration 1000",
    ),
)

_INTERRUPTS = Rule(
    name="interrupt-line",
    reason="cancelled",
    pattern=LazyPattern(
        r"^KeyboardInterrupt(?::|$)|SignalException: .{0,60}got signal: 2\b"
        r"|died with <Signals\.SIGINT|terminated with signal SIGINT"
    ),
    errors_only=True,
    confidence=0.85,
    weight=Weight.SYMPTOM,
    positives=(
        "KeyboardInterrupt",
        "KeyboardInterrupt: Interrupted by user",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 1 got signal: 2",
    ),
    negatives=("handles KeyboardInterrupt gracefully",),
)

_CASES = (
    Rule(
        # Slurm sends these before a limit where a job asks for it
        name="early-warning-line",
        reason="time_limit",
        pattern=LazyPattern(
            r"^(?:\S{1,200}: line \d{1,6}: +\d{1,9} )?User defined signal [12]\b"
            r"|: tasks? [\d,\-]{1,200}: User defined signal [12]\b"
        ),
        confidence=0.6,
        weight=Weight.SYMPTOM,
        positives=(
            "User defined signal 1",
            "run.sh: line 3:   771 User defined signal 2   python train.py",
            "srun: error: n3: tasks 0-3: User defined signal 1",
        ),
        negatives=("handler for User defined signal 1 is installed",),
    ),
    Rule(
        name="signal",
        reason="segfault",
        predicate=lambda case: case.signal in _CRASH,
        confidence=0.88,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=-11), Case(exit_code=134), Case(exit_code=0, signal=7)),
        negatives=(Case(exit_code=1), Case(exit_code=-9)),
    ),
    Rule(
        name="signal",
        reason="killed",
        predicate=lambda case: case.signal in _KILL,
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=137), Case(exit_code=-15), Case(exit_code=0, signal=9)),
        negatives=(Case(exit_code=0), Case(exit_code=139)),
    ),
    Rule(
        name="signal",
        reason="cancelled",
        predicate=lambda case: case.signal == signal.SIGINT,
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=130), Case(exit_code=-2)),
        negatives=(Case(exit_code=2),),
    ),
    Rule(
        # CPU time used up, or the warning before the limit that the program does not know
        name="cpu-time-signal",
        reason="time_limit",
        predicate=lambda case: case.signal in _EARLY_WARNING,
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=0, signal=24), Case(exit_code=138)),
        negatives=(Case(exit_code=24),),
    ),
    Rule(
        name="timeout-exit-code",
        reason="time_limit",
        predicate=lambda case: case.exit_code == _CUT_BY_TIMEOUT,
        confidence=0.6,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=124),),
        negatives=(Case(exit_code=125),),
    ),
    Rule(
        name="file-size-signal",
        reason="disk_quota",
        predicate=lambda case: case.signal == signal.SIGXFSZ,
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=0, signal=25),),
        negatives=(Case(exit_code=25),),
    ),
)

_SIGNALS = (_CRASHES, _KILLS, _INTERRUPTS, *_CASES)


_ENDED = (
    r"(?:[Ee]xit|EXIT|[Rr]eturn|[Tt]erminat|\b[Dd]ied|[Ff]ail|[Cc]rash|[Cc]omplet|[Ff]inish|[Ss]top"
    r"|[Kk]ill)\w{0,6}.{0,30}(?:[Cc]ode|CODE|[Ss]tatus|STATUS)"
)
_IS = r"(?: of| is| was|\]|\\)?[ :(=,\"'\[]{0,12}"
_AND = r"(?:[)\].,;:'\"}]|$| \(| [a-zA-Z])"
_TALK = LazyPattern(
    r"\b(?:handles?|expect(?:ed|s)?|if|when|test\w{0,6}|means?|usually|e\.g\.|retry(?:ing)?|passed"
    r"|ignor\w{1,4}|restarting|out of memory|oom\w{0,8})\b",
    re.IGNORECASE,
)


def _ended(codes: str, names: str) -> LazyPattern:
    return LazyPattern(
        rf"{_ENDED}{_IS}(?:(?:{codes}){_AND}|Negsignal\.SIG(?:{names})\b)|\bExited \((?:{codes})\)"
    )


_EXIT_CODES = (
    Rule(
        name="printed-exit-code",
        reason="killed",
        pattern=_ended("137|143|-9|-15", "KILL|TERM"),
        unless=_TALK,
        confidence=0.65,
        weight=Weight.SYMPTOM,
        positives=(
            "[f8107735c673-n0-0] terminated with exit code (137). Reason [Error]. Message: ",
            "Container train terminated with exit code 137",
            "command terminated with exit code 137",
            "Task exited with return code Negsignal.SIGKILL",
            "{local_task_job_runner.py:266} INFO - Task exited with return code -9",
            "The replica master 0 exited with a non-zero status of 137.",
            "ERROR: Job failed: exit code 137",
            "Process `TRAIN (1)` terminated with an error exit status (143)",
            "      Exit Code:    137",
            "trainer-1 exited with code 143",
            'state: {"terminated": {"exitCode": 137, "reason": "Error"}}',
            "[launch.py:321:sigkill_handler] ['python'] exited with return code = -15",
        ),
        negatives=(
            "      Exit Code:    0",
            "      Exit Code:    1",
            "exit code 137 means that the process was killed",
            "test_exit_code_137 returned 137 items",
            "exited 143 workers so far, 12 left",
            "finished 137 of 200 steps",
        ),
    ),
    Rule(
        name="printed-exit-code",
        reason="segfault",
        pattern=_ended("139|134|135|136|132|-11|-6|-7|-4|-8", "SEGV|BUS|ABRT|ILL|FPE"),
        unless=_TALK,
        confidence=0.82,
        weight=Weight.SYMPTOM,
        positives=(
            "Container train terminated with exit code 139",
            "trainer-1 exited with code 134",
            "Task exited with return code Negsignal.SIGSEGV",
            "The replica worker 3 exited with a non-zero status of 139.",
            "Process finished with exit code -11",
        ),
        negatives=("finished 139 of 200 steps", "exited with code 1", "returned 134"),
    ),
)

RULES = (*_SIGNALS, *_EXIT_CODES)
