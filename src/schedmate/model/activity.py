"""What a running job was measured to do, beside what it writes into its log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One look at a running job; None is unknown, and says nothing for or against a hang."""

    cpu_s: float | None = None
    """CPU time of all its processes since the run began."""
    gpu: float | None = None
    """How busy the busiest of its GPUs is, from 0 to 1."""
    files_at: float | None = None
    """When a file below its directory last changed, seconds since the epoch."""
    read: int | None = None
    """Bytes that its processes have read since the run began, from files and pipes, ..."""
    written: int | None = None
    """... and written, wherever to."""
    blocked: bool = False
    """A process waits for a disk or was stopped by a signal: it goes on when that is over."""
    stuck: str = ""
    """Where a thread waits in the kernel for a file system that is elsewhere: a function's name."""
    interactive: bool = False
    """It waits for people or for requests, so that its silence means nothing."""
