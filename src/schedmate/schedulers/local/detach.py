"""Starts a command detached from its parent: `python detach.py COMMAND...`

The process that starts a daemon need not wait for it, and leaves no zombie behind.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    if os.fork() == 0:
        os.setsid()
        os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - no shell is wanted
