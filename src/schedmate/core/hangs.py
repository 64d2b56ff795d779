"""When a silent job hangs: minutes of silence, far beyond a well-known rhythm, and a second sign.

A healthy job may be silent for hours, and being wrong costs more than waiting does. So the log
alone only raises a suspicion; two measurements some minutes apart must not contradict it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from schedmate.core.scope import owner_words
from schedmate.model import Activity, Job, Progress, Silence

_LEAST_LINES = 50
_LEAST_LOOKS = 20
_LEARNT_SHARE = 1 / 6
"""Of the time a hang needs, over which the rhythm was learnt: the chatter of a start is none."""
_PAUSE_PATIENCE = 4.0
"""An announced evaluation, checkpoint or compilation may take so many times as long."""
_APART_S = 300.0
_APART_SHARE = 1 / 6
_IDLE_LOOKS = 3
"""Idle for so many intervals in a row: a job that computed until just now only waits a little."""
_FEW_AT_ONCE, _SHARE_AT_ONCE = 3, 0.1
"""When more jobs than that fell silent together, a file system or a service is away, and they will
go on. Those that fell silent at other times say nothing about it."""
_IDLE_CORE = 0.02
"""Of one core: what threads that only wait and poll use."""
_IDLE_GPU = 0.02
_IDLE_READ = 2048
"""Bytes a second: what a loop reads that only looks whether something is there."""

_OPTED_IN = "requeue-hung"

Verdict = Literal["active", "idle", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HangLimits:
    """After how long a silence may be a hang; a partition may have a time of its own."""

    after_s: float = 1800.0
    partitions: Mapping[str, float] = field(default_factory=dict)
    requeue: bool = False
    """Whether all that seem to hang are queued again: a job that only waits looks the same."""

    def after(self, job: Job) -> float:
        return self.partitions.get(job.request.partition or "", self.after_s)

    def wants_requeue(self, job: Job) -> bool:
        """By the site's settings, or by a word of its owner."""
        return self.requeue or _OPTED_IN in owner_words(job)


@dataclass(slots=True)
class HangWatch:
    """A suspect, and the first of the measurements that did not show it at work."""

    tick: int
    silent_since: float = 0.0
    """When it wrote last."""
    running: int = 0
    """How many jobs ran when it became a suspect: those that have ended since were well."""
    idle_since: float | None = None
    first: Activity | None = None
    stuck: bool = False
    """Since then all measurements have shown it blocked."""
    left_alone: bool = False

    def note(self, activity: Activity, at: float) -> Verdict:
        """Compare with the first measurement of a row; who was at work begins a new one."""
        self.left_alone = activity.interactive
        found: Verdict = "active"
        if self.first is not None and self.idle_s(at) > 0:
            found = verdict(self.first, activity, self.idle_s(at))
        if found == "active":
            self.first, self.idle_since, self.stuck = activity, at, True
        self.stuck = self.stuck and bool(activity.stuck)
        return found

    def idle_s(self, at: float) -> float:
        return 0.0 if self.idle_since is None else at - self.idle_since


def looks_apart_s(after_s: float) -> float:
    """How far apart two measurements are: a few minutes, and several fit into the silence."""
    return min(_APART_S, _APART_SHARE * after_s)


def idle_for_s(after_s: float) -> float:
    """For how long a hung job must have shown no sign of life."""
    return _IDLE_LOOKS * looks_apart_s(after_s)


def is_suspect(progress: Progress, after_s: float, *, ahead_s: float = 0.0) -> bool:
    """Whether the log alone speaks for a hang, now or `ahead_s` seconds from now."""
    silence = progress.silence
    if silence is None or progress.phase in ("finished", "failed"):
        return False
    known = silence.lines >= _LEAST_LINES and silence.looks >= _LEAST_LOOKS
    learnt = silence.learnt_s >= _LEARNT_SHARE * after_s
    return known and learnt and silence.silent_s + ahead_s >= _unusual_s(silence, after_s)


def known_without_measuring(progress: Progress, after_s: float) -> bool:
    """Where nothing could be measured the rhythm must be known for as long as a hang takes."""
    return progress.silence is not None and progress.silence.learnt_s >= after_s


def too_many_at_once(idle: int, running: int) -> bool:
    return idle > max(_FEW_AT_ONCE, _SHARE_AT_ONCE * running)


def verdict(before: Activity, now: Activity, seconds: float) -> Verdict:
    """What two measurements say; `idle` needs measured CPU time, the rest only contradicts."""
    waits_for_a_disk = now.blocked and not (before.stuck and now.stuck)
    if waits_for_a_disk or _gpu_works(before) or _gpu_works(now) or _files_grew(before, now):
        return "active"
    if _moves_data(before, now, seconds):
        return "active"
    if before.cpu_s is None or now.cpu_s is None:
        return "unknown"
    used_s = now.cpu_s - before.cpu_s
    # less than before: processes have come and gone
    return "idle" if 0 <= used_s <= _IDLE_CORE * seconds else "active"


def _unusual_s(silence: Silence, after_s: float) -> float:
    patience = 1.0 if silence.pause is None else _PAUSE_PATIENCE
    return patience * max(after_s, silence.allowed_s)


def _gpu_works(activity: Activity) -> bool:
    return activity.gpu is not None and activity.gpu > _IDLE_GPU


def _moves_data(before: Activity, now: Activity, seconds: float) -> bool:
    """A file far from its directory, or a connection: less than before means other processes."""
    if None in (before.read, before.written, now.read, now.written):
        return False
    read, written = (now.read or 0) - (before.read or 0), (now.written or 0) - (before.written or 0)
    return written != 0 or not 0 <= read <= _IDLE_READ * seconds


def _files_grew(before: Activity, now: Activity) -> bool:
    if before.files_at is None or now.files_at is None:
        return False
    return now.files_at > before.files_at
