"""The same code failed just now, or ran out of memory with no larger a batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from schedmate.advisor.checks.base import Before, Checked, in_words
from schedmate.model import REASONS, JobState, Remark

_JUST_NOW_S = 86400.0
_NOT_ITS_OWN = {"infrastructure", "scheduler"}
_NO_MEMORY = "gpu_oom"


def same_code_failed(checked: Checked) -> Iterator[Remark]:
    """Of the newest run that was started the same way; a node's fault is not held against it."""
    same = [each for each in checked.before if each.run.fingerprint == checked.fingerprint]
    if not same:
        return
    newest = max(same, key=lambda each: each.run.job.end_time or 0.0)
    age = checked.now - (newest.run.job.end_time or 0.0)
    if not newest.run.job.state.failed or not 0 <= age <= _JUST_NOW_S or _excused(newest):
        return
    why = f" of {newest.reason}" if newest.reason else ""
    yield Remark(
        level="warning",
        text=f"the same code with the same arguments failed {in_words(age)} ago{why} "
        f"({_name(newest, checked)})",
        failures=_in_a_row(same, checked),
    )


def _in_a_row(same: list[Before], checked: Checked) -> int:
    """How many of the user's newest runs failed with one exit code.

    A diagnosis can only lower the number: no text of a log makes it larger.
    """
    own = [each for each in same if each.run.job.user == checked.target.user]
    own.sort(key=lambda each: -(each.run.job.end_time or 0.0))
    alike = takewhile(
        lambda each: (
            each.run.job.state is JobState.FAILED
            and bool(each.run.job.exit_code)
            and each.run.job.exit_code == own[0].run.job.exit_code
            and not _excused(each)
        ),
        own,
    )
    return sum(1 for _ in alike)


def batch_did_not_fit(checked: Checked) -> Iterator[Remark]:
    wanted = checked.workload.batch_size
    if wanted is None:
        return
    sizes = [
        (each.run.workload.batch_size.value, each)
        for each in checked.before
        if each.run.workload.batch_size is not None
    ]
    failed = [one for one in sizes if one[1].reason == _NO_MEMORY and one[0] <= wanted.value]
    fitted = [size for size, each in sizes if each.run.job.state is JobState.COMPLETED]
    if failed and not any(size >= wanted.value for size in fitted):
        size, each = max(failed, key=lambda one: one[1].run.job.end_time or 0.0)
        yield Remark(
            level="warning",
            text=f"a batch of {wanted.value} may not fit: {_name(each, checked)} ran out of GPU "
            f"memory with {size}",
            evidence=wanted.evidence,
        )


def _name(before: Before, checked: Checked) -> str:
    """Another user's job is not named: who runs the same code is theirs to say."""
    job = before.run.job
    return f"job {job.id}" if job.user == checked.target.user else "a run by another user"


def _excused(before: Before) -> bool:
    reason = None if before.reason is None else REASONS.get(before.reason)
    by_node = before.run.job.state in (JobState.NODE_FAIL, JobState.PREEMPTED)
    return by_node or (reason is not None and reason.category in _NOT_ITS_OWN)
