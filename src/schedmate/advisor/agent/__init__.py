"""Asks a model about what reading a job leaves open; what it may say is checked line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
    from schedmate.advisor.agent.agent import Agent, Seen

__all__ = ["Agent", "Seen"]

__getattr__ = lazily(
    __name__,
    {"Agent": "schedmate.advisor.agent.agent", "Seen": "schedmate.advisor.agent.agent"},
)
