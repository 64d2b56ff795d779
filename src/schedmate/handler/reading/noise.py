"""Lines that are no evidence themselves, and no sign of life either."""

from __future__ import annotations

import re
from typing import Final

_STACK: Final = re.compile(
    r"\s{0,12}(?:"
    r"frame #\d{1,4}: "  # c10
    r"|#\d{1,4}:? {1,4}(?:0x|Object |Source )"  # gdb, backward
    r"|(?:PC: )?@ {1,20}0x[0-9a-f]{1,20}"  # glog
    r"|\[[\w.-]{1,80}:\d{1,9}\] \[ ?\d{1,3}\] "  # Open MPI
    r"|\S{1,200}\([\w+]{0,100}\)\s?\[0x[0-9a-f]{1,20}\]"  # backtrace_symbols
    r'|File "[^"]{1,300}", line \d{1,7} in '  # faulthandler
    r"|(?:Current t|T)hread 0x[0-9a-f]{1,20} "
    r"|Stack \(most recent call last\)"
    r"|Exception raised from .{0,300}\(most recent call first\)"
    r")"
)
_CLEARING_UP: Final = re.compile(
    r"\bSIG(?:TERM|KILL)\b|[Kk]illing subprocess|closing signal"
    r"|^(?:srun|slurmstepd|mpirun|mpiexec|wandb|ninja): "
    r"|torch[./]distributed[./]elastic|\[launch(?:er)?\.py:"
)
_SUMMARY: Final = re.compile(
    r"\s{0,4}(?:time|host|rank|exitcode|error_file|traceback) {1,12}: "
    r"|[=*-]{20,400}$|Root Cause \(first observed|Failures:$|\s{0,4}<NO_OTHER_FAILURES>"
    r"|\S{1,200} FAILED$"
)
"""torchrun's table of the ranks that failed."""


def is_stack(text: str) -> bool:
    """One call of many in the dump of a crash; the line above the dump says what happened."""
    return _STACK.match(text) is not None


def is_clearing_up(text: str) -> bool:
    """What launchers say when all is over."""
    return _CLEARING_UP.search(text) is not None or _SUMMARY.match(text) is not None
