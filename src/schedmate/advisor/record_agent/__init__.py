"""A model that reads corrects and completes a job's record; what it says is checked first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
    from schedmate.advisor.record_agent.agent import RecordAgent

__all__ = ["RecordAgent"]

__getattr__ = lazily(__name__, {"RecordAgent": "schedmate.advisor.record_agent.agent"})
