"""Why a job failed, whose fault it was and the right next step; see `handler.py`."""

from schedmate.handler.case import Case, NamedLog, parse_exit, parse_state
from schedmate.handler.handler import SURE_ENOUGH, Handler
from schedmate.handler.rules import RULES, Rule, Weight

__all__ = [
    "RULES",
    "SURE_ENOUGH",
    "Case",
    "Handler",
    "NamedLog",
    "Rule",
    "Weight",
    "parse_exit",
    "parse_state",
]
