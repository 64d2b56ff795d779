"""Formats that nobody has described: learnt from a job's own lines."""

from schedmate.tracker.unknown.asking import ask
from schedmate.tracker.unknown.learner import Learner, Replayed
from schedmate.tracker.unknown.naming import Question, Roles
from schedmate.tracker.unknown.pattern import LearnedFormat

__all__ = ["LearnedFormat", "Learner", "Question", "Replayed", "Roles", "ask"]
