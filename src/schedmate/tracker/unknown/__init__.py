"""Formats without a description: learnt from a job's own lines."""

from typing import TYPE_CHECKING

from schedmate.lazily import lazily
from schedmate.tracker.unknown.learner import Learner, Replayed
from schedmate.tracker.unknown.naming import Question, ask
from schedmate.tracker.unknown.pattern import LearnedFormat

if TYPE_CHECKING:
    from schedmate.tracker.unknown.roles import Roles

__all__ = ["LearnedFormat", "Learner", "Question", "Replayed", "Roles", "ask"]

__getattr__ = lazily(__name__, {"Roles": "schedmate.tracker.unknown.roles"})
