"""Why a job failed, whose fault it was and the right next step; see `handler.py`."""

from schedmate.handler.case import Case, NamedLog, parse_exit
from schedmate.handler.handler import Handler
from schedmate.handler.rules import RULES, Rule, Weight

__all__ = ["RULES", "Case", "Handler", "NamedLog", "Rule", "Weight", "parse_exit"]
