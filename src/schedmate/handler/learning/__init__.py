"""What failures teach: corrections, rules made of answers, and what keeps bad ones out."""

from schedmate.handler.learning.exchange import read_rules, written_rules
from schedmate.handler.learning.teaching import Lesson, Teaching, check_correction
from schedmate.handler.learning.trials import Trial, healthy_logs, try_rules

__all__ = [
    "Lesson",
    "Teaching",
    "Trial",
    "check_correction",
    "healthy_logs",
    "read_rules",
    "try_rules",
    "written_rules",
]
