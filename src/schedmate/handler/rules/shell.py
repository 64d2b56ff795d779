"""What the job's script says before or instead of the program."""

import re

from schedmate.handler.case import Case
from schedmate.handler.rules.base import Rule, Weight

_EXEC_FORBIDDEN = 126
_NO_SUCH_COMMAND = 127

RULES = (
    Rule(
        reason="command_not_found",
        pattern=re.compile(
            r"^(?:[\w./+\-]{1,200}: (?:line )?(?:\d{1,6}: )?)?[\w./+\-]{1,200}: command not found$"
            r"|^[\w./+\-]{1,200}: \d{1,6}: [\w./+\-]{1,200}: not found$"
            r"|^/usr/bin/env: .{1,100}: No such file or directory$"
            r"|^slurmstepd: error: execve\(\): .{1,200}: No such file or directory$"
            r"|^Lmod has detected the following error"
            r"|Unable to locate a modulefile for '"
        ),
        confidence=0.9,
        positives=(
            "run.sh: line 3: torchrunn: command not found",
            "bash: nvcc: command not found",
            "/bin/sh: 1: pythonn: not found",
            "run.sh: line 2: module: command not found",
            "slurmstepd: error: execve(): trainn: No such file or directory",
            "Lmod has detected the following error:  The following module(s) are unknown: cuda/99",
        ),
        negatives=(
            "apex: not found, using the slow path",
            "command not found errors: 0",
            "ls: cannot access 'x': No such file or directory",
        ),
    ),
    Rule(
        reason="file_not_found",
        pattern=re.compile(
            r"\bpython[\d.]{0,5}: can't open file '"
            r"|^[\w./+\-]{1,200}: line \d{1,6}: .{1,200}: No such file or directory$"
        ),
        confidence=0.9,
        positives=(
            "python: can't open file '/home/u/trian.py': [Errno 2] No such file or directory",
            "run.sh: line 4: ./train.sh: No such file or directory",
        ),
        negatives=("cat: old.txt: No such file or directory",),
    ),
    Rule(
        reason="permission_denied",
        pattern=re.compile(
            r"^[\w./+\-]{1,200}: line \d{1,6}: .{1,200}: Permission denied$"
            r"|^slurmstepd: error: execve\(\): .{1,200}: Permission denied$"
        ),
        confidence=0.9,
        positives=("run.sh: line 4: ./train.sh: Permission denied",),
        negatives=("find: '/proc/1/fd': Permission denied",),
    ),
    Rule(
        reason="command_not_found",
        predicate=lambda case: case.exit_code == _NO_SUCH_COMMAND,
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=127),),
        negatives=(Case(exit_code=1),),
    ),
    Rule(
        reason="permission_denied",
        predicate=lambda case: case.exit_code == _EXEC_FORBIDDEN,
        confidence=0.8,
        weight=Weight.SYMPTOM,
        positives=(Case(exit_code=126),),
        negatives=(Case(exit_code=127),),
    ),
)
