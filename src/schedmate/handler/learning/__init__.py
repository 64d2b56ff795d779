"""What failures teach: corrections, rules made of answers, and what keeps bad ones out."""

from schedmate.handler.learning.exchange import read_rules, written_rules
from schedmate.handler.learning.healthy import Scan, healthy_logs
from schedmate.handler.learning.teaching import Lesson, Teaching

__all__ = ["Lesson", "Scan", "Teaching", "healthy_logs", "read_rules", "written_rules"]
