"""Completes what reading a job leaves open, by pointing; what is pointed at is then read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
    from schedmate.advisor.agent.agent import Agent
    from schedmate.advisor.agent.pointer import ModelPointer

__all__ = ["Agent", "ModelPointer"]

__getattr__ = lazily(
    __name__,
    {
        "Agent": "schedmate.advisor.agent.agent",
        "ModelPointer": "schedmate.advisor.agent.pointer",
    },
)
