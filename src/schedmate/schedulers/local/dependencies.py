"""What a job waits for, in Slurm's words, judged by what has become of the other jobs.

Nothing is kept of an earlier judgement: a job that failed and is queued again is waited for again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedmate.model.errors import BadInput
from schedmate.model.job import JobId, JobState

if TYPE_CHECKING:
    from schedmate.schedulers.local.entry import QueueEntry

Verdict = Literal["met", "unfulfilled", "failed"]
Lookup = Callable[[JobId], "Sequence[QueueEntry]"]
"""The job of this id, or all tasks of an array."""

_KINDS = ("after", "afterany", "afterok", "afternotok", "aftercorr")
_JOB = re.compile(r"(\d{1,18}(?:_\d{1,9})?)(?:_\*)?(?:\+(\d{1,7}))?", re.ASCII)
_SINGLETON = "singleton"


@dataclass(frozen=True, slots=True)
class Condition:
    kind: str
    job_id: JobId = ""
    delay_s: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind}:{self.job_id}" if self.job_id else self.kind


@dataclass(frozen=True, slots=True)
class Dependency:
    conditions: tuple[Condition, ...]
    any_will_do: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """`text` is what is still waited for, as Slurm writes it: `afterok:12(unfulfilled)`."""

    verdict: Verdict
    text: str = ""
    not_before: float | None = None


def read_dependency(text: str) -> Dependency:
    """BadInput where it is none of Slurm's words, or one that a single machine has no use for."""
    if "," in text and "?" in text:
        raise BadInput(f"--dependency={text} mixes `,` (all) and `?` (any); use one of them")
    parts = [part.strip() for part in re.split(r"[,?]", text)]
    return Dependency(
        tuple(condition for part in parts for condition in _conditions(part, text)), "?" in text
    )


def _conditions(part: str, text: str) -> list[Condition]:
    kind, *jobs = part.split(":")
    if kind == _SINGLETON and not jobs:
        return [Condition(_SINGLETON)]
    read = [_JOB.fullmatch(job) for job in jobs]
    if kind not in _KINDS or not read or None in read:
        raise BadInput(
            f"--dependency={text} is not understood at {part!r}: write for example afterok:12:13, "
            f"with one of {', '.join(_KINDS)}, or singleton"
        )
    return [
        Condition(kind, found[1], 60.0 * int(found[2] or 0)) for found in read if found is not None
    ]


def judge(entry: QueueEntry, lookup: Lookup, rivals: Lookup, now: float) -> Judgement:
    """`rivals` are the jobs of the same name and user that have not ended."""
    if not entry.dependency:
        return Judgement("met")
    dependency = read_dependency(entry.dependency)
    judged = [(one, _judge_one(one, entry, lookup, rivals, now)) for one in dependency.conditions]
    verdicts = [verdict for _, (verdict, _) in judged]
    left = [f"{one}({verdict})" for one, (verdict, _) in judged if verdict != "met"]
    times = [moment for _, (_, moment) in judged if moment is not None]
    if dependency.any_will_do:
        met, failed = "met" in verdicts, all(one == "failed" for one in verdicts)
    else:
        met, failed = not left, "failed" in verdicts
    if met:
        return Judgement("met")
    text = ("?" if dependency.any_will_do else ",").join(left)
    return Judgement("failed" if failed else "unfulfilled", text, min(times, default=None))


def _judge_one(
    one: Condition, entry: QueueEntry, lookup: Lookup, rivals: Lookup, now: float
) -> tuple[Verdict, float | None]:
    if one.kind == _SINGLETON:
        earlier = [other for other in rivals(entry.job_id) if other.id < entry.id]
        return ("unfulfilled" if earlier else "met"), None
    others = lookup(one.job_id)
    if one.kind == "aftercorr" and entry.task is not None:
        others = [other for other in others if other.task in (None, entry.task)]
    if one.kind == "after":
        return _after_start(others, one.delay_s, now)
    return _after_end(one.kind, [other.state for other in others]), None


def _after_start(
    others: Sequence[QueueEntry], delay_s: float, now: float
) -> tuple[Verdict, float | None]:
    """A job that was cancelled as it waited counts as started then."""
    begun = [other.start_time or other.end_time for other in others]
    if None in begun:
        return "unfulfilled", None
    moment = max((one for one in begun if one is not None), default=0.0) + delay_s
    return ("met", None) if moment <= now else ("unfulfilled", moment)


def _after_end(kind: str, states: Sequence[JobState]) -> Verdict:
    """Of an array: all tasks have to succeed for `afterok`, one has to fail for `afternotok`."""
    over = all(state.ended for state in states)
    failed = any(state.ended and state is not JobState.COMPLETED for state in states)
    if kind in ("afterok", "aftercorr") and (failed or not states):
        return "failed"
    if not over:
        return "unfulfilled"
    return "failed" if kind == "afternotok" and not failed else "met"
