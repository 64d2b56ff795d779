"""Source code and history to what a job is and how long it will take."""

from schedmate.advisor.advisor import Advised, Advisor
from schedmate.advisor.target import Target

__all__ = ["Advised", "Advisor", "Target"]
