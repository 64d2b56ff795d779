"""Why a job failed, whose fault it was and the right next step; see `handler.py`."""

from schedmate.handler.case import Case, NamedLog, parse_exit, parse_state, parse_verdict
from schedmate.handler.handler import Handler, name_of
from schedmate.handler.rules import RULES, Rule, Weight
from schedmate.model.diagnosis import SURE_ENOUGH

__all__ = [
    "RULES",
    "SURE_ENOUGH",
    "Case",
    "Handler",
    "NamedLog",
    "Rule",
    "Weight",
    "name_of",
    "parse_exit",
    "parse_state",
    "parse_verdict",
]
