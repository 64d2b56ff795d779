"""Why a job failed, who or what is to blame, and the next step; see `handler.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
    from schedmate.handler.case import Case, NamedLog, parse_exit, parse_state, parse_verdict
    from schedmate.handler.handler import Handler
    from schedmate.handler.reading import TakesLong
    from schedmate.handler.rules import RULES, Rule, Weight
    from schedmate.model.diagnosis import SURE_ENOUGH

__all__ = [
    "RULES",
    "SURE_ENOUGH",
    "Case",
    "Handler",
    "NamedLog",
    "Rule",
    "TakesLong",
    "Weight",
    "parse_exit",
    "parse_state",
    "parse_verdict",
]

__getattr__ = lazily(
    __name__,
    {
        "Case": "schedmate.handler.case",
        "NamedLog": "schedmate.handler.case",
        "parse_exit": "schedmate.handler.case",
        "parse_state": "schedmate.handler.case",
        "parse_verdict": "schedmate.handler.case",
        "Handler": "schedmate.handler.handler",
        "TakesLong": "schedmate.handler.reading",
        "RULES": "schedmate.handler.rules",
        "Rule": "schedmate.handler.rules",
        "Weight": "schedmate.handler.rules",
        "SURE_ENOUGH": "schedmate.model.diagnosis",
    },
)
