"""Asks a model about what reading a job leaves open; what it may say is checked line by line."""

from schedmate.advisor.agent.agent import Agent, Seen

__all__ = ["Agent", "Seen"]
