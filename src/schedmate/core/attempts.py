"""What is known of a job's attempts: what each died of, where, and how far it came."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from schedmate.model import Diagnosis, Unit

_DIGITS = re.compile(r"\d{1,400}")
_RESUMED_FROM = 0.5
"""Who begins beyond this share of what was done before has not started over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How far one attempt came, as its log tells; None where it does not."""

    unit: Unit | None = None
    began: float | None = None
    done: float | None = None
    saved: float | None = None
    """The step of its newest checkpoint."""
    saves: bool = False
    """Whether its log tells of a checkpoint, with or without a step."""
    complete: bool = False
    """Whether its log shows that the work was done."""
    resumes: bool | None = None
    """Whether its code goes on from a checkpoint, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hung:
    """A run that was still there when it was diagnosed."""

    ran_s: float | None = None
    idle: bool = False
    """It was measured that it used no CPU."""
    stuck: bool = False
    """The kernel showed it blocked all the time."""
    wanted: bool = False
    """The site or its owner wants it queued again also where it may only wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    diagnosis: Diagnosis
    nodes: tuple[str, ...] = ()
    reached: Reached = field(default_factory=Reached)
    hung: Hung | None = None

    @property
    def seemed_to_hang(self) -> bool:
        return self.hung is not None or self.diagnosis.reason == "hang"


def got_further(before: Iterable[Reached], now: Reached) -> bool | None:
    """Whether this attempt leaves the job nearer to its end than all before it did.

    Counting higher is not enough for a job that may have started over: None where that is open.
    """
    known = [(one.done, one.saved) for one in before if one.unit == now.unit]
    dones = [done for done, _ in known if done is not None]
    if now.done is None or not dones:
        return None
    saved = max((saved for _, saved in known if saved is not None), default=None)
    if now.saved is not None and saved is not None:
        beyond = now.saved > saved
    else:
        beyond = now.done > max(dones)
    if not beyond or now.resumes is False:
        return False
    return True if now.resumes or _went_on(max(dones), saved, now) else None


def _went_on(done: float, saved: float | None, now: Reached) -> bool:
    """Whether it began where one before it had left a checkpoint."""
    if now.began is None:
        return False
    checkpoint = saved if now.unit == "step" else None
    return now.began >= (_RESUMED_FROM * done if checkpoint is None else checkpoint)


def same_failure(before: Attempt, now: Attempt) -> bool:
    """The same reason at the same place; for a node's fault the place is the node."""
    one, other = before.diagnosis, now.diagnosis
    if one.reason != other.reason or _marks(one, other) != _marks(other, one):
        return False
    if other.decision.retry != "elsewhere":
        return True
    if one.blame.nodes or other.blame.nodes:
        return set(one.blame.nodes) == set(other.blame.nodes)
    return set(before.nodes) == set(now.nodes)


def _marks(diagnosis: Diagnosis, other: Diagnosis) -> object:
    """Its signature, or its lines without their numbers where one of the two has none."""
    if diagnosis.signature and other.signature:
        return diagnosis.signature
    return [_DIGITS.sub("0", evidence.text) for evidence in diagnosis.evidence]
