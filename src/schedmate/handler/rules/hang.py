"""Runs without progress: the tracker notices them, the log may explain them."""

import re

from schedmate.handler.case import Case
from schedmate.handler.rules.base import LazyPattern, Rule, Weight
from schedmate.model import JobState

RULES = (
    Rule(
        # the rank that stopped first may show the cause
        name="watchdog-line",
        reason="hang",
        pattern=LazyPattern(
            r"did not get (?:initial|subsequent) heartbeat\. Waited"
            r"|\b(?:hang|stall|deadlock) detected\b.{0,80}(?:abort|terminat|kill|exit|restart)"
            r"|\bno progress (?:for|in|since) .{1,40}(?:abort|terminat|killing|exit|giving up)"
            r"|\b(?:training|run|job|process|worker) (?:seems|appears) (?:to be |to have )?"
            r"(?:hung|stuck|stalled)\b"
            r"|section \S{1,60} has been open for .{1,40}, timeout|hang watchdog.{0,40}expired",
            re.IGNORECASE,
        ),
        confidence=0.75,
        weight=Weight.SYMPTOM,
        positives=(
            "Did not get subsequent heartbeat. Waited 180.25 seconds.",
            "ERROR: no progress for 1800 s, aborting",
            "Hang detected on rank 3, terminating the worker group",
            "watchdog: training appears to be stuck, last step 812",
        ),
        negatives=(
            "hang detection enabled, timeout 1800 s",
            "no progress bar: not a terminal",
            "stall detected: waiting for data, going on",
        ),
    ),
    Rule(
        name="no-progress",
        reason="hang",
        predicate=lambda case: case.hung,
        confidence=0.8,
        positives=(Case(hung=True), Case(hung=True, state=JobState.RUNNING)),
        negatives=(Case(state=JobState.RUNNING),),
    ),
)
