"""A decision's reason in words, for people; whatever depends on a reason reads its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from schedmate.model import DecisionReason, ReasonCode

_WORDS: Final[dict[ReasonCode, str]] = {
    "shorter_first": "{0.ordering}: {0.detail}",
    "unknown_duration": "{0.ordering}: its duration is unknown",
    "overtaken_enough": "{0.detail}",
    "at_the_floor": "its priority has reached the scheduler's lowest, where numbers order nothing",
    "age_made_up": "{0.ordering}: the age that it lost when it was queued again is made up for",
    "owner_changed": "{0.ordering}: its owner has set another nice number, ours is added to it",
    "limit_from_prediction": "it is predicted to need less: {0.detail}",
    "limit_too_short": "it may need more than the lowered limit",
    "limit_unattended": "the daemon stops, and nothing would give it back in time",
    "plan_from_prediction": "for the scheduler's plan alone, its limit stays: {0.detail}",
    "retry_succeeded": "{0.detail}",
    "worth_a_retry": "{0.detail}",
    "not_worth_a_retry": "{0.detail}",
    "retries_used": "{0.failure}: all {0.allowed} retries are used up",
    "all_retries_used": "{0.failure}: all {0.allowed} retries that any job has are used up",
    "unsure_again": "{0.failure}: not sure, and it was tried again before",
    "no_further": "{0.failure}: the last retry got no further than the run before it",
    "same_failure": "{0.failure}: the same failure at the same place again",
    "nodes_required": "{0.failure}: its own constraints leave it no node but the one blamed",
    "hang_retried": "{0.failure}: it was queued again for that before, once is all",
    "may_only_wait": "{0.failure}: nothing shows that it is blocked, it may only wait; "
    "with schedmate=requeue-hung in its comment it would be queued again",
    "work_at_risk": "{0.failure}: hours of work would be lost if it is not so",
    "unsure": "{0.failure}: that is a guess",
    "before_our_time": "it ended before SchedMate was there",
    "left_alone": "{0.detail}",
    "cannot_succeed": "{0.detail}",
    "failed_repeatedly": "{0.detail}",
    "can_succeed": "what it was held for is mended",
    "by_a_person": "released by hand",
    "reverted": "undone by a person",
    "suspect_node": "{0.detail}",
    "doomed": "{0.detail}",
    "limit_extended": "it resumes and would not make its limit: {0.detail}",
    "carried_on": "it has just saved, would not make its limit and goes on from there",
    "hold_unattended": "the daemon stops, and nothing would release it in time",
    "makes_way": "{0.detail}",
    "others_started": "the jobs that it made way for have started",
    "others_did_not_start": "the jobs that it made way for did not start, so it goes first",
    "fits_beside": "{0.detail}",
    "slow_beside": "{0.detail}",
    "could_share": "{0.detail}",
    "alone_again": "{0.detail}",
}


def in_words(reason: DecisionReason) -> str:
    words = _WORDS[reason.code].format(reason)
    return words + _cost(reason) if reason.code == "doomed" else words


def _cost(reason: DecisionReason) -> str:
    """What a run costs that goes on for nothing, and who waits for what it holds."""
    cost = f"; it costs {_counted(reason.gpus, 'GPU hour')} an hour" if reason.gpus else ""
    if not reason.waiting:
        return cost
    wait = "waits" if reason.waiting == 1 else "wait"
    gpus = _counted(reason.waiting_gpus, "GPU")
    return f"{cost}; {_counted(reason.waiting, 'job')} {wait} there for {gpus}"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
