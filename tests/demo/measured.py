"""Runs a command and says what it and all that it started used of the processor.

python measured.py FILE COMMAND...

FILE gets the command's process id, then, when nothing that it started is left, the seconds. What
is left behind by its parents becomes a child of this process, so that nothing is missed.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    told = Path(sys.argv[1])
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    command = subprocess.Popen(sys.argv[2:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is meant for the command
    told.write_text(f"{command.pid}\n")
    code = command.wait()
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    told.write_text(f"{command.pid} {used.ru_utime + used.ru_stime}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
