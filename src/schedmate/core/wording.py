"""A decision's reason in words, for people; whatever depends on a reason reads its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from schedmate.model import DecisionReason, ReasonCode

_WORDS: Final[dict[ReasonCode, str]] = {
    "shorter_first": "{0.ordering}: {0.detail}",
    "unknown_duration": "{0.ordering}: its duration is unknown",
    "limit_from_prediction": "it is predicted to need less: {0.detail}",
    "limit_too_short": "it may need more than the lowered limit",
    "limit_unattended": "the daemon stops, and nothing would give it back in time",
    "worth_a_retry": "{0.detail}",
    "not_worth_a_retry": "{0.detail}",
    "retries_used": "{0.failure}: all {0.allowed} retries are used up",
    "all_retries_used": "{0.failure}: all {0.allowed} retries that any job has are used up",
    "unsure_again": "{0.failure}: not sure, and it was tried again before",
    "no_further": "{0.failure}: the last retry got no further than the run before it",
    "same_failure": "{0.failure}: the same failure at the same place again",
    "nodes_required": "{0.failure}: its own constraints leave it no node but the one blamed",
    "hang_retried": "{0.failure}: it was queued again for that before, once is all",
    "work_at_risk": "{0.failure}: hours of work would be lost if it is not so",
    "unsure": "{0.failure}: that is a guess",
    "before_our_time": "it ended before SchedMate was there",
    "cannot_succeed": "{0.detail}",
    "failed_repeatedly": "{0.detail}",
    "can_succeed": "what it was held for is mended",
    "by_a_person": "released by hand",
}


def in_words(reason: DecisionReason) -> str:
    return _WORDS[reason.code].format(reason)
